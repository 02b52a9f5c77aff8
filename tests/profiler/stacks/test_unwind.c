/* SPDX-License-Identifier: Apache-2.0 */

/* The walk against libunwind, instruction by instruction: a child process steps through qsort, printf, strtod and
 * friends with the trap flag set, and at each step both unwinders must name the same frames. */

#include "profiler/base/safe_load.h"
#include "profiler/code/cfi.h"
#include "profiler/stacks/unwind.h"
#include "tests/profiler/stacks/libunwind_walk.h"

#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { DEPTH = 64 };

static struct {
    long steps, different, exotic, truncated;
    struct pie_native_frame fast[DEPTH], slow_frames[DEPTH];
    size_t n_fast, n_slow;
    uintptr_t first_different;
} seen;

static void on_step(int signal, siginfo_t *info, void *context) {
    unsigned fast_flags;
    struct pie_native_frame fast[DEPTH], slow[DEPTH];
    size_t n_fast = pie_unwind(context, fast, DEPTH, &fast_flags);
    size_t n_slow = libunwind_walk(context, slow, DEPTH);
    bool same = n_fast == n_slow;

    seen.steps++;
    seen.exotic += (fast_flags & PIE_UNWIND_EXOTIC) != 0;
    seen.truncated += (fast_flags & PIE_UNWIND_TRUNCATED) != 0;
    for (size_t i = 0; same && i < n_fast; i++)
        same = fast[i].ip == slow[i].ip && fast[i].sp == slow[i].sp;
    if (!same && !seen.different++) {
        seen.first_different = fast[0].ip;
        memcpy(seen.fast, fast, sizeof fast);
        memcpy(seen.slow_frames, slow, sizeof slow);
        seen.n_fast = n_fast;
        seen.n_slow = n_slow;
    }
}

static void on_fault(int signal, siginfo_t *info, void *context) {
    greg_t *gregs = ((ucontext_t *)context)->uc_mcontext.gregs;
    uintptr_t go_on = pie_safe_load_fix((uintptr_t)gregs[REG_RIP]);

    if (!go_on)
        _Exit(99);
    gregs[REG_RIP] = (greg_t)go_on;
}

static int compare(const void *a, const void *b) {
    return *(const int *)a - *(const int *)b;
}

/* Inlined: the frame of a function that pushes without saying so would be described wrongly. */
__attribute__((always_inline)) static inline void set_trap_flag(bool on) {
    if (on)
        __asm__ volatile("pushfq; orq $0x100, (%%rsp); popfq" ::: "memory", "cc");
    else
        __asm__ volatile("pushfq; andq $~0x100, (%%rsp); popfq" ::: "memory", "cc");
}

__attribute__((noinline)) static double some_work(void) {
    int numbers[20];
    char text[64];
    double x = 0;

    for (int i = 0; i < 20; i++)
        numbers[i] = (i * 7) % 20;
    qsort(numbers, 20, sizeof *numbers, compare);
    snprintf(text, sizeof text, "%d %.3f %s", numbers[3], 2.5, "abc");
    x += strtod(text, NULL) + sin(numbers[4]) + pow(1.5, numbers[2]);
    free(malloc(100000));
    return x;
}

static void test_every_instruction_gives_the_frames_of_libunwind(void **state) {
    struct sigaction action = {.sa_sigaction = on_step, .sa_flags = SA_SIGINFO}, old;
    volatile double x = some_work(); /* lazy binding is done before */
    (void)x;

    sigaction(SIGTRAP, &action, &old);
    set_trap_flag(true);
    x += some_work();
    set_trap_flag(false);
    sigaction(SIGTRAP, &old, NULL);
    print_message("%ld instructions, %ld different, %ld not modelled, %ld truncated\n", seen.steps,
                  seen.different, seen.exotic, seen.truncated);
    for (size_t i = 0; seen.different && i < seen.n_fast; i++)
        print_message("  #%zu %lx %lx | %lx %lx\n", i, seen.fast[i].ip, seen.fast[i].sp,
                      seen.slow_frames[i].ip, seen.slow_frames[i].sp);
    assert_true(seen.steps > 2000);
    assert_int_equal(seen.different, 0);
    assert_in_range(seen.truncated, 0, 2); /* between pushfq and popfq the stack pointer is not described */
    assert_int_equal(seen.exotic, 0);
}

/* This program is linked to bind lazily: the first call of a function goes through the loader, whose frames are
 * addressed by RBX. */
