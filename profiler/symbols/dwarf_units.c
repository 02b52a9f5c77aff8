/* SPDX-License-Identifier: Apache-2.0 */

/* libdw finds units through .debug_aranges, which LLVM does not write, and functions by walking a unit from its start.
 * Both are too weak for a profiler, hence tables of our own: the ranges of all units are read when a module is
 * opened (one DIE each), the functions of a unit when its first address comes (its top level, namespaces and
 * classes; the bodies are skipped). All counts are limited, since hostile or damaged DWARF can describe anything. */

#include "profiler/symbols/dwarf_units.h"
#include "profiler/base/list.h"
#include "profiler/base/own_memory.h"
#include "profiler/base/sort.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>

enum {
    UNITS_MAX = 200000,
    RANGES_MAX = 4000000,
    RANGES_LOOKED_AT_MAX = 16000000, /* units may share a list: 640 kB can ask for 400 million */
    UNIT_ENTRIES_MAX = 1000000,      /* DIEs looked at in one unit */
    NESTING_MAX = 24,                /* of namespaces and classes */
    OVERLAPS_MAX = 16,               /* ranges looked at before giving an address up */
};

static int add_range(struct pie_dwarf_ranges *ranges, uint64_t start, uint64_t end, size_t index) {
    if (ranges->count == ranges->capacity) {
        size_t capacity = ranges->capacity ? ranges->capacity * 2 : 32;
        struct pie_dwarf_range *grown =
            capacity <= RANGES_MAX ? pie_realloc(ranges->ranges, capacity * sizeof(*grown)) : NULL;
        if (!grown)
            return -ENOMEM;
        ranges->ranges = grown;
        ranges->capacity = capacity;
    }
    ranges->ranges[ranges->count++] =
        (struct pie_dwarf_range){.start = start, .end = end, .index = (uint32_t)index};
    return 0;
}

/* Adds all ranges of a DIE. Functions that the linker dropped keep a range at 0 (or 1, or the end of the address
 * space): no code lies there. */
static int add_die_ranges(struct pie_dwarf_ranges *ranges, Dwarf_Die *die, size_t index) {
    Dwarf_Addr base, start, end;
    ptrdiff_t offset = 0;
    while ((offset = dwarf_ranges(die, offset, &base, &start, &end)) > 0) {
        if (ranges->looked_at++ == RANGES_LOOKED_AT_MAX)
            return -ENOEXEC;
        if (start <= 1 || start >= end)
            continue;
        int r = add_range(ranges, start, end, index);
        if (r < 0)
            return r;
    }
    return 0;
}

static int compare_ranges(const void *left, const void *right) {
    const struct pie_dwarf_range *a = left, *b = right;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    return a->end > b->end ? -1 : a->end < b->end;
}

static void sort_ranges(struct pie_dwarf_ranges *ranges) {
    if (pie_sort(ranges->ranges, ranges->count, sizeof(*ranges->ranges), compare_ranges) < 0)
        ranges->count = 0; /* unsorted ranges would give wrong answers */
}

static const struct pie_dwarf_range *find_range(const struct pie_dwarf_ranges *ranges, uint64_t address) {
    size_t low = 0, high = ranges->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (ranges->ranges[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    for (int tries = 0; low > 0 && tries < OVERLAPS_MAX; tries++, low--)
        if (address < ranges->ranges[low - 1].end)
            return &ranges->ranges[low - 1];
    return NULL;
}

static int add_unit(struct pie_dwarf_units *units, const Dwarf_Die *die) {
    if (units->count == units->capacity) {
        size_t capacity = units->capacity ? units->capacity * 2 : 64;
        struct pie_dwarf_unit *grown =
            capacity <= UNITS_MAX ? pie_realloc(units->units, capacity * sizeof(*grown)) : NULL;
        if (!grown)
            return -ENOMEM;
        units->units = grown;
        units->capacity = capacity;
    }
    units->units[units->count] = (struct pie_dwarf_unit){.die = *die};
    int r = add_die_ranges(&units->ranges, &units->units[units->count].die, units->count);
    units->count++;
    return r;
}

int pie_dwarf_units_init(struct pie_dwarf_units *units, Dwarf *dwarf) {
    *units = (struct pie_dwarf_units){0};
    Dwarf_CU *unit = NULL;
    Dwarf_Die die;
    uint8_t type;
    /* No subdie is asked for: that would make libdw open .dwo files. */
    while (dwarf_get_units(dwarf, unit, &unit, NULL, &type, &die, NULL) == 0) {
        if (type != DW_UT_compile && type != DW_UT_skeleton)
            continue;
        int r = add_unit(units, &die);
        if (r < 0) {
            pie_dwarf_units_finish(units);
            return r;
        }
    }
    sort_ranges(&units->ranges);
    return 0;
}

void pie_dwarf_units_finish(struct pie_dwarf_units *units) {
    for (size_t i = 0; i < units->count; i++) {
        pie_free(units->units[i].functions);
        pie_free(units->units[i].function_ranges.ranges);
    }
    pie_free(units->units);
    pie_free(units->ranges.ranges);
    *units = (struct pie_dwarf_units){0};
}

struct pie_dwarf_unit *pie_dwarf_units_find(struct pie_dwarf_units *units, uint64_t address) {
    const struct pie_dwarf_range *range = find_range(&units->ranges, address);
    return range ? &units->units[range->index] : NULL;
}

static int add_function(struct pie_dwarf_unit *unit, Dwarf_Die *die) {
    size_t ranges_before = unit->function_ranges.count;
    int r = add_die_ranges(&unit->function_ranges, die, unit->function_count);
    if (r < 0 || unit->function_ranges.count == ranges_before)
        return r; /* a declaration or an abstract instance */
    Dwarf_Die *list =
        pie_list_grown(unit->functions, unit->function_count, &unit->function_capacity, sizeof *list);
    if (!list) {
        unit->function_ranges.count = ranges_before;
        return -ENOMEM;
    }
    unit->functions = list;
    unit->functions[unit->function_count++] = *die;
    return 0;
}

static bool can_hold_functions(int tag) {
    return tag == DW_TAG_namespace || tag == DW_TAG_module || tag == DW_TAG_class_type ||
           tag == DW_TAG_structure_type || tag == DW_TAG_union_type || tag == DW_TAG_enumeration_type;
}

static int add_functions_below(struct pie_dwarf_unit *unit, Dwarf_Die *parent, int nesting, size_t *budget) {
    Dwarf_Die die;
    if (nesting > NESTING_MAX || dwarf_child(parent, &die) != 0)
        return 0;
    do {
        if ((*budget)-- == 0)
            return -E2BIG;
        int tag = dwarf_tag(&die), r = 0;
        if (tag == DW_TAG_subprogram)
            r = add_function(unit, &die);
        else if (can_hold_functions(tag))
            r = add_functions_below(unit, &die, nesting + 1, budget);
        if (r < 0)
            return r;
    } while (dwarf_siblingof(&die, &die) == 0);
    return 0;
}

Dwarf_Die *pie_dwarf_unit_function(struct pie_dwarf_unit *unit, uint64_t address) {
    if (!unit->is_indexed) {
        unit->is_indexed = true;
        size_t budget = UNIT_ENTRIES_MAX;
        /* What was read before a limit or damage was met is used. */
        (void)add_functions_below(unit, &unit->die, 0, &budget);
        sort_ranges(&unit->function_ranges);
    }
    const struct pie_dwarf_range *range = find_range(&unit->function_ranges, address);
    return range ? &unit->functions[range->index] : NULL;
}
