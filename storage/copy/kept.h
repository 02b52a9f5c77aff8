/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

struct sqlite3;
struct sqlite3_stmt;

/* Statements of one connection that are run for many files and prepared once. When the schema has changed, SQLite
 * prepares them anew. Context: cli. */
struct pie_kept {
    struct sqlite3 *db; /* the caller's */
    struct pie_kept_statement *list;
    size_t count;
};

/* The statement of this text, which the caller resets when done. Returns an SQLite result code. */
int pie_kept_prepare(struct pie_kept *kept, const char *sql, struct sqlite3_stmt **ret_statement);
void pie_kept_finish(struct pie_kept *kept);
