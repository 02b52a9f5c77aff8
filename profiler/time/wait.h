/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "profiler/ports/collector.h"
#include "profiler/ports/ids.h"
#include "profiler/time/wait_files.h"
#include "profiler/time/wait_reason.h"

#include <stdbool.h>
#include <stdint.h>

/* Time off the CPU: waiting, runnable (in the run queue) and throttled (by a CPU quota), and where. Nobody signals a
 * thread that is off the CPU (that would end its system calls); the collection thread looks at it from outside, at each
 * wall tick. */

struct pie_aggregate;
struct pie_record;
struct pie_throttle;
struct pie_thread_row;

enum { PIE_WAIT_AWAITS_MAX = 32 }; /* tasks of an event loop that share one wait */

/* One of them: where it is suspended, and why. */
struct pie_wait_await {
    struct pie_cct_id node, coroutine; /* coroutine, task: as in pie_wait_reason */
    uint16_t task;
    uint8_t cause; /* enum pie_wait_cause */
};

/* What is remembered of a thread from tick to tick. At each look wall time since its start is its CPU time plus
 * wait_ns, runnable_ns, throttled_ns and undecided_ns. */
struct pie_wait {
    uint32_t thread_id; /* of the thread this belongs to */
    struct pie_wait_files files;
    uint64_t last_ns;       /* CLOCK_MONOTONIC at the last look */
    uint64_t last_cpu_ns;   /* the thread's CPU clock then */
    uint64_t last_delay_ns; /* time it had been runnable but not running then */
    uint64_t throttle_seen; /* of pie_throttle_share() */
    int64_t wait_ns;        /* all of its waiting so far */
    uint64_t runnable_ns, throttled_ns;
    int64_t undecided_ns; /* the end of the time so far: it is off the CPU, and may be waiting or runnable */
    int64_t
        wait_pool_ns; /* of wait_ns, what no context has been found for yet; less than 0: too much was booked */
    uint64_t runnable_pool_ns, throttled_pool_ns; /* the same of these two */
    struct pie_cct_id blocked_node; /* where it was found waiting at the last tick; 0: it was not */
    struct pie_wait_reason reason;  /* why it waited there */
    struct pie_wait_holder holder;  /* of the lock that it waited for */
    uint32_t peer_looks;            /* at which nobody knew where that is */
    uint64_t booked_ns;             /* there, since then */
    struct pie_cct_id known_node;   /* where it was seen last, by a sample or a look */
    uint64_t sample_ns;             /* CLOCK_MONOTONIC at the last sample */
    uint64_t samples;               /* that it had taken at the last tick */
    bool is_still; /* found asleep at the last tick: as long as its clock stands, all is as it was */
    /* Where the tasks of its event loop are suspended, if that is what waits; they share the time. */
    struct pie_wait_await awaits[PIE_WAIT_AWAITS_MAX];
    uint32_t n_awaits;
    uint64_t slices;                   /* how often it has been given a processor, at the last tick */
    uint64_t slices_charged;           /* of these, reported by pie_wait_switches() */
    bool is_seldom;                    /* its clock's period is longer than the kernel's tick */
    uint64_t slices_before, slices_ns; /* at the last pie_wait_switching_permille(), and when that was */
};

/* What changing to and from the thread has taken of the time since it was last asked, if each change takes switch_ns.
 * Context: drain. */
uint64_t pie_wait_switching_permille(struct pie_wait *wait, uint64_t switch_ns, uint64_t now_ns);

/* How often it has been given a processor since pie_wait_switching_permille() was last asked. Context: drain. */
uint64_t pie_wait_switches_of_late(const struct pie_wait *wait);

/* How often it has been given a processor since this was last asked. Context: drain. */
uint64_t pie_wait_switches(struct pie_wait *wait);

/* Meets a thread: where `wait` is of another one, it begins anew. Before its samples are drained. Context: drain. */
void pie_wait_meet(struct pie_wait *wait, const struct pie_thread *thread);

/* A sample of the thread that pie_wait_meet() met, in the order in which they were taken. Context: drain. */
void pie_wait_sample(struct pie_wait *wait, const struct pie_record *record);

/* That thread has not run until then (CLOCK_MONOTONIC), though nobody looked at it: a look at that moment would have
 * seen it where it was. Context: drain. */
void pie_wait_stood(struct pie_wait *wait, const struct pie_thread *thread, pie_wait_peer_fn peer,
                    struct pie_aggregate *aggregate, uint64_t until_ns);

/* Looks at that thread and books its time off the CPU since the last tick. Context: drain. */
void pie_wait_tick(struct pie_wait *wait, struct pie_thread *thread, const struct pie_pystack_ops *ops,
                   pie_wait_peer_fn peer, struct pie_throttle *throttle, struct pie_aggregate *aggregate);

/* Books its time off the CPU at the end of its life. Context: drain. */
void pie_wait_end(struct pie_wait *wait, const struct pie_thread *thread, struct pie_throttle *throttle,
                  struct pie_aggregate *aggregate);

/* Replaces each CCT node that is remembered by moved(node). Context: drain. */
void pie_wait_move(struct pie_wait *wait, pie_moved_fn moved, void *data);

/* Totals of a thread that lives, for its row: they add up to wall_ns. Leaves the row alone if it was never looked at.
 * Context: drain. */
void pie_wait_totals(const struct pie_wait *wait, const struct pie_thread *thread,
                     struct pie_thread_row *row);