static void test_lazy_binding_too(void **state) {
    struct sigaction action = {.sa_sigaction = on_step, .sa_flags = SA_SIGINFO}, old;
    long before = seen.steps, truncated = seen.truncated, first, second;
    char text[] = "abc";

    seen.different = 0;
    sigaction(SIGTRAP, &action, &old);
    set_trap_flag(true);
    strfry(text);
    set_trap_flag(false);
    first = seen.steps - before;
    before = seen.steps;
    set_trap_flag(true);
    strfry(text);
    set_trap_flag(false);
    second = seen.steps - before;
    sigaction(SIGTRAP, &old, NULL);
    print_message("%ld instructions, bound %ld; %ld different, %ld not modelled\n", first, second,
                  seen.different, seen.exotic);
    for (size_t i = 0; seen.different && i < seen.n_fast; i++)
        print_message("  #%zu %lx %lx | %lx %lx\n", i, seen.fast[i].ip, seen.fast[i].sp,
                      seen.slow_frames[i].ip, seen.slow_frames[i].sp);
    assert_true(first > second + 300); /* the loader has looked the name up */
    assert_int_equal(seen.exotic, 0);
    assert_in_range(seen.truncated - truncated, 0, 4);
    assert_int_equal(seen.different, 0);
}

static size_t nested_frames;

static void on_inner(int signal, siginfo_t *info, void *context) {
    struct pie_native_frame frames[DEPTH], slow[DEPTH];
    unsigned flags;
    size_t n = pie_unwind(context, frames, DEPTH, &flags);
    size_t n_slow = libunwind_walk(context, slow, DEPTH);

    nested_frames = n == n_slow && frames[n - 1].ip == slow[n - 1].ip ? n : 0;
}

static void on_outer(int signal) {
    raise(SIGUSR2);
}

/* A handler of the program is on the stack: the walk goes through the kernel's trampoline. */
static void test_passes_through_a_signal_handler(void **state) {
    struct sigaction outer = {.sa_handler = on_outer},
                     inner = {.sa_sigaction = on_inner, .sa_flags = SA_SIGINFO};

    sigaction(SIGUSR1, &outer, NULL);
    sigaction(SIGUSR2, &inner, NULL);
    raise(SIGUSR1);
    assert_true(nested_frames > 6);
}

static void test_packing_keeps_a_rule(void **state) {
    static const int32_t offsets[] = {0, 8, -16, 4096, -4096, 65528, -65536};

    for (size_t i = 0; i < sizeof offsets / sizeof *offsets; i++) {
        struct pie_cfi_rule rule = {.kind = PIE_CFI_NORMAL,
                                    .cfa = PIE_CFI_CFA_RBP_DEREF,
                                    .rbp = PIE_CFI_RBP_AT_RBP,
                                    .cfa_offset = offsets[i] * 1000 + 3,
                                    .rbp_offset = offsets[i],
                                    .rbx_offset = -offsets[i] / 2 / 8 * 8};
        struct pie_cfi_rule back = pie_cfi_unpack(pie_cfi_pack(rule));
        assert_int_not_equal(pie_cfi_pack(rule), 0);
        assert_int_equal(back.kind, rule.kind);
        assert_int_equal(back.cfa, rule.cfa);
        assert_int_equal(back.rbp, rule.rbp);
        assert_int_equal(back.cfa_offset, rule.cfa_offset);
        assert_int_equal(back.rbp_offset, rule.rbp_offset);
        assert_int_equal(back.rbx_offset, rule.rbx_offset);
    }
    struct pie_cfi_rule far = {.kind = PIE_CFI_NORMAL, .rbp_offset = 1 << 24};
    assert_int_equal(pie_cfi_unpack(pie_cfi_pack(far)).kind, PIE_CFI_EXOTIC);
}

/* A stack of garbage ends the walk; it does not end the process. */
static void test_garbage_registers_do_no_harm(void **state) {
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_NODEFER};
    struct pie_native_frame frames[DEPTH];
    ucontext_t context;
    unsigned flags, seed = 1;

    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGBUS, &action, NULL);
    for (int i = 0; i < 20000; i++) {
        memset(&context, 0, sizeof context);
        greg_t *gregs = context.uc_mcontext.gregs;
        gregs[REG_RIP] =
            (greg_t)((uintptr_t)(i & 1 ? (void *)qsort : (void *)snprintf) + (uintptr_t)rand_r(&seed) % 400);
        gregs[REG_RSP] =
            (greg_t)((uintptr_t)&context + (uintptr_t)(rand_r(&seed) % 8192) * (i & 2 ? 1 : 1000003));
        gregs[REG_RBP] =
            (greg_t)((uintptr_t)&context + (uintptr_t)(rand_r(&seed) % 8192) * (i & 4 ? 8 : 7777777));
        size_t n = pie_unwind(&context, frames, DEPTH, &flags);
        assert_in_range(n, 1, DEPTH);
    }
    signal(SIGSEGV, SIG_DFL);
    signal(SIGBUS, SIG_DFL);
}

static void test_function_start_is_where_the_function_starts(void **state) {
    assert_int_equal(pie_cfi_function((uintptr_t)some_work + 5), (uintptr_t)some_work);
    assert_int_equal(pie_cfi_function((uintptr_t)&seen), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_instruction_gives_the_frames_of_libunwind),
        cmocka_unit_test(test_lazy_binding_too),
        cmocka_unit_test(test_passes_through_a_signal_handler),
        cmocka_unit_test(test_packing_keeps_a_rule),
        cmocka_unit_test(test_garbage_registers_do_no_harm),
        cmocka_unit_test(test_function_start_is_where_the_function_starts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
