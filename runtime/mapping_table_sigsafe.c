/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/mapping_table.h"

#include <stdatomic.h>

enum { PAGE_BITS = 12, COUNT_BITS = 28, ADDRESS_BITS = 64 - COUNT_BITS + PAGE_BITS };

/* 0: free. A forked child goes on with its copy. */
static _Atomic uint64_t ranges[PIE_MAPPING_RANGES];
static _Atomic uint32_t used; /* places from here on were never used */
static _Atomic uint64_t refused;

static uint64_t pack(uintptr_t start, size_t bytes) {
    return (uint64_t)start >> PAGE_BITS << COUNT_BITS | bytes >> PAGE_BITS;
}

static uintptr_t start_of(uint64_t range) {
    return range >> COUNT_BITS << PAGE_BITS;
}

static size_t bytes_of(uint64_t range) {
    return (range & ((UINT64_C(1) << COUNT_BITS) - 1)) << PAGE_BITS;
}

static void raise_used(uint32_t to) {
    uint32_t seen = atomic_load_explicit(&used, memory_order_relaxed);

    while (seen < to && !atomic_compare_exchange_weak_explicit(&used, &seen, to, memory_order_relaxed,
                                                               memory_order_relaxed))
        continue;
}

/* Orders: words are self-contained, and who may touch a range is settled by the program's own order of mmap() and
 * munmap(). So everything is relaxed. */
bool pie_mapping_table_add(uintptr_t start, size_t bytes) {
    if (bytes == 0)
        return false;
    if (start >> ADDRESS_BITS == 0 && bytes >> (COUNT_BITS + PAGE_BITS) == 0)
        for (uint32_t i = 0; i < PIE_MAPPING_RANGES; i++) {
            uint64_t seen = atomic_load_explicit(&ranges[i], memory_order_relaxed);
            if (seen == 0) {
                raise_used(i + 1); /* first, so that nobody who looks for the range stops before it */
                if (atomic_compare_exchange_strong_explicit(&ranges[i], &seen, pack(start, bytes),
                                                            memory_order_relaxed, memory_order_relaxed))
                    return true;
            }
        }
    atomic_fetch_add_explicit(&refused, 1, memory_order_relaxed);
    return false;
}

/* Cuts one range. False: it does not overlap, or has changed meanwhile so that it does no more. */
static bool cut_range(_Atomic uint64_t *range, uintptr_t start, uintptr_t end,
                      struct pie_mapping_cut *ret_cut) {
    uint64_t seen = atomic_load_explicit(range, memory_order_relaxed);

    while (seen) {
        uintptr_t from = start_of(seen), to = from + bytes_of(seen);
        if (to <= start || end <= from)
            return false;
        uintptr_t cut_from = start > from ? start : from, cut_to = end < to ? end : to;
        uint64_t left = cut_from > from ? pack(from, cut_from - from) : 0;
        uint64_t right = cut_to < to ? pack(cut_to, to - cut_to) : 0;
        if (!atomic_compare_exchange_weak_explicit(range, &seen, left ? left : right, memory_order_relaxed,
                                                   memory_order_relaxed))
            continue;
        if (left && right)
            pie_mapping_table_add(cut_to, to - cut_to);
        *ret_cut = (struct pie_mapping_cut){
            .start = from, .bytes = to - from, .cut_start = cut_from, .cut_bytes = cut_to - cut_from};
        return true;
    }
    return false;
}

size_t pie_mapping_table_cut(uintptr_t start, size_t bytes, struct pie_mapping_cut *ret_cuts) {
    uintptr_t end = bytes > UINTPTR_MAX - start ? UINTPTR_MAX : start + bytes;
    uint32_t count = atomic_load_explicit(&used, memory_order_relaxed);
    size_t n = 0;

    for (uint32_t i = 0; i < count && n < PIE_MAPPING_CUTS; i++)
        if (cut_range(&ranges[i], start, end, &ret_cuts[n]))
            n++;
    return n;
}

bool pie_mapping_table_take(uintptr_t start, size_t bytes) {
    uint32_t count = atomic_load_explicit(&used, memory_order_relaxed);
    uint64_t range = pack(start, bytes);

    for (uint32_t i = 0; bytes && i < count; i++) {
        uint64_t seen = range;
        if (atomic_load_explicit(&ranges[i], memory_order_relaxed) == range &&
            atomic_compare_exchange_strong_explicit(&ranges[i], &seen, 0, memory_order_relaxed,
                                                    memory_order_relaxed))
            return true;
    }
    return false;
}

bool pie_mapping_table_is_unused(void) {
    return atomic_load_explicit(&used, memory_order_relaxed) == 0;
}

uint64_t pie_mapping_table_refused(void) {
    return atomic_load_explicit(&refused, memory_order_relaxed);
}
