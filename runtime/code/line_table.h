/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* The source line of a code unit, by a code object's co_linetable (the location table of 3.11 and later). first_line is
 * co_firstlineno. Returns the 1-based line; 0 if the unit has none or is beyond the table. Any bytes are safe to pass.
 * Context: drain, any. */
int32_t pie_line_table_find(const uint8_t *table, size_t size, int32_t first_line, uint32_t unit);
