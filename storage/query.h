/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct pie_reader;
struct pie_cursor;
struct pie_subject;

/* A question to a profile: a phrase (subjects.h) or one SQL statement that reads. Context: cli. */
struct pie_query {
    int64_t run;                       /* that it is about */
    struct pie_cursor *cursor;         /* its answer */
    char *sql;                         /* as it is run, parameters written out */
    const struct pie_subject *subject; /* NULL: SQL */
    bool is_limited;                   /* the question says how many rows: "top 10", "all" */
};

/* run: 0, or the run if the question does not name one. Returns 0, or -errno and a line for people (heap): -ENOKEY
 * unknown phrase, -ENOENT no such run, -EINVAL what cannot be understood, or as pie_cursor_open(). */
int pie_query_open(struct pie_reader *reader, const char *text, int64_t run, struct pie_query *ret_query,
                   char **ret_message);
void pie_query_close(struct pie_query *query);
