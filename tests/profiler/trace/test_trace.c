/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "profiler/base/clocks.h"
#include "profiler/ports/sink.h"
#include "profiler/trace/times.h"
#include "profiler/trace/trace.h"

/* A loop without Python: iterations take times that are made up, and what is asked for is handed on. */

enum { CALLS = 4, ROWS_MAX = 16, LOOPS_KEPT = 24 };

static const struct pie_trace_settings settings = {
    .policy = PIE_RACE_RACING, .confidence = 0.95, .interval_ns = UINT64_C(3600000000000), .cost = 0.01};

struct call {
    double mean_ns, part; /* of the iterations in which it is called */
};

struct made_up {
    struct call calls[CALLS];
    double own_ns;
};

static uint64_t random_state = 88172645463325252u;

static double uniform(void) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return ((double)(random_state >> 11) + 0.5) * 0x1p-53;
}

/* --- The rows of the sink --- */

static struct {
    struct pie_traced_loop_row loops[LOOPS_KEPT];
    struct pie_traced_call_row calls[LOOPS_KEPT][ROWS_MAX];
    size_t n_calls[LOOPS_KEPT];
    int error;
} told;

static int put_loop(struct pie_sink *sink, const struct pie_traced_loop_row *row) {
    assert_in_range(row->loop, 1, LOOPS_KEPT);
    told.loops[row->loop - 1] = *row;
    told.n_calls[row->loop - 1] = 0;
    return told.error;
}

static int put_call(struct pie_sink *sink, const struct pie_traced_call_row *row) {
    size_t i = told.n_calls[row->loop - 1]++;
    assert_int_equal(row->call, i);
    told.calls[row->loop - 1][i] = *row;
    return 0;
}

static const struct pie_sink_ops sink_ops = {.put_traced_loop = put_loop, .put_traced_call = put_call};

static void drain(void) {
    struct pie_sink sink = {.ops = &sink_ops};
    memset(&told, 0, sizeof told);
    pie_trace_finish();
    assert_int_equal(pie_trace_drain(&sink), 0);
}

/* --- The loop --- */

enum {
    STEP_NS = 100,
    BIAS_NS = 60
}; /* what observing an instruction costs, and by how much a call comes out too long */

static void observe(struct pie_trace_loop *loop, const struct made_up *made, const double ns[CALLS]) {
    struct pie_trace_observed observed = {
        .own_ns = made->own_ns, .own_steps = 10, .step_ns = STEP_NS, .cost_ns = 5000};
    for (int i = 0; i < CALLS; i++) {
        char callee[16];
        if (ns[i] == 0)
            continue;
        observed.called_ns += ns[i] + BIAS_NS;
        observed.calls++;
        snprintf(callee, sizeof callee, "call %d", i);
        unsigned call = pie_trace_add_call(loop, (uint32_t)i, 10 + i, callee, i % 2);
        pie_trace_call(loop, call, (uint64_t)ns[i] + BIAS_NS);
    }
    pie_trace_observed(loop, &observed);
}

/* Runs the iterations. Returns the true sums, ns, own code last. */
static void go(struct pie_trace_loop *loop, const struct made_up *made, unsigned iterations,
               double ret_ns[CALLS + 1]) {
    enum pie_trace_look look;
    uint32_t left = pie_trace_next(loop, 0, &look);
    uint64_t since = 0;
    memset(ret_ns, 0, (CALLS + 1) * sizeof *ret_ns);
    pie_trace_enter(loop);
    for (unsigned k = 0; k < iterations; k++) {
        double ns[CALLS], body_ns = made->own_ns;
        for (int i = 0; i < CALLS; i++) {
            ns[i] = uniform() < made->calls[i].part ? floor(made->calls[i].mean_ns * (0.5 + uniform())) : 0;
            ret_ns[i] += ns[i];
            body_ns += ns[i];
        }
        ret_ns[CALLS] += made->own_ns;
        since++;
        if (--left > 0)
            continue;
        uint64_t now_ns = pie_monotonic_ns();
        if (look == PIE_TRACE_TIME)
            pie_trace_timed(loop, now_ns - (uint64_t)body_ns, now_ns);
        else
            observe(loop, made, ns);
        left = pie_trace_next(loop, since, &look);
        since = 0;
    }
    pie_trace_leave(loop, since);
}

static const struct made_up four = {{{40000, 1}, {20000, 1}, {200, 1}, {100000, 0.05}}, 3000};

