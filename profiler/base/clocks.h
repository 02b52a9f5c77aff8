/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>
#include <time.h>

/* The kernel's clocks in nanoseconds. */

enum { PIE_NS_PER_S = 1000000000 };

/* A clock's time in ns; 0 if it cannot be read. Context: signal. */
static inline uint64_t pie_clock_ns(clockid_t clock) {
    struct timespec now;

    if (clock_gettime(clock, &now) != 0)
        return 0;
    return (uint64_t)now.tv_sec * PIE_NS_PER_S + (uint64_t)now.tv_nsec;
}

/* CLOCK_MONOTONIC. Context: signal. */
static inline uint64_t pie_monotonic_ns(void) {
    return pie_clock_ns(CLOCK_MONOTONIC);
}

/* CPU time of the calling thread. Context: signal. */
static inline uint64_t pie_thread_cpu_ns(void) {
    return pie_clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

/* CPU time of all threads of this process. Context: signal. */
static inline uint64_t pie_process_cpu_ns(void) {
    return pie_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

/* CPU time of another thread of this process; 0 if it is gone. Context: any. */
uint64_t pie_thread_cpu_of(int32_t tid);

/* Time of day: CLOCK_REALTIME at the first call, advanced by CLOCK_BOOTTIME. Setting the clock does not change it, so
 * all times of a profile are consistent. Time in which the machine was suspended counts. A forked child continues its
 * parent's. Context: signal. */
int64_t pie_realtime_ns(void);

/* Time for which the machine has been suspended since its start; -1: the clocks could not be read together.
 * Context: any. */
int64_t pie_suspended_ns(void);
