/* SPDX-License-Identifier: Apache-2.0 */

/* The budget is kept: policy on a program and collectors that are made up, on a clock of the test. */

#include "profiler/govern/governor.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static const double BUDGET = 0.05;

/* What each collector costs at the rate that was asked for, as a share of CPU time; it costs less where it may, but
 * `excess` times what its rate was set by. What has no rate always costs that. The start was before. */
struct program {
    struct pie_governor governor;
    double asked[PIE_COSTS], excess[PIE_COSTS];
    uint64_t wall_ns, cpu_ns, spent_ns[PIE_COSTS];
    double running; /* CPU time by wall time */
};

static void begin(struct program *program, double budget, double samples, double watches, double other) {
    *program = (struct program){.asked = {[PIE_COST_SAMPLES] = samples,
                                          [PIE_COST_WATCHES] = watches,
                                          [PIE_COST_MEMORY] = 0.002,
                                          [PIE_COST_TICKS] = 0.006,
                                          [PIE_COST_OTHER] = other},
                                .wall_ns = 1000,
                                .running = 1};
    for (int i = 0; i < PIE_COSTS; i++)
        program->excess[i] = 1;
    pie_governor_begin(&program->governor, budget, false);
}

/* The same of a budget that the user named. */
static void begin_asked(struct program *program, double budget, double samples, double watches,
                        double other) {
    begin(program, budget, samples, watches, other);
    pie_governor_begin(&program->governor, budget, true);
}

static double spent(const struct program *program) {
    double all = 0;

    for (int i = 0; i < PIE_COSTS; i++)
        all += (double)program->spent_ns[i];
    return all;
}

static double cost_of(const struct program *program, int i) {
    double share = i < PIE_COSTS_GOVERNED ? pie_governor_share(&program->governor, (enum pie_cost)i) : 0;
    if (i == PIE_COST_COUNTING) /* blocks that are not counted cost a fifth */
        return program->asked[i] * (program->governor.counted + (1 - program->governor.counted) / 5);

    return share > 0 && share * program->excess[i] < program->asked[i] ? share * program->excess[i]
                                                                       : program->asked[i];
}

/* Runs for so long; returns the overhead of that time. */
static double run(struct program *program, uint64_t ms) {
    double before_ns = spent(program);

    for (uint64_t at_ms = 0; at_ms < ms; at_ms += 50) {
        for (int i = 0; i < PIE_COSTS; i++)
            program->spent_ns[i] += (uint64_t)(cost_of(program, i) * 5e7);
        program->cpu_ns += 50000000;
        program->wall_ns += (uint64_t)(5e7 / program->running);
        pie_governor_look(&program->governor, program->wall_ns, program->cpu_ns, program->spent_ns);
    }
    return (spent(program) - before_ns) / ((double)ms * 1e6);
}

static void test_a_moment_is_as_was_asked_for(void **state) {
    struct program program;

    begin(&program, BUDGET, 0.06, 0.05, 0.01);
    assert_true(fabs(run(&program, 50) - 0.128) < 0.001);
    assert_true(program.governor.allowed[PIE_COST_SAMPLES] == 0);
}

/* What is cheap at the rates that were asked for is never limited. */
static void test_what_is_cheap_stays_as_it_is(void **state) {
    struct program program;

    begin(&program, BUDGET, 0.01, 0.02, 0.005);
    assert_true(fabs(run(&program, 10000) - 0.043) < 0.001);
    assert_false(program.governor.divides);
}

/* The first two seconds are free. Ten seconds of CPU time have one point more than the budget at most. */
static void test_ten_seconds_are_within_the_budget(void **state) {
    for (double budget = 0.01; budget < 0.11; budget += 0.01) {
        struct program program;
        begin(&program, budget, 0.06, 0.12, 0.004);
        run(&program, 10000);
        for (int i = 0; i < 10; i++) {
            assert_true(spent(&program) / (double)program.cpu_ns < budget + 0.01);
            run(&program, 1000);
        }
    }
}

/* Rates are limited before anything is known. */
static void test_an_asked_budget_has_no_free_time(void **state) {
    struct program program;

    begin_asked(&program, BUDGET, 0.06, 0.05, 0.01);
    double first = run(&program, 50);
    assert_true(first < 0.01 + BUDGET && first > 0.01 + 0.3 * BUDGET);
    assert_int_equal(pie_governor_free_ns(BUDGET, true), 0);
    assert_int_equal(pie_governor_free_ns(BUDGET, false), 2000000000);
    assert_int_equal(pie_governor_free_ns(BUDGET / 5, false), 400000000);
}

