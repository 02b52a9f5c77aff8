/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/base/clocks.h"

#include <stdatomic.h>

enum { CLOCKS_TOGETHER_NS = 1000000 };

uint64_t pie_thread_cpu_of(int32_t tid) {
    /* The kernel's number for "CPU time of thread tid" (include/linux/posix-timers.h, CPUCLOCK_PERTHREAD|SCHED). */
    return pie_clock_ns((clockid_t)((~(uint32_t)tid << 3) | 6u));
}

int64_t pie_realtime_ns(void) {
    /* CLOCK_REALTIME - CLOCK_BOOTTIME; 0: not asked yet. Relaxed: whoever is first decides. Kept in a forked child. */
    static _Atomic int64_t boot_ns;
    int64_t now_ns = (int64_t)pie_clock_ns(CLOCK_BOOTTIME);
    int64_t since_ns = atomic_load_explicit(&boot_ns, memory_order_relaxed);

    if (since_ns == 0) {
        int64_t found_ns = (int64_t)pie_clock_ns(CLOCK_REALTIME) - now_ns;
        if (atomic_compare_exchange_strong_explicit(&boot_ns, &since_ns, found_ns, memory_order_relaxed,
                                                    memory_order_relaxed))
            since_ns = found_ns;
    }
    return since_ns + now_ns;
}

int64_t pie_suspended_ns(void) {
    uint64_t before_ns = pie_monotonic_ns(), boot_ns = pie_clock_ns(CLOCK_BOOTTIME);
    uint64_t after_ns = pie_monotonic_ns();

    return after_ns - before_ns < CLOCKS_TOGETHER_NS ? (int64_t)(boot_ns - before_ns) : -1;
}
