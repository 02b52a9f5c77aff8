/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/code/items.h"

#include "profiler/base/clocks.h"
#include "profiler/base/hash.h"
#include "profiler/base/safe_load.h"

/* A handler may have to look at thousands of items. So they are loaded many at a time, and few instructions are left
 * for each. The sum of multiplicative hashes is the hash of the sum. An empty slot has the hash 0, which becomes the
 * greatest number when 1 is taken off. */

enum { CHUNK_WORDS = 128, CHUNKS_STEP = 4 /* between looks at the time */ };

static const uint64_t TAKES_MAX_NS = 25000;

static uint64_t least_of(uint64_t least, const uintptr_t *words, size_t count, uint32_t slot_words) {
    for (size_t i = 0; i < count; i += slot_words) {
        uint64_t hash = pie_hash_upper(words[i]) - 1;
        least = hash < least ? hash : least;
    }
    return least;
}

static uint64_t sum_of(const uintptr_t *words, size_t count, uint32_t slot_words) {
    uint64_t sum = 0;

    for (size_t i = 0; i < count; i += slot_words)
        sum += words[i];
    return sum;
}

bool pie_items_sketch_take(const struct pie_items *items, struct pie_items_sketch *ret_sketch) {
    uint64_t until_ns = pie_monotonic_ns() + TAKES_MAX_NS, least = UINT64_MAX, sum = 0;
    uint64_t left = (items->slots < PIE_ITEMS_MAX ? items->slots : PIE_ITEMS_MAX) * items->slot_words;
    uintptr_t words[CHUNK_WORDS], at = items->address;

    for (int chunk = 1; left > 0; chunk++) {
        size_t count = left < CHUNK_WORDS ? left : CHUNK_WORDS;
        if (!pie_safe_words(words, (const void *)at, count) ||
            (chunk % CHUNKS_STEP == 0 && pie_monotonic_ns() > until_ns))
            return false;
        least = least_of(least, words, count, items->slot_words);
        sum += sum_of(words, count, items->slot_words);
        at += count * sizeof *words;
        left -= count;
    }
    *ret_sketch = (struct pie_items_sketch){.least = least + 1, .sum = pie_hash_upper(sum)};
    return true;
}
