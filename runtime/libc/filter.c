/* SPDX-License-Identifier: Apache-2.0 */

/* Which calls set a filter, and in which order the profiler withdraws.
 *
 * A thread that is not the main one loses its slot, as at its end: no handler works there any more. The collection
 * thread takes its clock and its debug registers away; that is waited for, so that no signal of ours is under way when
 * the filter stands. Other threads are profiled on. The main thread could not write the profile's end and the summary
 * under a filter, one for all threads (SECCOMP_FILTER_FLAG_TSYNC) holds the collection thread too, and the clock
 * `itimer` hits any thread: then the profile ends before.
 *
 * Our handlers of deadly signals are taken off in both cases, since they may run on any thread. What is left on a
 * filtered thread is the way of a fault to the program's own handler, which changes the mask. */

#include "runtime/libc/filter.h"

#include "profiler/base/counters.h"
#include "profiler/collect/engine.h"
#include "profiler/thread/ending.h"
#include "profiler/thread/filtered.h"
#include "profiler/thread/thread.h"
#include "profiler/time/clock.h"
#include "runtime/libc/death.h"
#include "runtime/libc/export.h"
#include "runtime/libc/syscall.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { DISARM_WAIT_MS = 1000, END_WAIT_MS = 10000 };

static void (*end_profile)(
    void); /* set before threads exist; kept in forked children, where it does nothing */

void pie_filter_set_hook(void (*hook)(void)) {
    end_profile = hook;
}

/* The kernel asks for the right before it looks at the program (kernel/seccomp.c, seccomp_prepare_filter()): one of an
 * instruction that does not exist is refused either way. */
static bool may_set(void) {
    struct sock_filter instruction = {.code = 0xffff};
    struct sock_fprog program = {.len = 1, .filter = &instruction};

    return pie_syscall_raw(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, (long)&program, 0, 0) == -EINVAL;
}

/* Where the main thread is gone its id still is the process's. */
static bool is_main(void) {
    return syscall(SYS_gettid) == getpid();
}

/* The slot is given back when the collection thread has disarmed it. */
static void await_disarming(const struct pie_thread *thread) {
    for (int i = 0; i < DISARM_WAIT_MS; i++) {
        if (pie_thread_state(thread) != PIE_THREAD_ENDED)
            return;
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
}

static void withdraw_from_thread(char name[sizeof((struct pie_thread *)0)->name]) {
    struct pie_thread *thread = pie_thread_self();

    pie_death_release();
    if (!thread)
        return;
    memcpy(name, thread->name, sizeof thread->name);
    pie_counter_add(PIE_COUNTER_THREADS_FILTERED, 1);
    pie_engine_thread_ended();
    await_disarming(thread);
}

/* Another thread ends the profile: its clocks run until that is done. */
static void await_end(void) {
    for (int i = 0; i < END_WAIT_MS / 100 && pie_ending_is_owner() && pie_ending_is_claimed(); i++)
        if (pie_ending_wait(100000000))
            break;
    pie_engine_thread_ended();
}

static void withdraw_from_process(void) {
    pie_counter_add(PIE_COUNTER_THREADS_FILTERED, 1);
    if (end_profile)
        end_profile();
    pie_death_release();
    pie_engine_thread_ended();
}

/* A number above 0 is a listener's descriptor, or else the id of a thread that cannot follow: then nothing was set. */
static bool is_set(long number, const long *arguments, long r) {
    return r == 0 || (r > 0 && number == SYS_seccomp && (arguments[1] & SECCOMP_FILTER_FLAG_NEW_LISTENER));
}

/* Returns what the kernel says. */
static long set_filter(long number, const long *arguments, bool is_for_all) {
    char name[sizeof((struct pie_thread *)0)->name] = "";
    bool was_filtered = pie_filtered(), is_running = pie_engine_is_running();
    bool is_whole = is_for_all || is_main() || pie_clock_current() == &pie_clock_itimer;

    if (was_filtered)
        pie_engine_finish("seccomp", -1); /* the summary would open files */
    else if (is_running && is_whole)
        withdraw_from_process();
    else if (is_running)
        withdraw_from_thread(name);
    else
        await_end();
    pie_filtered_set(true);
    long r = pie_syscall_raw(number, arguments[0], arguments[1], arguments[2], arguments[3], arguments[4]);
    if (is_set(number, arguments, r) && is_for_all)
        pie_filtered_set_all();
    if (is_set(number, arguments, r) || was_filtered)
        return r;
    pie_filtered_set(false);
    if (is_running && !is_whole)
        pie_engine_thread_started(name);
    return r;
}

/* One filter is as good as many, but for one that reaches more threads. Probes for what the kernel knows pass no
 * program. */
static long on_syscall(long number, long a, long b, long c, long d, long e) {
    const long arguments[] = {a, b, c, d, e};
    bool is_prctl = number == SYS_prctl, is_mode_filter, is_strict;
    int error = errno;

    unsigned operation = (unsigned)a; /* all that the kernel takes of it */
    is_strict =
        is_prctl ? b == SECCOMP_MODE_STRICT : operation == SECCOMP_SET_MODE_STRICT && b == 0 && c == 0;
    is_mode_filter = c && (is_prctl ? b == SECCOMP_MODE_FILTER : operation == SECCOMP_SET_MODE_FILTER);
    bool is_for_all = !is_prctl && is_mode_filter && (b & SECCOMP_FILTER_FLAG_TSYNC);
    bool sets = is_strict || is_mode_filter;
    if (!sets || (pie_filtered() && !is_for_all) || (is_mode_filter && !pie_filtered() && !may_set()))
        return pie_syscall_raw(number, a, b, c, d, e);
    long r = set_filter(number, arguments, is_for_all);
    errno = error;
    return r;
}

/* Priority: the first that user code can follow. */
__attribute__((constructor(101))) static void see_syscalls(void) {
    pie_syscall_set_filter(on_syscall);
}

PIE_EXPORT int prctl(int option, ...) {
    unsigned long arguments[4];
    va_list list;

    va_start(list, option);
    for (int i = 0; i < 4; i++)
        arguments[i] = va_arg(list, unsigned long);
    va_end(list);
    return (int)syscall(SYS_prctl, (long)option, arguments[0], arguments[1], arguments[2], arguments[3]);
}
