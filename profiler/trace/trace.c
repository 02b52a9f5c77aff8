/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/trace/internal.h"

#include "profiler/base/clocks.h"
#include "profiler/base/hash.h"
#include "profiler/base/own_memory.h"
#include "profiler/base/random.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

enum {
    LONG = 8,         /* such a multiple of the median makes an iteration a long one, … */
    LONG_TIMED = 64,  /* … which is known when this many were timed */
    FIRST_TIMED = 16, /* the first iterations of a loop are timed, the next ones observed */
    FIRST_BURST = 32,
    BURST = 24,              /* iterations are observed in a row: … */
    WARM_UP = 3,             /* … the first ones, for which everything is cold, do not count */
    EPOCH_OBSERVED_MIN = 16, /* an epoch with fewer goes on */
};
static const double UNEXPLAINED = 0.02; /* part of the time of timed iterations */
static const double TIMING_COST = 0.007, TIMING_COST_DECIDED = 0.001,
                    TIMING_NS = 130;     /* part of the time; what timing one iteration costs, about */
static const double LOOK_EVERY_NS = 1e7; /* to see that an epoch has ended */
/* An observed iteration that took much longer than those before was interrupted: that is not what looking costs. */
static const double FIRST_LOOKING_NS = 10000, SMOOTHING = 0.1, LOOKING_TIMES_MAX = 8;
static const uint64_t PUBLISH_NS = 100000000;

static const struct pie_trace_settings *settings;
static struct pie_trace_loop *loops[PIE_TRACE_LOOPS_MAX];
static unsigned n_loops;
static void (*before_first)(void);
static _Atomic uint64_t spent_ns; /* relaxed: a sum */

void pie_trace_configure(const struct pie_trace_settings *wanted) {
    settings = wanted;
}

void pie_trace_before_first(void (*call)(void)) {
    before_first = call;
}

bool pie_trace_is_on(void) {
    return settings;
}

const struct pie_trace_settings *pie_trace_settings(void) {
    return settings;
}

/* Strings of loops live as long as the process: rows that are being written point to them. In a list, so that a checker
 * of leaks finds them: loops lie in mapped memory. */
static struct kept {
    struct kept *next;
    char text[];
} *all_kept;

static const char *keep(const char *text) {
    size_t bytes = strlen(text) + 1;
    struct kept *kept = pie_malloc(sizeof *kept + bytes);

    if (!kept)
        return NULL;
    kept->next = all_kept;
    all_kept = kept;
    return memcpy(kept->text, text, bytes);
}

static double long_s(const struct pie_trace_loop *loop) {
    return LONG * pie_trace_times_percentile(&loop->body_times, 0.5) * 1e-9;
}

static void begin_epoch(struct pie_trace_loop *loop, uint64_t now_ns) {
    for (unsigned i = 1; i < loop->n_calls; i++)
        loop->calls[i].found = (struct pie_trace_found){0};
    loop->epoch = (struct pie_trace_epoch){
        .begun_ns = now_ns,
        .long_s = loop->all_body.count >= LONG_TIMED ? long_s(loop) : INFINITY,
    };
}

static void begin(struct pie_trace_loop *loop) {
    struct pie_race_settings race = {
        .policy = settings->policy,
        .confidence = settings->confidence,
        .top = settings->top,
        .budget = settings->budget,
    };

    pie_race_begin(&loop->race, &race);
    for (unsigned i = 1; i < loop->n_calls; i++)
        pie_race_add(&loop->race);
    begin_epoch(loop, pie_monotonic_ns());
}

static struct pie_trace_loop *make(const char *file, int32_t line, const char *function) {
    struct pie_trace_loop *loop = n_loops < PIE_TRACE_LOOPS_MAX ? pie_calloc(1, sizeof *loop) : NULL;

    if (!loop)
        return NULL;
    loop->file = keep(file);
    loop->function = keep(function);
    if (!loop->file || !loop->function)
        return NULL; /* out of memory: what little was had stays */
    loop->line = line;
    loop->n_calls = 1;
    loop->id = n_loops + 1;
    loop->looking_ns = FIRST_LOOKING_NS;
    loop->random = pie_hash_upper(pie_monotonic_ns()) | 1;
    begin(loop);
    loops[n_loops++] = loop;
    return loop;
}

