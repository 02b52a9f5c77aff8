/* SPDX-License-Identifier: Apache-2.0 */

/* The last rung: one ITIMER_PROF for the whole process (setitimer(2)). SIGPROF hits a thread that runs when a tick
 * finds the period used up, so threads are sampled in proportion to their CPU time; each sample stands for the CPU time
 * of its thread since that thread's previous one, as everywhere. The program's own use of ITIMER_PROF takes
 * it away from us: the exported setitimer() (runtime/libc/signals.c) then gives this clock up. */

#include "profiler/time/clock.h"

#include "profiler/thread/thread.h"
#include "profiler/time/clock_timer.h"
#include "profiler/time/thread.h"

#include <errno.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

static bool on; /* the process's timer runs; collection thread only */

static int settime(uint64_t period_ns) {
    struct itimerval value = {
        .it_interval = {(time_t)(period_ns / 1000000000u), (suseconds_t)(period_ns % 1000000000u / 1000u)}};

    value.it_value = value.it_interval;
    /* the system call itself: the exported setitimer() is the program's */
    return syscall(SYS_setitimer, ITIMER_PROF, &value, NULL) == 0 ? 0 : -errno;
}

static int arm(struct pie_thread *thread, uint64_t period_ns) {
    atomic_store_explicit(&pie_time_of(thread)->period_ns, period_ns, memory_order_relaxed);
    if (on)
        return 0;
    int r = settime(period_ns);
    on = r == 0;
    return r;
}

static void disarm(struct pie_thread *thread) {
    if (thread->is_main && on) {
        settime(0);
        on = false;
    }
}

static void set_period(struct pie_thread *thread, uint64_t period_ns) {
    if (thread->is_main && on)
        settime(period_ns);
}

void pie_clock_itimer_forget(void) {
    on = false;
}

const struct pie_clock_ops pie_clock_itimer = {
    .name = "itimer",
    .signals = {SIGPROF},
    .arm = arm,
    .disarm = disarm,
    .set_period = set_period,
    .is_ours = pie_clock_itimer_is_ours,
    .account = pie_clock_timer_account,
};
