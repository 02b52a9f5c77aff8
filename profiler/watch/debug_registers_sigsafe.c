/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/watch/debug_registers.h"

#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <stdatomic.h>

#include "profiler/base/clocks.h"
#include "profiler/base/futex.h"

/* Descriptors for a moment and forks exclude each other. A fork waits for those who are at it: they are in a handler
 * and wait for nobody. A handler does not wait for a fork, which may need what the thread that it interrupted holds (a
 * lock of malloc's). A child by a system call of the program's own is not heard of.
 *
 * seq_cst: of a thread that raises the one and a fork that raises the other, at least one sees it. Reset in a forked
 * child. */
static _Atomic uint32_t users, forks;

/* A thread that a debugger has stopped in its handler must not hold up a fork for ever. */
static const uint64_t FORK_TIMEOUT_NS = 1000000000;

void pie_debug_leave(void) {
    if (atomic_fetch_sub(&users, 1) == 1 && atomic_load(&forks))
        pie_futex_wake(&users);
}

bool pie_debug_enter(void) {
    atomic_fetch_add(&users, 1);
    if (atomic_load(&forks) == 0)
        return true;
    pie_debug_leave();
    return false;
}

bool pie_debug_enter_late(void) {
    const uint64_t slice_ns = 1000000, until_ns = pie_monotonic_ns() + FORK_TIMEOUT_NS;
    bool is_in = pie_debug_enter();

    while (!is_in && pie_monotonic_ns() < until_ns) {
        pie_futex_wait(&forks, atomic_load(&forks), slice_ns);
        is_in = pie_debug_enter();
    }
    return is_in;
}

void pie_debug_before_fork(void) {
    uint64_t now_ns = pie_monotonic_ns(), until_ns = now_ns + FORK_TIMEOUT_NS;
    uint32_t n;

    atomic_fetch_add(&forks, 1);
    while ((n = atomic_load(&users)) != 0 && now_ns < until_ns) {
        pie_futex_wait(&users, n, until_ns - now_ns);
        now_ns = pie_monotonic_ns();
    }
}

void pie_debug_after_fork(void) {
    atomic_fetch_sub(&forks, 1); /* no system call: the program may have set a filter meanwhile */
}

void pie_debug_fork_child(void) {
    atomic_store(&users, 0);
    atomic_store(&forks, 0);
}

void pie_debug_prepare(struct perf_event_attr *attr, enum pie_debug_kind kind, uint64_t address,
                       unsigned length, uint64_t cookie) {
    static const uint32_t types[] = {
        [PIE_DEBUG_EXECUTE] = HW_BREAKPOINT_X,
        [PIE_DEBUG_STORE] = HW_BREAKPOINT_W,
        [PIE_DEBUG_LOAD_STORE] = HW_BREAKPOINT_RW,
    };
    *attr = (struct perf_event_attr){
        .size = sizeof *attr,
        .type = PERF_TYPE_BREAKPOINT,
        .bp_type = types[kind],
        .bp_addr = address,
        .bp_len = kind == PIE_DEBUG_EXECUTE ? sizeof(long) : length, /* what the kernel asks for */
        .sample_period = 1,
        .exclude_kernel = 1,
        .exclude_hv = 1,
        .sigtrap = 1,
        .remove_on_exec = 1,
        .precise_ip = 2,
        .sig_data = cookie,
    };
}
