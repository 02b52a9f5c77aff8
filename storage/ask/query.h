/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "storage/ask/first_rows.h"
#include "storage/read/place.h"

struct pie_reader;
struct pie_cursor;
struct pie_question;

/* A question to a profile: a phrase (questions.h) or one SQL statement that reads. Context: cli. */
struct pie_query {
    int64_t run;                         /* that it is about */
    struct pie_cursor *cursor;           /* its answer */
    const struct pie_question *question; /* NULL: SQL */
    int64_t limit;                       /* of "top 10": the statement ends there; 0: none */
    size_t rows_shown;           /* of which the rest is only counted; 0: all, as of "all hot lines" */
    struct pie_first_rows first; /* the cursor has no rows behind these, of which there are more */
    struct pie_place place;      /* what "in X" was found to be; PIE_PLACE_ANY: the question has none */
    char *place_name;
    int64_t place_line; /* 0: all of it */
    int64_t period_from_ns,
        period_to_ns; /* that was asked for, to whole slices (CLOCK_REALTIME); 0: the run */
};

/* run: 0, or the run if the question does not name one. Returns 0, or -errno and a line for people (heap): -ENOKEY
 * unknown phrase, -ENOENT no such run, -EINVAL what cannot be understood, or as pie_cursor_open(). */
int pie_query_open(struct pie_reader *reader, const char *text, int64_t run, struct pie_query *ret_query,
                   char **ret_message);
/* The statement that gives the answer, with its parameters written out. Heap; NULL if there is no memory. */
char *pie_query_sql(const struct pie_query *query);
void pie_query_close(struct pie_query *query);
