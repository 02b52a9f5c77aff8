/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sqlite3;
struct sqlite3_context;
struct sqlite3_stmt;

/* Tables of the reader whose rows are worked out in C, all of a process at once (row_table.h). The process has to be
 * given ("WHERE process = ...", or a join). The rows of the last process are kept, so all questions share one pass as
 * long as nobody writes to the file. Cuts of the reader unmake the tables (pie_views_drop()). Context: cli. */

/* How many columns of a table are had here: the process; the kind of row as well; the run that is asked for as well,
 * which is the process's. */
enum { PIE_PROCESS_ROWS_PLAIN = 1, PIE_PROCESS_ROWS_KINDS, PIE_PROCESS_ROWS_RUNS };

/* Functions that return int return an SQLite result code. */
struct pie_process_rows_ops {
    const char *declaration; /* "CREATE TABLE x (process INTEGER, ...)" */
    int first_columns;
    const char *needs; /* a statement that makes tables which read() names */
    /* Works out the rows. *ret_rows is released in either case. */
    int (*read)(struct sqlite3 *db, int64_t process, void **ret_rows);
    /* More in place of the rows, when those have been seen; NULL: read() reads all. */
    int (*read_more)(void *rows);
    bool (*has_more)(const void *rows); /* those are not kept */
    void (*release)(void *rows);
    size_t (*count)(const void *rows);
    /* 0: the row is left out. NULL: there are no kinds. */
    int64_t (*kind)(const void *rows, size_t row);
    /* Any column behind the first ones. */
    void (*answer)(const void *rows, size_t row, int column, struct sqlite3_context *context);
};

/* Registers it as pie_row_table_add() does. */
int pie_process_rows_add(struct sqlite3 *db, const char *name, const struct pie_process_rows_ops *ops);

/* Is there what the statement names? Any other fault of it is for whoever runs it. */
bool pie_process_rows_can(struct sqlite3 *db, const char *sql);

/* Hands each row of a statement with the parameter ?1, the process, to take(), which returns 0 or an SQLite result
 * code. Returns such a code. */
int pie_process_rows_each(struct sqlite3 *db, const char *sql, int64_t process,
                          int (*take)(void *data, struct sqlite3_stmt *row), void *data);
