/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/watch/sampler.h"

#include <stdatomic.h>

/* Release where it is set, acquire where it is read: its table is complete. */
static _Atomic(const struct pie_access_sampler_ops *) current;

const struct pie_access_sampler_ops *pie_access_sampler_current(void) {
    return atomic_load_explicit(&current, memory_order_acquire);
}

void pie_access_sampler_set_current(const struct pie_access_sampler_ops *sampler) {
    atomic_store_explicit(&current, sampler, memory_order_release);
}
