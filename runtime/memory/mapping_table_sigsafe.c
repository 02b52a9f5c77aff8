/* SPDX-License-Identifier: Apache-2.0 */

/* A word is a key and a number. Of a range, these are its first page and its pages. Of a node of the tree: its level
 * and which granule of that level it is, and how many ranges start there. Level 0 are the ranges, by page; a granule
 * of the next level has FAN of them. The FAN words that share a parent stand in the same two buckets, each in the one
 * that had more room ("balanced allocations", Azar and others, 1994), so one look at two buckets shows all children
 * of a parent.
 *
 * A range's nodes are counted up before it is put in and down after it is taken out. Two threads that count up a node
 * that is not there may make two words of it; their sum is the node's count, and words of 0 are gone.
 *
 * Orders: words are self-contained, and who may touch a range is settled by the program's own order of mmap() and
 * munmap(). So everything is relaxed. */
#include "runtime/memory/mapping_table.h"

#include "profiler/base/hash.h"

#include <stdatomic.h>

#ifndef PIE_MAPPING_LOOK
#define PIE_MAPPING_LOOK() ((void)0) /* a test counts the words that are looked at */
#endif

enum { PAGE_BITS = 12, COUNT_BITS = 28, PAGE_NUMBER_BITS = 64 - COUNT_BITS, FAN_BITS = 4 };
enum { LEVELS = PAGE_NUMBER_BITS / FAN_BITS, LEVEL_SHIFT = PAGE_NUMBER_BITS - FAN_BITS };
enum { BUCKET_WORDS = 32, RANGE_BUCKETS = 1 << 13, NODE_BUCKETS = 1 << 14, COUNT_DOWN_TRIES = 64 };

typedef _Atomic uint64_t bucket[BUCKET_WORDS];

/* 0: free. A forked child goes on with its copy. */
static bucket ranges[RANGE_BUCKETS], nodes[NODE_BUCKETS];
static _Atomic uint32_t live;
static _Atomic bool used; /* never reset: something was counted once */
static _Atomic uint64_t refused;

static uint64_t pack(uintptr_t start, size_t bytes) {
    return (uint64_t)start >> PAGE_BITS << COUNT_BITS | bytes >> PAGE_BITS;
}

static bool is_expressible(uintptr_t start, size_t bytes) {
    return bytes >> PAGE_BITS && start >> (PAGE_NUMBER_BITS + PAGE_BITS) == 0 &&
           bytes >> (COUNT_BITS + PAGE_BITS) == 0;
}

static uint64_t key_of(uint64_t word) {
    return word >> COUNT_BITS;
}

static uint64_t count_of(uint64_t word) {
    return word & ((UINT64_C(1) << COUNT_BITS) - 1);
}

static uint64_t node_key(unsigned level, uint64_t page) {
    return (uint64_t)level << LEVEL_SHIFT | page >> level * FAN_BITS;
}

static uint64_t look(_Atomic uint64_t *place) {
    PIE_MAPPING_LOOK();
    return atomic_load_explicit(place, memory_order_relaxed);
}

static bool swap(_Atomic uint64_t *place, uint64_t seen, uint64_t word) {
    return atomic_compare_exchange_strong_explicit(place, &seen, word, memory_order_relaxed,
                                                   memory_order_relaxed);
}

/* The two buckets of a key and its siblings. The mixing is that of a multiply-and-shift hash, twice. */
static void find_buckets(unsigned level, uint64_t key, bucket **ret_buckets) {
    bucket *table = level ? nodes : ranges;
    uint64_t last = (level ? NODE_BUCKETS : RANGE_BUCKETS) - 1, hash = key >> FAN_BITS;

    hash = pie_hash_upper(hash ^ hash >> 31);
    hash = (hash ^ hash >> 29) * UINT64_C(0xd1b54a32d192ed03);
    uint64_t first = hash >> 48 & last, second = hash >> 32 & last;
    ret_buckets[0] = &table[first];
    ret_buckets[1] = &table[second == first ? first ^ 1 : second];
}

