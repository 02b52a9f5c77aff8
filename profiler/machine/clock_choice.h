/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

/* The choice of the clock that drives the samples of the time profile, as a pure function of what this
 * machine allows, so that the engine and `pieprof doctor` cannot disagree. From the worst to the best: */
enum pie_clock_kind {
    PIE_CLOCK_NONE,      /* nothing works: no time profile */
    PIE_CLOCK_ITIMER,    /* setitimer(ITIMER_PROF): one clock for the process, whichever thread runs is hit */
    PIE_CLOCK_TIMER,     /* timer_create(CLOCK_THREAD_CPUTIME_ID) per thread, as fine as the kernel's tick */
    PIE_CLOCK_PERF_USER, /* perf event with sigtrap per thread, user code only */
    PIE_CLOCK_PERF,      /* perf event with sigtrap per thread, kernel code included */
};

/* What was found out about this process and kernel by clock_facts.c, or made up by a test. */
struct pie_clock_facts {
    bool is_traced;         /* a debugger is attached: it would swallow SIGTRAP */
    int perf_user_error;    /* 0 or -errno of opening the event of PIE_CLOCK_PERF_USER */
    int perf_kernel_error;  /* 0 or -errno of opening the event of PIE_CLOCK_PERF */
    int perf_mmap_error;    /* 0 or -errno of mapping such an event's ring, which PIE_CLOCK_PERF needs */
    int thread_timer_error; /* 0 or -errno of creating the timer of PIE_CLOCK_TIMER */
    int itimer_error;       /* 0 or -errno of setting ITIMER_PROF */
    int paranoid;           /* perf_event_paranoid, or PIE_CLOCK_PARANOID_UNKNOWN */
    int kernel_major, kernel_minor; /* 0.0: unknown */
    long tick_ns;                   /* the kernel's tick, the granularity of CPU timers; 0: unknown */
};

enum { PIE_CLOCK_PARANOID_UNKNOWN = 1000 };

/* The best clock that the facts allow. `forced` is NULL or the name of a clock: the best one not above it
 * (NULL and unknown names: of all). *ret_note says why it is not the best of those, in one sentence that
 * lives forever, or NULL. Context: any. */
enum pie_clock_kind pie_clock_choose(const struct pie_clock_facts *facts, const char *forced,
                                     const char **ret_note);

/* "none", "itimer", "timer", "perf-user", "perf": as stored in the file. Context: any. */
const char *pie_clock_name(enum pie_clock_kind kind);

/* The clock of that name ("none" is not one). Returns 0 or -EINVAL. Context: any. */
int pie_clock_parse(const char *name, enum pie_clock_kind *ret_kind);

/* Finds out the facts by trying: opens and closes events and timers, arms none, leaves no descriptor.
 * What it cannot find out is unknown, never an error. Context: launcher (before Python starts), drain, cli. */
void pie_clock_facts_gather(struct pie_clock_facts *ret_facts);
