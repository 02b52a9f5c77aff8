/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct sqlite3;
struct sqlite3_stmt;

/* Limits for a file or a query from elsewhere: be read, or written without its own triggers, for a limited time,
 * within limits of size. Context: drain, cli. */
struct pie_guard {
    uint64_t deadline_ns; /* CLOCK_MONOTONIC; 0: none */
    bool is_for_all;      /* no statement gets another one */
    bool is_lifted;       /* while SQLite makes the table of a function, which is in memory only */
    bool has_functions;   /* all such tables have been made */
};

/* Sizes, and what a hostile schema could reach. Before anything is read. The guard is borrowed. */
void pie_guard_limit(struct sqlite3 *db, struct pie_guard *guard);
/* From now on statements may only read. The guard is borrowed. */
void pie_guard_read_only(struct sqlite3 *db, struct pie_guard *guard);
/* As sqlite3_prepare_v2(), of a statement that may name any table-valued function. Returns an SQLite result code. */
int pie_guard_prepare(struct sqlite3 *db, struct pie_guard *guard, const char *sql,
                      struct sqlite3_stmt **ret_statement, const char **ret_rest);
void pie_guard_allow_all(struct sqlite3 *db);
void pie_guard_start_clock(struct pie_guard *guard, double seconds);
