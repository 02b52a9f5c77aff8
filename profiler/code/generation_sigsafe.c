/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/code/generation.h"

#include <stdatomic.h>

/* Order between threads is made by who keeps what was found; these only have to change. */
static _Atomic uint32_t generation = 1;
static _Atomic uint32_t
    unloading; /* calls of dlclose() under way; pie_code_forget_unloading() in a forked child */

uint32_t pie_code_generation(void) {
    return atomic_load_explicit(&generation, memory_order_acquire);
}

void pie_code_begin_generation(void) {
    if (atomic_fetch_add_explicit(&generation, 1, memory_order_release) == UINT32_MAX)
        atomic_fetch_add_explicit(&generation, 1, memory_order_release); /* 0 is that of empty places */
}

void pie_code_unloading(bool begins) {
    if (begins) {
        atomic_fetch_add_explicit(&unloading, 1, memory_order_acq_rel);
        return;
    }
    uint32_t seen = atomic_load_explicit(&unloading, memory_order_relaxed);
    while (seen > 0 && !atomic_compare_exchange_weak_explicit(&unloading, &seen, seen - 1,
                                                              memory_order_acq_rel, memory_order_relaxed))
        continue;
}

bool pie_code_is_unloading(void) {
    return atomic_load_explicit(&unloading, memory_order_acquire) != 0;
}

void pie_code_forget_unloading(void) {
    atomic_store_explicit(&unloading, 0, memory_order_relaxed);
}
