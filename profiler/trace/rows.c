/* SPDX-License-Identifier: Apache-2.0 */

/* From sums to shares. A call site's time is the mean of the iterations in which it was observed, for all iterations of
 * the epoch; the whole is the calls and the body's own code. */

#include "profiler/trace/internal.h"

#include "profiler/base/own_memory.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static const double OWN_MARGIN = 1.96; /* standard deviations: 95 % */

/* What the collection thread sees of a loop. */
struct published {
    struct pie_traced_loop_row loop;
    struct pie_traced_call_row *calls;
    unsigned n_calls, room;
    bool is_new;
};

/* Order: innermost. Fork child: made anew. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct published all[PIE_TRACE_LOOPS_MAX]; /* under lock */

static const char *const policies[] = {
    [PIE_RACE_RACING] = "racing",
    [PIE_RACE_REJECTS] = "successive rejects",
    [PIE_RACE_ACCEPTS_REJECTS] = "successive accepts and rejects",
};

/* Where nothing was observed in this epoch yet, its iterations count as those of the ended ones do: by this factor. */
static double unobserved_factor(const struct pie_trace_loop *loop) {
    double iterations = (double)loop->iterations, ended = iterations - (double)loop->epoch.iterations;

    return loop->race.rounds == 0 && ended > 0 ? iterations / ended : 1;
}

static struct pie_trace_sum total(const struct pie_trace_loop *loop, unsigned call, double bias_s) {
    struct pie_trace_sum sum = pie_trace_epoch_sum(loop, call, bias_s), ended = loop->calls[call].ended;
    double factor = unobserved_factor(loop);

    return (struct pie_trace_sum){sum.seconds + factor * ended.seconds, sum.low_s + factor * ended.low_s,
                                  sum.high_s + factor * ended.high_s, sum.calls + factor * ended.calls};
}

static double part(double seconds, double of_s) {
    double share = of_s > 0 ? seconds / of_s : 0;

    return share < 0 ? 0 : share > 1 ? 1 : share;
}

/* As it would be if nobody had observed it, s. */
static double unobserved_s(double ns, double bias_s) {
    double seconds = ns * 1e-9 - bias_s;

    return seconds > 0 ? seconds : 0;
}

static struct pie_traced_call_row row_of(const struct pie_trace_loop *loop, unsigned i, double body_s,
                                         double bias_s) {
    const struct pie_trace_call *call = &loop->calls[i];
    struct pie_trace_sum sum = total(loop, i, bias_s);

    return (struct pie_traced_call_row){
        .loop = loop->id,
        .call = i,
        .file = loop->file,
        .line = call->line,
        .callee = call->callee,
        .is_native = call->is_native,
        .state = (uint8_t)call->state,
        .decided_after = call->decided_after,
        .calls = (uint64_t)llround(sum.calls),
        .observed_calls = call->times.count,
        .share = part(sum.seconds, body_s),
        .share_low = part(sum.low_s, body_s),
        .share_high = part(sum.high_s, body_s),
        .mean_s = unobserved_s(call->times.mean_ns, bias_s),
        .variance_s2 = pie_trace_times_variance(&call->times) * 1e-18,
        .p50_s = unobserved_s(pie_trace_times_percentile(&call->times, 0.50), bias_s),
        .p95_s = unobserved_s(pie_trace_times_percentile(&call->times, 0.95), bias_s),
        .p99_s = unobserved_s(pie_trace_times_percentile(&call->times, 0.99), bias_s),
    };
}

static struct pie_traced_call_row own_row(const struct pie_trace_loop *loop, double own_s, double var_s2,
                                          double whole_s) {
    double margin_s = OWN_MARGIN * sqrt(var_s2);

    return (struct pie_traced_call_row){
        .loop = loop->id,
        .file = loop->file,
        .line = loop->line,
        .state = PIE_TRACED_UNDECIDED,
        .share = part(own_s, whole_s),
        .share_low = part(own_s - margin_s, whole_s),
        .share_high = part(own_s + margin_s, whole_s),
    };
}

static void fill(struct published *to, const struct pie_trace_loop *loop) {
    struct pie_trace_estimate epoch = pie_trace_estimate(loop);
    double iterations = (double)loop->epoch.iterations, factor = unobserved_factor(loop);
    double own_s = epoch.own_s * iterations + factor * loop->ended_own_s, whole_s = own_s;
    double own_var_s2 = epoch.own_var_s2 * iterations * iterations + factor * factor * loop->ended_own_var_s2;

    for (unsigned i = 1; i < loop->n_calls; i++)
        whole_s += total(loop, i, epoch.bias_s).seconds;
    for (unsigned i = 1; i < loop->n_calls; i++)
        to->calls[i] = row_of(loop, i, whole_s, epoch.bias_s);
    to->calls[0] = own_row(loop, own_s, own_var_s2, whole_s);
    to->n_calls = loop->n_calls;
    to->loop = (struct pie_traced_loop_row){
        .loop = loop->id,
        .file = loop->file,
        .line = loop->line,
        .function = loop->function,
        .policy = policies[pie_trace_settings()->policy],
        .confidence = pie_trace_settings()->confidence,
        .entries = loop->entries,
        .iterations = loop->iterations,
        .observed_iterations = loop->observed,
        .body_s = loop->ended_body_s + pie_trace_body_s(loop) * iterations,
        .note = loop->note,
    };
    to->is_new = true;
}

void pie_trace_publish(struct pie_trace_loop *loop, uint64_t now_ns) {
    struct published *to = &all[loop->id - 1];

    pthread_mutex_lock(&lock);
    if (to->room < loop->n_calls) {
        void *grown = pie_realloc(to->calls, PIE_TRACE_CALLS_MAX * sizeof *to->calls);
        to->room = grown ? PIE_TRACE_CALLS_MAX : to->room;
        to->calls = grown ? grown : to->calls;
    }
    if (to->room >= loop->n_calls)
        fill(to, loop);
    pthread_mutex_unlock(&lock);
    loop->published_ns = now_ns;
    loop->published_iterations = loop->iterations;
}

void pie_trace_unpublish_all(void) {
    lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    for (unsigned i = 0; i < PIE_TRACE_LOOPS_MAX; i++)
        all[i].is_new = false;
}

/* The rows are written without the lock: a disk may be slow, and a program waits for the lock with the GIL. */
static int drain_one(struct pie_sink *sink, const struct published *taken) {
    int r = sink->ops->put_traced_loop(sink, &taken->loop);

    for (unsigned i = 0; i < taken->n_calls && r >= 0; i++)
        r = sink->ops->put_traced_call(sink, &taken->calls[i]);
    return r;
}

int pie_trace_drain(struct pie_sink *sink) {
    static struct pie_traced_call_row rows[PIE_TRACE_CALLS_MAX]; /* of the collection thread */
    int r = 0;

    for (unsigned i = 0; i < PIE_TRACE_LOOPS_MAX && r >= 0; i++) {
        struct published taken;
        pthread_mutex_lock(&lock);
        taken = all[i];
        all[i].is_new = false;
        if (taken.is_new)
            memcpy(rows, taken.calls, taken.n_calls * sizeof *rows);
        pthread_mutex_unlock(&lock);
        taken.calls = rows;
        if (taken.is_new)
            r = drain_one(sink, &taken);
    }
    return r;
}
