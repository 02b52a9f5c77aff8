/* SPDX-License-Identifier: Apache-2.0 */

/* Which lines are worth counting: by their share of the CPU time. */

#include "profiler/windows/lines.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static const uint64_t MS = 1000000;
static struct pie_window_lines lines;

static int forget(void **unused) {
    memset(&lines, 0, sizeof lines);
    return 0;
}

static void test_a_tenth_of_the_time_is_hot(void **unused) {
    pie_window_lines_add(&lines, "a.py", 1, 901 * MS, false);
    pie_window_lines_add(&lines, "a.py", 2, 99 * MS, false);
    struct pie_window_line *hot = pie_window_lines_next(&lines);
    assert_non_null(hot);
    assert_int_equal(hot->line, 1);
    assert_false(pie_window_lines_are_hot(&lines)); /* it is not counted yet */
    hot->number = 0;
    assert_true(pie_window_lines_are_hot(&lines));
    assert_null(pie_window_lines_next(&lines));
    pie_window_lines_add(&lines, "a.py", 2, 20 * MS, false);
    assert_int_equal(pie_window_lines_next(&lines)->line, 2);
}

static void test_time_of_no_line_counts(void **unused) {
    pie_window_lines_add(&lines, NULL, 0, 910 * MS, false);
    pie_window_lines_add(&lines, "a.py", 1, 90 * MS, false);
    assert_null(pie_window_lines_next(&lines));
}

static void test_little_time_says_nothing(void **unused) {
    pie_window_lines_add(&lines, "a.py", 1, 199 * MS, false);
    assert_null(pie_window_lines_next(&lines));
    pie_window_lines_add(&lines, "a.py", 1, 1 * MS, false);
    assert_non_null(pie_window_lines_next(&lines));
}

static void test_the_coldest_makes_room(void **unused) {
    for (int i = 1; i <= PIE_WINDOW_LINES_MAX; i++)
        pie_window_lines_add(&lines, "a.py", i, i == 7 ? 1 * MS : 2 * MS, false);
    pie_window_lines_add(&lines, "b.py", 1, 500 * MS, true);
    assert_int_equal(lines.count, PIE_WINDOW_LINES_MAX);
    assert_string_equal(lines.lines[6].file, "b.py");
    assert_ptr_equal(pie_window_lines_next(&lines), &lines.lines[6]);
}

static void test_loops(void **unused) {
    pie_window_lines_add(&lines, "a.py", 1, 60 * MS, true);
    pie_window_lines_add(&lines, "a.py", 1, 40 * MS, false);
    pie_window_lines_add(&lines, "a.py", 2, 60 * MS, false);
    assert_true(pie_window_lines_is_in_loop(&lines, "a.py", 1));
    assert_false(pie_window_lines_is_in_loop(&lines, "a.py", 2));
    assert_false(pie_window_lines_is_in_loop(&lines, "b.py", 1));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_a_tenth_of_the_time_is_hot, forget),
        cmocka_unit_test_setup(test_time_of_no_line_counts, forget),
        cmocka_unit_test_setup(test_little_time_says_nothing, forget),
        cmocka_unit_test_setup(test_the_coldest_makes_room, forget),
        cmocka_unit_test_setup(test_loops, forget),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
