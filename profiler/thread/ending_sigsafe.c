/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/thread/ending.h"

#include "profiler/base/futex.h"

#include <stdatomic.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

static _Atomic int32_t owner; /* set anew after fork */
static _Atomic bool claimed;  /* kept in a forked child, which is no profile then */

/* Reset by pie_ending_forget() in a forked child. */
static _Atomic uint32_t wakes; /* futex: counts reasons to look */
static _Atomic uint32_t done;  /* futex: 1 when everything is written */
static _Atomic bool asked;     /* release in ask(), acquire in is_asked(): cause and status are set */
static const char *_Atomic cause;
static _Atomic int exit_status;

void pie_ending_set_owner(int32_t pid) {
    atomic_store_explicit(&owner, pid, memory_order_release);
}

/* Where nothing is profiled nothing is asked: a seccomp filter may forbid what python3 does not do. */
bool pie_ending_is_owner(void) {
    int32_t pid = atomic_load_explicit(&owner, memory_order_acquire);

    return pid != 0 && pid == (int32_t)syscall(SYS_getpid);
}

bool pie_ending_is_claimed(void) {
    return atomic_load_explicit(&claimed, memory_order_acquire);
}

bool pie_ending_claim(void) {
    return !atomic_exchange_explicit(&claimed, true, memory_order_acq_rel);
}

void pie_ending_ask(const char *new_cause, int new_exit_status) {
    atomic_store_explicit(&exit_status, new_exit_status, memory_order_relaxed);
    atomic_store_explicit(&cause, new_cause, memory_order_relaxed);
    atomic_store_explicit(&asked, true, memory_order_release);
    pie_ending_wake();
}

bool pie_ending_is_asked(void) {
    return atomic_load_explicit(&asked, memory_order_acquire);
}

const char *pie_ending_cause(void) {
    return atomic_load_explicit(&cause, memory_order_relaxed);
}

int pie_ending_exit_status(void) {
    return atomic_load_explicit(&exit_status, memory_order_relaxed);
}

void pie_ending_done(void) {
    atomic_store_explicit(&done, 1, memory_order_release);
    pie_futex_wake(&done);
}

bool pie_ending_wait(uint64_t timeout_ns) {
    if (!atomic_load_explicit(&done, memory_order_acquire))
        pie_futex_wait(&done, 0, timeout_ns);
    return atomic_load_explicit(&done, memory_order_acquire);
}

uint32_t pie_ending_wakes(void) {
    return atomic_load_explicit(&wakes, memory_order_acquire);
}

void pie_ending_wake(void) {
    atomic_fetch_add_explicit(&wakes, 1, memory_order_release);
    pie_futex_wake(&wakes);
}

void pie_ending_sleep(uint32_t seen, uint64_t timeout_ns) {
    pie_futex_wait(&wakes, seen, timeout_ns);
}

void pie_ending_forget(void) {
    atomic_store_explicit(&wakes, 0, memory_order_relaxed);
    atomic_store_explicit(&done, 0, memory_order_relaxed);
    atomic_store_explicit(&asked, false, memory_order_relaxed);
    atomic_store_explicit(&cause, NULL, memory_order_relaxed);
    atomic_store_explicit(&exit_status, 0, memory_order_relaxed);
}
