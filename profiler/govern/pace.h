/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* How often the collection thread looks at all threads, and which young threads are given a clock, so that neither
 * costs more than it may. Policy only: it reads no clock.
 *
 * Context: drain (all of this). */

struct pie_pace {
    uint64_t shortest_ns, longest_ns; /* between two ticks, wall time */
    uint64_t ticks, ticks_cost_ns;    /* at the last look that saw enough of them */
    uint64_t tick_cost_ns;            /* what one has cost of late; 0: not known yet */
    uint64_t tick_ns;                 /* the answer: from one tick to the next, wall time */
    double armed_part;                /* the answer: of the threads that are young */
};

/* shortest_ns: at fixed rates, and where ticks are cheap. longest_ns: when rings might be full. */
void pie_pace_begin(struct pie_pace *pace, uint64_t shortest_ns, uint64_t longest_ns);

/* What is known ten times a second. */
struct pie_pace_look {
    uint64_t ticks, ticks_cost_ns; /* so far: how many there were, and what they cost */
    double ticks_allowed;          /* a share of wall time; 0: no limit */
    double arming,
        arming_allowed; /* shares of CPU time: what clocks cost of late, and may cost; 0: no limit */
};
void pie_pace_look(struct pie_pace *pace, const struct pie_pace_look *look);

/* Is this thread one of those that get their clock while they are young? The answer for a thread changes only with the
 * part that does. Which they are has nothing to do with what they run. */
bool pie_pace_arms_young(const struct pie_pace *pace, uint64_t thread);
