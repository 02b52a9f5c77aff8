/* SPDX-License-Identifier: Apache-2.0 */

/* What watching costs on this machine, measured by the first process of a run; its children run on the same one.
 *
 * A trap costs 10 us in a virtual machine, where each debug exception leaves it, and far less on bare metal; budgets
 * and the lengths of calls are corrected by it. So it is measured: calls of an empty function with and without an
 * execute breakpoint on it. The signal goes to our own handler, which finds no slot of this thread and returns.
 *
 * And string instructions (REP MOVS, REP STOS) lose their fast way while a data breakpoint is armed, wherever it is and
 * although nothing traps: one byte takes 0.44 ns instead of 0.01 on an EPYC. memcpy() and memset() use them from 2 KiB
 * on, and the kernel to clear a page, so what copying a page takes longer is what a page fault takes longer. */

#include "profiler/watch/setup.h"

#include "profiler/base/clocks.h"
#include "profiler/machine/pmu_price.h"
#include "profiler/machine/ptrace_registers.h"
#include "profiler/watch/debug_registers.h"

#include <linux/perf_event.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { CALLS = 24, PAGES = 64, FAULT_ROUNDS = 4, COPY_ROUNDS = 16 };

/* A difference that says nothing; and how many times as much faults of a program cost more than these, whose page
 * tables and code are in the caches: in clean_fft 1.7 us a fault for 1.1, and as much again in its own copies. */
enum { NOISE_NS = 200, REAL_FAULTS = 2 };

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

static bool arm_by_ptrace(enum pie_debug_kind kind, uintptr_t address) {
    bool is_execute = kind == PIE_DEBUG_EXECUTE;
    struct pie_ptrace_request request = {
        .address = {address},
        .control =
            pie_ptrace_control(0, is_execute ? PIE_PTRACE_EXECUTE : PIE_PTRACE_STORE, is_execute ? 1 : 8),
    };

    return pie_ptrace_set(&request) == 0;
}

/* A breakpoint of this thread on probe(), or for stores to a word that nobody touches. *ret_fd: its descriptor, or
 * -1. */
static bool arm(enum pie_debug_kind kind, int *ret_fd) {
    static uint64_t untouched;
    uintptr_t address = kind == PIE_DEBUG_EXECUTE ? (uintptr_t)probe : (uintptr_t)&untouched;
    struct perf_event_attr attr;

    *ret_fd = -1;
    if (pie_debug_ptrace_is_used())
        return arm_by_ptrace(kind, address);
    pie_debug_prepare(&attr, kind, address, sizeof untouched, PRICE_COOKIE);
    *ret_fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    return *ret_fd >= 0;
}

static void disarm(int fd) {
    struct pie_ptrace_request request = {0};

    if (fd >= 0)
        syscall(SYS_close, fd);
    else
        pie_ptrace_set(&request);
}

uint64_t pie_watch_measure_trap(void) {
    uint64_t trap = UINT64_C(1) << (SIGTRAP - 1), before, plain_ns = least_ns();
    int fd;

    syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, &trap, &before, sizeof trap);
    bool is_armed = arm(PIE_DEBUG_EXECUTE, &fd);
    uint64_t with_ns = is_armed ? least_ns() : 0;
    if (is_armed)
        disarm(fd);
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, sizeof before);
    return with_ns > plain_ns ? with_ns - plain_ns : 0;
}

/* --- String instructions --- */

/* The least time that copying a page by a string instruction took. */
static uint64_t least_copy_ns(char *memory, size_t page) {
    uint64_t least = UINT64_MAX;

    for (int round = 0; round < COPY_ROUNDS; round++) {
        void *to = memory, *from = memory + page;
        size_t left = page;
        uint64_t start_ns = pie_monotonic_ns();
        __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(left) : : "memory");
        uint64_t took_ns = pie_monotonic_ns() - start_ns;
        least = took_ns < least ? took_ns : least;
    }
    return least;
}

/* The least time that a fault took in some rounds, each of which touches PAGES fresh pages. */
static uint64_t least_fault_ns(char *memory, size_t page) {
    uint64_t least = UINT64_MAX;

    for (int round = 0; round < FAULT_ROUNDS; round++) {
        madvise(memory, PAGES * page, MADV_DONTNEED);
        uint64_t start_ns = pie_monotonic_ns();
        for (size_t i = 0; i < PAGES; i++)
            *(volatile char *)(memory + i * page) = 1;
        uint64_t took_ns = (pie_monotonic_ns() - start_ns) / PAGES;
        least = took_ns < least ? took_ns : least;
    }
    return least;
}

/* Not by the difference of two faults: beside other programs one takes 1.4 to 4.7 us, armed or not, and in one of 3000
 * measurements no difference was left. A copied page took nine times as long at least. */
uint64_t pie_watch_measure_fault_tax(double *ret_share) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *memory =
        mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    uint64_t tax_ns = 0;

    if (memory == MAP_FAILED)
        return 0;
    madvise(memory, PAGES * page, MADV_NOHUGEPAGE);
    uint64_t plain_ns = least_copy_ns(memory, page);
    int fd;
    if (arm(PIE_DEBUG_STORE, &fd)) {
        uint64_t with_ns = least_copy_ns(memory, page);
        if (with_ns > plain_ns + NOISE_NS) {
            uint64_t fault_ns = least_fault_ns(memory, page), more_ns = with_ns - plain_ns;
            tax_ns = REAL_FAULTS * more_ns;
            *ret_share = more_ns < fault_ns ? (double)more_ns / (double)fault_ns : 1;
        }
        disarm(fd);
    }
    munmap(memory, PAGES * page);
    return tax_ns;
}

/* --- Known --- */

/* A forked child keeps it. */
static struct pie_watch_price price;
static _Atomic bool is_known; /* release after the price was written; acquire in pie_watch_price_known() */

void pie_watch_price_set(const struct pie_watch_price *known) {
    price = *known;
    pie_pmu_interrupt_set(known->pmu_interrupt_ns);
    atomic_store_explicit(&is_known, true, memory_order_release);
}

const struct pie_watch_price *pie_watch_price_known(void) {
    return atomic_load_explicit(&is_known, memory_order_acquire) ? &price : NULL;
}

const struct pie_watch_price *pie_watch_price(void) {
    if (!pie_watch_price_known()) {
        const struct pie_pmu_machine *machine;
        struct pie_watch_price measured = {.trap_ns = pie_watch_measure_trap()};
        measured.fault_tax_ns = pie_watch_measure_fault_tax(&measured.fault_tax_share);
        measured.pmu_interrupt_ns = pie_pmu_interrupt_ns(pie_pmu_events_here(&machine));
        pie_watch_price_set(&measured);
    }
    return &price;
}