static void test_shares_calls_and_times(void **state) {
    double ns[CALLS + 1], all = 0;
    struct pie_trace_loop *loop = pie_trace_open("/a.py", 7, "f");
    go(loop, &four, 100000, ns);
    drain();
    for (int i = 0; i <= CALLS; i++)
        all += ns[i];
    const struct pie_traced_loop_row *row = &told.loops[0];
    assert_string_equal(row->file, "/a.py");
    assert_string_equal(row->function, "f");
    assert_string_equal(row->policy, "racing");
    assert_int_equal(row->iterations, 100000);
    assert_int_equal(row->entries, 1);
    assert_in_range(row->observed_iterations, 500, 50000);
    assert_true(fabs(row->body_s * 1e9 / all - 1) < 0.02);
    assert_int_equal(told.n_calls[0], CALLS + 1);
    double sum = told.calls[0][0].share;
    assert_null(told.calls[0][0].callee);
    assert_true(fabs(told.calls[0][0].share - ns[CALLS] / all) < 0.03);
    for (size_t i = 1; i <= CALLS; i++) {
        const struct pie_traced_call_row *call = &told.calls[0][i];
        int k = call->line - 10;
        double chance = four.calls[k].part < 1 ? 0.6 : 0.1; /* some seventy of the rare one are seen */
        assert_true(call->share_low - 0.01 <= ns[k] / all && ns[k] / all <= call->share_high + 0.01);
        assert_true(fabs(call->share - ns[k] / all) < 0.05);
        assert_true(fabs((double)call->calls / (100000 * four.calls[k].part) - 1) < chance);
        assert_true(fabs(call->mean_s * 1e9 / four.calls[k].mean_ns - 1) < 0.2);
        assert_true(fabs(call->p50_s * 1e9 / four.calls[k].mean_ns - 1) < 0.3);
        assert_true(fabs(call->p95_s * 1e9 / four.calls[k].mean_ns - 1.45) < 0.2);
        sum += call->share;
    }
    assert_true(fabs(sum - 1) < 1e-9);
}

/* Of a call in one iteration of 500 some sixteen are observed, but two hundred long iterations are timed: its share is
 * known within a tenth as a rule, where a mean of sixteen would be off by a fourth. */
static void test_long_iterations_are_recognized_by_timing(void **state) {
    const struct made_up tailed = {{{1000, 1}, {500, 1}, {400, 1}, {300000, 0.002}}, 300};
    enum { LOOPS = 8 };
    double squares = 0, worst = 0;
    for (int32_t line = 20; line < 20 + LOOPS; line++) {
        double ns[CALLS + 1], all = 0, share = 0;
        struct pie_trace_loop *loop = pie_trace_open("/tailed.py", line, "f");
        go(loop, &tailed, 1000000, ns);
        drain();
        uint32_t id = pie_trace_loop_id(loop) - 1;
        for (int i = 0; i <= CALLS; i++)
            all += ns[i];
        for (size_t i = 1; i < told.n_calls[id]; i++)
            share = told.calls[id][i].line == 13 ? told.calls[id][i].share : share;
        double square = (share * all / ns[3] - 1) * (share * all / ns[3] - 1);
        squares += square;
        worst = square > worst ? square : worst;
    }
    /* Of some 4000 loops one missed such iterations altogether, by chance. So one of eight may. */
    print_message("# off by %.3f, the worst by %.3f\n", sqrt((squares - worst) / (LOOPS - 1)), sqrt(worst));
    assert_true(sqrt((squares - worst) / (LOOPS - 1)) < 0.15);
}

/* The smallest call is known early, the others soon after; then no iteration is observed any more. */
static void test_decided_calls_rest(void **state) {
    struct made_up apart = {{{40000, 1}, {20000, 1}, {200, 1}, {4000, 1}}, 3000};
    double ns[CALLS + 1];
    struct pie_trace_loop *loop = pie_trace_open("/a.py", 8, "f");
    go(loop, &apart, 100000, ns);
    drain();
    const struct pie_traced_call_row *small = NULL;
    for (size_t i = 1; i < told.n_calls[1]; i++)
        if (told.calls[1][i].line == 12)
            small = &told.calls[1][i];
    assert_non_null(small);
    assert_in_range(small->state, PIE_TRACED_DROPPED, PIE_TRACED_KEPT);
    assert_in_range(small->decided_after, 16, 200);
    uint64_t observed = told.loops[1].observed_iterations;
    assert_in_range(observed, small->decided_after, 2000);
    go(loop, &apart, 100000, ns);
    drain();
    assert_int_equal(told.loops[1].iterations, 200000);
    assert_int_equal(told.loops[1].observed_iterations, observed);
}

