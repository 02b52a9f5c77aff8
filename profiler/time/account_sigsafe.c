/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/time/clock.h"

#include "profiler/base/safe_load.h"
#include "profiler/thread/thread.h"
#include "profiler/time/clock_price.h"

bool pie_sample_is_after_syscall(const ucontext_t *ucontext) {
    uint8_t bytes[2];
    uintptr_t pc = (uintptr_t)ucontext->uc_mcontext.gregs[REG_RIP];

    return pie_safe_copy(bytes, (const void *)(pc - 2), 2) && bytes[0] == 0x0f && bytes[1] == 0x05;
}

struct pie_sample_time pie_sample_split(uint64_t cpu_ns, uint64_t user, uint64_t kernel) {
    uint64_t periods = user + kernel;
    uint64_t system_ns = periods ? (uint64_t)((unsigned __int128)cpu_ns * kernel / periods) : 0;

    return (struct pie_sample_time){.user_ns = cpu_ns - system_ns, .system_ns = system_ns};
}

void pie_sample_passed(struct pie_thread *thread) {
    uint64_t signal_ns = pie_clock_signal_ns(thread);

    thread->cpu_last_ns += signal_ns;
    atomic_fetch_add_explicit(&thread->overhead_ns, signal_ns, memory_order_relaxed);
    atomic_fetch_add_explicit(&thread->caches_ns, pie_clock_reload_ns(), memory_order_relaxed);
}
