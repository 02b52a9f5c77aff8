/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct sqlite3;

/* Limits for a file or a query from elsewhere: be read, or written without its own triggers, for a limited time,
 * within limits of size. Context: drain, cli. */
struct pie_guard {
    uint64_t deadline_ns; /* CLOCK_MONOTONIC; 0: none */
    bool is_for_all;      /* no statement gets another one */
};

/* Sizes, and what a hostile schema could reach. Before anything is read. The guard is borrowed. */
void pie_guard_limit(struct sqlite3 *db, struct pie_guard *guard);
/* From now on statements may only read. */
void pie_guard_read_only(struct sqlite3 *db);
void pie_guard_allow_all(struct sqlite3 *db);
void pie_guard_start_clock(struct pie_guard *guard, double seconds);
