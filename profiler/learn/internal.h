/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "profiler/learn/learn.h"
#include "profiler/learn/times.h"
#include "profiler/ports/sink.h"

/* Shared by the files that learn loops. */

enum { PIE_LEARN_CALLS_MAX = 256 };

/* The possible error of an instruction's own time, as a share of the cost of observing it. */
#define PIE_LEARN_STEP_ERROR 0.3

/* Sums over the epochs that have ended; each stands for its own iterations. */
struct pie_learn_sum {
    double seconds, low_s, high_s, calls;
};

/* Mean of a random quantity, Welford. */
struct pie_learn_mean {
    uint64_t count;
    double mean, m2;
};

/* Iterations by their length. */
enum { PIE_LEARN_ORDINARY, PIE_LEARN_LONG, PIE_LEARN_LENGTHS };

struct pie_learn_lengths {
    uint64_t count[PIE_LEARN_LENGTHS];
    double seconds[PIE_LEARN_LENGTHS]; /* of iterations as far as their length is known */
};

/* Of a call, in observed iterations. */
struct pie_learn_found {
    uint64_t calls;
    double seconds[PIE_LEARN_LENGTHS];
};

struct pie_learn_call {
    const char *callee;
    int32_t line;
    uint32_t unit; /* in the code of the loop */
    bool is_native;
    enum pie_learned_state state;       /* the last decision */
    uint64_t decided_after;             /* of the first one */
    uint64_t pending_ns, pending_calls; /* of the iteration that is being observed */
    struct pie_learn_found found;       /* in this epoch */
    struct pie_learn_sum ended;
    struct pie_learn_times times;
};

/* Findings since the epoch began. */
struct pie_learn_epoch {
    uint64_t iterations, begun_ns;
    double long_s; /* an iteration that takes longer is a long one; INFINITY: none is */
    /* Iterations that were timed and no more. */
    struct pie_learn_mean body, body_capped; /* s; capped: none counts for more than long_s */
    struct pie_learn_lengths timed;
    /* Those that were observed: see struct pie_learn_observed. */
    struct pie_learn_mean own, own_steps, calls, called_capped;
    struct pie_learn_lengths seen;
    double step_s; /* of the last one */
};

/* The two figures that observation distorts most, see learn/estimate.c. */
struct pie_learn_estimate {
    double own_s, own_var_s2; /* of the body's own code in an iteration */
    double bias_s;            /* by which each call comes out too long */
};

struct pie_learn_loop {
    uint32_t id;
    const char *file, *function, *note;
    int32_t line;
    uint64_t entries, iterations, observed; /* since the start */
    uint64_t lost;
    uint64_t published_ns, published_iterations; /* when, and how many there were */
    double ended_body_s, ended_own_s, ended_own_var_s2;
    struct pie_learn_epoch epoch;
    struct pie_learn_mean all_body; /* timed iterations of the run, s */
    struct pie_learn_times body_times;
    double looking_ns;       /* the cost of observing one, smoothed */
    unsigned burst, warm_up; /* iterations still to be observed in a row; of them, that do not count */
    uint64_t random;
    double part, log_rest; /* of the last distance: logarithms take as long as a short call */
    struct pie_race race;
    unsigned n_calls; /* with calls[0], the body's own code */
    struct pie_learn_call calls[PIE_LEARN_CALLS_MAX];
};

const struct pie_learn_settings *pie_learn_settings(void);

/* The mean of an iteration without observation, s. */
double pie_learn_body_s(const struct pie_learn_loop *loop);

/* The epoch's estimate for the body's own code and for calls as such. */
struct pie_learn_estimate pie_learn_estimate(const struct pie_learn_loop *loop);

/* The epoch's sums for a call site, over all of its iterations. */
struct pie_learn_sum pie_learn_epoch_sum(const struct pie_learn_loop *loop, unsigned call, double bias_s);

/* Publishes the loop's present state for the collection thread. */
void pie_learn_publish(struct pie_learn_loop *loop, uint64_t now_ns);
void pie_learn_unpublish_all(void);