struct pie_trace_loop *pie_trace_open(const char *file, int32_t line, const char *function) {
    if (!settings)
        return NULL;
    for (unsigned i = 0; i < n_loops; i++)
        if (loops[i]->line == line && strcmp(loops[i]->file, file) == 0 &&
            strcmp(loops[i]->function, function) == 0)
            return loops[i];
    if (n_loops == 0 && before_first)
        before_first();
    return make(file, line, function);
}

uint64_t pie_trace_entries(const struct pie_trace_loop *loop) {
    return loop ? loop->entries : 0;
}

uint32_t pie_trace_loop_id(const struct pie_trace_loop *loop) {
    return loop->id;
}

unsigned pie_trace_add_call(struct pie_trace_loop *loop, uint32_t unit, int32_t line, const char *callee,
                            bool is_native) {
    for (unsigned i = 1; i < loop->n_calls; i++)
        if (loop->calls[i].unit == unit && loop->calls[i].line == line)
            return i;
    const char *kept = loop->n_calls < PIE_TRACE_CALLS_MAX ? keep(callee) : NULL;

    if (!kept || pie_race_add(&loop->race) < 0) {
        loop->note = "it has more call sites than are traced: their time is in the body's own code";
        return 0;
    }
    loop->calls[loop->n_calls] = (struct pie_trace_call){
        .callee = kept, .line = line, .unit = unit, .is_native = is_native, .state = PIE_TRACED_UNDECIDED};
    return loop->n_calls++;
}

static int arm_of(unsigned call) {
    return (int)call - 1;
}

/* --- Means --- */

static void add(struct pie_trace_mean *mean, double value) {
    double from_mean = value - mean->mean;

    mean->count++;
    mean->mean += from_mean / (double)mean->count;
    mean->m2 += from_mean * (value - mean->mean);
}

/* --- Epochs --- */

static void end_epoch(struct pie_trace_loop *loop, uint64_t now_ns) {
    struct pie_trace_estimate estimate = pie_trace_estimate(loop);
    double iterations = (double)loop->epoch.iterations;

    for (unsigned i = 1; i < loop->n_calls; i++) {
        struct pie_trace_sum sum = pie_trace_epoch_sum(loop, i, estimate.bias_s),
                             *ended = &loop->calls[i].ended;
        ended->seconds += sum.seconds;
        ended->low_s += sum.low_s;
        ended->high_s += sum.high_s;
        ended->calls += sum.calls;
    }
    loop->ended_own_s += estimate.own_s * iterations;
    loop->ended_own_var_s2 += estimate.own_var_s2 * iterations * iterations;
    loop->ended_body_s += pie_trace_body_s(loop) * iterations;
    begin_epoch(loop, now_ns);
    pie_race_again(&loop->race);
}

static void note_decisions(struct pie_trace_loop *loop) {
    for (unsigned i = 1; i < loop->n_calls; i++) {
        const struct pie_arm *arm = &loop->race.arms[arm_of(i)];
        if (arm->state == PIE_ARM_RACING)
            continue;
        loop->calls[i].state = arm->state == PIE_ARM_KEPT ? PIE_TRACED_KEPT : PIE_TRACED_DROPPED;
        if (!loop->calls[i].decided_after)
            loop->calls[i].decided_after = arm->decided_after;
    }
}

static void look_at_clock(struct pie_trace_loop *loop, uint64_t now_ns) {
    if (now_ns - loop->epoch.begun_ns >= settings->interval_ns && loop->race.rounds >= EPOCH_OBSERVED_MIN)
        end_epoch(loop, now_ns);
    if (now_ns - loop->published_ns >= PUBLISH_NS)
        pie_trace_publish(loop, now_ns);
}

/* --- Which iterations --- */

/* In (0, 1]. */
static double draw(struct pie_trace_loop *loop) {
    return ((double)(pie_random_next(&loop->random) >> 11) + 1) * 0x1p-53;
}

