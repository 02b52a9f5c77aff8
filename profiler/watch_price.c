/* SPDX-License-Identifier: Apache-2.0 */

/* A trap costs 10 us in a virtual machine, where each debug exception leaves it, and far less on bare metal; budgets and
 * the lengths of calls are corrected by it. So it is measured: calls of an empty function with and without an execute
 * breakpoint on it. The signal goes to our own handler, which finds no slot of this thread and returns. */

#include "profiler/watch_setup.h"

#include "profiler/thread.h"

#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { CALLS = 24 };

/* Known to pie_watch_is_ours(), of no slot's serial. */
static const uint64_t PRICE_COOKIE = UINT64_C(0x70696577) << 32 | UINT64_C(0xffffffff);

static void __attribute__((noinline)) probe(void) {
    __asm__ volatile("");
}

static uint64_t least_ns(void) {
    uint64_t least = UINT64_MAX;

    for (int i = 0; i < CALLS; i++) {
        uint64_t start_ns = pie_monotonic_ns();
        probe();
        uint64_t took_ns = pie_monotonic_ns() - start_ns;
        least = took_ns < least ? took_ns : least;
    }
    return least;
}

uint64_t pie_watch_measure_trap(void) {
    struct perf_event_attr attr = {
        .size = sizeof attr,
        .type = PERF_TYPE_BREAKPOINT,
        .bp_type = HW_BREAKPOINT_X,
        .bp_addr = (uintptr_t)probe,
        .bp_len = sizeof(long),
        .sample_period = 1,
        .exclude_kernel = 1,
        .exclude_hv = 1,
        .sigtrap = 1,
        .remove_on_exec = 1,
        .sig_data = PRICE_COOKIE,
    };
    uint64_t trap = UINT64_C(1) << (SIGTRAP - 1), before, plain_ns = least_ns();

    long fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0)
        return 0;
    syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, &trap, &before, sizeof trap);
    uint64_t with_ns = least_ns();
    syscall(SYS_close, fd);
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, sizeof before);
    return with_ns > plain_ns ? with_ns - plain_ns : 0;
}
