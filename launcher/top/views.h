/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* The views of pieprof top: a statement each, and the columns that its figures fill. A new one is a row of the table in
 * views.c. Context: cli. */

enum {
    PIE_TOP_FIGURES_MAX = 14,
    PIE_TOP_COLUMNS_MAX = 10,
    PIE_TOP_SHAPES = 2, /* own and total */
};

enum pie_top_kind {
    PIE_TOP_NOTHING, /* behind the last column */
    PIE_TOP_SECONDS,
    PIE_TOP_SHARE, /* 1: all */
    PIE_TOP_PART,  /* the figure as a share of the column's `of` */
    PIE_TOP_BYTES,
    PIE_TOP_COUNT,
};

struct pie_top_column {
    const char *title;
    enum pie_top_kind kind;
    int figure; /* its place in the row */
    int of;     /* PIE_TOP_PART: place of the whole */
    int rank;   /* where there is no room for all columns, those of the highest rank leave first */
};

/* What the last columns of a statement are. */
enum pie_top_text {
    PIE_TOP_TEXT_NAME,    /* of the row */
    PIE_TOP_TEXT_FILE,    /* NULL: it has none */
    PIE_TOP_TEXT_LINE,    /* of the file */
    PIE_TOP_TEXT_LIBRARY, /* NULL: own code */
    PIE_TOP_TEXT_MORE,    /* a source line, advice, …; NULL: nothing */
    PIE_TOP_TEXTS,
};

struct pie_top_view {
    const char *name;    /* as on the tab */
    char key;            /* that chooses it */
    const char *title;   /* of the text column */
    const char *nothing; /* said where there are no rows */
    /* A SELECT with the parameter :run. Its columns: `figures` numbers, then the texts. Its order is that of rows with
     * equal figures. */
    const char *sql;
    int figures;
    /* The columns; a view with own and total figures has two shapes, others one. */
    struct pie_top_column columns[PIE_TOP_SHAPES][PIE_TOP_COLUMNS_MAX];
    int shapes;
    int sort[PIE_TOP_SHAPES]; /* column that orders the rows at first; -1: the statement does */
    bool is_place_first;      /* the place names the row better than its name does */
};

enum pie_top_view_id {
    PIE_TOP_FUNCTIONS,
    PIE_TOP_LINES,
    PIE_TOP_THREADS,
    PIE_TOP_MEMORY,
    PIE_TOP_FINDINGS,
    PIE_TOP_VIEWS,
};

const struct pie_top_view *pie_top_view(enum pie_top_view_id id);
/* The view of this name in lower case, or -1. */
int pie_top_view_find(const char *name);

size_t pie_top_column_count(const struct pie_top_column *columns);
