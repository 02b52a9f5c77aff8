/* SPDX-License-Identifier: Apache-2.0 */

/* What counting costs where nothing is sampled: the same blocks from the exported malloc(), counted and not, by the
 * collection thread. A program's own blocks are seldom as warm in the caches, but the hooks' part of them is. */

#include "profiler/heap/price.h"

#include "profiler/base/clocks.h"
#include "profiler/base/random.h"
#include "profiler/heap/engine.h"
#include "profiler/heap/known_prices.h"
#include "profiler/heap/pauses.h"

#include <stdatomic.h>
#include <stdlib.h>

enum { PYTHON_SMALL_BYTES = 512 }; /* pymalloc's largest blocks */

/* A number that is worked out and thrown away leaves the processor time to count it beside other work. In loops, hooks
 * and no hooks in turn cost 0.9 to 1.5 ns a number, and 1.6 for each block of dictionaries that stay a while
 * (bench/counting.py). Such numbers live for less than 2 us without the sample's handler, which has emptied the caches:
 * 95 of 100 did. Half of what json.dumps() takes lives for more than 10. */
static const uint64_t PASSING_NS = 3000;
static const double PASSING_PART = 0.55;

enum { PAIRS = 1000, ROUNDS = 5, BLOCK_BYTES = 64, VISITED_PART = 8 };

static _Atomic double small_pair_ns, large_pair_ns; /* relaxed: each stands for itself */

static uint64_t pairs_ns(void) {
    uint64_t least_ns = UINT64_MAX;

    for (int round = 0; round < ROUNDS; round++) {
        uint64_t start_ns = pie_monotonic_ns();
        for (int i = 0; i < PAIRS; i++) {
            void *volatile block = malloc(BLOCK_BYTES);
            free(block);
        }
        uint64_t took_ns = pie_monotonic_ns() - start_ns;
        least_ns = took_ns < least_ns ? took_ns : least_ns;
    }
    return least_ns;
}

static double measured_pair_ns(void) {
    struct pie_heap_thread *counts = pie_heap_self;
    uint64_t counted_ns = pairs_ns();
    pie_heap_self = NULL;
    uint64_t plain_ns = pairs_ns();
    pie_heap_self = counts;
    return counted_ns > plain_ns ? (double)(counted_ns - plain_ns) / PAIRS : 0;
}

/* That of the parent, else measured. */
static double price_of(enum pie_heap_price_kind kind, double (*measure)(void)) {
    double inherited_ns = pie_heap_price_inherited(kind),
           price_ns = inherited_ns < 0 ? measure() : inherited_ns;

    pie_heap_price_know(kind, price_ns);
    return price_ns;
}

double pie_heap_pair_ns(void) {
    static double price_ns = -1; /* a forked child has its parent's */

    if (price_ns < 0)
        price_ns = price_of(PIE_HEAP_PRICE_NATIVE, measured_pair_ns);
    return price_ns;
}

/* The processor cannot foresee which of the blocks are the ones: that is a part of the price. */
static uint64_t visits_ns(struct pie_heap_state *idle, uint64_t visited, uint64_t *random) {
    uint64_t least_ns = UINT64_MAX;

    for (int round = 0; round < ROUNDS; round++) {
        uint64_t start_ns = pie_monotonic_ns();
        for (int i = 0; i < PAIRS; i++)
            if (pie_random_next(random) % VISITED_PART < visited)
                pie_heap_allocated_slowly(&idle->counts, PIE_HEAP_NATIVE, NULL, 0, NULL);
        uint64_t took_ns = pie_monotonic_ns() - start_ns;
        least_ns = took_ns < least_ns ? took_ns : least_ns;
    }
    return least_ns;
}

static double measured_visit_ns(void) {
    static struct pie_heap_state idle = {.rates[PIE_HEAP_NATIVE].next_bytes = UINT64_MAX};
    uint64_t random = pie_monotonic_ns() | 1;
    uint64_t visited_ns = visits_ns(&idle, 1, &random), plain_ns = visits_ns(&idle, 0, &random);

    return visited_ns > plain_ns ? (double)(visited_ns - plain_ns) * VISITED_PART / PAIRS : 0;
}

double pie_heap_quiet_visit_ns(void) {
    static double price_ns = -1; /* a forked child has its parent's */

    if (price_ns < 0)
        price_ns = price_of(PIE_HEAP_PRICE_VISIT, measured_visit_ns);
    return price_ns;
}

double pie_heap_small_pair_ns(void) {
    return atomic_load_explicit(&small_pair_ns, memory_order_relaxed);
}

double pie_heap_large_pair_ns(void) {
    return atomic_load_explicit(&large_pair_ns, memory_order_relaxed);
}

void pie_heap_python_pairs_set(double small_ns, double large_ns) {
    atomic_store_explicit(&small_pair_ns, small_ns, memory_order_relaxed);
    atomic_store_explicit(&large_pair_ns, large_ns, memory_order_relaxed);
}

/* Small blocks are served without pymalloc, which pays for most of it, and larger ones pass hooks of three allocators
 * (runtime/memory/pymem.c). */
double pie_heap_blocks_add(struct pie_heap_blocks *blocks, const struct pie_heap_record *record) {
    double more = (double)record->weight_bytes / (double)(record->block_bytes ? record->block_bytes : 1);

    if (record->domain != PIE_HEAP_PYTHON) {
        blocks->of_malloc += more;
        return 0;
    }
    if (record->block_bytes > PYTHON_SMALL_BYTES) {
        blocks->large += more;
        return 0;
    }
    if (record->share) /* for each that was counted there are some that were not */
        more *= 1 + ((double)PIE_HEAP_SHARE_ONE / record->share - 1) * pie_heap_pauses_price_part();
    blocks->small += more;
    return more;
}

void pie_heap_blocks_ended(struct pie_heap_blocks *blocks, double small_blocks, uint64_t lived_ns,
                           uint64_t handled_ns) {
    if (lived_ns <= handled_ns + PASSING_NS)
        blocks->passing += small_blocks;
}

double pie_heap_blocks_ns(const struct pie_heap_blocks *blocks) {
    double small = blocks->small - (1 - PASSING_PART) * blocks->passing;

    return blocks->of_malloc * pie_heap_pair_ns() + small * pie_heap_small_pair_ns() +
           blocks->large * pie_heap_large_pair_ns();
}
