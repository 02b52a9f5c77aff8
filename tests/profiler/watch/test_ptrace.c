/* SPDX-License-Identifier: Apache-2.0 */

/* Debug registers by ptrace, on the machine's own: they follow orders and stay the thread's alone, whoever
 * waits for children meets none, and a thread that a debugger has is refused. */

#include "profiler/base/region.h"
#include "profiler/base/trap_info.h"
#include "profiler/collect/collectors.h"
#include "profiler/machine/ptrace_registers.h"
#include "profiler/thread/thread.h"
#include "profiler/watch/debug_registers.h"
#include "profiler/watch/watch.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <cmocka.h>

static const struct pie_debug_ops *const ops = &pie_debug_ptrace;
static struct pie_thread *thread;
static _Alignas(64) volatile uint64_t words[8];
static volatile unsigned traps[PIE_DEBUG_REGISTERS], unknown;

static void on_trap(int signal, siginfo_t *info, void *context) {
    const ucontext_t *at = context;
    struct pie_thread *self = pie_thread_self();

    if (!self || !pie_trap_is_hardware(info)) {
        unknown++;
        return;
    }
    unsigned fired = pie_debug_ptrace_fired(self, (uint64_t)at->uc_mcontext.gregs[REG_RIP]);
    unknown += fired == 0;
    for (unsigned i = 0; i < PIE_DEBUG_REGISTERS; i++)
        traps[i] += fired >> i & 1;
}

/* Traps of a register since the last call. */
static unsigned fired(unsigned index) {
    unsigned n = traps[index];

    traps[index] = 0;
    return n;
}

static int set_up(void **state) {
    struct sigaction action = {.sa_sigaction = on_trap,
                               .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK | SA_NODEFER};
    static bool is_mapped;

    pie_collectors_lay_out_threads();
    if ((is_mapped ? pie_region_reset() : pie_region_init()) < 0)
        return -1;
    is_mapped = true;
    pie_threads_reset();
    pie_debug_ptrace_use(true);
    thread = pie_thread_begin(true, "main");
    for (unsigned i = 0; i < PIE_DEBUG_REGISTERS; i++)
        traps[i] = 0;
    unknown = 0;
    return thread && sigaction(SIGTRAP, &action, NULL) == 0 ? 0 : -1;
}

static int tear_down(void **state) {
    ops->release(thread);
    pie_thread_end();
    return unknown ? -1 : 0;
}

static void __attribute__((noinline)) function(void) {
    __asm__ volatile("" ::: "memory");
}

static void arm(unsigned index, enum pie_debug_kind kind, const volatile void *address, unsigned length) {
    assert_int_equal(ops->arm(thread, index, kind, (uintptr_t)address, length, 0), 0);
}

static const void *address_of(void (*code)(void)) {
    return (const void *)(uintptr_t)code;
}

/* A register for data is disarmed by its trap, one for code is not. */
static void test_each_kind_traps_on_what_it_is_for(void **state) {
    arm(0, PIE_DEBUG_EXECUTE, address_of(function), 1);
    arm(1, PIE_DEBUG_STORE, &words[1], 8);
    arm(2, PIE_DEBUG_LOAD_STORE, &words[2], 8);
    function();
    function();
    assert_int_equal(fired(0), 2);
    (void)words[1];
    assert_int_equal(fired(1), 0);
    words[1] = 5;
    words[1] = 5;
    assert_int_equal(fired(1), 1);
    (void)words[2];
    words[2] = 1;
    assert_int_equal(fired(2), 1);
    function();
    assert_int_equal(fired(0), 1);
}

static void test_words_of_all_lengths(void **state) {
    volatile char *bytes = (volatile char *)words;

    for (unsigned length = 1; length <= 8; length *= 2)
        for (unsigned i = 8; i < 40; i++) {
            arm(3, PIE_DEBUG_STORE, bytes + 16, length);
            bytes[i] = 1;
            assert_int_equal(fired(3), i >= 16 && i < 16 + length);
        }
}

static void test_all_that_one_instruction_hits_is_reported(void **state) {
    arm(1, PIE_DEBUG_STORE, &words[0], 8);
    arm(3, PIE_DEBUG_LOAD_STORE, &words[1], 8);
    __asm__ volatile("movdqu %%xmm0, (%0)" ::"r"(words) : "memory");
    assert_int_equal(fired(1), 1);
    assert_int_equal(fired(3), 1);
}

static void test_register_moves_and_is_silenced(void **state) {
    for (int i = 1; i < 8; i++) {
        arm(3, PIE_DEBUG_STORE, &words[i - 1], 8);
        arm(3, PIE_DEBUG_STORE, &words[i], 8);
        words[i - 1] = 1;
        assert_int_equal(fired(3), 0);
        words[i] = 1;
        assert_int_equal(fired(3), 1);
    }
    arm(3, PIE_DEBUG_STORE, &words[0], 8);
    ops->disarm(thread, 3);
    ops->disarm(thread, 2); /* never armed */
    ops->catch_up(thread);
    words[0] = 2;
    assert_int_equal(fired(3), 0);
}

static void test_address_that_cannot_be_watched_is_refused(void **state) {
    arm(0, PIE_DEBUG_STORE, &words[0], 8);
    arm(1, PIE_DEBUG_STORE, &words[2], 8);
    assert_true(ops->arm(thread, 0, PIE_DEBUG_STORE, UINT64_C(0xffff888000000000), 8, 0) < 0);
    assert_true(ops->arm(thread, 0, PIE_DEBUG_STORE, (uintptr_t)words + 1, 8, 0) < 0);
    assert_true(ops->arm(thread, 0, PIE_DEBUG_LOAD_STORE, (uintptr_t)&errno, 4, 0) < 0);
    assert_true(ops->arm(thread, 0, PIE_DEBUG_LOAD_STORE, (uintptr_t)pthread_self() + 64, 8, 0) < 0);
    words[0] = 1;
    assert_int_equal(fired(0), 0);
    words[2] = 1;
    assert_int_equal(fired(1), 1); /* the others are none the worse for it */
}

