/* SPDX-License-Identifier: Apache-2.0 */

/* Traps of real data breakpoints, and the instruction that pie_decode_trap() names for them. Needs debug registers. */

#include "profiler/code/decode.h"
#include "tests/profiler/code/stepping.h"

#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <cmocka.h>

enum { BUFFER_BYTES = 1 << 20, WATCHED = BUFFER_BYTES / 2 };

/* decode_cases.S; at: the instruction that touches what is watched, where that is not the first. */
typedef void run_function(void *data, void *more, size_t count);
extern run_function run_load, run_store, run_overwritten, run_increment, run_rep_stos, run_rep_movs, run_movs,
    run_push_memory, run_wide, run_gather, run_fxsave, run_call;
extern const char run_rep_stos_at[], run_rep_movs_at[], run_push_memory_at[], run_gather_at[];

static _Alignas(64) char buffer[BUFFER_BYTES], other[BUFFER_BYTES];

static struct {
    int count;
    uint64_t rip, registers[PIE_ACCESS_REGISTERS];
} trap;

static void on_trap(int signal, siginfo_t *info, void *context) {
    if (trap.count++)
        return;
    trap.rip = (uint64_t)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
    stepping_registers(context, trap.registers);
}

static int open_breakpoint(unsigned type, const void *address, unsigned length) {
    struct perf_event_attr attr = {
        .type = PERF_TYPE_BREAKPOINT,
        .size = sizeof attr,
        .sample_period = 1,
        .bp_type = type,
        .bp_addr = (uintptr_t)address,
        .bp_len = length,
        .disabled = 1,
        .exclude_kernel = 1,
        .exclude_hv = 1,
        .sigtrap = 1,
        .remove_on_exec = 1,
    };

    return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

/* Runs the function with 8 bytes watched; skips the test where there are no breakpoints. */
static void run_watched(run_function *run, char *data, char *more, size_t count, unsigned type,
                        const char *watched) {
    struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO | SA_NODEFER}, old;
    int fd = open_breakpoint(type, watched, 8);

    if (fd < 0) {
        print_message("# no debug register here: %s\n", strerror(errno));
        skip();
    }
    trap.count = 0;
    sigaction(SIGTRAP, &action, &old);
    ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
    run(data, more, count);
    close(fd);
    sigaction(SIGTRAP, &old, NULL);
}

static void expect_named(uint64_t address, const void *named, unsigned flags) {
    struct pie_access access = {0};

    assert_true(trap.count > 0);
    assert_int_equal(pie_decode_trap(trap.rip, trap.registers, address, 8, &access), 0);
    assert_int_equal(access.ip, (uintptr_t)named);
    assert_int_equal(access.flags & (PIE_ACCESS_LOAD | PIE_ACCESS_STORE), flags);
}

static void test_single_accesses(void **state) {
    static const struct {
        run_function *run;
        const void *named;
        unsigned type, flags;
    } cases[] = {
        {run_load, run_load, HW_BREAKPOINT_RW, PIE_ACCESS_LOAD},
        {run_store, run_store, HW_BREAKPOINT_W, PIE_ACCESS_STORE},
        {run_overwritten, run_overwritten, HW_BREAKPOINT_RW, PIE_ACCESS_LOAD},
        {run_increment, run_increment, HW_BREAKPOINT_W, PIE_ACCESS_LOAD | PIE_ACCESS_STORE},
        {run_movs, run_movs, HW_BREAKPOINT_W, PIE_ACCESS_STORE},
        {run_push_memory, run_push_memory_at, HW_BREAKPOINT_RW, PIE_ACCESS_LOAD},
        {run_wide, run_wide, HW_BREAKPOINT_RW, PIE_ACCESS_LOAD},
        {run_fxsave, run_fxsave, HW_BREAKPOINT_W, PIE_ACCESS_STORE},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        run_watched(cases[i].run, buffer, other, 0, cases[i].type, buffer);
        expect_named((uintptr_t)buffer, cases[i].named, cases[i].flags);
    }
}

static void test_a_gather(void **state) {
    if (!__builtin_cpu_supports("avx2")) {
        print_message("# no AVX2 here\n");
        skip();
    }
    run_watched(run_gather, buffer, other, 0, HW_BREAKPOINT_RW, buffer);
    expect_named((uintptr_t)buffer, run_gather_at, PIE_ACCESS_LOAD);
}

/* The trap comes late: how late is printed. */
static void test_repeated_instructions(void **state) {
    stepping_catch_faults();
    run_watched(run_rep_stos, buffer, other, BUFFER_BYTES, HW_BREAKPOINT_W, buffer + WATCHED);
    expect_named((uintptr_t)buffer + WATCHED, run_rep_stos_at, PIE_ACCESS_STORE);
    print_message("# stores: %ld bytes late, RIP %s\n",
                  (long)(trap.registers[PIE_ACCESS_RDI] - (uintptr_t)buffer - WATCHED),
                  trap.rip == (uintptr_t)run_rep_stos_at ? "on it" : "behind it");
    run_watched(run_rep_movs, buffer, other, BUFFER_BYTES, HW_BREAKPOINT_W, buffer + WATCHED);
    expect_named((uintptr_t)buffer + WATCHED, run_rep_movs_at, PIE_ACCESS_STORE);
    run_watched(run_rep_movs, buffer, other, BUFFER_BYTES, HW_BREAKPOINT_RW, other + WATCHED);
    expect_named((uintptr_t)other + WATCHED, run_rep_movs_at, PIE_ACCESS_LOAD);
    print_message("# loads: %ld bytes late, RIP %s\n",
                  (long)(trap.registers[PIE_ACCESS_RSI] - (uintptr_t)other - WATCHED),
                  trap.rip == (uintptr_t)run_rep_movs_at ? "on it" : "behind it");
    run_watched(run_rep_stos, buffer, other, 64, HW_BREAKPOINT_W,
                buffer + 56); /* the last word: RIP is behind it */
    expect_named((uintptr_t)buffer + 56, run_rep_stos_at, PIE_ACCESS_STORE);
}

static void called(void) {}

/* A call through the watched word ends up elsewhere. */
static void test_a_call_through_memory(void **state) {
    struct pie_access access;
    void (*pointer)(void) = called;

    memcpy(buffer, &pointer, sizeof pointer);
    run_watched(run_call, buffer, other, 0, HW_BREAKPOINT_RW, buffer);
    assert_true(trap.count > 0);
    assert_int_equal(trap.rip, (uintptr_t)called);
    assert_int_equal(pie_decode_trap(trap.rip, trap.registers, (uintptr_t)buffer, 8, &access), -ENXIO);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_single_accesses),
        cmocka_unit_test(test_a_gather),
        cmocka_unit_test(test_repeated_instructions),
        cmocka_unit_test(test_a_call_through_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
