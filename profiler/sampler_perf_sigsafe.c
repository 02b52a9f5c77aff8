/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/sampler_perf.h"

#include "profiler/sampler_timer.h"
#include "profiler/thread.h"
#include "profiler/trap_info.h"

#include <linux/perf_event.h>

bool pie_sampler_perf_is_ours(const siginfo_t *info) {
    return pie_trap_is_perf(info) && pie_trap_data(info) == PIE_PERF_COOKIE;
}

bool pie_sampler_perf_account(struct pie_thread *thread, const siginfo_t *info, const ucontext_t *context,
                              uint64_t cpu_ns, struct pie_sample_time *ret_time) {
    const struct perf_event_mmap_page *page = atomic_load_explicit(&thread->clock_ring, memory_order_acquire);
    uint64_t user = 0, kernel = 0;

    *ret_time = pie_sample_split(cpu_ns, 1, 0);
    if (!page)
        return true;
    uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
    const char *data = (const char *)page + page->data_offset;
    uint64_t behind = (head - thread->ticks_seen) / PIE_PERF_RECORD_BYTES;
    uint64_t room = PIE_PERF_RING_BYTES / PIE_PERF_RECORD_BYTES;
    uint64_t first = behind > room ? head - PIE_PERF_RING_BYTES : thread->ticks_seen;

    for (uint64_t at = first; at < head; at += PIE_PERF_RECORD_BYTES) {
        const struct perf_event_header *header = (const void *)(data + at % PIE_PERF_RING_BYTES);
        if ((header->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL)
            kernel++;
        else
            user++;
    }
    if (behind > room) /* overwritten ones: a single stay in the kernel that long */
        kernel += behind - room;
    thread->ticks_seen = head;
    *ret_time = pie_sample_split(cpu_ns, user, kernel);
    return true;
}

bool pie_sampler_perf_user_is_ours(const siginfo_t *info) {
    return pie_sampler_perf_is_ours(info) || pie_sampler_timer_is_ours(info);
}

/* A system call ends at a tick of the CPU timer: all that has been put aside belongs to it. */
static bool account_kernel(struct pie_thread *thread, const ucontext_t *context, uint64_t cpu_ns,
                           struct pie_sample_time *ret_time) {
    if (!pie_sample_is_after_syscall(context))
        return false;
    *ret_time = (struct pie_sample_time){.system_ns = thread->pool_ns + cpu_ns};
    thread->pool_ns = 0;
    return true;
}

bool pie_sampler_perf_user_account(struct pie_thread *thread, const siginfo_t *info,
                                   const ucontext_t *context, uint64_t cpu_ns,
                                   struct pie_sample_time *ret_time) {
    uint64_t period_ns = atomic_load_explicit(&thread->period_ns, memory_order_relaxed);

    if (!pie_sampler_perf_is_ours(info))
        return account_kernel(thread, context, cpu_ns, ret_time);
    *ret_time = (struct pie_sample_time){.user_ns = cpu_ns};
    if (cpu_ns <= period_ns + period_ns / 2)
        return true;
    ret_time->user_ns = period_ns;
    thread->pool_ns += cpu_ns - period_ns;
    if (thread->pool_ns > PIE_PERF_POOL_MAX_NS) { /* no tick finds it: page faults, or no timer */
        ret_time->system_ns = thread->pool_ns;
        thread->pool_ns = 0;
    }
    return true;
}
