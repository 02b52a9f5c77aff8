/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/sampler_perf.h"

#include "profiler/thread.h"

#include <linux/perf_event.h>
#include <string.h>

/* glibc 2.36's siginfo_t lacks the fields of TRAP_PERF; the kernel's layout on 64-bit machines (asm-generic/siginfo.h):
 * si_addr at 16, si_perf_data at 24, si_perf_type at 32, si_perf_flags at 36. */
enum { SI_CODE_TRAP_PERF = 6, SI_PERF_DATA_OFFSET = 24 };

bool pie_sampler_perf_is_ours(const siginfo_t *info) {
    uint64_t data;

    if (info->si_signo != SIGTRAP || info->si_code != SI_CODE_TRAP_PERF)
        return false;
    memcpy(&data, (const char *)info + SI_PERF_DATA_OFFSET, sizeof data);
    return data == PIE_PERF_COOKIE;
}

struct pie_ticks pie_sampler_perf_count(struct pie_thread *thread, const ucontext_t *context,
                                        uint64_t cpu_ns) {
    const struct perf_event_mmap_page *page = atomic_load_explicit(&thread->clock_ring, memory_order_acquire);
    struct pie_ticks ticks = {0, 0};

    if (!page)
        return ticks;
    uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
    const char *data = (const char *)page + page->data_offset;
    uint64_t behind = (head - thread->ticks_seen) / PIE_PERF_RECORD_BYTES;
    uint64_t room = PIE_PERF_RING_BYTES / PIE_PERF_RECORD_BYTES;
    uint64_t first = behind > room ? head - PIE_PERF_RING_BYTES : thread->ticks_seen;

    for (uint64_t at = first; at < head; at += PIE_PERF_RECORD_BYTES) {
        const struct perf_event_header *header = (const void *)(data + at % PIE_PERF_RING_BYTES);
        if ((header->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL)
            ticks.kernel++;
        else
            ticks.user++;
    }
    if (behind > room) /* overwritten ones: a single stay in the kernel that long */
        ticks.kernel += (uint32_t)(behind - room);
    thread->ticks_seen = head;
    return ticks;
}

struct pie_ticks pie_sampler_perf_user_count(struct pie_thread *thread, const ucontext_t *context,
                                             uint64_t cpu_ns) {
    uint64_t period_ns = atomic_load_explicit(&thread->period_ns, memory_order_relaxed);
    struct pie_ticks ticks = {1, 0};

    if (period_ns && cpu_ns > period_ns + period_ns / 2)
        ticks.kernel = (uint32_t)((cpu_ns + period_ns / 2) / period_ns) - 1;
    return ticks;
}
