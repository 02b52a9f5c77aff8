/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The source line of a code unit, by a code object's co_linetable (the location table of 3.11 and later). first_line is
 * co_firstlineno. Returns the 1-based line; 0 if the unit has none or is beyond the table. Any bytes are safe to pass.
 * Context: drain, any. */
int32_t pie_line_table_find(const uint8_t *table, size_t size, int32_t first_line, uint32_t unit);

/* A walk over the entries of such a table, which begins with {.current = first_line}. */
struct pie_line_entry {
    uint32_t first_unit, units;
    int32_t line;     /* as above */
    size_t at;        /* in the table: the next entry */
    uint32_t current; /* unsigned: hostile deltas wrap */
};

/* Context: drain, any. */
bool pie_line_table_next(const uint8_t *table, size_t size, struct pie_line_entry *entry);
