/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct sqlite3;

enum { PIE_SCHEMA_STATEMENTS_MAX = 256 };

/* The statements of our own schema that make something, in order. Context: drain, cli. */
struct pie_schema_statement {
    const char *sql; /* of a longer text */
    size_t size;     /* without the semicolon and what is before it */
    bool is_table, is_view;
};

const struct pie_schema_statement *pie_schema_statements(size_t *ret_count);

/* Of a table or view: *ret_size bytes of a longer text. */
const char *pie_schema_name(const struct pie_schema_statement *statement, size_t *ret_size);

/* The view of this name; NULL: there is none. */
const struct pie_schema_statement *pie_schema_find_view(const char *name);

/* Makes the schema in an empty database, in the transaction that the caller has begun. This connection, and no other one, does not
 * know the views. Returns an SQLite result code. */
int pie_schema_make(struct sqlite3 *db);
