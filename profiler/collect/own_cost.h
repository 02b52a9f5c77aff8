/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

/* What the collection thread spends its CPU time on. All of it is at work on one thing at any time, so the sum is the
 * thread's CPU time. Context: drain (all of this, on the collection thread). */

enum pie_own_cost {
    PIE_OWN_START,   /* until the first thread has a clock: prices are measured, the file is made */
    PIE_OWN_TICKS,   /* looks at all threads, and all that is not named here */
    PIE_OWN_ARMING,  /* clocks of threads are given and taken; rounds for nothing else */
    PIE_OWN_WRITING, /* flushes: names and rows */
    PIE_OWN_END,     /* the profile ends */
    PIE_OWN_COSTS
};

/* From now on it is at work on that. Returns what it was at work on until now. At first: the start. */
enum pie_own_cost pie_own_cost_switch(enum pie_own_cost cost);

/* ns of CPU time until now. */
uint64_t pie_own_cost_ns(enum pie_own_cost cost);

/* Forked child: there is a new collection thread. Context: fork child. */
void pie_own_cost_forget(void);