/* From a second on, a run has no more than its budget and a point, at any time. */
static void test_an_asked_budget_is_kept_in_short_runs(void **state) {
    for (double budget = 0.01; budget < 0.11; budget += 0.01) {
        struct program program;
        begin_asked(&program, budget, 0.06, 0.12, 0.004);
        run(&program, 1000);
        for (int i = 0; i < 40; i++) {
            double share = spent(&program) / (double)program.cpu_ns;
            assert_true(share < budget + 0.01 && share > 0.5 * budget);
            run(&program, 100);
        }
    }
}

/* What the first contexts cost is saved until the end of the first second; after it, samples come back. */
static void test_dear_first_names_are_saved_elsewhere(void **state) {
    struct program program;

    begin_asked(&program, BUDGET, 0.06, 0.12, 0.3); /* 36 ms in 120 */
    run(&program, 100);
    program.asked[PIE_COST_OTHER] = 0.004;
    run(&program, 100);
    assert_true(program.governor.is_short);
    run(&program, 800);
    assert_true(spent(&program) / (double)program.cpu_ns < BUDGET + 0.01);
    run(&program, 2000);
    assert_false(program.governor.is_short);
    assert_true(run(&program, 1000) > 0.9 * BUDGET);
}

/* What cannot be kept leaves a tenth to the rest, not four. */
static void test_an_asked_budget_has_a_lower_floor(void **state) {
    struct program program;

    begin_asked(&program, BUDGET, 0.06, 0.06, 0.2);
    run(&program, 10000);
    assert_true(fabs(run(&program, 5000) - 0.2 - 0.1 * BUDGET) < 0.003);
    assert_true(program.governor.is_short);
}

static void test_periods_of_an_asked_budget_may_be_longer(void **state) {
    static const struct {
        double budget, asked, usual;
    } cases[] = {{0.1, 2, 1}, {0.05, 2, 1}, {0.04, 2.5, 1.25}, {0.02, 4, 2}, {0.01, 4, 2}};
    struct pie_governor governor;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pie_governor_begin(&governor, cases[i].budget, true);
        assert_true(fabs(pie_governor_stretch(&governor) - cases[i].asked) < 1e-9);
        pie_governor_begin(&governor, cases[i].budget, false);
        assert_true(fabs(pie_governor_stretch(&governor) - cases[i].usual) < 1e-9);
    }
}

/* It is paid back over a minute: a short run keeps its samples, a long one the budget. */
static void test_the_start_is_paid_slowly(void **state) {
    struct program program;

    begin(&program, BUDGET, 0.06, 0.12, 0.004);
    program.spent_ns[PIE_COST_START] = 200000000;
    assert_true(run(&program, 2000) > 0.9 * BUDGET);
    run(&program, 118000);
    assert_true(spent(&program) / (double)program.cpu_ns < 1.02 * BUDGET);
}

/* A rate that was set by what a handler costs, while emptied caches cost as much again. */
static void test_a_collector_that_costs_more_than_it_was_told_is_corrected(void **state) {
    struct program program;

    begin(&program, BUDGET, 0.12, 0.12, 0.004);
    program.excess[PIE_COST_WATCHES] = 2.5;
    run(&program, 15000); /* the free seconds are paid back */
    double late = run(&program, 5000);
    assert_true(late < 1.1 * BUDGET && late > 0.8 * BUDGET);
    double watches = program.governor.spending[PIE_COST_WATCHES];
    assert_true(fabs(watches / program.governor.allowed[PIE_COST_WATCHES] - 1) < 0.25);
}

static void test_how_much_the_program_runs_is_known(void **state) {
    struct program program;

    begin(&program, BUDGET, 0.06, 0.05, 0.01);
    assert_true(pie_governor_running(&program.governor) == 1);
    program.running = 0.25;
    run(&program, 2000);
    assert_true(fabs(pie_governor_running(&program.governor) - 0.25) < 0.01);
    program.running = 3; /* threads */
    run(&program, 2000);
    assert_true(pie_governor_running(&program.governor) == 1);
}

static void test_a_small_budget_has_lower_floors(void **state) {
    struct pie_governor governor;

    pie_governor_begin(&governor, 0.01, false);
    assert_true(fabs(pie_governor_scarcity(&governor) - 5) < 1e-9);
    pie_governor_begin(&governor, BUDGET, false);
    assert_true(pie_governor_scarcity(&governor) == 1);
    pie_governor_begin(&governor, 0.2, false);
    assert_true(pie_governor_scarcity(&governor) == 1);
    pie_governor_begin(&governor, 0, false);
    assert_true(pie_governor_scarcity(&governor) == 1);
}

static void test_the_budget_is_kept(void **state) {
    for (double budget = 0.01; budget < 0.11; budget += 0.01) {
        struct program program;
        begin(&program, budget, 0.06, 0.12, 0.004);
        run(&program, 20000);
        double late = run(&program, 10000);
        assert_true(late < 1.02 * budget &&
                    late > 0.39 * budget); /* less while the first seconds are paid back */
        assert_true(spent(&program) / (double)program.cpu_ns < budget + 0.01);
    }
}

