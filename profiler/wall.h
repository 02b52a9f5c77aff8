/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Waiting time: where a thread is while it is off the CPU. Nobody signals a waiting thread (that would end its system
 * calls); the collection thread looks at it from outside, at each wall tick. */

struct pie_thread;
struct pie_pystack_ops;
struct pie_aggregate;

enum { PIE_WALL_AWAITS_MAX = 32 }; /* tasks of an event loop that share one wait */

/* What is remembered of a thread from tick to tick. */
struct pie_wall {
    uint32_t thread_id;     /* of the thread this belongs to */
    uint64_t last_ns;       /* CLOCK_MONOTONIC at the last tick */
    uint64_t last_cpu_ns;   /* the thread's CPU clock then */
    uint64_t last_delay_ns; /* time it had been runnable but not running then */
    uint64_t pool_ns;       /* time off the CPU that no context has been found for yet */
    uint32_t blocked_node;  /* context in which it was found waiting at the last tick; 0: it was not */
    uint64_t wait_ns;       /* all of its waiting so far */
    uint64_t samples;       /* that it had taken at the last tick */
    bool is_still;          /* found asleep at the last tick: as long as its clock stands, all is as it was */
    /* Where the tasks of its event loop are suspended, if that is what waits; they share the time. */
    uint32_t awaits[PIE_WALL_AWAITS_MAX];
    uint32_t n_awaits;
};

/* Looks at one thread and books its waiting since the last tick. Context: drain. */
void pie_wall_tick(struct pie_wall *wall, struct pie_thread *thread, const struct pie_pystack_ops *ops,
                   struct pie_aggregate *aggregate);

/* Books what a thread waited at the end of its life. Context: drain. */
void pie_wall_end(struct pie_wall *wall, const struct pie_thread *thread, struct pie_aggregate *aggregate);
