/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/time/clock.h"

#include "profiler/base/counters.h"

#include <stdatomic.h>
#include <stddef.h>

/* Release where it is set, acquire where it is read: its table is complete. */
static _Atomic(const struct pie_clock_ops *) current;

const struct pie_clock_ops *pie_clock_current(void) {
    return atomic_load_explicit(&current, memory_order_acquire);
}

void pie_clock_set_current(const struct pie_clock_ops *clock) {
    atomic_store_explicit(&current, clock, memory_order_release);
}

void pie_clock_give_up(const struct pie_clock_ops *clock) {
    if (atomic_compare_exchange_strong_explicit(&current, &clock, NULL, memory_order_acq_rel,
                                                memory_order_relaxed))
        pie_counter_add(PIE_COUNTER_CLOCK_GIVEN_UP, 1);
}
