/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

/* An answer on its way out. The first megabytes are held back, so that what fails early prints nothing; then it
 * streams, in pieces, and takes no more memory however long it is. The time in which the reader of a pipe makes us wait
 * counts for no limit (launcher/answers/hard_end.h). Context: cli. */
struct pie_held {
    FILE *text; /* where to print; another one after each pie_held_row() */
    FILE *out;
    char *buffer;
    size_t size;
    bool is_through; /* something has been printed */
};

/* Has anything of an answer been printed? */
bool pie_held_has_printed(void);

/* Returns 0 or -ENOMEM. */
int pie_held_open(struct pie_held *held, FILE *out);
/* After each row. Returns 0, or -EPIPE: nobody reads it, which pie_profile_close_output() reports. */
int pie_held_row(struct pie_held *held);
/* Prints the rest, or with is_wanted false drops what has been held back. Returns 0 or -errno. */
int pie_held_close(struct pie_held *held, bool is_wanted);
