/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The one maker of our virtual tables (https://www.sqlite.org/vtab.html): tables to read, whose rows a kind of table
 * works out from what is asked for. All of them may be used in views of a file that one does not trust. Context: cli,
 * drain. */

enum { PIE_ROW_TABLE_VALUES = 4 };

/* A condition on a column that is handed to begin(). */
struct pie_row_table_condition {
    int column;
    unsigned char operators; /* bits: SQLITE_INDEX_CONSTRAINT_EQ, ..._GT, ..._LE, ..._LT, ..._GE */
    unsigned char values;    /* bits: which values of begin() the column is compared with */
    bool is_exact;           /* no other rows come; else SQLite looks at each row again */
};

/* Begins a kind's own struct for a connection's table; the rest of that is 0 at first. */
struct pie_row_table {
    sqlite3_vtab base;
    sqlite3 *db;
    const struct pie_row_table_kind *kind;
    const void *data; /* as it was added */
};

/* Begins a kind's own struct for a cursor; the rest of that is 0 at first. */
struct pie_row_cursor {
    sqlite3_vtab_cursor base;
    int64_t nth;
};

/* Functions that return int return an SQLite result code. */
struct pie_row_table_kind {
    size_t table_bytes, cursor_bytes;
    const struct pie_row_table_condition *conditions; /* up to one with operators 0 */
    bool needs_first;                                 /* without value 0 no rows can be had */
    double cost, cost_of_all;                         /* with value 0, and without it */
    int64_t rows, rows_of_all;
    /* "CREATE TABLE x (...)", by sqlite3_malloc(). May also make what rows are read from. */
    char *(*declare)(sqlite3 *db, const void *data);
    /* To the first row. values: NULL where nothing is asked for. May be called again and again. */
    int (*begin)(struct pie_row_cursor *cursor, sqlite3_value *const values[PIE_ROW_TABLE_VALUES]);
    int (*next)(struct pie_row_cursor *cursor);
    bool (*has_row)(const struct pie_row_cursor *cursor);
    void (*answer)(const struct pie_row_cursor *cursor, int column, sqlite3_context *context);
    void (*end)(struct pie_row_cursor *cursor);  /* releases what begin() took, if it was called */
    void (*forget)(struct pie_row_table *table); /* releases what the table keeps; NULL: nothing */
};

struct pie_row_table *pie_row_table_of(const struct pie_row_cursor *cursor);

/* What is wrong, where SQLite's own message for the code does not say it; sqlite3_mprintf() makes it. Returns code. */
int pie_row_table_fail(struct pie_row_table *table, int code, char *message);

/* Registers the table by this name: "CREATE VIRTUAL TABLE ... USING" makes it, but it is had by its name, too, where
 * nothing else has that. kind and data are borrowed. Returns an SQLite result code. */
int pie_row_table_add(sqlite3 *db, const char *name, const struct pie_row_table_kind *kind, const void *data);
