/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct pie_phrase;

/* What one can ask for: one line of the table in subjects.c each. */
struct pie_subject {
    const char *name;    /* as people say it, and as messages do */
    const char *aliases; /* other ways to say it, separated by '|', or NULL */
    const char *columns; /* of the SELECT */
    const char *from;    /* view or table */
    const char *where;   /* or NULL; "run = :run" is added unless for_all_runs */
    const char *order;
    const char *by_function; /* name of the subject that "by function" means, or NULL */
    const char *in_place;    /* name of the subject that "in FILE" and "in FILE:LINE" mean, NULL: this one */
    const char *in_file;     /* condition with :file that "in FILE" adds, NULL: it cannot be narrowed so */
    const char *in_line;     /* condition with :file and :line that "in FILE:LINE" adds, or NULL */
    const char *when_empty;  /* what people are told where there are no rows, or NULL */
    bool for_all_runs;
    bool is_tree;   /* rows have a depth by which people see the function indented */
    bool is_ranked; /* the first rows are the important ones: people see only some unless they ask for all */
};

/* The subject of this name or alias, or NULL. Context: cli. */
const struct pie_subject *pie_subject_find(const char *words);
const struct pie_subject *pie_subject_all(size_t *ret_count);

/* The subject's SELECT with the parameters :run, :file, :line, :limit that the phrase needs (heap), or NULL. */
char *pie_subject_sql(const struct pie_subject *subject, const struct pie_phrase *phrase);
