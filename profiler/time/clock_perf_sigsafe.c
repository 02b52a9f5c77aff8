/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/time/clock_perf.h"

#include "profiler/base/trap_info.h"
#include "profiler/thread/thread.h"
#include "profiler/time/clock_price.h"
#include "profiler/time/clock_timer.h"
#include "profiler/time/thread.h"

#include <linux/perf_event.h>

/* Kernel time of the profiler's own waits for this many periods to end there; any rest was priced too high. */
enum { OWN_KERNEL_PERIODS_MAX = 4 };

static bool is_event(const siginfo_t *info) {
    return pie_trap_is_perf(info) && pie_trap_data(info) == PIE_PERF_COOKIE;
}

bool pie_clock_perf_is_ours(const siginfo_t *info) {
    return is_event(info) || pie_clock_timer_is_ours(info);
}

const struct pie_perf_record *pie_clock_perf_newest(const struct perf_event_mmap_page *page) {
    uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);

    return (const void *)((const char *)page + page->data_offset +
                          (head - PIE_PERF_RECORD_BYTES) % PIE_PERF_RING_BYTES);
}

static bool is_kernel(const struct perf_event_header *header) {
    return (header->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;
}

/* Counts the periods that have ended since the last look. */
static void count_ticks(struct pie_thread *thread, const struct perf_event_mmap_page *page) {
    uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
    const char *data = (const char *)page + page->data_offset;
    uint64_t behind = (head - pie_time_of(thread)->ticks_seen) / PIE_PERF_RECORD_BYTES;
    uint64_t room = PIE_PERF_RING_BYTES / PIE_PERF_RECORD_BYTES;
    uint64_t first = behind > room ? head - PIE_PERF_RING_BYTES : pie_time_of(thread)->ticks_seen;

    for (uint64_t at = first; at < head; at += PIE_PERF_RECORD_BYTES) {
        if (is_kernel((const void *)(data + at % PIE_PERF_RING_BYTES)))
            pie_time_of(thread)->ticks_kernel++;
        else
            pie_time_of(thread)->ticks_user++;
    }
    if (behind > room) /* overwritten ones: a single stay in the kernel that long */
        pie_time_of(thread)->ticks_kernel += (uint32_t)(behind - room);
    pie_time_of(thread)->ticks_seen = head;
    pie_time_of(thread)->ticks_new = (uint32_t)behind;
}

void pie_clock_perf_handler_begins(struct pie_thread *thread) {
    const struct perf_event_mmap_page *page =
        atomic_load_explicit(&pie_time_of(thread)->clock_ring, memory_order_acquire);

    if (page)
        count_ticks(thread, page);
}

void pie_clock_perf_handler_ends(struct pie_thread *thread) {
    const struct perf_event_mmap_page *page =
        atomic_load_explicit(&pie_time_of(thread)->clock_ring, memory_order_acquire);

    if (page)
        pie_time_of(thread)->ticks_seen = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
}

void pie_clock_perf_own_kernel(struct pie_thread *thread, uint64_t ns) {
    uint64_t most_ns =
        OWN_KERNEL_PERIODS_MAX * atomic_load_explicit(&pie_time_of(thread)->period_ns, memory_order_relaxed);

    pie_time_of(thread)->own_kernel_ns += ns;
    if (pie_time_of(thread)->own_kernel_ns > most_ns)
        pie_time_of(thread)->own_kernel_ns = most_ns;
}

/* Divides the CPU time by the periods. Of those that ended in the kernel the ones in the profiler's own traps and
 * interrupts cannot be told from those in the program's system calls, but how long the former took is known. */
static struct pie_sample_time split(struct pie_thread *thread, uint64_t cpu_ns) {
    uint64_t period_ns = atomic_load_explicit(&pie_time_of(thread)->period_ns, memory_order_relaxed) | 1;
    uint64_t kernel_ns = pie_time_of(thread)->ticks_kernel * period_ns,
             user_ns = pie_time_of(thread)->ticks_user * period_ns;
    uint64_t own_ns =
        pie_time_of(thread)->own_kernel_ns < kernel_ns ? pie_time_of(thread)->own_kernel_ns : kernel_ns;

    pie_time_of(thread)->own_kernel_ns -= own_ns;
    pie_time_of(thread)->ticks_user = pie_time_of(thread)->ticks_kernel = 0;
    return pie_sample_split(cpu_ns, user_ns + own_ns, kernel_ns - own_ns);
}

bool pie_clock_perf_account(struct pie_thread *thread, const siginfo_t *info, const ucontext_t *ucontext,
                            uint64_t cpu_ns, struct pie_sample_time *ret_time) {
    const struct perf_event_mmap_page *page =
        atomic_load_explicit(&pie_time_of(thread)->clock_ring, memory_order_acquire);

    if (!page)
        return pie_clock_timer_account(thread, info, ucontext, cpu_ns, ret_time);
    if (pie_time_of(thread)->ticks_new == 1 && !is_kernel(&pie_clock_perf_newest(page)->header))
        pie_clock_note_delivery(thread, pie_clock_perf_newest(page)->time_ns);
    *ret_time = split(thread, cpu_ns);
    return true;
}

/* A system call ends at a tick of the CPU timer: all that has been put aside belongs to it. */
static bool account_kernel(struct pie_thread *thread, const ucontext_t *ucontext, uint64_t cpu_ns,
                           struct pie_sample_time *ret_time) {
    if (!pie_sample_is_after_syscall(ucontext))
        return false;
    *ret_time = (struct pie_sample_time){.system_ns = pie_time_of(thread)->pool_ns + cpu_ns};
    pie_time_of(thread)->pool_ns = 0;
    return true;
}

bool pie_clock_perf_user_account(struct pie_thread *thread, const siginfo_t *info, const ucontext_t *ucontext,
                                 uint64_t cpu_ns, struct pie_sample_time *ret_time) {
    uint64_t period_ns = atomic_load_explicit(&pie_time_of(thread)->period_ns, memory_order_relaxed);

    if (atomic_load_explicit(&pie_time_of(thread)->has_timer, memory_order_relaxed))
        return pie_clock_timer_account(thread, info, ucontext, cpu_ns, ret_time);
    if (!is_event(info))
        return account_kernel(thread, ucontext, cpu_ns, ret_time);
    *ret_time = (struct pie_sample_time){.user_ns = cpu_ns};
    if (cpu_ns <= period_ns + period_ns / 2)
        return true;
    ret_time->user_ns = period_ns;
    pie_time_of(thread)->pool_ns += cpu_ns - period_ns;
    if (pie_time_of(thread)->pool_ns >
        PIE_PERF_POOL_MAX_NS) { /* no tick finds it: page faults, or no timer */
        ret_time->system_ns = pie_time_of(thread)->pool_ns;
        pie_time_of(thread)->pool_ns = 0;
    }
    return true;
}
