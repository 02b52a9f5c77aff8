/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/heap/known_prices.h"

#include <stdatomic.h>

enum { PARTS = 100 };

/* Each + 1; 0: not known. relaxed: each stands for itself. */
static _Atomic uint32_t known[PIE_HEAP_PRICES];
static uint32_t inherited[PIE_HEAP_PRICES];

void pie_heap_price_know(enum pie_heap_price_kind kind, double ns) {
    if (ns >= 0 && ns * PARTS <= PIE_HEAP_PRICE_MAX)
        atomic_store_explicit(&known[kind], (uint32_t)(ns * PARTS + 0.5) + 1, memory_order_relaxed);
}

bool pie_heap_prices_known(uint32_t ret_prices[PIE_HEAP_PRICES]) {
    bool any = false;

    for (int kind = 0; kind < PIE_HEAP_PRICES; kind++) {
        ret_prices[kind] = atomic_load_explicit(&known[kind], memory_order_relaxed);
        any = any || ret_prices[kind] > 0;
    }
    return any;
}

void pie_heap_prices_inherit(const uint32_t prices[PIE_HEAP_PRICES]) {
    for (int kind = 0; kind < PIE_HEAP_PRICES; kind++)
        inherited[kind] = prices[kind];
}

double pie_heap_price_inherited(enum pie_heap_price_kind kind) {
    return inherited[kind] ? (double)(inherited[kind] - 1) / PARTS : -1;
}
