/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/code/basic_block.h"

#include "profiler/base/hash.h"
#include "profiler/base/home.h"
#include "profiler/base/region.h"
#include "profiler/code/basic_block_table.h"
#include "profiler/code/generation.h"
#include "profiler/code/modules.h"

#include <stddef.h>

struct pie_basic_block_table *pie_basic_block_table(void) {
    return pie_region_used(PIE_ARENA_BASIC_BLOCKS) >= sizeof(struct pie_basic_block_table)
               ? pie_region_base(PIE_ARENA_BASIC_BLOCKS)
               : NULL;
}

uint32_t pie_basic_block_hash(uint64_t line) {
    return (uint32_t)(pie_hash_upper(line) >> 40) & (PIE_BASIC_BLOCK_SLOTS - 1);
}

uint32_t pie_basic_block_generation(void) {
    struct pie_basic_block_table *table = pie_basic_block_table();

    return table ? atomic_load_explicit(&table->generation, memory_order_acquire) : 0;
}

bool pie_basic_block_table_is_current(const struct pie_basic_block_table *table) {
    return atomic_load_explicit(&table->rewrites, memory_order_acquire) == pie_code_modules_rewrites();
}

static void *at_place(const struct pie_basic_block_table *table, uint64_t place) {
    return (char *)table + place * PIE_BASIC_BLOCK_ALIGN;
}

struct pie_basic_block_line *pie_basic_block_line(const struct pie_basic_block_table *table, uint64_t slot) {
    return at_place(table, slot & ((UINT64_C(1) << PIE_BASIC_BLOCK_PLACE_BITS) - 1));
}

bool pie_basic_block_slot_is_of(const struct pie_basic_block_table *table, uint64_t slot, uint64_t line,
                                unsigned module) {
    if (slot >> PIE_BASIC_BLOCK_PLACE_BITS != line)
        return false;
    const struct pie_basic_block_line *record = pie_basic_block_line(table, slot);
    return atomic_load_explicit(&record->module, memory_order_relaxed) == module &&
           (module || pie_home_contains((uintptr_t)(line << PIE_BASIC_BLOCK_LINE_BITS)) ||
            atomic_load_explicit(&record->generation, memory_order_relaxed) == pie_code_generation());
}

static const struct pie_basic_block_line *line_of(const struct pie_basic_block_table *table, uint64_t ip,
                                                  unsigned module) {
    uint64_t line = ip >> PIE_BASIC_BLOCK_LINE_BITS;
    uint32_t at = pie_basic_block_hash(line);

    for (int i = 0; i < PIE_BASIC_BLOCK_PROBES_MAX; i++, at = (at + 1) & (PIE_BASIC_BLOCK_SLOTS - 1)) {
        uint64_t slot =
            atomic_load_explicit(&table->slots[at], memory_order_acquire); /* release in publish() */
        if (!slot)
            return NULL;
        if (pie_basic_block_slot_is_of(table, slot, line, module))
            return pie_basic_block_line(table, slot);
    }
    return NULL;
}

/* 0: no instruction is known at ip. */
static uint32_t place_in(const struct pie_basic_block_line *line, uint64_t ip) {
    unsigned bit = ip % PIE_BASIC_BLOCK_LINE_BYTES;
    uint64_t upto = ~UINT64_C(0) >> (63 - bit);

    if (!(atomic_load_explicit(&line->known, memory_order_relaxed) >> bit & 1))
        return 0;
    int nth = __builtin_popcountll(atomic_load_explicit(&line->first, memory_order_relaxed) & upto);
    return nth ? atomic_load_explicit(&line->places[nth - 1], memory_order_acquire) : 0;
}

const struct pie_basic_block *pie_basic_block_find(uint64_t ip, unsigned module) {
    const struct pie_basic_block_table *table = pie_basic_block_table();

    if (!table || !pie_basic_block_table_is_current(table))
        return NULL;
    uint32_t generation = atomic_load_explicit(&table->generation, memory_order_acquire);
    const struct pie_basic_block_line *line = line_of(table, ip, module);
    uint32_t place = line ? place_in(line, ip) : 0;
    /* the place was read before this: its record was not being written anew */
    bool is_whole = atomic_load_explicit(&table->generation, memory_order_relaxed) - generation < 2;
    return place && is_whole ? at_place(table, place) : NULL;
}