static double at_most(double value, double most) {
    return value < most ? value : most;
}

static uint32_t begin_burst(struct pie_trace_loop *loop, unsigned iterations) {
    loop->burst = iterations;
    loop->warm_up = WARM_UP;
    return 1;
}

/* A call that takes long may be so rare that the others are decided before it was met once. */
static bool is_unexplained(const struct pie_trace_epoch *epoch) {
    return epoch->seen.count[PIE_TRACE_LONG] == 0 &&
           epoch->timed.seconds[PIE_TRACE_LONG] > UNEXPLAINED * epoch->body.mean * (double)epoch->body.count;
}

static bool is_decided(const struct pie_trace_loop *loop) {
    return pie_race_is_decided(&loop->race) && loop->race.rounds >= EPOCH_OBSERVED_MIN &&
           !is_unexplained(&loop->epoch);
}

/* To the next iteration of those that each come with this probability. */
static uint32_t distance(struct pie_trace_loop *loop, double part) {
    if (part >= 1)
        return 1;
    if (part != loop->part) {
        loop->part = part;
        loop->log_rest = log1p(-part);
    }
    return (uint32_t)at_most(1 + log(draw(loop)) / loop->log_rest, INT32_MAX);
}

uint32_t pie_trace_next(struct pie_trace_loop *loop, uint64_t iterations, enum pie_trace_look *ret_look) {
    loop->iterations += iterations;
    loop->epoch.iterations += iterations;
    *ret_look = PIE_TRACE_TIME;
    if (loop->all_body.count < FIRST_TIMED)
        return 1;
    *ret_look = PIE_TRACE_OBSERVE;
    if (loop->burst > 0)
        return 1;
    if (loop->observed == 0 && loop->lost == 0)
        return begin_burst(loop, FIRST_BURST);
    double body_ns = loop->all_body.mean * 1e9;
    bool is_over = is_decided(loop);
    double burst = is_over ? 0 : at_most(settings->cost * body_ns / loop->looking_ns / BURST, 0.5);
    double timing = at_most((is_over ? TIMING_COST_DECIDED : TIMING_COST) * body_ns / TIMING_NS, 0.5);
    double either = at_most(burst + timing + body_ns / LOOK_EVERY_NS, 1);

    if (draw(loop) * either <= burst)
        begin_burst(loop, BURST);
    else
        *ret_look = PIE_TRACE_TIME;
    return distance(loop, either);
}

/* --- What was seen --- */

void pie_trace_enter(struct pie_trace_loop *loop) {
    loop->entries++;
}

void pie_trace_leave(struct pie_trace_loop *loop, uint64_t iterations) {
    loop->iterations += iterations;
    loop->epoch.iterations += iterations;
    look_at_clock(loop, pie_monotonic_ns());
}

void pie_trace_finish(void) {
    for (unsigned i = 0; i < n_loops; i++)
        if (loops[i]->iterations != loops[i]->published_iterations)
            pie_trace_publish(loops[i], pie_monotonic_ns());
}

void pie_trace_call(struct pie_trace_loop *loop, unsigned call, uint64_t ns) {
    struct pie_trace_call *known = &loop->calls[call];

    if (loop->warm_up > 0)
        return;
    known->pending_ns += ns;
    known->pending_calls++;
    pie_trace_times_add(&known->times, ns);
}

static void race(struct pie_trace_loop *loop, int length) {
    for (unsigned i = 1; i < loop->n_calls; i++) {
        struct pie_trace_call *call = &loop->calls[i];
        if (!call->pending_calls)
            continue;
        call->found.calls += call->pending_calls;
        call->found.seconds[length] += (double)call->pending_ns * 1e-9;
        pie_race_observe(&loop->race, arm_of(i), (double)call->pending_ns * 1e-9);
        call->pending_ns = call->pending_calls = 0;
    }
    loop->observed++;
    if (pie_race_round(&loop->race))
        note_decisions(loop);
}

/* Which length it is of. */
static int count(struct pie_trace_lengths *lengths, double seconds, double long_s) {
    int length = seconds > long_s ? PIE_TRACE_LONG : PIE_TRACE_ORDINARY;

    lengths->count[length]++;
    lengths->seconds[length] += seconds;
    return length;
}

