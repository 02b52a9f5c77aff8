/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct sqlite3;

/* The CREATE statements of our own SQL, in order. Context: drain, cli. */

enum { PIE_TABLES_MAX = 64, PIE_VIEWS_MAX = 128 };

struct pie_schema_statement {
    const char *sql; /* of a longer text */
    size_t size;     /* without the semicolon and what is before it */
    const char *name;
    size_t name_size;
    bool is_table; /* else an index or a view */
};

/* Tables and their indices; at most PIE_TABLES_MAX. */
const struct pie_schema_statement *pie_schema_tables(size_t *ret_count);
/* At most PIE_VIEWS_MAX. */
const struct pie_schema_statement *pie_schema_views(size_t *ret_count);

/* The view of this name, in either case; NULL: there is none. */
const struct pie_schema_statement *pie_schema_find_view(const char *name, size_t size);

/* Calls act(column, size, data) for each column of a table of ours until it returns false. */
void pie_schema_columns(const struct pie_schema_statement *table,
                        bool (*act)(const char *column, size_t size, void *data), void *data);

/* Makes the tables in an empty database, in the transaction that the caller has begun. Returns an SQLite result
 * code. */
int pie_schema_make(struct sqlite3 *db);
