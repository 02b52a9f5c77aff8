/* SPDX-License-Identifier: Apache-2.0 */

/* A line's record is never changed: handlers may be reading it. What is new of a line and what was known of it make a
 * new record. Two functions often share a line, and of code without known bounds more becomes known by and by. */

#include "profiler/code/basic_block_lines.h"

#include <errno.h>
#include <string.h>

void pie_basic_block_lines_begin(struct pie_basic_block_lines *lines, struct pie_basic_block_table *table,
                                 unsigned module, uint32_t generation) {
    *lines = (struct pie_basic_block_lines){.table = table, .module = module, .generation = generation};
}

/* The line's slot, or a free one; NULL: there is none near by. */
static _Atomic uint64_t *slot_of(const struct pie_basic_block_lines *lines) {
    struct pie_basic_block_table *table = lines->table;
    uint32_t at = pie_basic_block_hash(lines->line);

    for (int i = 0; i < PIE_BASIC_BLOCK_PROBES_MAX; i++, at = (at + 1) & (PIE_BASIC_BLOCK_SLOTS - 1)) {
        uint64_t slot = atomic_load_explicit(&table->slots[at], memory_order_relaxed);
        if (!slot || pie_basic_block_slot_is_of(table, slot, lines->line, lines->module))
            return &table->slots[at];
    }
    return NULL;
}

/* What was known of the line and is not named anew. */
static void take_over(struct pie_basic_block_lines *lines, uint64_t slot) {
    struct pie_basic_block_line *old = pie_basic_block_line(lines->table, slot);
    uint64_t known = atomic_load_explicit(&old->known, memory_order_relaxed);
    uint64_t first = atomic_load_explicit(&old->first, memory_order_relaxed);
    uint32_t place = 0, n = 0;

    for (unsigned i = 0; i < PIE_BASIC_BLOCK_LINE_BYTES; i++) {
        if (first >> i & 1)
            place = atomic_load_explicit(&old->places[n++], memory_order_relaxed);
        if (known >> i & ~lines->known >> i & 1)
            lines->places[i] = place;
    }
    lines->known |= known;
}

static uint64_t firsts_of(const struct pie_basic_block_lines *lines) {
    uint64_t first = 0;
    uint32_t place = 0;

    for (uint64_t left = lines->known; left; left &= left - 1) {
        uint32_t at = lines->places[__builtin_ctzll(left)];
        if (at != place)
            first |= left & -left;
        place = at;
    }
    return first;
}

static struct pie_basic_block_line *record_of(const struct pie_basic_block_lines *lines) {
    uint64_t first = firsts_of(lines);
    struct pie_basic_block_line *record = pie_basic_block_room(
        lines->table, sizeof *record + (size_t)__builtin_popcountll(first) * sizeof *record->places);
    uint32_t n = 0;

    if (!record)
        return NULL;
    atomic_store_explicit(&record->known, lines->known, memory_order_relaxed);
    atomic_store_explicit(&record->first, first, memory_order_relaxed);
    atomic_store_explicit(&record->module, lines->module, memory_order_relaxed);
    atomic_store_explicit(&record->generation, lines->generation, memory_order_relaxed);
    for (uint64_t left = first; left; left &= left - 1)
        atomic_store_explicit(&record->places[n++], lines->places[__builtin_ctzll(left)],
                              memory_order_relaxed);
    return record;
}

static uint32_t place_of(const struct pie_basic_block_table *table, const void *in_table) {
    return (uint32_t)(((const char *)in_table - (const char *)table) / PIE_BASIC_BLOCK_ALIGN);
}

static int publish(struct pie_basic_block_lines *lines) {
    struct pie_basic_block_table *table = lines->table;
    _Atomic uint64_t *slot = slot_of(lines);
    uint64_t old = slot ? atomic_load_explicit(slot, memory_order_relaxed) : 0;

    if (!slot || (!old && table->filled >= PIE_BASIC_BLOCK_SLOTS_FILLED_MAX))
        return -ENOMEM;
    if (old)
        take_over(lines, old);
    const struct pie_basic_block_line *record = record_of(lines);
    if (!record)
        return -ENOMEM;
    table->filled += !old;
    atomic_store_explicit(slot, lines->line << PIE_BASIC_BLOCK_PLACE_BITS | place_of(table, record),
                          memory_order_release); /* pairs with pie_basic_block_find() */
    return 0;
}

static void close_line(struct pie_basic_block_lines *lines) {
    int r = lines->known ? publish(lines) : 0;

    if (r < 0)
        lines->error = r;
    lines->known = 0;
}

void pie_basic_block_lines_name(struct pie_basic_block_lines *lines, uint64_t ip,
                                const struct pie_basic_block *block) {
    uint64_t line = ip >> PIE_BASIC_BLOCK_LINE_BITS;
    unsigned at = ip % PIE_BASIC_BLOCK_LINE_BYTES;

    if (line != lines->line)
        close_line(lines);
    lines->line = line;
    lines->known |= UINT64_C(1) << at;
    lines->places[at] = place_of(lines->table, block);
}

int pie_basic_block_lines_end(struct pie_basic_block_lines *lines) {
    close_line(lines);
    return lines->error;
}
