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
    PIE_COST_SAMPLES, /* of time: signals, handlers, and caches that they empty */
    PIE_COST_WATCHES, /* … and of watches */
    PIE_COST_MEMORY,  /* sampled allocations, crossings of the threshold, and the caches that these empty */
    PIE_COST_COPIES,  /* sampled copies */
    PIE_COST_WINDOWS, /* counted windows */
    PIE_COST_TICKS,   /* looks at all threads (govern/pace.h) */
    PIE_COST_ARMING,  /* clocks of threads, given and taken (govern/pace.h) */
    PIE_COSTS_GOVERNED,
    PIE_COST_OTHER = PIE_COSTS_GOVERNED, /* names and rows, switches, forks, traced loops */
    PIE_COST_COUNTING,                   /* each allocated block; what has a rate is which time is counted */
    PIE_COST_START,                      /* before the program began: no rate changes it any more */
    PIE_COSTS
};

struct pie_governor {
    double budget;                        /* 0: rates are fixed */
    bool is_asked;                        /* the user named it */
    bool is_short;                        /* … and nothing is left of it: what has a rate gets the least */
    uint64_t cpu_ns, spent_ns[PIE_COSTS]; /* until the last look that saw enough CPU time */
    double spending[PIE_COSTS];           /* of late */
    double allowed[PIE_COSTS_GOVERNED]; /* 0: as much as the collector costs at the rate that was asked for */
    double trim[PIE_COSTS_GOVERNED];    /* what rates are set by, as a part of what is allowed */
    double running;                     /* CPU time by wall time, of late */
    uint64_t wall_ns, wall_cpu_ns;      /* at the last look of all */
    double counting, uncountable;       /* means over seconds: of counting, and of what has no rate at all */
    double counted;                     /* the part of time in which blocks are counted, 1 at first */
    double too_dear_ns;                 /* CPU time since counting costs too much */
    bool is_known;                      /* spending */
    bool divides;                       /* the run has cost so much that it is limited from now on */
};

/* budget: 0.05 is 5 %; 0: nothing is ever limited. is_asked: the user named it, so it is kept from the start. Else all
 * rates are free at first. */
void pie_governor_begin(struct pie_governor *governor, double budget, bool is_asked);

/* So much CPU time at the beginning is not limited. */
uint64_t pie_governor_free_ns(double budget, bool is_asked);

/* By how much rates may be lower than they may at the default budget: 1, or more where the budget is smaller. */
double pie_governor_scarcity(const struct pie_governor *governor);

/* The same of the longest mean period between samples of time. */
double pie_governor_stretch(const struct pie_governor *governor);

/* What a collector is to set its rate by, so that it costs what is allowed: less than that where it has spent more,
 * as by caches that it empties, and more where it has spent less, up to 1.5 of the budget. 0: as much as it likes. */
double pie_governor_share(const struct pie_governor *governor, enum pie_cost cost);

/* May a collector have more for a while than its share sets? Not where the user named a budget and it has spent its
 * part, nor where nothing is left. */
bool pie_governor_has_room(const struct pie_governor *governor, enum pie_cost cost);

/* What a collector's part of the budget is so far, for work that it has once and in pieces; UINT64_MAX: no limit, since
 * the user named no budget. */
uint64_t pie_governor_earned_ns(const struct pie_governor *governor, enum pie_cost cost);

/* The part of a thread's time that the switches of its clock may take; a thread that has more gets a period that costs
 * nothing at a switch. */
double pie_governor_switching(const struct pie_governor *governor);

/* CPU time of the program's threads by wall time, of late; at most 1. */
double pie_governor_running(const struct pie_governor *governor);

/* wall_ns: CLOCK_MONOTONIC. cpu_ns: of the program's threads so far, without what the profiler took of it. spent_ns: by
 * all so far. To be called ten times a second: a step in a cost is answered within two seconds of CPU time. */
void pie_governor_look(struct pie_governor *governor, uint64_t wall_ns, uint64_t cpu_ns,
                       const uint64_t spent_ns[PIE_COSTS]);
