/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "profiler/ports/sink.h"
#include "profiler/trace/times.h"
#include "profiler/trace/trace.h"

/* Shared by the files that trace loops. */

enum { PIE_TRACE_CALLS_MAX = 256 };

/* The possible error of an instruction's own time, as a share of the cost of observing it. */
#define PIE_TRACE_STEP_ERROR 0.3

/* Sums over the epochs that have ended; each stands for its own iterations. */
struct pie_trace_sum {
    double seconds, low_s, high_s, calls;
};

/* Mean of a random quantity, Welford. */
struct pie_trace_mean {
    uint64_t count;
    double mean, m2;
};

/* Iterations by their length. */
enum { PIE_TRACE_ORDINARY, PIE_TRACE_LONG, PIE_TRACE_LENGTHS };

struct pie_trace_lengths {
    uint64_t count[PIE_TRACE_LENGTHS];
    double seconds[PIE_TRACE_LENGTHS]; /* of iterations as far as their length is known */
};

/* Of a call, in observed iterations. */
struct pie_trace_found {
    uint64_t calls;
    double seconds[PIE_TRACE_LENGTHS];
};

struct pie_trace_call {
    const char *callee;
    int32_t line;
    uint32_t unit; /* in the code of the loop */
    bool is_native;
    enum pie_traced_state state;        /* the last decision */
    uint64_t decided_after;             /* of the first one */
    uint64_t pending_ns, pending_calls; /* of the iteration that is being observed */
    struct pie_trace_found found;       /* in this epoch */
    struct pie_trace_sum ended;
    struct pie_trace_times times;
};

/* Findings since the epoch began. */
struct pie_trace_epoch {
    uint64_t iterations, begun_ns;
    double long_s; /* an iteration that takes longer is a long one; INFINITY: none is */
    /* Iterations that were timed and no more. */
    struct pie_trace_mean body, body_capped; /* s; capped: none counts for more than long_s */
    struct pie_trace_lengths timed;
    /* Those that were observed: see struct pie_trace_observed. */
    struct pie_trace_mean own, own_steps, calls, called_capped;
    struct pie_trace_lengths seen;
    double step_s; /* of the last one */
};

/* The two figures that observation distorts most, see trace/estimate.c. */
struct pie_trace_estimate {
    double own_s, own_var_s2; /* of the body's own code in an iteration */
    double bias_s;            /* by which each call comes out too long */
};

struct pie_trace_loop {
    uint32_t id;
    const char *file, *function, *note;
    int32_t line;
    uint64_t entries, iterations, observed; /* since the start */
    uint64_t lost;
    uint64_t published_ns, published_iterations; /* when, and how many there were */
    double ended_body_s, ended_own_s, ended_own_var_s2;
    struct pie_trace_epoch epoch;
    struct pie_trace_mean all_body; /* timed iterations of the run, s */
    struct pie_trace_times body_times;
    double looking_ns;       /* the cost of observing one, smoothed */
    unsigned burst, warm_up; /* iterations still to be observed in a row; of them, that do not count */
    uint64_t random;
    double part, log_rest; /* of the last distance: logarithms take as long as a short call */
    struct pie_race race;
    unsigned n_calls; /* with calls[0], the body's own code */
    struct pie_trace_call calls[PIE_TRACE_CALLS_MAX];
};

const struct pie_trace_settings *pie_trace_settings(void);

/* The mean of an iteration without observation, s. */
double pie_trace_body_s(const struct pie_trace_loop *loop);

/* The epoch's estimate for the body's own code and for calls as such. */
struct pie_trace_estimate pie_trace_estimate(const struct pie_trace_loop *loop);

/* The epoch's sums for a call site, over all of its iterations. */
struct pie_trace_sum pie_trace_epoch_sum(const struct pie_trace_loop *loop, unsigned call, double bias_s);

/* Publishes the loop's present state for the collection thread. */
void pie_trace_publish(struct pie_trace_loop *loop, uint64_t now_ns);
void pie_trace_unpublish_all(void);