/* A place with this key, and what was seen there; NULL: none. */
static _Atomic uint64_t *find(unsigned level, uint64_t key, uint64_t *ret_seen) {
    bucket *buckets[2];

    find_buckets(level, key, buckets);
    for (unsigned i = 0; i < 2 * BUCKET_WORDS; i++) {
        _Atomic uint64_t *place = &(*buckets[i / BUCKET_WORDS])[i % BUCKET_WORDS];
        uint64_t seen = look(place);
        if (seen && key_of(seen) == key) {
            *ret_seen = seen;
            return place;
        }
    }
    return NULL;
}

/* The same for the last key of this one's siblings that is not after it. */
static _Atomic uint64_t *find_last(unsigned level, uint64_t key, uint64_t *ret_seen) {
    _Atomic uint64_t *found = NULL;
    uint64_t seen, first = key >> FAN_BITS << FAN_BITS;
    bucket *buckets[2];

    find_buckets(level, key, buckets);
    for (unsigned i = 0; i < 2 * BUCKET_WORDS; i++) {
        _Atomic uint64_t *place = &(*buckets[i / BUCKET_WORDS])[i % BUCKET_WORDS];
        seen = look(place);
        if (seen && key_of(seen) >= first && key_of(seen) <= key) {
            *ret_seen = seen;
            found = place;
            first = key_of(seen) + 1;
        }
    }
    return found;
}

static unsigned free_in(bucket *words) {
    unsigned n = 0;

    for (unsigned i = 0; i < BUCKET_WORDS; i++)
        n += look(&(*words)[i]) == 0;
    return n;
}

static bool put_in(bucket *words, uint64_t word) {
    for (unsigned i = 0; i < BUCKET_WORDS; i++)
        if (look(&(*words)[i]) == 0 && swap(&(*words)[i], 0, word))
            return true;
    return false;
}

static bool put(unsigned level, uint64_t word) {
    bucket *buckets[2];

    find_buckets(level, key_of(word), buckets);
    bool roomier = free_in(buckets[1]) > free_in(buckets[0]);
    return put_in(buckets[roomier], word) || put_in(buckets[!roomier], word);
}

static bool count_up(unsigned level, uint64_t page) {
    uint64_t key = node_key(level, page), seen;
    _Atomic uint64_t *place;

    while ((place = find(level, key, &seen)))
        if (swap(place, seen, seen + 1))
            return true;
    return put(level, key << COUNT_BITS | 1);
}

/* Not found: another thread took one of two words while this one looked at the places before the other. A count that
 * stays too high after this many tries only costs later searches a useless look. */
static void count_down(unsigned level, uint64_t page) {
    for (int misses = 0; misses < COUNT_DOWN_TRIES;) {
        uint64_t seen;
        _Atomic uint64_t *place = find(level, node_key(level, page), &seen);
        if (place && swap(place, seen, count_of(seen) == 1 ? 0 : seen - 1))
            return;
        misses += place == NULL;
    }
}

static void leave_nodes(uint64_t page, unsigned levels) {
    for (unsigned level = 1; level < levels; level++)
        count_down(level, page);
    atomic_fetch_sub_explicit(&live, 1, memory_order_relaxed);
}

static bool enter(uint64_t range) {
    unsigned level = 1;

    atomic_store_explicit(&used, true, memory_order_relaxed);
    if (atomic_fetch_add_explicit(&live, 1, memory_order_relaxed) < PIE_MAPPING_RANGES) {
        while (level < LEVELS && count_up(level, key_of(range)))
            level++;
        if (level == LEVELS && put(0, range))
            return true;
    }
    leave_nodes(key_of(range), level);
    return false;
}

bool pie_mapping_table_add(uintptr_t start, size_t bytes) {
    if (bytes == 0)
        return false;
    if (is_expressible(start, bytes) && enter(pack(start, bytes)))
        return true;
    atomic_fetch_add_explicit(&refused, 1, memory_order_relaxed);
    return false;
}

