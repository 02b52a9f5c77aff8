/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

/* How far apart a thread's samples are, so that they cost no more than they may, and never in step with the program. A
 * sample stands for all CPU time since the last one, so fewer of them make no figure wrong, only less certain.
 *
 * Context: drain (all of this). */

/* Zeroed when the thread begins. */
struct pie_period {
    uint64_t samples, cost_ns; /* of the thread, at the last look that saw enough of them */
    uint64_t mean_ns; /* what one has cost of late, its signal included; 0: not known yet. May be set from
                                * other threads' then */
    uint32_t drawn_permille; /* the last rate, of its mean; 0: it had its counterpart */
};

/* samples, cost_ns: of the thread until now. shortest_ns: the period that the user asked for, which is the answer where
 * share is 0. share: the part of the thread's CPU time that its samples may take. stretch: pie_governor_stretch().
 * Returns the mean period in ns of CPU time, at most 5 * stretch * shortest_ns. */
uint64_t pie_period_mean_ns(struct pie_period *period, uint64_t samples, uint64_t cost_ns,
                            uint64_t shortest_ns, double share, double stretch);

/* The period until the next look, at random. Its rate lies between half and one and a half times that of the mean, and
 * that of two in a row is the mean's. Of long means, some periods are as short as the user asked for. *random: a state
 * of pie_random_next(). */
uint64_t pie_period_draw_ns(struct pie_period *period, uint64_t mean_ns, uint64_t shortest_ns,
                            uint64_t *random);
