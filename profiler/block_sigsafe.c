/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/block.h"

#include "profiler/block_table.h"
#include "profiler/region.h"

#include <stddef.h>

struct pie_block_table *pie_block_table(void) {
    return pie_region_used(PIE_ARENA_BLOCKS) >= sizeof(struct pie_block_table)
               ? pie_region_base(PIE_ARENA_BLOCKS)
               : NULL;
}

uint32_t pie_block_hash(uint64_t ip) {
    return (uint32_t)(ip * UINT64_C(0x9e3779b97f4a7c15) >> 40) & (PIE_BLOCK_SLOTS - 1);
}

uint32_t pie_block_generation(void) {
    struct pie_block_table *table = pie_block_table();

    return table ? atomic_load_explicit(&table->generation, memory_order_acquire) : 0;
}

const struct pie_block *pie_block_find(uint64_t ip) {
    struct pie_block_table *table = pie_block_table();
    uint32_t at = pie_block_hash(ip);

    for (int i = 0; table && i < PIE_BLOCK_PROBES_MAX; i++, at = (at + 1) & (PIE_BLOCK_SLOTS - 1)) {
        struct pie_block_slot *slot = &table->slots[at];
        uint64_t key = atomic_load_explicit(&slot->ip, memory_order_acquire);
        if (key == ip)
            return (const struct pie_block *)((char *)table +
                                              atomic_load_explicit(&slot->offset, memory_order_relaxed));
        if (!key)
            break;
    }
    return NULL;
}
