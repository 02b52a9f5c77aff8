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

uint32_t pie_basic_block_hash(uint64_t ip) {
    return (uint32_t)(pie_hash_upper(ip) >> 40) & (PIE_BASIC_BLOCK_SLOTS - 1);
}

uint32_t pie_basic_block_generation(void) {
    struct pie_basic_block_table *table = pie_basic_block_table();

    return table ? atomic_load_explicit(&table->generation, memory_order_acquire) : 0;
}

bool pie_basic_block_table_is_current(const struct pie_basic_block_table *table) {
    return atomic_load_explicit(&table->rewrites, memory_order_acquire) == pie_code_modules_rewrites();
}

static const struct pie_basic_block *block_at(struct pie_basic_block_table *table, uint32_t number) {
    uint32_t offset = atomic_load_explicit(
        &table->offsets[number >> PIE_BASIC_BLOCK_SLOTS_BITS][number & (PIE_BASIC_BLOCK_SLOTS - 1)],
        memory_order_relaxed);

    return (const struct pie_basic_block *)((char *)table + offset);
}

static bool is_of(const struct pie_basic_block *block, uint64_t ip, unsigned module) {
    return block->module == module &&
           (module || pie_home_contains((uintptr_t)ip) || block->generation == pie_code_generation());
}

int32_t pie_basic_block_number(uint64_t ip, unsigned module) {
    struct pie_basic_block_table *table = pie_basic_block_table();
    uint32_t at = pie_basic_block_hash(ip);

    if (table && !pie_basic_block_table_is_current(table))
        return -1;
    for (int i = 0; table && i < PIE_BASIC_BLOCK_PROBES_MAX;
         i++, at = (at + 1) & (PIE_BASIC_BLOCK_SLOTS - 1)) {
        uint64_t slot =
            atomic_load_explicit(&table->slots[at], memory_order_acquire); /* release in publish() */
        uint32_t number = slot & ((1 << PIE_BASIC_BLOCK_NUMBER_BITS) - 1);
        if (!slot)
            break;
        if (slot >> PIE_BASIC_BLOCK_NUMBER_BITS == ip && is_of(block_at(table, number), ip, module))
            return (int32_t)number;
    }
    return -1;
}

const struct pie_basic_block *pie_basic_block_find(uint64_t ip, unsigned module) {
    int32_t number = pie_basic_block_number(ip, module);

    return number < 0 ? NULL : block_at(pie_basic_block_table(), (uint32_t)number);
}
