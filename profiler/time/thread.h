/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "profiler/govern/period.h"
#include "profiler/thread/part.h"
#include "profiler/time/tasks.h"
#include "profiler/time/sample_ring.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* What the clocks and their samples keep for each thread. */
struct pie_time_thread {
    /* Of the handler: this thread only. */
    uint64_t pool_ns;                  /* kernel time whose place is not known yet (clock_perf) */
    uint64_t ticks_seen;               /* position in the clock's own ring (clock_perf), … */
    uint32_t ticks_user, ticks_kernel; /* … and periods before it that no sample has accounted for, … */
    uint32_t
        ticks_new; /* … of which these had ended when this handler began and not when the last one ended */
    uint64_t signal_ns; /* what delivering one of the clock's signals has cost of late; 0: not known yet */
    uint64_t own_kernel_ns; /* kernel time of the profiler's that periods may have ended in (clock_perf) */
    struct pie_cct_id last_node;         /* __atomic: of the last sample, 0: none yet; turn.c moves it */
    bool last_is_python, last_is_system; /* the kind of time that this sample stood for */
    struct pie_sample_task last_task;

    /* Of the clock: written by the collection thread before RUNNING (release), read by the handler (acquire). */
    _Atomic(void *) clock_ring; /* mapping of the perf event's ring, or NULL */
    _Atomic bool has_timer;     /* instead of a perf event, which was refused (clock_perf) */
    _Atomic uint64_t period_ns;

    /* Of the collection thread only, once the clock runs. */
    struct pie_period period;
    bool wants_near; /* samples as near as the user asked for until the next look; set by any collector */

    struct pie_ring ring;
};
extern struct pie_thread_part pie_time_part;

/* Context: any. */
static inline struct pie_time_thread *pie_time_of(const struct pie_thread *thread) {
    return pie_thread_part_of(thread, &pie_time_part);
}
