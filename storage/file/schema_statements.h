/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct sqlite3;

/* The CREATE statements of our own SQL, in order. Context: drain, cli. */

enum { PIE_STATEMENTS_MAX = 256 }; /* of tables and indices, and of views */

struct pie_schema_statement {
    const char *sql; /* of a longer text */
    size_t size;     /* without the semicolon and what is before it */
    const char *name;
    size_t name_size;
    bool is_table; /* else an index or a view */
};

/* embed-text finds them when pieprof is built. */
struct pie_schema_list {
    const struct pie_schema_statement *list;
    size_t count;
};

extern const struct pie_schema_list pie_tables_sql_statements, pie_views_sql_statements;

/* Tables and their indices. */
const struct pie_schema_statement *pie_schema_tables(size_t *ret_count);
const struct pie_schema_statement *pie_schema_views(size_t *ret_count);

/* The view of this name, in either case; NULL: there is none. */
const struct pie_schema_statement *pie_schema_find_view(const char *name, size_t size);

/* Calls act(column, size, data) for each column of a table of ours until it returns false. */
void pie_schema_columns(const struct pie_schema_statement *table,
                        bool (*act)(const char *column, size_t size, void *data), void *data);

/* Makes the tables in an empty database, in the transaction that the caller has begun. Returns an SQLite result
 * code. */
int pie_schema_make(struct sqlite3 *db);
