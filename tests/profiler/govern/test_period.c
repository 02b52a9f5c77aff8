/* SPDX-License-Identifier: Apache-2.0 */

/* How far apart samples are: policy on figures that are made up. */

#include "profiler/govern/period.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static const uint64_t SHORTEST_NS = 1000000;
static const double SHARE = 0.02;

/* A thread that is looked at each 100 ms of its CPU time, with samples of this cost. */
struct thread {
    struct pie_period period;
    uint64_t samples, cost_ns, mean_ns;
};

static void run(struct thread *thread, uint64_t ms, uint64_t one_ns, double share) {
    for (uint64_t at_ms = 0; at_ms < ms; at_ms += 100) {
        uint64_t more = 100000000 / thread->mean_ns;
        thread->samples += more;
        thread->cost_ns += more * one_ns;
        thread->mean_ns =
            pie_period_mean_ns(&thread->period, thread->samples, thread->cost_ns, SHORTEST_NS, share, 1);
    }
}

/* 30 us of 1.5 ms are 2 %. */
static void test_the_share_is_kept(void **state) {
    struct thread thread = {.mean_ns = SHORTEST_NS};

    run(&thread, 5000, 30000, SHARE);
    assert_in_range(thread.mean_ns, 1490000, 1510000);
}

static void test_cheap_samples_stay(void **state) {
    struct thread thread = {.mean_ns = SHORTEST_NS};

    run(&thread, 5000, 19000, SHARE);
    assert_int_equal(thread.mean_ns, SHORTEST_NS);
}

/* Within 10 % after two seconds, up and down. */
static void test_a_step_is_followed(void **state) {
    struct thread thread = {.mean_ns = SHORTEST_NS};

    run(&thread, 5000, 22000, SHARE);
    run(&thread, 2000, 38000, SHARE);
    assert_in_range(thread.mean_ns, 1710000, 1900000);
    run(&thread, 2000, 22000, SHARE);
    assert_in_range(thread.mean_ns, 1100000, 1210000);
}

static void test_none_is_further_than_five_periods(void **state) {
    struct thread thread = {.mean_ns = SHORTEST_NS};

    run(&thread, 20000, 900000, SHARE);
    assert_int_equal(thread.mean_ns, 5 * SHORTEST_NS);
}

/* They may be further apart by as much as the governor says. */
static void test_a_small_budget_has_longer_ones(void **state) {
    struct pie_period period = {0};

    assert_int_equal(pie_period_mean_ns(&period, 100, 100 * UINT64_C(200000), SHORTEST_NS, 2 * SHARE, 2),
                     5000000);
    assert_int_equal(pie_period_mean_ns(&period, 100, 100 * UINT64_C(200000), SHORTEST_NS, SHARE / 5, 2),
                     10 * SHORTEST_NS);
}

/* What samples of other threads cost is a beginning for a new one. */
static void test_a_new_thread_goes_by_what_is_known(void **state) {
    struct pie_period period = {.mean_ns = 40000};

    assert_int_equal(pie_period_mean_ns(&period, 0, 0, SHORTEST_NS, SHARE, 1), 2000000);
}

static void test_without_a_share_rates_are_fixed(void **state) {
    struct thread thread = {.mean_ns = SHORTEST_NS};

    run(&thread, 5000, 100000, 0);
    assert_int_equal(thread.mean_ns, SHORTEST_NS);
}

/* A thread that hardly runs: some samples are no mean. */
static void test_few_samples_are_no_mean(void **state) {
    struct pie_period period = {0};
    uint64_t cost_ns = 3000 * UINT64_C(30000);

    assert_int_equal(pie_period_mean_ns(&period, 3000, cost_ns, SHORTEST_NS, SHARE, 1), 1500000);
    assert_int_equal(pie_period_mean_ns(&period, 3010, cost_ns + 9000000, SHORTEST_NS, SHARE, 1), 1500000);
}

/* Each half and each tenth of the range is met, and two in a row have the mean's rate. */
static void test_rates_are_even_around_the_mean(void **state) {
    struct pie_period period = {0};
    uint64_t random = 12345;
    int tenths[10] = {0};

    for (int i = 0; i < 5000; i++) {
        double first = 1e6 / (double)pie_period_draw_ns(&period, 1000000, SHORTEST_NS, &random);
        double second = 1e6 / (double)pie_period_draw_ns(&period, 1000000, SHORTEST_NS, &random);
        assert_true(fabs(first + second - 2) < 0.001);
        assert_true(first > 0.499 && first < 1.501);
        tenths[(int)((first - 0.499) * 9.98)]++;
    }
    for (int i = 0; i < 10; i++)
        assert_in_range(tenths[i], 400, 600);
}

/* Half of the samples of a long mean are near ones, and there are as many samples as the mean says. */
static void test_long_means_have_near_samples(void **state) {
    struct pie_period period = {0};
    uint64_t random = 54321;
    double all = 0, near = 0, windows = 40000;

    for (int i = 0; i < (int)windows; i++) {
        double samples = 1e8 / (double)pie_period_draw_ns(&period, 5000000, SHORTEST_NS, &random);
        all += samples;
        near += samples >= 1e8 / (2 * (double)SHORTEST_NS) ? samples : 0;
    }
    assert_true(fabs(all / windows - 20) < 0.6);
    assert_true(fabs(near / all - 0.5) < 0.03);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_share_is_kept),
        cmocka_unit_test(test_cheap_samples_stay),
        cmocka_unit_test(test_a_step_is_followed),
        cmocka_unit_test(test_none_is_further_than_five_periods),
        cmocka_unit_test(test_a_small_budget_has_longer_ones),
        cmocka_unit_test(test_a_new_thread_goes_by_what_is_known),
        cmocka_unit_test(test_without_a_share_rates_are_fixed),
        cmocka_unit_test(test_few_samples_are_no_mean),
        cmocka_unit_test(test_rates_are_even_around_the_mean),
        cmocka_unit_test(test_long_means_have_near_samples),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
