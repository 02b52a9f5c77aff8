/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/collect/collector.h"

#include <stdatomic.h>
#include <stddef.h>

#include "profiler/base/counters.h"

/* Release where it is set, acquire in pie_collector_sampler(): its table is complete. */
static _Atomic(const struct pie_sampler_ops *) current;
static _Atomic(const struct pie_access_sampler_ops *) current_access; /* likewise */

/* A forked child has no collection thread but a new one. */
static __thread bool is_self __attribute__((tls_model("initial-exec")));

bool pie_collector_is_self(void) {
    return is_self;
}

void pie_collector_set_self(void) {
    is_self = true;
}

const struct pie_sampler_ops *pie_collector_sampler(void) {
    return atomic_load_explicit(&current, memory_order_acquire);
}

void pie_collector_set_sampler(const struct pie_sampler_ops *sampler) {
    atomic_store_explicit(&current, sampler, memory_order_release);
}

void pie_collector_give_up_clock(const struct pie_sampler_ops *sampler) {
    if (atomic_compare_exchange_strong_explicit(&current, &sampler, NULL, memory_order_acq_rel,
                                                memory_order_relaxed))
        pie_counter_add(PIE_COUNTER_CLOCK_GIVEN_UP, 1);
}

const struct pie_access_sampler_ops *pie_collector_access_sampler(void) {
    return atomic_load_explicit(&current_access, memory_order_acquire);
}

void pie_collector_set_access_sampler(const struct pie_access_sampler_ops *sampler) {
    atomic_store_explicit(&current_access, sampler, memory_order_release);
}
