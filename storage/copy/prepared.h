/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

struct sqlite3;
struct sqlite3_stmt;

/* Statements of one connection that are run for many files and prepared once. When the schema has changed, SQLite
 * prepares them anew. Context: cli. */
struct pie_prepared {
    struct sqlite3 *db; /* the caller's */
    struct pie_prepared_statement *list;
    size_t count;
};

/* The statement of this text, which the caller resets when done. Returns an SQLite result code. */
int pie_prepared_get(struct pie_prepared *prepared, const char *sql, struct sqlite3_stmt **ret_statement);
void pie_prepared_finish(struct pie_prepared *prepared);
