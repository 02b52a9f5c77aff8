/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

struct sqlite3;

/* What a file or a query from elsewhere may do with a connection: read, for a limited time, within limits of size.
 * Context: cli. */
struct pie_guard {
    uint64_t deadline_ns; /* CLOCK_MONOTONIC; 0: none */
};

/* Sizes, and what a hostile schema could reach. Before anything is read. The guard is borrowed. */
void pie_guard_limit(struct sqlite3 *db, struct pie_guard *guard);
/* From now on statements may only read. */
void pie_guard_read_only(struct sqlite3 *db);
void pie_guard_allow_all(struct sqlite3 *db);
void pie_guard_start_clock(struct pie_guard *guard, double seconds);