static void *touch(void *unused) {
    words[0] = 7; /* a thread without a slot: its trap would be unknown */
    return NULL;
}

static void test_other_tasks_have_none(void **state) {
    pthread_t other;
    int status;

    arm(0, PIE_DEBUG_STORE, &words[0], 8);
    assert_int_equal(pthread_create(&other, NULL, touch, NULL), 0);
    pthread_join(other, NULL);
    pid_t child = fork();
    if (child == 0) {
        words[0] = 8;
        _exit((int)(traps[0] + unknown));
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    child = vfork();
    if (child == 0) {
        words[0] = 9;
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(fired(0) + unknown, 0);
    words[0] = 10;
    assert_int_equal(fired(0), 1);
}

/* pthread_create() and fork() block all signals for a moment; a trap would end the process then. */
static void test_paused_registers_do_not_fire_under_blocked_signals(void **state) {
    sigset_t all, before;

    sigfillset(&all);
    arm(0, PIE_DEBUG_STORE, &words[0], 8);
    pie_debug_ptrace_pause(thread);
    sigprocmask(SIG_BLOCK, &all, &before);
    words[0] = 1;
    sigprocmask(SIG_SETMASK, &before, NULL);
    assert_int_equal(ops->arm(thread, 1, PIE_DEBUG_STORE, (uintptr_t)&words[1], 8, 0), -EAGAIN);
    pie_debug_ptrace_resume(thread);
    assert_int_equal(fired(0), 0);
    words[0] = 1;
    assert_int_equal(fired(0), 1);
}

static void on_signal(int signal) {}

/* Masks, waiting signals and children are as before, and no child is left whatever kind is asked for. */
static void test_nothing_is_left(void **state) {
    sigset_t blocked, before, after;

    signal(SIGCHLD, on_signal);
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR1);
    sigprocmask(SIG_SETMASK, &blocked, &before);
    raise(SIGUSR1);
    for (int i = 0; i < 100; i++)
        arm(0, PIE_DEBUG_STORE, &words[i % 8], 8);
    sigprocmask(SIG_SETMASK, NULL, &after);
    assert_memory_equal(&after, &blocked, sizeof(uint64_t));
    sigpending(&after);
    assert_true(sigismember(&after, SIGUSR1) && !sigismember(&after, SIGCHLD));
    assert_int_equal(waitpid(-1, NULL, WNOHANG | __WALL), -1);
    assert_int_equal(errno, ECHILD);
    signal(SIGUSR1, SIG_IGN);
    sigprocmask(SIG_SETMASK, &before, NULL);
    signal(SIGUSR1, SIG_DFL);
    signal(SIGCHLD, SIG_DFL);
}

/* --- Where it is refused --- */

static int in_child(int (*play)(void)) {
    int status;
    pid_t child = fork();

    if (child == 0)
        _exit(-play());
    do
        assert_int_equal(waitpid(child, &status, 0), child);
    while (WIFSTOPPED(status) && ptrace(PTRACE_CONT, child, NULL, NULL) == 0);
    assert_true(WIFEXITED(status));
    return -WEXITSTATUS(status);
}

static int arm_here(void) {
    thread->tid = getpid();
    pie_watch_of(thread)->ptrace = (struct pie_debug_ptrace){0};
    return ops->arm(thread, 0, PIE_DEBUG_STORE, (uintptr_t)&words[0], 8, 0);
}

static int arm_traced(void) {
    return ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0 ? arm_here() : -EPERM;
}

static int arm_without_processes(void) {
    struct rlimit none = {0, 0};

    if (setrlimit(RLIMIT_NPROC, &none) != 0 || (getuid() == 0 && setuid(12345) != 0))
        return -EBUSY;
    prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
    return arm_here();
}

static int arm_undumpable(void) {
    if (getuid() == 0 && setuid(12345) != 0)
        return -EPERM;
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    return arm_here();
}

static int arm_in_new_namespace(void) {
    pie_debug_ptrace_end(thread);
    thread->tid = getpid();
    pie_debug_ptrace_end(thread);
    return ops->arm(thread, 0, PIE_DEBUG_STORE, (uintptr_t)&words[0], 8, 0);
}

static void test_refusals(void **state) {
    assert_int_equal(in_child(arm_here), 0);
    assert_int_equal(in_child(arm_traced), -EPERM);
    assert_int_equal(in_child(arm_undumpable), -EPERM);
    assert_int_equal(in_child(arm_without_processes), -EBUSY);
    assert_true(in_child(arm_in_new_namespace) < 0);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(test_each_kind_traps_on_what_it_is_for),
        CASE(test_words_of_all_lengths),
        CASE(test_all_that_one_instruction_hits_is_reported),
        CASE(test_register_moves_and_is_silenced),
        CASE(test_address_that_cannot_be_watched_is_refused),
        CASE(test_other_tasks_have_none),
        CASE(test_paused_registers_do_not_fire_under_blocked_signals),
        CASE(test_nothing_is_left),
        CASE(test_refusals),
    };
    int error = pie_ptrace_try();

    if (error) {
        printf("1..0 # SKIP no debug register can be set by ptrace here: %s\n", strerror(-error));
        return 0;
    }
    return cmocka_run_group_tests_name("debug registers by ptrace", tests, NULL, NULL);
}