static void test_epochs_see_a_change(void **state) {
    struct pie_trace_settings often = settings;
    struct made_up before = {{{50000, 1}, {5000, 1}, {1000, 1}, {1000, 1}}, 1000};
    struct made_up after = {{{5000, 1}, {50000, 1}, {1000, 1}, {1000, 1}}, 1000};
    double first[CALLS + 1], second[CALLS + 1], all = 0;
    often.interval_ns = 200000; /* of this test's own, much shorter, time */
    pie_trace_configure(&often);
    struct pie_trace_loop *loop = pie_trace_open("/a.py", 9, "f");
    go(loop, &before, 60000, first);
    go(loop, &after, 20000, second);
    pie_trace_configure(&settings);
    drain();
    for (int i = 0; i <= CALLS; i++)
        all += first[i] + second[i];
    assert_int_equal(told.loops[2].entries, 2);
    for (size_t i = 1; i <= CALLS; i++) {
        int k = told.calls[2][i].line - 10;
        assert_true(fabs(told.calls[2][i].share - (first[k] + second[k]) / all) < 0.05);
    }
}

/* Observing may take 1 % of the loop's time, and does not take much less where there is something to measure. */
static void test_cost_is_kept(void **state) {
    struct made_up alike = {{{30000, 1}, {30000, 1}, {30000, 0.5}, {30000, 0.5}}, 1000};
    double ns[CALLS + 1], all = 0;
    struct pie_trace_loop *loop = pie_trace_open("/a.py", 10, "f");
    uint64_t before_ns = pie_trace_spent_ns();
    go(loop, &alike, 50000, ns);
    for (int i = 0; i <= CALLS; i++)
        all += ns[i];
    double part = (double)(pie_trace_spent_ns() - before_ns) / all;
    drain();
    assert_true(part < 0.02);
    bool is_decided = true;
    for (size_t i = 1; i <= CALLS; i++)
        is_decided = is_decided && told.calls[3][i].state != PIE_TRACED_UNDECIDED;
    assert_true(is_decided || part > 0.007);
}

static void test_a_lost_iteration_leaves_nothing(void **state) {
    struct pie_trace_loop *loop = pie_trace_open("/a.py", 11, "f");
    enum pie_trace_look look;
    pie_trace_next(loop, 0, &look);
    for (int i = 0; i < 100; i++) {
        pie_trace_timed(loop, 0, 1000);
        pie_trace_next(loop, 1, &look);
    }
    unsigned call = pie_trace_add_call(loop, 3, 4, "g", false);
    assert_int_equal(pie_trace_add_call(loop, 3, 4, "h", true), call); /* the same site */
    for (int i = 0; i < 50; i++) {
        pie_trace_call(loop, call, 500);
        pie_trace_lost(loop, "it was lost");
        pie_trace_next(loop, 1, &look);
    }
    pie_trace_leave(loop, 0);
    drain();
    assert_int_equal(told.loops[4].observed_iterations, 0);
    assert_int_equal(told.loops[4].iterations, 150);
    assert_string_equal(told.loops[4].note, "it was lost");
    assert_int_equal(told.calls[4][1].calls, 0);
    assert_true(told.calls[4][1].share == 0);
}

static void test_rows_are_reported_once(void **state) {
    double ns[CALLS + 1];
    struct pie_trace_loop *loop = pie_trace_open("/a.py", 12, "f");
    go(loop, &four, 1000, ns);
    drain();
    assert_int_equal(told.loops[5].iterations, 1000);
    drain();
    assert_int_equal(told.loops[5].loop, 0);
    go(loop, &four, 500, ns);
    drain();
    assert_int_equal(told.loops[5].iterations, 1500);
}

static void test_a_failing_sink_is_heard(void **state) {
    double ns[CALLS + 1];
    struct pie_sink sink = {.ops = &sink_ops};
    go(pie_trace_open("/a.py", 12, "f"), &four, 100, ns);
    memset(&told, 0, sizeof told);
    pie_trace_finish();
    told.error = -5;
    assert_int_equal(pie_trace_drain(&sink), -5);
}

static void test_a_child_begins_anew(void **state) {
    double ns[CALLS + 1];
    struct pie_trace_loop *loop = pie_trace_open("/a.py", 12, "f");
    go(loop, &four, 1000, ns);
    pie_trace_forget();
    drain();
    assert_int_equal(told.loops[5].loop, 0);
    go(loop, &four, 700, ns);
    drain();
    assert_int_equal(told.loops[5].iterations, 700);
    assert_int_equal(told.loops[5].entries, 1);
}

