/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

struct pie_reader;
struct pie_cursor;
struct pie_question;

/* A table leaves out rows of fewer samples that wait for less, unless they are the first. */
enum { PIE_FIRST_ROWS_SAMPLES_MIN = 5, PIE_FIRST_ROWS_WAIT_MIN_NS = 10000000 };

/* The rows of a question that has sums (questions.h), as far as its answer shows them. SQLite sorts and measures no
 * others. Context: cli. */
struct pie_first_rows {
    /* Keeps the file as it is, and the sums in memory, until the question is answered. */
    struct pie_cursor *held;
    int64_t nth;    /* no rows behind this one are needed */
    int64_t behind; /* how many rows are left out */
};

/* shown: rows that an answer shows. Returns 0, or as pie_cursor_next(). */
int pie_first_rows_open(struct pie_reader *reader, const struct pie_question *question, int64_t run,
                        int64_t shown, struct pie_first_rows *ret_rows, char **ret_message);
void pie_first_rows_close(struct pie_first_rows *rows);
