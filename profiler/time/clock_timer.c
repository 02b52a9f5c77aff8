/* SPDX-License-Identifier: Apache-2.0 */

/* Samples without perf events: a POSIX timer on the CPU clock of each thread (timer_create(2) with SIGEV_THREAD_ID). As
 * fine as the kernel's tick (4 ms at 250 Hz), includes kernel time, does not say in which mode the period ended: a
 * thread interrupted right after a system call instruction is taken to have been in the kernel. */

#include "profiler/time/clock.h"

#include "profiler/time/clock_timer.h"
#include "profiler/thread/thread.h"
#include "profiler/time/thread.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

/* Timers by slot: only the collection thread touches them. */
static struct {
    timer_t timer;
    bool on;
} *timers;
static size_t n_timers;

static int settime(timer_t timer, uint64_t period_ns) {
    struct itimerspec spec = {
        .it_interval = {(time_t)(period_ns / 1000000000u), (long)(period_ns % 1000000000u)}};

    spec.it_value = spec.it_interval;
    return timer_settime(timer, 0, &spec, NULL) == 0 ? 0 : -errno;
}

static int grow(size_t index) {
    if (index < n_timers)
        return 0;
    size_t n = index + 64;
    void *grown = realloc(timers, n * sizeof *timers);
    if (!grown)
        return -ENOMEM;
    timers = grown;
    memset(timers + n_timers, 0, (n - n_timers) * sizeof *timers);
    n_timers = n;
    return 0;
}

static int arm(struct pie_thread *thread, uint64_t period_ns) {
    size_t index = pie_thread_index(thread);
    struct sigevent event = {
        .sigev_notify = SIGEV_THREAD_ID,
        .sigev_signo = PIE_TIMER_SIGNAL,
        .sigev_value.sival_ptr = pie_clock_timer_cookie(),
    };
    int r = grow(index);

    if (r < 0)
        return r;
    event.sigev_notify_thread_id = thread->tid;
    clockid_t clock = (clockid_t)((~(uint32_t)thread->tid << 3) | 6u); /* CPU clock of that thread */
    if (timer_create(clock, &event, &timers[index].timer) != 0)
        return -errno;
    atomic_store_explicit(&pie_time_of(thread)->period_ns, period_ns, memory_order_relaxed);
    timers[index].on = true;
    return settime(timers[index].timer, period_ns);
}

static void disarm(struct pie_thread *thread) {
    size_t index = pie_thread_index(thread);

    if (index >= n_timers || !timers[index].on)
        return;
    timer_delete(timers[index].timer);
    timers[index].on = false;
}

static void set_period(struct pie_thread *thread, uint64_t period_ns) {
    size_t index = pie_thread_index(thread);

    if (index < n_timers && timers[index].on && settime(timers[index].timer, period_ns) == 0)
        atomic_store_explicit(&pie_time_of(thread)->period_ns, period_ns, memory_order_relaxed);
}

void pie_clock_timer_forget(void) {
    if (timers)
        memset(timers, 0, n_timers * sizeof *timers);
}

const struct pie_clock_ops pie_clock_timer = {
    .name = "timer",
    .signals = {PIE_TIMER_SIGNAL},
    .arm = arm,
    .disarm = disarm,
    .set_period = set_period,
    .is_ours = pie_clock_timer_is_ours,
    .account = pie_clock_timer_account,
};
