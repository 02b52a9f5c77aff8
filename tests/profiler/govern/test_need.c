/* SPDX-License-Identifier: Apache-2.0 */

/* Where watches go (profiler/govern/need.c): shares of the time, what is known, and what a look costs. */

#include "profiler/govern/need.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { HEAVY = 11, LIGHT = 12, THIRD = 13 };

static struct pie_need need;
static uint64_t random_state;

static int begin(void **state) {
    need = (struct pie_need){.most = 0};
    random_state = 0x9e3779b97f4a7c15;
    return 0;
}

static int end(void **state) {
    pie_need_finish(&need);
    return 0;
}

static double drawn(void) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (double)(random_state >> 11) / (double)(UINT64_C(1) << 53);
}

static void test_the_unknown_is_in_full_need(void **state) {
    assert_true(pie_need_of(&need, HEAVY) == 1);
    pie_need_spent(&need, HEAVY, 1000);
    assert_true(pie_need_of(&need, HEAVY) == 1);
    assert_true(pie_need_of(&need, LIGHT) == 1);
}

static void test_the_costly_line_comes_first(void **state) {
    pie_need_spent(&need, HEAVY, 900000);
    pie_need_spent(&need, LIGHT, 9000);
    assert_true(pie_need_of(&need, HEAVY) == 1);
    assert_true(pie_need_of(&need, LIGHT) < 0.02);
}

/* Twenty equal answers say more than ten equal ones of twenty, which say more than none. */
static void test_the_decided_line_gives_way(void **state) {
    for (int line = HEAVY; line <= THIRD; line++)
        pie_need_spent(&need, (uint64_t)line, 1000000);
    for (int i = 0; i < 20; i++) {
        pie_need_looked(&need, HEAVY, PIE_NEED_EQUAL, 1000);
        pie_need_looked(&need, LIGHT, i % 2 ? PIE_NEED_EQUAL : PIE_NEED_OTHER, 1000);
    }
    for (int i = 0; i < 64; i++) /* and it is noticed */
        pie_need_spent(&need, HEAVY, 1);
    assert_true(pie_need_of(&need, THIRD) == 1);
    assert_true(pie_need_of(&need, LIGHT) < 0.2);
    assert_true(pie_need_of(&need, HEAVY) < 0.6 * pie_need_of(&need, LIGHT));
}

/* Else a line at which nothing is ever found out had all of them. */
static void test_looks_without_an_answer_count(void **state) {
    pie_need_spent(&need, HEAVY, 1000000);
    pie_need_spent(&need, LIGHT, 300000);
    for (int i = 0; i < 64; i++)
        pie_need_looked(&need, HEAVY, PIE_NEED_NONE, 1000);
    assert_true(pie_need_of(&need, LIGHT) == 1);
    assert_true(pie_need_of(&need, HEAVY) < 0.5);
}

static void test_dear_looks_are_fewer(void **state) {
    pie_need_spent(&need, HEAVY, 1000000);
    pie_need_spent(&need, LIGHT, 1000000);
    for (int i = 0; i < 64; i++) {
        pie_need_looked(&need, HEAVY, PIE_NEED_EQUAL, 2000000);
        pie_need_looked(&need, LIGHT, PIE_NEED_EQUAL, 20000);
    }
    assert_true(pie_need_of(&need, LIGHT) == 1);
    assert_in_range((unsigned)(1000 * pie_need_of(&need, HEAVY)), 80, 150); /* a tenth */
}

/* Whoever has the greatest need is looked at, a thousand times. Neyman: as many as share times deviation over the root
 * of the cost has it, 0.4 : 0.2 here; the width is a little more than the deviation. */
static void test_the_allocation(void **state) {
    static const double share[] = {0.8, 0.2, 0.2};
    static const double equal[] = {0.5, 0.5, 0.5};
    static const uint64_t cost_ns[] = {40000, 10000, 10000};
    uint64_t looks[3] = {0};

    for (int i = 0; i < 3; i++)
        pie_need_spent(&need, HEAVY + (uint64_t)i, (uint64_t)(share[i] * 1e9));
    for (int n = 0; n < 1200; n++) {
        int most = 0;
        for (int i = 0; i < 64; i++)
            pie_need_spent(&need, HEAVY, 0);
        for (int i = 1; i < 3; i++)
            if (pie_need_of(&need, HEAVY + (uint64_t)i) > pie_need_of(&need, HEAVY + (uint64_t)most))
                most = i;
        looks[most]++;
        pie_need_looked(&need, HEAVY + (uint64_t)most,
                        drawn() < equal[most] ? PIE_NEED_EQUAL : PIE_NEED_OTHER, cost_ns[most]);
    }
    assert_in_range(looks[0], 540, 660); /* 0.8 / 2 : 0.2 : 0.2 */
    assert_in_range(looks[1], 260, 340);
    assert_in_range(looks[2], 260, 340);
}

static void test_many_lines(void **state) {
    for (uint64_t line = 1; line <= 5000; line++)
        pie_need_spent(&need, line, line);
    assert_true(pie_need_of(&need, 5000) == 1);
    assert_true(pie_need_of(&need, 2500) > 0.49 && pie_need_of(&need, 2500) < 0.51);
    pie_need_finish(&need);
    assert_true(pie_need_of(&need, 2500) == 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_the_unknown_is_in_full_need, begin, end),
        cmocka_unit_test_setup_teardown(test_the_costly_line_comes_first, begin, end),
        cmocka_unit_test_setup_teardown(test_the_decided_line_gives_way, begin, end),
        cmocka_unit_test_setup_teardown(test_looks_without_an_answer_count, begin, end),
        cmocka_unit_test_setup_teardown(test_dear_looks_are_fewer, begin, end),
        cmocka_unit_test_setup_teardown(test_the_allocation, begin, end),
        cmocka_unit_test_setup_teardown(test_many_lines, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
