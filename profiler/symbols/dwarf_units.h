/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The compilation units of a module by address, and in each unit, once it was looked at, its functions by address.
 * Part of dwarf_info.c. Context: drain, cli. */

struct pie_dwarf_range {
    uint64_t start, end;
    uint32_t index; /* of the unit, or of the function in its unit */
};

struct pie_dwarf_ranges {
    struct pie_dwarf_range *ranges; /* by start once sorted */
    size_t count, capacity;
    size_t looked_at; /* those of code that the linker dropped included */
};

struct pie_dwarf_unit {
    Dwarf_Die die;
    bool is_indexed; /* functions are filled in, if they could be */
    bool is_refused; /* too large, or memory for lines was used up */
    bool has_lines;  /* libdw has read the line table */
    Dwarf_Die *functions;
    size_t function_count, function_capacity;
    struct pie_dwarf_ranges function_ranges;
};

struct pie_dwarf_units {
    struct pie_dwarf_unit *units;
    size_t count, capacity;
    struct pie_dwarf_ranges ranges;
};

/* Returns 0 or -ENOMEM. */
int pie_dwarf_units_init(struct pie_dwarf_units *units, Dwarf *dwarf);
void pie_dwarf_units_finish(struct pie_dwarf_units *units);

/* The unit at an address, or NULL. */
struct pie_dwarf_unit *pie_dwarf_units_find(struct pie_dwarf_units *units, uint64_t address);

/* The function of the unit at an address, or NULL. The first call for a unit reads its functions. */
Dwarf_Die *pie_dwarf_unit_function(struct pie_dwarf_unit *unit, uint64_t address);
