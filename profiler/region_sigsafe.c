/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/region.h"

#include <stdatomic.h>

#include "profiler/region_layout.h"

/* Allocation is a compare-and-swap on the arena's fill level: lock-free (a thread retries only because
 * another one got memory), async-signal-safe, and nothing is ever reclaimed. */

enum { ALLOC_ALIGN = 8 };

struct pie_region_layout pie_region_layout;

void *pie_region_alloc(enum pie_arena arena, size_t size) {
    struct pie_region_header *header = pie_region_layout.header;
    const size_t capacity = atomic_load(&pie_region_layout.bytes[arena]);

    if (!header || size > capacity)
        return NULL;
    size = (size + ALLOC_ALIGN - 1) & ~(size_t)(ALLOC_ALIGN - 1);

    /* The level hands out disjoint bytes and orders nothing; what is written into them is published by their user's own
     * release. But whoever trims the arena has to see what was taken, or we that it is smaller now: seq_cst. */
    uint64_t used = atomic_load_explicit(&header->used_bytes[arena], memory_order_relaxed);
    do {
        if (used > capacity || size > capacity - used)
            return NULL;
    } while (!atomic_compare_exchange_weak_explicit(&header->used_bytes[arena], &used, used + size,
                                                    memory_order_seq_cst, memory_order_relaxed));
    if (used + size > atomic_load(&pie_region_layout.bytes[arena]))
        return NULL;
    return pie_region_layout.base[arena] + used;
}

void *pie_region_base(enum pie_arena arena) {
    return pie_region_layout.base[arena];
}

size_t pie_region_used(enum pie_arena arena) {
    struct pie_region_header *header = pie_region_layout.header;

    return header ? atomic_load_explicit(&header->used_bytes[arena], memory_order_relaxed) : 0;
}

size_t pie_region_size(enum pie_arena arena) {
    return atomic_load_explicit(&pie_region_layout.bytes[arena], memory_order_relaxed);
}
