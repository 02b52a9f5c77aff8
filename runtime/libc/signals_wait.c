/* SPDX-License-Identifier: Apache-2.0 */

/* The exported functions that take a signal or look for one: they see the program's and none of the profiler's.
 *
 * A signal that the program has blocked is really blocked only once one of the program's is pending (hold_if_blocked()
 * in signals_sigsafe.c). From then on the clock's wait in the same queue, and one that the program sends to the thread
 * is lost among them. So the signals are opened before a look and after a take: the handler takes what is the
 * profiler's, and holds what is the program's again. */

#include "profiler/base/counters.h"
#include "runtime/libc/export.h"
#include "runtime/libc/signals.h"
#include "runtime/libc/signals_state.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

typedef int (*wait_fn)(const sigset_t *, siginfo_t *, const struct timespec *);

/* Resolved by pie_signals_resolve_waits(), the same ever after. */
static wait_fn real_sigtimedwait;
static int (*real_sigpending)(sigset_t *);

void pie_signals_resolve_waits(void) {
    if (real_sigpending)
        return;
    real_sigtimedwait = (wait_fn)dlsym(RTLD_NEXT, "sigtimedwait");
    real_sigpending = (int (*)(sigset_t *))dlsym(RTLD_NEXT, "sigpending");
}

/* Signals of which one waits at most. Real-time ones queue: none gets lost, and opening them would change their
 * order. */
static const uint64_t UNQUEUED = 0x7fffffff;

static uint64_t blocked_of_ours(void) {
    return pie_signals_are_virtual() ? pie_signals_virtual_mask() & pie_signals_our_bits() : 0;
}

void pie_signals_open_ours(void) {
    uint64_t bits = blocked_of_ours() & UNQUEUED;

    if (bits)
        syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, &bits, NULL, sizeof bits);
}

static struct timespec now(void) {
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t;
}

enum { NS_PER_S = 1000000000 };

/* The end of time where it is later than that. */
static struct timespec later(struct timespec from, const struct timespec *by) {
    long ns = from.tv_nsec + by->tv_nsec;
    struct timespec at = {.tv_nsec = ns % NS_PER_S};

    if (__builtin_add_overflow(from.tv_sec, by->tv_sec, &at.tv_sec) ||
        __builtin_add_overflow(at.tv_sec, ns / NS_PER_S, &at.tv_sec))
        at.tv_sec = INT64_MAX;
    return at;
}

/* Zero when it is past. */
static struct timespec left_until(struct timespec deadline) {
    struct timespec t = now(), left = {.tv_sec = deadline.tv_sec - t.tv_sec};

    left.tv_nsec = deadline.tv_nsec - t.tv_nsec;
    if (left.tv_nsec < 0) {
        left.tv_sec--;
        left.tv_nsec += NS_PER_S;
    }
    return left.tv_sec < 0 ? (struct timespec){0} : left;
}

static bool is_sane(const struct timespec *t) {
    return t->tv_sec >= 0 && t->tv_nsec >= 0 && t->tv_nsec < NS_PER_S;
}

/* Whether this is for the program: its own, or one of ours in whose place a held one of the program's belongs. A
 * thread's own signals come before the process's, so the held one is never behind another. */
static bool is_theirs(int signal, siginfo_t *info) {
    const siginfo_t *held = pie_signals_held(signal);

    if (pie_signals_sent_by_us(info)) {
        if (!held)
            return false;
        *info = *held;
        info->si_code = SI_USER; /* as glibc's call reports it, not SI_TKILL */
    }
    pie_signals_let_go(signal);
    return true;
}

/* As sigtimedwait(). The profiler's own that it meets are dropped: the clock's next one makes up for it. */
static int wait_for_theirs(const sigset_t *set, siginfo_t *ret_info, const struct timespec *timeout) {
    struct timespec left, deadline = {0};
    siginfo_t info;

    if (timeout && is_sane(timeout))
        deadline = later(now(), timeout);
    pie_signals_open_ours();
    int signal = real_sigtimedwait(set, &info, timeout);
    while (signal > 0 && pie_signals_is_ours(signal) && !is_theirs(signal, &info)) {
        pie_counter_add(PIE_COUNTER_REENTERED, 1);
        if (timeout)
            left = left_until(deadline);
        signal = real_sigtimedwait(set, &info, timeout ? &left : NULL);
    }
    int error = errno;
    pie_signals_open_ours();
    errno = error;
    if (signal > 0 && ret_info)
        *ret_info = info;
    return signal;
}

PIE_EXPORT int sigtimedwait(const sigset_t *restrict set, siginfo_t *restrict info,
                            const struct timespec *restrict timeout) {
    pie_signals_resolve_waits();
    return pie_signals_are_virtual() ? wait_for_theirs(set, info, timeout)
                                     : real_sigtimedwait(set, info, timeout);
}

PIE_EXPORT int sigwaitinfo(const sigset_t *restrict set, siginfo_t *restrict info) {
    return sigtimedwait(set, info, NULL);
}

/* Unlike the other two it goes on when a handler has run, and returns its error. */
PIE_EXPORT int sigwait(const sigset_t *restrict set, int *restrict ret_signal) {
    int signal;

    do
        signal = sigtimedwait(set, NULL, NULL);
    while (signal < 0 && errno == EINTR);
    if (signal < 0)
        return errno;
    *ret_signal = signal;
    return 0;
}

PIE_EXPORT int sigpending(sigset_t *set) {
    pie_signals_resolve_waits();
    pie_signals_open_ours();
    return real_sigpending(set);
}
