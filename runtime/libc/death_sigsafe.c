/* SPDX-License-Identifier: Apache-2.0 */

/* The handler of deadly signals, and what else may run in handlers of the program. The thread that takes the first
 * signal waits for the collection thread, with all signals blocked so that no handler of the program can lead out of
 * here, and then dies of that signal: default action, unblocked, sent again to itself. So the parent's waitpid() sees
 * what it would have seen. A second deadly signal, on this thread or another, ends the wait.
 *
 * What the collection thread needs may be in this thread's hands (a lock of the C library, a fork): the wait is
 * bounded, and what is not written then is lost. */

#include "runtime/libc/death.h"

#include "profiler/base/clocks.h"
#include "profiler/thread/ending.h"
#include "runtime/libc/death_state.h"
#include "runtime/libc/signals_state.h"

#include <errno.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static const uint64_t WAIT_NS = 500000000; /* for the profile to be written */
static const uint64_t SLICE_NS = 10000000; /* between looks for a second signal */
static const uint64_t AWAIT_NS = 1000000000;
static const uint64_t SENT_NS = 100000000; /* for a signal to arrive that was sent */

/* The signal that this process is dying of. Reset in a forked child. */
static _Atomic int dying;

void pie_death_forget(void) {
    atomic_store_explicit(&dying, 0, memory_order_relaxed);
}

bool pie_death_is_our_action(const struct sigaction *action) {
    return (action->sa_flags & SA_SIGINFO) && action->sa_sigaction == pie_death_on_signal;
}

bool pie_death_is_ours(int signal) {
    struct sigaction action;

    return pie_real_sigaction(signal, NULL, &action) == 0 && pie_death_is_our_action(&action);
}

static uint64_t pending(void) {
    uint64_t bits = 0;

    syscall(SYS_rt_sigpending, &bits, sizeof bits);
    return bits;
}

static bool is_second(uint64_t bits) {
    for (int signal = 1; signal <= PIE_SIGNALS_MAX; signal++)
        if ((bits & pie_signals_bit(signal)) && pie_death_is_ours(signal))
            return true;
    return false;
}

/* What waited before is not the second: the program had it blocked. */
static void wait_for_profile(void) {
    uint64_t until_ns = pie_monotonic_ns() + WAIT_NS, before = pending();

    while (!pie_ending_wait(SLICE_NS) && pie_monotonic_ns() < until_ns && !is_second(pending() & ~before))
        ;
}

static void die(int signal) {
    struct sigaction action = {.sa_handler = SIG_DFL};
    uint64_t bit = pie_signals_bit(signal);

    pie_real_sigaction(signal, &action, NULL);
    syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, &bit, NULL, sizeof bit);
    syscall(SYS_tgkill, (pid_t)syscall(SYS_getpid), (pid_t)syscall(SYS_gettid), signal);
}

void pie_death_on_signal(int signal, siginfo_t *info, void *context) {
    int error = errno, first = 0;

    if (pie_ending_is_owner()) {
        if (!atomic_compare_exchange_strong_explicit(&dying, &first, signal, memory_order_acq_rel,
                                                     memory_order_acquire)) {
            signal = first;
        } else {
            if (pie_ending_claim())
                pie_ending_ask("signal", 128 + signal);
            wait_for_profile();
        }
    }
    die(signal);
    errno = error; /* only where the program has set a handler meanwhile */
}

static void nap(void) {
    struct timespec ms = {0, 1000000};

    syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &ms, NULL);
}

static bool is_dying(void) {
    return atomic_load_explicit(&dying, memory_order_acquire) && pie_ending_is_owner();
}

void pie_death_await(void) {
    uint64_t until_ns = pie_monotonic_ns() + AWAIT_NS;
    int error = errno;

    while (is_dying() && pie_monotonic_ns() < until_ns)
        nap();
    errno = error;
}

void pie_death_sent(int signal) {
    uint64_t until_ns = pie_monotonic_ns() + SENT_NS, mask = 0;
    int error = errno;

    syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &mask, sizeof mask);
    if (!(mask & pie_signals_bit(signal)) && pie_ending_is_owner() && pie_death_is_ours(signal)) {
        while (!is_dying() && pie_monotonic_ns() < until_ns)
            nap();
        pie_death_await();
    }
    errno = error;
}