/* A collector that has nothing to do: what it leaves over is spent by another. */
static void test_what_one_leaves_over_goes_to_others(void **state) {
    struct program program;

    begin(&program, BUDGET, 0.12, 0.001, 0);
    run(&program, 20000);
    assert_true(run(&program, 10000) > 0.9 * BUDGET);
    assert_true(program.governor.allowed[PIE_COST_SAMPLES] > 0.8 * BUDGET);
    program.asked[PIE_COST_WATCHES] = 0.12; /* there is something to look at again */
    run(&program, 2000);
    assert_true(program.governor.spending[PIE_COST_WATCHES] > 0.35 * BUDGET);
}

/* A collector that had nothing to do has work for all the time now. */
static void test_who_was_idle_does_not_take_more_than_all_may_cost(void **state) {
    struct program program;

    begin_asked(&program, 0.3, 0.1, 0, 0.005);
    run(&program, 10000);
    assert_true(program.governor.trim[PIE_COST_WATCHES] > 3);
    program.asked[PIE_COST_WATCHES] = 20;
    assert_true(run(&program, 200) < 1.5 * 0.3 + 0.1 + 0.02); /* the others cost what they did */
    run(&program, 20000);                                     /* what was left over is spent */
    assert_true(run(&program, 5000) < 1.1 * 0.3);
}

/* What has no rate becomes dearer: the rest gives way within two seconds, and comes back. */
static void test_a_step_is_answered_within_two_seconds(void **state) {
    struct program program;

    begin(&program, BUDGET, 0.12, 0.12, 0.005);
    run(&program, 30000);
    double before = run(&program, 1000);
    program.asked[PIE_COST_OTHER] = 0.025;
    run(&program, 2000);
    assert_true(run(&program, 1000) < before + 0.003);
    program.asked[PIE_COST_OTHER] = 0.005;
    run(&program, 2000);
    assert_true(run(&program, 1000) > before - 0.005);
}

/* It cannot be kept, and the profile still shows something. */
static void test_dear_hooks_leave_a_part_to_the_rest(void **state) {
    struct program program;

    begin(&program, BUDGET, 0.06, 0.06, 0.2);
    run(&program, 10000);
    assert_true(fabs(run(&program, 5000) - 0.2 - 0.4 * BUDGET) < 0.003);
    assert_true(program.governor.allowed[PIE_COST_SAMPLES] >= 0.1 * BUDGET);
}

/* Counting pauses where it costs too much for seconds; then the budget is kept, and all is counted again later. */
static void test_counting_pauses_where_it_is_too_dear(void **state) {
    struct program program;

    begin(&program, BUDGET, 0.06, 0.06, 0.003);
    program.asked[PIE_COST_COUNTING] = 0.06;
    run(&program, 4500);
    assert_true(program.governor.counted == 1);
    run(&program, 20000);
    assert_true(program.governor.counted < 0.6 && program.governor.counted > 0.1);
    assert_true(run(&program, 20000) < BUDGET + 0.002);
    program.asked[PIE_COST_COUNTING] = 0.01;
    run(&program, 20000);
    assert_true(program.governor.counted == 1);
}

static void test_counting_that_has_room_does_not_pause(void **state) {
    struct program program;

    begin(&program, BUDGET, 0.06, 0.06, 0.003);
    program.asked[PIE_COST_COUNTING] = 0.02;
    run(&program, 60000);
    assert_true(program.governor.counted == 1);
}

/* Switches of a thread's clock: a tenth of its time where nothing is limited, then a part of the budget, and less where
 * nothing of that is left. */
static void test_switches_of_clocks_have_a_part_of_the_budget(void **state) {
    struct program program;

    begin(&program, BUDGET, 0.3, 0.3, 0.001);
    run(&program, 1000);
    assert_true(fabs(pie_governor_switching(&program.governor) - 0.1) < 1e-9);
    run(&program, 3000);
    assert_true(fabs(pie_governor_switching(&program.governor) - 0.02) < 1e-9);
    begin_asked(&program, BUDGET, 0.3, 0.3, 0.001);
    assert_true(fabs(pie_governor_switching(&program.governor) - 0.02) < 1e-9);
    begin_asked(&program, BUDGET, 0.3, 0.3, 0.2);
    run(&program, 1000);
    assert_true(fabs(pie_governor_switching(&program.governor) - 0.005) < 1e-9);
    begin(&program, 0, 0.3, 0.3, 0.001);
    run(&program, 4000);
    assert_true(fabs(pie_governor_switching(&program.governor) - 0.1) < 1e-9);
}

