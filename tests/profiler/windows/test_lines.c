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

static void add(const char *file, int32_t line, uint64_t cpu_ns, bool is_in_loop) {
    struct pie_window_place place = {.file = file, .function = "", .line = line, .is_in_loop = is_in_loop};

    pie_window_lines_sample(&lines, cpu_ns);
    if (file)
        pie_window_lines_add(&lines, &place);
}

static int forget(void **unused) {
    memset(&lines, 0, sizeof lines);
    return 0;
}

static void test_a_tenth_of_the_time_is_hot(void **unused) {
    add("a.py", 1, 901 * MS, false);
    add("a.py", 2, 99 * MS, false);
    struct pie_window_line *hot = pie_window_lines_next(&lines);
    assert_non_null(hot);
    assert_int_equal(hot->line, 1);
    int32_t function_line = -1;
    assert_false(pie_window_lines_turn(&lines, &function_line)); /* it is not counted yet */
    hot->number = 0;
    assert_true(pie_window_lines_turn(&lines, &function_line));
    assert_int_equal(function_line, 0);
    assert_null(pie_window_lines_next(&lines));
    add("a.py", 2, 20 * MS, false);
    assert_int_equal(pie_window_lines_next(&lines)->line, 2);
}

static void test_time_of_no_line_counts(void **unused) {
    add(NULL, 0, 910 * MS, false);
    add("a.py", 1, 90 * MS, false);
    assert_null(pie_window_lines_next(&lines));
}

static void test_little_time_says_nothing(void **unused) {
    add("a.py", 1, 199 * MS, false);
    assert_null(pie_window_lines_next(&lines));
    add("a.py", 1, 1 * MS, false);
    assert_non_null(pie_window_lines_next(&lines));
}

static void test_the_coldest_makes_room(void **unused) {
    for (int i = 1; i <= PIE_WINDOW_LINES_MAX; i++)
        add("a.py", i, i == 7 ? 1 * MS : 2 * MS, false);
    add("b.py", 1, 500 * MS, true);
    assert_int_equal(lines.count, PIE_WINDOW_LINES_MAX);
    assert_string_equal(lines.lines[6].file, "b.py");
    assert_ptr_equal(pie_window_lines_next(&lines), &lines.lines[6]);
}

static void test_loops(void **unused) {
    add("a.py", 1, 60 * MS, true);
    add("a.py", 1, 40 * MS, false);
    add("a.py", 2, 60 * MS, false);
    assert_true(pie_window_line_is_in_loop(pie_window_lines_find(&lines, "a.py", 1, 0)));
    assert_false(pie_window_line_is_in_loop(pie_window_lines_find(&lines, "a.py", 2, 0)));
    assert_null(pie_window_lines_find(&lines, "b.py", 1, 0));
    assert_false(pie_window_line_is_in_loop(NULL));
}

static void test_functions_have_lines_of_their_own(void **unused) {
    struct pie_window_place outer = {.file = "a.py", .function = "f", .line = 5, .function_line = 3};
    struct pie_window_place inner = {
        .file = "a.py", .function = "f.<listcomp>", .line = 5, .function_line = 5};
    struct pie_window_place whole = {.file = "a.py", .function = "f", .function_line = 3};

    pie_window_lines_sample(&lines, 600 * MS);
    for (int recursion = 0; recursion < 3; recursion++) {
        pie_window_lines_add(&lines, &outer);
        pie_window_lines_add(&lines, &whole);
    }
    pie_window_lines_sample(&lines, 400 * MS);
    pie_window_lines_add(&lines, &inner);
    pie_window_lines_add(&lines, &whole);
    assert_int_equal(pie_window_lines_find(&lines, "a.py", 5, 3)->cpu_ns, 600 * MS);
    assert_int_equal(pie_window_lines_find(&lines, "a.py", 5, 5)->cpu_ns, 400 * MS);
    assert_int_equal(pie_window_lines_find(&lines, "a.py", 0, 3)->cpu_ns, 1000 * MS);
    for (int i = 0; i < 2; i++) {
        struct pie_window_line *hot = pie_window_lines_next(&lines);
        assert_int_equal(hot->line, 5);
        hot->number = i;
    }
    assert_null(pie_window_lines_next(&lines));  /* a function as a whole is not counted */
    for (int window = 0; window < 4; window++) { /* they take turns */
        int32_t function_line;
        assert_true(pie_window_lines_turn(&lines, &function_line));
        assert_int_equal(function_line, window % 2 ? 5 : 3);
        pie_window_lines_opened(&lines, function_line);
    }
}

static void test_a_line_that_was_hot(void **unused) {
    int32_t function_line;

    add("a.py", 1, 900 * MS, true);
    pie_window_lines_next(&lines)->number = 0;
    assert_true(pie_window_lines_turn(&lines, &function_line));
    for (int sample = 0; sample < 20; sample++)
        add("a.py", 2, 100 * MS, true);
    assert_false(pie_window_lines_turn(&lines, &function_line)); /* a third of the time, but none of late */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_a_tenth_of_the_time_is_hot, forget),
        cmocka_unit_test_setup(test_time_of_no_line_counts, forget),
        cmocka_unit_test_setup(test_little_time_says_nothing, forget),
        cmocka_unit_test_setup(test_the_coldest_makes_room, forget),
        cmocka_unit_test_setup(test_loops, forget),
        cmocka_unit_test_setup(test_a_line_that_was_hot, forget),
        cmocka_unit_test_setup(test_functions_have_lines_of_their_own, forget),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