/* The last range that starts on or before this page: up the tree to where a sibling before has any, and down to its
 * last one. Each round goes up and to earlier pages, or down. */
static _Atomic uint64_t *find_range(uint64_t page, uint64_t *ret_range) {
    unsigned level = 0;

    while (level < LEVELS) {
        uint64_t seen = 0;
        _Atomic uint64_t *place = find_last(level, node_key(level, page), &seen);
        if (place && level == 0) {
            *ret_range = seen;
            return place;
        }
        if (place) {
            uint64_t granule = key_of(seen) & ((UINT64_C(1) << LEVEL_SHIFT) - 1);
            uint64_t last = ((granule + 1) << level * FAN_BITS) - 1;
            page = last < page ? last : page;
            level--;
            continue;
        }
        level++;
        uint64_t first = page >> level * FAN_BITS << level * FAN_BITS;
        if (first == 0)
            return NULL;
        page = first - 1;
    }
    return NULL;
}

/* False: the range has changed meanwhile. */
static bool cut_range(_Atomic uint64_t *place, uint64_t range, uintptr_t start, uintptr_t end,
                      struct pie_mapping_cut *ret_cut) {
    uintptr_t from = key_of(range) << PAGE_BITS, to = from + (count_of(range) << PAGE_BITS);
    uintptr_t cut_from = start > from ? start : from, cut_to = end < to ? end : to;
    bool has_left = cut_from > from;

    if (!swap(place, range, has_left ? pack(from, cut_from - from) : 0))
        return false;
    if (!has_left)
        leave_nodes(key_of(range), LEVELS);
    if (cut_to < to)
        pie_mapping_table_add(cut_to, to - cut_to);
    *ret_cut = (struct pie_mapping_cut){
        .start = from, .bytes = to - from, .cut_start = cut_from, .cut_bytes = cut_to - cut_from};
    return true;
}

size_t pie_mapping_table_cut(uintptr_t start, size_t bytes, struct pie_mapping_cut *ret_cuts) {
    uintptr_t limit = (uintptr_t)1 << (PAGE_NUMBER_BITS + PAGE_BITS);
    uintptr_t end = start < limit && bytes < limit - start ? start + bytes : limit;
    size_t n = 0;

    if (bytes == 0 || start >= limit || atomic_load_explicit(&live, memory_order_relaxed) == 0)
        return 0;
    if (pie_mapping_table_take(start, bytes)) {
        ret_cuts[0] =
            (struct pie_mapping_cut){.start = start, .bytes = bytes, .cut_start = start, .cut_bytes = bytes};
        return 1;
    }
    for (uint64_t range, page = (end - 1) >> PAGE_BITS; n < PIE_MAPPING_CUTS;) {
        _Atomic uint64_t *place = find_range(page, &range);
        if (!place || (key_of(range) + count_of(range)) << PAGE_BITS <= start)
            break;
        page = key_of(range);
        n += cut_range(place, range, start, end, &ret_cuts[n]);
    }
    return n;
}

bool pie_mapping_table_take(uintptr_t start, size_t bytes) {
    uint64_t range = pack(start, bytes);
    bucket *buckets[2];

    if (!is_expressible(start, bytes))
        return false;
    find_buckets(0, key_of(range), buckets);
    for (unsigned i = 0; i < 2 * BUCKET_WORDS; i++) {
        _Atomic uint64_t *place = &(*buckets[i / BUCKET_WORDS])[i % BUCKET_WORDS];
        if (look(place) == range && swap(place, range, 0)) {
            leave_nodes(key_of(range), LEVELS);
            return true;
        }
    }
    return false;
}

bool pie_mapping_table_is_unused(void) {
    return !atomic_load_explicit(&used, memory_order_relaxed);
}

uint64_t pie_mapping_table_refused(void) {
    return atomic_load_explicit(&refused, memory_order_relaxed);
}