/* Samples on request: as many as are wanted by default; of a budget that was named, while its part has room. */
static void test_more_samples_have_room_or_not(void **state) {
    struct program program;

    begin(&program, BUDGET, 0.3, 0.3, 0.001);
    run(&program, 4000);
    assert_true(pie_governor_has_room(&program.governor, PIE_COST_SAMPLES));
    begin_asked(&program, BUDGET, 0.001, 0.001, 0.001);
    run(&program, 1000);
    assert_true(pie_governor_has_room(&program.governor, PIE_COST_SAMPLES));
    program.governor.spending[PIE_COST_SAMPLES] = 1.1 * program.governor.allowed[PIE_COST_SAMPLES];
    assert_false(pie_governor_has_room(&program.governor, PIE_COST_SAMPLES));
    begin_asked(&program, BUDGET, 0.001, 0.001, 0.2);
    run(&program, 1000);
    assert_false(pie_governor_has_room(&program.governor, PIE_COST_SAMPLES));
}

/* What is made once, in pieces, has its part of what has been earned. */
static void test_work_in_pieces_is_earned(void **state) {
    struct program program;

    begin_asked(&program, BUDGET, 0.3, 0.3, 0.001);
    assert_int_equal(pie_governor_earned_ns(&program.governor, PIE_COST_WATCHES), 0);
    run(&program, 2000);
    double cpu_ns = (double)program.governor.cpu_ns;
    assert_true(fabs((double)pie_governor_earned_ns(&program.governor, PIE_COST_WATCHES) -
                     0.39 * BUDGET * cpu_ns) < 2);
    assert_true(
        fabs((double)pie_governor_earned_ns(&program.governor, PIE_COST_OTHER) - 0.1 * BUDGET * cpu_ns) < 2);
    begin(&program, BUDGET, 0.3, 0.3, 0.001);
    run(&program, 4000);
    assert_true(pie_governor_earned_ns(&program.governor, PIE_COST_WATCHES) == UINT64_MAX);
}

static void test_without_a_budget_nothing_is_limited(void **state) {
    struct program program;

    begin(&program, 0, 0.06, 0.05, 0.01);
    run(&program, 10000);
    assert_true(program.governor.allowed[PIE_COST_SAMPLES] == 0);
    assert_true(fabs(run(&program, 1000) - 0.128) < 0.001);
    program.asked[PIE_COST_COUNTING] = 0.2;
    run(&program, 10000);
    assert_true(program.governor.counted == 1);
}

/* A program that sleeps is not looked at. */
static void test_too_little_time_shows_nothing(void **state) {
    struct pie_governor governor;
    uint64_t spent_ns[PIE_COSTS] = {1000000};

    pie_governor_begin(&governor, BUDGET, false);
    pie_governor_look(&governor, 1, 30000000, spent_ns);
    assert_false(governor.is_known);
    pie_governor_look(&governor, 2, 60000000, spent_ns);
    assert_true(governor.is_known);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_moment_is_as_was_asked_for),
        cmocka_unit_test(test_what_is_cheap_stays_as_it_is),
        cmocka_unit_test(test_ten_seconds_are_within_the_budget),
        cmocka_unit_test(test_an_asked_budget_has_no_free_time),
        cmocka_unit_test(test_an_asked_budget_is_kept_in_short_runs),
        cmocka_unit_test(test_dear_first_names_are_saved_elsewhere),
        cmocka_unit_test(test_an_asked_budget_has_a_lower_floor),
        cmocka_unit_test(test_periods_of_an_asked_budget_may_be_longer),
        cmocka_unit_test(test_the_start_is_paid_slowly),
        cmocka_unit_test(test_a_collector_that_costs_more_than_it_was_told_is_corrected),
        cmocka_unit_test(test_how_much_the_program_runs_is_known),
        cmocka_unit_test(test_a_small_budget_has_lower_floors),
        cmocka_unit_test(test_the_budget_is_kept),
        cmocka_unit_test(test_what_one_leaves_over_goes_to_others),
        cmocka_unit_test(test_who_was_idle_does_not_take_more_than_all_may_cost),
        cmocka_unit_test(test_a_step_is_answered_within_two_seconds),
        cmocka_unit_test(test_dear_hooks_leave_a_part_to_the_rest),
        cmocka_unit_test(test_counting_pauses_where_it_is_too_dear),
        cmocka_unit_test(test_counting_that_has_room_does_not_pause),
        cmocka_unit_test(test_switches_of_clocks_have_a_part_of_the_budget),
        cmocka_unit_test(test_more_samples_have_room_or_not),
        cmocka_unit_test(test_work_in_pieces_is_earned),
        cmocka_unit_test(test_without_a_budget_nothing_is_limited),
        cmocka_unit_test(test_too_little_time_shows_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
