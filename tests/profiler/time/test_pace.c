/* SPDX-License-Identifier: Apache-2.0 */

/* How far apart samples are: policy on figures that are made up. */

#include "profiler/time/pace.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static const uint64_t SHORTEST_NS = 1000000;
static const double SHARE = 0.02;

/* A thread that is looked at each 100 ms of its CPU time, with samples of this cost. */
struct thread {
    struct pie_pace pace;
    uint64_t samples, cost_ns, period_ns;
};

static void run(struct thread *thread, uint64_t ms, uint64_t one_ns, double share) {
    for (uint64_t at_ms = 0; at_ms < ms; at_ms += 100) {
        uint64_t more = 100000000 / thread->period_ns;
        thread->samples += more;
        thread->cost_ns += more * one_ns;
        thread->period_ns =
            pie_pace_period_ns(&thread->pace, thread->samples, thread->cost_ns, SHORTEST_NS, share);
    }
}

static void test_two_seconds_are_as_was_asked_for(void **state) {
    struct thread thread = {.period_ns = SHORTEST_NS};

    run(&thread, 1900, 100000, SHARE);
    assert_int_equal(thread.period_ns, SHORTEST_NS);
}

/* 30 us of 1.5 ms are 2 %. */
static void test_the_share_is_kept(void **state) {
    struct thread thread = {.period_ns = SHORTEST_NS};

    run(&thread, 5000, 30000, SHARE);
    assert_in_range(thread.period_ns, 1490000, 1510000);
}

static void test_cheap_samples_stay(void **state) {
    struct thread thread = {.period_ns = SHORTEST_NS};

    run(&thread, 5000, 19000, SHARE);
    assert_int_equal(thread.period_ns, SHORTEST_NS);
}

/* Within 10 % after two seconds, up and down. */
static void test_a_step_is_followed(void **state) {
    struct thread thread = {.period_ns = SHORTEST_NS};

    run(&thread, 5000, 22000, SHARE);
    run(&thread, 2000, 38000, SHARE);
    assert_in_range(thread.period_ns, 1710000, 1900000);
    run(&thread, 2000, 22000, SHARE);
    assert_in_range(thread.period_ns, 1100000, 1210000);
}

static void test_none_is_further_than_twice_the_period(void **state) {
    struct thread thread = {.period_ns = SHORTEST_NS};

    run(&thread, 20000, 900000, SHARE);
    assert_int_equal(thread.period_ns, 2 * SHORTEST_NS);
}

static void test_without_a_share_rates_are_fixed(void **state) {
    struct thread thread = {.period_ns = SHORTEST_NS};

    run(&thread, 5000, 100000, 0);
    assert_int_equal(thread.period_ns, SHORTEST_NS);
}

/* A thread that hardly runs: some samples are no mean. */
static void test_few_samples_are_no_mean(void **state) {
    struct pie_pace pace = {0};
    uint64_t cost_ns = 3000 * UINT64_C(30000);

    assert_int_equal(pie_pace_period_ns(&pace, 3000, cost_ns, SHORTEST_NS, SHARE), 1500000);
    assert_int_equal(pie_pace_period_ns(&pace, 3010, cost_ns + 9000000, SHORTEST_NS, SHARE), 1500000);
}

/* Of 3 % a third is spent; then all, which shows within some looks; then nothing. */
static void test_what_is_left_over(void **state) {
    struct pie_spending spending = {0};
    uint64_t cpu_ns = 0, spent_ns = 0;
    double left = 0;

    assert_true(pie_spending_left(&spending, 10000000, 100000, 0.03) == 0); /* too soon to say */
    const struct {
        double share, left;
    } steps[] = {{0.01, 0.02}, {0.05, 0}, {0, 0.03}};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        for (int look = 0; look < 30; look++) {
            cpu_ns += 100000000;
            spent_ns += (uint64_t)(steps[i].share * 100000000);
            left = pie_spending_left(&spending, cpu_ns, spent_ns, 0.03);
        }
        assert_true(left > steps[i].left - 0.0005 && left < steps[i].left + 0.0005);
    }
}

static void test_lent_budget_brings_samples_nearer(void **state) {
    struct thread thread = {.period_ns = SHORTEST_NS};

    run(&thread, 5000, 36000, SHARE);
    assert_in_range(thread.period_ns, 1790000, 1810000);
    run(&thread, 1000, 36000, SHARE + 0.01);
    assert_in_range(thread.period_ns, 1190000, 1210000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_seconds_are_as_was_asked_for),
        cmocka_unit_test(test_the_share_is_kept),
        cmocka_unit_test(test_cheap_samples_stay),
        cmocka_unit_test(test_a_step_is_followed),
        cmocka_unit_test(test_none_is_further_than_twice_the_period),
        cmocka_unit_test(test_without_a_share_rates_are_fixed),
        cmocka_unit_test(test_few_samples_are_no_mean),
        cmocka_unit_test(test_what_is_left_over),
        cmocka_unit_test(test_lent_budget_brings_samples_nearer),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