/* Does the body's own code take longer than what observing it may be wrong by? If not, what makes an iteration long is
 * in its calls: an interrupt meets the observer of a light instruction, not the instruction. */
static bool has_weight(const struct pie_trace_epoch *epoch) {
    return epoch->own.mean > PIE_TRACE_STEP_ERROR * epoch->own_steps.mean * epoch->step_s;
}

static void note(struct pie_trace_loop *loop, const struct pie_trace_observed *observed) {
    struct pie_trace_epoch *epoch = &loop->epoch;
    double called_s = observed->called_ns * 1e-9;
    double own_s = has_weight(epoch) && observed->own_ns > 0 ? observed->own_ns * 1e-9 : 0;

    race(loop, count(&epoch->seen, called_s + own_s, epoch->long_s));
    add(&epoch->own, observed->own_ns * 1e-9);
    add(&epoch->own_steps, observed->own_steps);
    add(&epoch->calls, observed->calls);
    add(&epoch->called_capped, at_most(called_s, epoch->long_s));
    epoch->step_s = observed->step_ns * 1e-9;
}

void pie_trace_observed(struct pie_trace_loop *loop, const struct pie_trace_observed *observed) {
    loop->burst -= loop->burst > 0;
    double cost_ns = at_most(observed->cost_ns, LOOKING_TIMES_MAX * loop->looking_ns);
    loop->looking_ns += SMOOTHING * (cost_ns - loop->looking_ns);
    atomic_fetch_add_explicit(&spent_ns, (uint64_t)observed->cost_ns, memory_order_relaxed);
    if (loop->warm_up > 0)
        loop->warm_up--;
    else
        note(loop, observed);
    look_at_clock(loop, pie_monotonic_ns());
}

void pie_trace_timed(struct pie_trace_loop *loop, uint64_t begun_ns, uint64_t ended_ns) {
    uint64_t body_ns = ended_ns - begun_ns;
    struct pie_trace_epoch *epoch = &loop->epoch;
    double body_s = (double)body_ns * 1e-9;

    add(&loop->all_body, body_s);
    add(&epoch->body, body_s);
    add(&epoch->body_capped, at_most(body_s, epoch->long_s));
    count(&epoch->timed, body_s, epoch->long_s);
    pie_trace_times_add(&loop->body_times, body_ns);
    if (loop->all_body.count == LONG_TIMED)
        epoch->long_s = long_s(loop);
    atomic_fetch_add_explicit(&spent_ns, (uint64_t)TIMING_NS, memory_order_relaxed);
    look_at_clock(loop, ended_ns);
}

void pie_trace_lost(struct pie_trace_loop *loop, const char *why) {
    for (unsigned i = 1; i < loop->n_calls; i++)
        loop->calls[i].pending_ns = loop->calls[i].pending_calls = 0;
    loop->burst = 0;
    loop->lost++;
    loop->note = why;
}

uint64_t pie_trace_spent_ns(void) {
    return atomic_load_explicit(&spent_ns, memory_order_relaxed);
}

void pie_trace_forget(void) {
    atomic_store_explicit(&spent_ns, 0, memory_order_relaxed);
    pie_trace_unpublish_all();
    for (unsigned k = 0; k < n_loops; k++) {
        struct pie_trace_loop *loop = loops[k];
        loop->entries = loop->iterations = loop->published_iterations = loop->observed = 0;
        loop->ended_body_s = loop->ended_own_s = loop->ended_own_var_s2 = 0;
        loop->all_body = (struct pie_trace_mean){0};
        memset(&loop->body_times, 0, sizeof loop->body_times);
        for (unsigned i = 0; i < loop->n_calls; i++) {
            struct pie_trace_call *call = &loop->calls[i];
            call->ended = (struct pie_trace_sum){0};
            call->decided_after = 0;
            call->state = PIE_TRACED_UNDECIDED;
            memset(&call->times, 0, sizeof call->times);
        }
        begin(loop);
    }
}
