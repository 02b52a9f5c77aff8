/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* How far apart a thread's samples are, so that they cost no more than their part of the overhead that the user allows.
 * A sample stands for all CPU time since the last one, so fewer of them make no figure wrong, only less certain.
 *
 * The first samples of a thread are as near as the user asked for, whatever they cost: a short run needs each of them.
 *
 * Context: drain (all of this). */

/* Zeroed when the thread begins. */
struct pie_pace {
    uint64_t samples, cost_ns; /* of the thread, at the last look that saw enough of them */
    uint64_t mean_ns; /* what one has cost of late, its signal and what that evicts from caches included; 0:
                                * not known yet */
};

/* What part of a thread's CPU time something has taken of late. Zeroed when the thread begins. */
struct pie_spending {
    uint64_t cpu_ns, spent_ns; /* at the last look */
    double share;
    bool is_known;
};

/* cpu_ns, spent_ns: of the thread until now. part: of its CPU time may be spent. Returns what is left of that part: all
 * of it at most, and 0 while nothing is known. */
double pie_spending_left(struct pie_spending *spending, uint64_t cpu_ns, uint64_t spent_ns, double part);

/* samples, cost_ns: of the thread until now. shortest_ns: the period that the user asked for, which is the answer where
 * share is 0. share: the part of the thread's CPU time that its samples may take. Returns the period in ns of CPU time,
 * at most twice shortest_ns. */
uint64_t pie_pace_period_ns(struct pie_pace *pace, uint64_t samples, uint64_t cost_ns, uint64_t shortest_ns,
                            double share);
