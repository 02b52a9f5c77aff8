/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct pie_reader;

/* A profile as one HTML file that needs nothing else. web/ makes the page; web/src/data.d.ts says what data it gets.
 * Context: cli. */

/* However large the profile is. */
enum { PIE_PAGE_BYTES_MAX = 3000000 };

/* The page without its data, which stand between head and tail. */
struct pie_page_template {
    const char *head, *tail;
    size_t head_size, tail_size;
};

/* The one that was built into this program; sizes are 0 where there was none. */
extern const struct pie_page_template pie_page_built_in;

struct pie_page_choice {
    int64_t run;
    const char *profile; /* its path, as people gave it */
    const char *process; /* that the reader was cut down to (pie_reader_cut()), as people named it, or NULL */
};

/* Writes the page of a run; the caller looks for errors of the stream. Returns 0, or -errno and one line for people
 * (heap). */
int pie_page_write(FILE *out, struct pie_reader *reader, const struct pie_page_choice *choice,
                   const struct pie_page_template *page, char **ret_message);

/* Writes the data alone, as JSON, and all of them: no table, line or text is cut, only the tree and its cells of time
 * have a limit, ten times that of a page and more. Everything is read in one transaction, so a program that writes
 * meanwhile changes nothing in it. Returns as pie_page_write(). */
int pie_page_write_data(FILE *out, struct pie_reader *reader, const struct pie_page_choice *choice,
                        char **ret_message);
