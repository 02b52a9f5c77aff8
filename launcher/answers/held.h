/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

/* An answer while it is written. The first megabytes are held back, so an answer that fails early prints nothing.
 * After that it streams in pieces and needs no more memory, however long it is. Time spent waiting for the reader of
 * a pipe counts towards no limit (launcher/answers/hard_end.h). Context: cli. */
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
/* Called after each row. Returns 0, or -EPIPE: the reader is gone, which pie_profile_close_output() reports. */
int pie_held_row(struct pie_held *held);
/* Prints the rest, or with is_wanted false drops what has been held back. Returns 0 or -errno. */
int pie_held_close(struct pie_held *held, bool is_wanted);
