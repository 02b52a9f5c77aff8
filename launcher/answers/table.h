/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Tables for people: cells of text, as wide as the terminal. Context: cli. */

enum pie_table_kind {
    PIE_TABLE_NUMBER, /* to the right, never cut */
    PIE_TABLE_TEXT,   /* cut at the end where the table is too wide */
    PIE_TABLE_PATH,   /* cut at the beginning */
};

struct pie_table_column {
    char *name;
    enum pie_table_kind kind;
    bool is_hidden;
    bool has_value; /* some cell is neither missing nor a zero */
    size_t width;   /* of what was written */
};

struct pie_table {
    struct pie_table_column *columns;
    size_t column_count;
    char **cells; /* row by row; NULL: missing */
    size_t row_count, row_capacity;
    size_t bytes;    /* of the cells, about */
    bool is_partial; /* more rows are to come */
    bool is_cut;     /* to the width of a terminal */
};

int pie_table_init(struct pie_table *table, size_t column_count);
void pie_table_finish(struct pie_table *table);
/* The name is copied. */
int pie_table_set_column(struct pie_table *table, size_t column, const char *name, enum pie_table_kind kind);
/* Adds an empty row; its number is row_count - 1. Returns 0 or -ENOMEM. */
int pie_table_add_row(struct pie_table *table);
/* Takes the heap string `text` (NULL: missing) for a cell of the last row. Text from a file must have gone through
 * pie_text_printable(). */
void pie_table_take_cell(struct pie_table *table, size_t column, char *text);
/* The same of a number that is 0: a column of only such ones says nothing. */
void pie_table_take_zero(struct pie_table *table, size_t column, char *text);

/* Hides columns in which every cell is missing or taken as a zero (unless more rows are to come), then from the right
 * such that do not fit; the first `keep` columns stay. Returns the number of columns left out for want of room. Cuts
 * text and paths to what is left. columns: of the terminal, 0: no limit. */
size_t pie_table_fit(struct pie_table *table, size_t columns, size_t keep);
/* Returns 0 or -errno. */
int pie_table_write(struct pie_table *table, FILE *out, bool colours);
/* Of a table that has been written: takes its rows away, for further ones, which are set below the same columns; on a
 * terminal (pie_table_fit()) they are cut to these. */
void pie_table_clear(struct pie_table *table);
void pie_table_write_more(struct pie_table *table, FILE *out);
