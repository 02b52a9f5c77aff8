/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* The budget of the overhead (--overhead) and its division. Policy only: from what has been spent it computes what
 * may be spent. It reads no clock and sets no rate. All shares are of the program's own CPU time.
 *
 * Context: drain (all of this). */

/* Who costs. Those before PIE_COSTS_GOVERNED have a rate that can be lower. */
enum pie_cost {
    PIE_COST_SAMPLES, /* of time: signals and handlers */
    PIE_COST_WATCHES,
    PIE_COST_MEMORY,  /* sampled allocations and crossings of the threshold */
    PIE_COST_COPIES,  /* sampled copies */
    PIE_COST_WINDOWS, /* counted windows */
    PIE_COSTS_GOVERNED,
    PIE_COST_OTHER =
        PIE_COSTS_GOVERNED, /* the start, the collection thread, counting, switches, emptied caches */
    PIE_COSTS
};

struct pie_governor {
    double budget;                        /* 0: rates are fixed */
    uint64_t cpu_ns, spent_ns[PIE_COSTS]; /* until the last look that saw enough CPU time */
    double spending[PIE_COSTS];           /* of late */
    double allowed[PIE_COSTS_GOVERNED]; /* 0: as much as the collector costs at the rate that was asked for */
    bool is_known;                      /* spending */
};

/* budget: 0.05 is 5 %; 0: nothing is ever limited. */
void pie_governor_begin(struct pie_governor *governor, double budget);

/* cpu_ns: of the program's threads so far, without what the profiler took of it. spent_ns: by all so far. To be called
 * ten times a second: a step in a cost is answered within two seconds of CPU time. */
void pie_governor_look(struct pie_governor *governor, uint64_t cpu_ns, const uint64_t spent_ns[PIE_COSTS]);
