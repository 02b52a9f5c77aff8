/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "storage/read/place.h"

struct pie_phrase;

/* Does "in X" leave only what happened in X (storage/read/place.h), before the views? */
enum pie_subject_cut {
    PIE_CUT_NOTHING,
    PIE_CUT_CONTEXTS, /* of X as code; of threads nothing is known */
    PIE_CUT_THREADS,  /* of threads too */
};

/* A question: one line of the table in subjects.c each. */
struct pie_subject {
    const char *name;    /* as people say it, and as messages do */
    const char *aliases; /* other ways to say it, separated by '|', or NULL */
    const char *columns; /* of the SELECT */
    const char *from;    /* view or table */
    const char *where;   /* or NULL; "run = :run" is added unless for_all_runs */
    const char *order;
    const char *by_function; /* name of the subject that "by function" means, or NULL */
    const char *in_place;    /* name of the subject that "in FILE" and "in FILE:LINE" mean, NULL: this one */
    enum pie_subject_cut cut;
    /* Where nothing is cut, the columns by which "in X" chooses rows, separated by blanks, or NULL: it cannot. Those of
     * files with that of the line behind a colon: "file:line user_file:user_line". */
    const char *files, *functions, *libraries;
    const char *when_empty; /* the text for people where there are no rows, or NULL */
    bool is_timed;          /* it can be asked of a period of time */
    bool for_all_runs;
    bool is_tree; /* rows have a depth by which people see the function indented */
    bool
        is_ranked; /* the first rows are the important ones: only these are printed unless all are asked for */
    bool has_long_rows; /* a row fills a screen */
};

/* Number of rows printed of a ranked question. */
enum { PIE_SUBJECT_ROWS = 20, PIE_SUBJECT_LONG_ROWS = 5 };

/* The subject of this name or alias, or NULL. Context: cli. */
const struct pie_subject *pie_subject_find(const char *words);
const struct pie_subject *pie_subject_all(size_t *ret_count);

/* Can it be narrowed to such a place, or to a line of it? */
bool pie_subject_has(const struct pie_subject *subject, enum pie_place_kind kind, bool has_line);

/* The subject's SELECT with the parameters :run, :in, :line, :limit that the phrase needs (heap), or NULL. kind: what
 * the phrase's X is. */
char *pie_subject_sql(const struct pie_subject *subject, const struct pie_phrase *phrase,
                      enum pie_place_kind kind);
