/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "storage/write/slices.h"

static const int64_t START_NS = 1700000000123456789, SECOND_NS = 1000000000;

static struct pie_slices slices;

static int set_up(void **state) {
    pie_slices_begin(&slices, START_NS, 0);
    return 0;
}

static int tear_down(void **state) {
    pie_slices_finish(&slices);
    return 0;
}

static bool move(double age_s) {
    return pie_slices_move(&slices, START_NS + (int64_t)(age_s * (double)SECOND_NS));
}

/* Rows of the same contexts each time. */
static void note(unsigned rows) {
    for (unsigned key = 0; key < rows; key++)
        pie_slices_note(&slices, key);
}

static void test_a_slice_is_a_second(void **state) {
    assert_false(move(0));
    assert_int_equal(slices.at_s, 0);
    assert_false(move(0.9));
    assert_int_equal(slices.at_s, 0);
    assert_false(move(1.0003));
    assert_int_equal(slices.at_s, 1);
    assert_false(move(1.9996));
    assert_int_equal(slices.at_s, 1);
    assert_false(move(2));
    assert_int_equal(slices.at_s, 2);
    assert_false(move(200));
    assert_int_equal(slices.at_s, 200);
}

static void test_there_are_never_more_than_the_bound(void **state) {
    int64_t width_s = 1;
    for (int64_t age_s = 0; age_s < 5000; age_s++) {
        bool is_wider = move((double)age_s);
        assert_int_equal(is_wider,
                         age_s == 256 || age_s == 512 || age_s == 1024 || age_s == 2048 || age_s == 4096);
        width_s *= is_wider ? 2 : 1;
        assert_int_equal(slices.width_s, width_s);
        assert_int_equal(slices.at_s, age_s - age_s % width_s);
        assert_true(age_s / width_s < PIE_SLICES_MAX);
    }
}

static void test_a_month_of_sleep_is_one_step(void **state) {
    assert_true(move(30.0 * 86400));
    assert_int_equal(slices.width_s, 16384); /* 2592000 s in at most 256 */
    assert_int_equal(slices.at_s % 16384, 0);
}

static void test_a_clock_that_is_set_back_changes_nothing(void **state) {
    move(100);
    assert_false(move(-7000));
    assert_int_equal(slices.at_s, 100);
    assert_false(move(99));
    assert_int_equal(slices.at_s, 100);
    assert_false(move(101));
    assert_int_equal(slices.at_s, 101);
}

static void test_contexts_that_never_come_again_make_no_slice_wider(void **state) {
    uint64_t key = 0;
    for (int64_t age_s = 0; age_s < 250; age_s++) {
        assert_false(move((double)age_s));
        for (int i = 0; i < 1000; i++)
            pie_slices_note(&slices, key++);
    }
}

static void test_the_start_and_few_rows_do_not(void **state) {
    for (int64_t age_s = 0; age_s < 250; age_s++) {
        assert_false(move((double)age_s));
        note(age_s < 3 ? 1000 : 80);
        note(80); /* the same rows again */
    }
    assert_int_equal(slices.width_s, 1);
}

static void test_as_many_rows_as_fit_in_a_wider_slice_are_kept_there(void **state) {
    for (int64_t age_s = 0; age_s < 150; age_s++) {
        move((double)age_s);
        note(3 * PIE_SLICES_ROWS_PER_S / 2);
        assert_int_equal(slices.width_s, age_s < 2 * PIE_SLICES_MIN ? 1 : 2);
    }
}

static void test_some_contexts_that_come_again_are_enough(void **state) {
    uint64_t key = 1000000;
    for (int64_t age_s = 0; age_s < 1000; age_s++) {
        move((double)age_s);
        note(PIE_SLICES_ROWS_PER_S / 2);
        for (int i = 0; i < PIE_SLICES_ROWS_PER_S; i++)
            pie_slices_note(&slices, key++);
        /* 100 + 200 w rows in w seconds: the part of the first is a third, and then a fifth; at last there are too many
         * slices */
        assert_int_equal(slices.width_s, age_s < 2 * PIE_SLICES_MIN ? 1 : age_s < 512 ? 2 : 4);
    }
}

static void test_a_wide_program_has_slices_all_the_same(void **state) {
    int64_t age_s = 0;
    for (; age_s < 30 * 86400; age_s += slices.width_s) {
        move((double)age_s);
        note(2000);
        assert_true(age_s / slices.width_s >= PIE_SLICES_MIN - 1 || slices.width_s == 1);
    }
    assert_true(age_s / slices.width_s <= 2 * PIE_SLICES_MIN);
    assert_true(slices.finished_rows <= 2000 * 2 * PIE_SLICES_MIN);
}

static void test_what_is_kept_is_bounded_by_time(void **state) {
    pie_slices_begin(&slices, START_NS, 600);
    for (int64_t age_s = 0; age_s < 20000; age_s++) {
        move((double)age_s);
        int64_t first_s = pie_slices_first_s(&slices);
        assert_int_equal(first_s % slices.width_s, 0);
        assert_true(first_s <= (age_s > 600 ? age_s - 600 : 0));
        assert_true(age_s - first_s < 600 + 2 * slices.width_s);
    }
    assert_int_equal(slices.width_s, 4); /* 150 of them and not those of 20000 s */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_slice_is_a_second, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_there_are_never_more_than_the_bound, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_month_of_sleep_is_one_step, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_clock_that_is_set_back_changes_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_contexts_that_never_come_again_make_no_slice_wider, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_some_contexts_that_come_again_are_enough, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_the_start_and_few_rows_do_not, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_as_many_rows_as_fit_in_a_wider_slice_are_kept_there, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_a_wide_program_has_slices_all_the_same, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_what_is_kept_is_bounded_by_time, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