/* Iterations of an epoch in which nothing was observed yet are those of the epochs before: none of their calls is
 * lost. */
static void test_an_unobserved_epoch_counts(void **state) {
    struct pie_trace_settings often = settings;
    double ns[CALLS + 1];
    struct pie_trace_loop *loop = pie_trace_open("/a.py", 13, "f");
    uint32_t id = pie_trace_loop_id(loop) - 1;
    go(loop, &four, 1000, ns);
    often.interval_ns = 1;
    pie_trace_configure(&often);
    pie_trace_leave(loop, 0); /* the epoch ends */
    pie_trace_configure(&settings);
    drain();
    const struct pie_traced_call_row own = told.calls[id][0], before = told.calls[id][1];
    assert_int_equal(before.calls, 1000);
    pie_trace_leave(loop, 3000);
    drain();
    const struct pie_traced_call_row *after = &told.calls[id][1];
    assert_int_equal(told.loops[id].iterations, 4000);
    assert_int_equal(after->calls, 4000);
    assert_true(fabs(after->share - before.share) < 1e-9);
    assert_true(fabs(after->share_low - before.share_low) < 1e-9);
    assert_true(fabs(told.calls[id][0].share - own.share) < 1e-9);
}

/* One that another thread's turn fell into took a second: that is no reason to observe none for an hour. */
static void test_an_interruption_is_no_cost(void **state) {
    const struct made_up alike = {{{30000, 1}, {30000, 1}, {30000, 0.5}, {30000, 0.5}}, 1000};
    struct pie_trace_observed interrupted = {
        .own_ns = 1000, .own_steps = 10, .step_ns = STEP_NS, .cost_ns = 1e9};
    double ns[CALLS + 1];
    struct pie_trace_loop *loop = pie_trace_open("/a.py", 14, "f");
    uint32_t id = pie_trace_loop_id(loop) - 1;
    go(loop, &alike, 1000, ns);
    pie_trace_observed(loop, &interrupted);
    drain();
    uint64_t before = told.loops[id].observed_iterations;
    go(loop, &alike, 20000, ns);
    drain();
    assert_in_range(told.loops[id].observed_iterations - before, 100, 10000);
}

static void test_places(void **state) {
    struct pie_trace_loop *loop = pie_trace_open("/a.py", 7, "f");
    assert_ptr_equal(loop, pie_trace_open("/a.py", 7, "f"));
    assert_ptr_not_equal(loop, pie_trace_open("/a.py", 7, "g"));
    pie_trace_configure(NULL);
    assert_false(pie_trace_is_on());
    assert_null(pie_trace_open("/a.py", 7, "f"));
    pie_trace_configure(&settings);
    for (int line = 1; line < 2 * PIE_TRACE_LOOPS_MAX; line++)
        loop = pie_trace_open("/many.py", line, "f");
    assert_null(loop);
}

static void test_percentiles(void **state) {
    static struct pie_trace_times times;
    assert_true(pie_trace_times_percentile(&times, 0.5) == 0);
    double sum = 0, sum2 = 0;
    for (uint64_t ns = 1; ns <= 100000; ns++) {
        pie_trace_times_add(&times, ns);
        sum += (double)ns;
        sum2 += (double)ns * (double)ns;
    }
    for (double part = 0.01; part < 1; part += 0.01)
        assert_true(fabs(pie_trace_times_percentile(&times, part) / (part * 100000) - 1) < 0.05);
    double mean = sum / 100000;
    assert_true(fabs(times.mean_ns / mean - 1) < 1e-9);
    assert_true(fabs(pie_trace_times_variance(&times) / ((sum2 - sum * mean) / 99999) - 1) < 1e-9);
    pie_trace_times_add(&times, UINT64_MAX); /* the last bucket */
    assert_true(pie_trace_times_percentile(&times, 1) > 1e11);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shares_calls_and_times),
        cmocka_unit_test(test_decided_calls_rest),
        cmocka_unit_test(test_epochs_see_a_change),
        cmocka_unit_test(test_cost_is_kept),
        cmocka_unit_test(test_a_lost_iteration_leaves_nothing),
        cmocka_unit_test(test_rows_are_reported_once),
        cmocka_unit_test(test_a_failing_sink_is_heard),
        cmocka_unit_test(test_a_child_begins_anew),
        cmocka_unit_test(test_an_unobserved_epoch_counts),
        cmocka_unit_test(test_an_interruption_is_no_cost),
        cmocka_unit_test(test_long_iterations_are_recognized_by_timing),
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_percentiles),
    };
    pie_trace_configure(&settings);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
