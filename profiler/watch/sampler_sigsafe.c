/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/watch/sampler.h"
#include "profiler/watch/sampler_idle.h"

#include <stdatomic.h>

/* Release where it is set, acquire where it is read: its table is complete. */
static _Atomic(const struct pie_access_sampler_ops *) current;

const struct pie_access_sampler_ops *pie_access_sampler_current(void) {
    return atomic_load_explicit(&current, memory_order_acquire);
}

void pie_access_sampler_set_current(const struct pie_access_sampler_ops *sampler) {
    atomic_store_explicit(&current, sampler, memory_order_release);
}

int pie_access_sampler_idle_arm(struct pie_thread *thread, uint64_t rate_hz) {
    return 0;
}

void pie_access_sampler_idle_disarm(struct pie_thread *thread) {}

void pie_access_sampler_idle_adapt(struct pie_thread *thread, uint64_t rate_hz) {}

bool pie_access_sampler_idle_is_ours(const siginfo_t *info) {
    return false;
}

bool pie_access_sampler_idle_read(struct pie_thread *thread, const siginfo_t *info,
                                  const ucontext_t *ucontext, struct pie_access_sample *ret_sample) {
    return false;
}
