/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "storage/read/place.h"

struct pie_phrase;

/* Does "in X" leave only what happened in X (storage/read/place.h), before the views? */
enum pie_question_cut {
    PIE_CUT_NOTHING,
    PIE_CUT_CONTEXTS,     /* of X as code; of threads nothing is known */
    PIE_CUT_THREADS,      /* of threads too */
    PIE_CUT_ONLY_THREADS, /* of threads; of X as code, rows are chosen */
};

/* What a question has instead of a view. */
enum pie_question_list {
    PIE_QUESTION_LIST_NONE,
    PIE_QUESTION_LIST_QUESTIONS,
    PIE_QUESTION_LIST_TABLES,
};

/* A question: one line of the table in questions.c each. */
struct pie_question {
    const char *name;            /* as people say it, and as messages do */
    const char *aliases;         /* other ways to say it, separated by '|', or NULL */
    const char *columns;         /* of the SELECT */
    const char *from;            /* view or table */
    enum pie_question_list list; /* or a list of ours */
    const char *where;           /* or NULL; the run is added unless for_all_runs */
    const char *run;             /* how the run is added; NULL: "run = :run" */
    const char *order;
    const char *by_function; /* name of the question that "by function" means, or NULL */
    const char *by_total;    /* name of the question that "by total time" means, or NULL */
    const char *by_cause;    /* name of the question that "by cause" means, or NULL */
    const char
        *in_place; /* name of the question that "in FILE", "in FILE:LINE" and a period mean, NULL: this one */
    const char *needs; /* the message where "in X" is missing, or NULL: it may */
    enum pie_question_cut cut;
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
    /* View of what the rows are made of; its nth is their number by `order`. NULL: there is none. */
    const char *sums;
    bool is_cut_by_nth; /* rows have an nth, and those with the lowest are shown: others lead to them */
    bool is_summary;    /* answered by more than its rows: launcher/summary/summary.h */
};

/* Number of rows printed of a ranked question. */
enum { PIE_QUESTION_ROWS = 20, PIE_QUESTION_LONG_ROWS = 5 };

/* Are the words one of the list's, which '|' separates? Context: cli. */
bool pie_question_is_in(const char *list, const char *words);

/* The question of this name or alias, or NULL. Context: cli. */
const struct pie_question *pie_question_find(const char *words);
const struct pie_question *pie_question_all(size_t *ret_count);

/* Does "in X" choose rows, by the columns for it, and not what is measured? */
bool pie_question_chooses_rows(const struct pie_question *question, enum pie_place_kind kind);

/* The question's column that "by WORD" means, or NULL: it has none. */
const char *pie_question_order(const struct pie_question *question, const char *word);

/* Can it be narrowed to such a place, or to a line of it? */
bool pie_question_has(const struct pie_question *question, enum pie_place_kind kind, bool has_line);

/* The question's SELECT with the parameters :run, :in, :line, :limit that the phrase needs (heap), or NULL. kind: what
 * the phrase's X is; order: a column that comes first in the order, or NULL; is_by_nth: rows behind the parameter :nth
 * are left out. */
char *pie_question_sql(const struct pie_question *question, const struct pie_phrase *phrase,
                       enum pie_place_kind kind, const char *order, bool is_by_nth);
