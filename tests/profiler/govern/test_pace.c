/* SPDX-License-Identifier: Apache-2.0 */

/* How often all threads are looked at, and which get a clock: policy on figures that are made up. */

#include "profiler/govern/pace.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static const uint64_t SHORTEST_NS = 20000000, LONGEST_NS = 80000000;
static const double ALLOWED = 0.0015; /* of CPU time, for clocks */

/* Ticks of this cost for so long; what they may take of the wall time. */
static void run(struct pie_pace *pace, struct pie_pace_look *look, uint64_t ms, uint64_t tick_ns,
                double share) {
    look->ticks_allowed = share;
    for (uint64_t at_ms = 0; at_ms < ms; at_ms += 200) {
        uint64_t more = 200000000 / pace->tick_ns;
        look->ticks += more;
        look->ticks_cost_ns += more * tick_ns;
        pie_pace_look(pace, look);
    }
}

static void begin(struct pie_pace *pace, struct pie_pace_look *look) {
    pie_pace_begin(pace, SHORTEST_NS, LONGEST_NS);
    *look = (struct pie_pace_look){0};
}

/* 150 us of 30 ms are 0.5 %. */
static void test_ticks_keep_their_share(void **state) {
    struct pie_pace pace;
    struct pie_pace_look look;

    begin(&pace, &look);
    run(&pace, &look, 5000, 150000, 0.005);
    assert_in_range(pace.tick_ns, 29800000, 30200000);
    run(&pace, &look, 2000, 225000, 0.005); /* a step, within 10 % after two seconds */
    assert_in_range(pace.tick_ns, 40500000, 45100000);
}

static void test_cheap_ticks_stay(void **state) {
    struct pie_pace pace;
    struct pie_pace_look look;

    begin(&pace, &look);
    run(&pace, &look, 5000, 90000, 0.005);
    assert_int_equal(pace.tick_ns, SHORTEST_NS);
}

/* A quarter of a percent of one processor, though the program has no CPU time to share. */
static void test_a_program_that_sleeps_is_looked_at(void **state) {
    struct pie_pace pace;
    struct pie_pace_look look;

    begin(&pace, &look);
    run(&pace, &look, 5000, 100000, 0.00001);
    assert_in_range(pace.tick_ns, 39800000, 40200000);
    run(&pace, &look, 5000, 900000, 0.00001);
    assert_int_equal(pace.tick_ns, LONGEST_NS);
}

static void test_fixed_rates_are_fixed(void **state) {
    struct pie_pace pace;
    struct pie_pace_look look;

    begin(&pace, &look);
    look.arming = 0.2;
    run(&pace, &look, 5000, 900000, 0);
    assert_int_equal(pace.tick_ns, SHORTEST_NS);
    assert_true(pace.armed_part == 1);
}

/* Rings have room for a few samples only, where these are near: ticks cannot be further apart. */
static void test_a_limit_below_the_shortest_is_that(void **state) {
    struct pie_pace pace;
    struct pie_pace_look look = {0};

    pie_pace_begin(&pace, SHORTEST_NS, 6000000);
    run(&pace, &look, 5000, 900000, 0.005);
    assert_int_equal(pace.tick_ns, SHORTEST_NS);
}

/* Threads whose clocks cost so much of the CPU time when all get one. */
static void start_threads(struct pie_pace *pace, struct pie_pace_look *look, int looks, double all) {
    look->arming_allowed = ALLOWED;
    for (int i = 0; i < looks; i++) {
        look->arming += (all * pace->armed_part - look->arming) / 4; /* as the governor's mean */
        pie_pace_look(pace, look);
    }
}

static void test_clocks_of_many_threads_keep_their_share(void **state) {
    struct pie_pace pace;
    struct pie_pace_look look;

    begin(&pace, &look);
    start_threads(&pace, &look, 20, 0.001);
    assert_true(pace.armed_part == 1);
    start_threads(&pace, &look, 20, 0.012); /* two seconds */
    double sum = 0;
    for (int i = 0; i < 40; i++) {
        start_threads(&pace, &look, 1, 0.012);
        sum += 0.012 * pace.armed_part;
    }
    assert_true(fabs(sum / 40 / ALLOWED - 1) < 0.25);
    start_threads(&pace, &look, 40, 0.0005);
    assert_true(pace.armed_part == 1);
}

static void test_some_threads_always_get_one(void **state) {
    struct pie_pace pace;
    struct pie_pace_look look;

    begin(&pace, &look);
    start_threads(&pace, &look, 100, 2);
    assert_true(fabs(pace.armed_part - 1.0 / 32) < 1e-9);
}

/* As many as the part says, whatever their numbers have in common; who had one with a small part has it with a larger
 * one. */
static void test_the_drawn_are_the_part(void **state) {
    struct pie_pace few = {.armed_part = 0.25}, more = {.armed_part = 0.5};

    for (uint64_t step = 1; step <= 8; step++) {
        int drawn = 0;
        for (uint64_t i = 0; i < 4000; i++) {
            drawn += pie_pace_arms_young(&few, 1 + i * step);
            assert_true(!pie_pace_arms_young(&few, 1 + i * step) || pie_pace_arms_young(&more, 1 + i * step));
        }
        assert_in_range(drawn, 880, 1120); /* four standard deviations of 27 */
    }
    more.armed_part = 1;
    for (uint64_t i = 0; i < 4000; i++)
        assert_true(pie_pace_arms_young(&more, i));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ticks_keep_their_share),
        cmocka_unit_test(test_cheap_ticks_stay),
        cmocka_unit_test(test_a_program_that_sleeps_is_looked_at),
        cmocka_unit_test(test_fixed_rates_are_fixed),
        cmocka_unit_test(test_a_limit_below_the_shortest_is_that),
        cmocka_unit_test(test_clocks_of_many_threads_keep_their_share),
        cmocka_unit_test(test_some_threads_always_get_one),
        cmocka_unit_test(test_the_drawn_are_the_part),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
