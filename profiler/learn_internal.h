/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "profiler/learn.h"
#include "profiler/learn_times.h"
#include "profiler/sink.h"

/* Between the files that make up the learning of loops. */

enum { PIE_LEARN_CALLS_MAX = 256 };

/* Sums over the epochs that have ended; each stands for its own iterations. */
struct pie_learn_sum {
    double seconds, low_s, high_s, calls;
};

struct pie_learn_call {
    const char *callee;
    int32_t line;
    uint32_t unit; /* in the code of the loop */
    bool is_native;
    enum pie_learned_state state;       /* the last decision */
    uint64_t decided_after;             /* of the first one */
    uint64_t epoch_calls;               /* in this epoch, while it raced */
    uint64_t pending_ns, pending_calls; /* of the iteration that is being observed */
    struct pie_learn_sum ended;
    struct pie_learn_times times;
};

/* Mean of a random quantity, Welford. */
struct pie_learn_mean {
    uint64_t count;
    double mean, m2;
};

struct pie_learn_loop {
    uint32_t id;
    const char *file, *function, *note;
    int32_t line;
    uint64_t entries, iterations, observed; /* since the start */
    uint64_t lost;
    uint64_t epoch_iterations, epoch_ns;         /* since the epoch began, when that was */
    uint64_t published_ns, published_iterations; /* when, and how many there were */
    double ended_body_s, ended_own_s, ended_own_var_s2;
    struct pie_learn_mean own;      /* observed iterations of the epoch, s */
    double own_error_s;             /* see struct pie_learn_observed; of the last one */
    struct pie_learn_mean body;     /* timed iterations of the epoch, s */
    struct pie_learn_mean all_body; /* of the run */
    double looking_ns;              /* what observing one costs, smoothed */
    unsigned burst, warm_up;        /* iterations still to be observed in a row; of them, that do not count */
    uint64_t random;
    struct pie_race race;
    unsigned n_calls; /* with calls[0], the body's own code */
    struct pie_learn_call calls[PIE_LEARN_CALLS_MAX];
};

const struct pie_learn_settings *pie_learn_settings(void);

/* The mean time of an iteration that nobody looks into, s. */
double pie_learn_body_s(const struct pie_learn_loop *loop);

/* What the epoch says about the body's own code, for all of its iterations. */
double pie_learn_epoch_own(const struct pie_learn_loop *loop, double *ret_var_s2);

/* What the epoch says about a call site, for all of its iterations. */
struct pie_learn_sum pie_learn_epoch_sum(const struct pie_learn_loop *loop, unsigned call);

/* Lets the collection thread have the loop as it is. */
void pie_learn_publish(struct pie_learn_loop *loop, uint64_t now_ns);
void pie_learn_unpublish_all(void);
