/* SPDX-License-Identifier: Apache-2.0 */
/* What the summary says of redundant loads and stores, on the made-up program of tests/storage/fixture_waste.c. */
#include "launcher/summary.h"
#include "launcher/text.h"
#include "tests/storage/fixture.h"
#include "tests/storage/folder.h"

#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static const char *folder, *database;
static char printed[16384];

/* A fresh profile of the waste, changed by SQL. */
static int make_profile(const char *sql) {
    sqlite3 *db;
    folder = pie_folder_make();
    database = pie_folder_path(folder, "a.db");
    pie_fixture_write_waste(database, folder);
    if (sqlite3_open(database, &db) != SQLITE_OK)
        return -1;
    int code = sqlite3_exec(db, sql, NULL, NULL, NULL);
    sqlite3_close(db);
    return code == SQLITE_OK ? 0 : -1;
}

static void read_printed(FILE *file) {
    rewind(file);
    size_t size = fread(printed, 1, sizeof printed - 1, file);
    printed[size] = '\0';
}

/* What goes to standard error for that profile on a screen of so many columns. */
static void print_summary(const char *sql, const char *columns) {
    FILE *file = tmpfile();
    int saved = dup(STDERR_FILENO);
    assert_int_equal(make_profile(sql), 0);
    setenv("COLUMNS", columns, 1);
    dup2(fileno(file), STDERR_FILENO);
    int r = pie_summary_print(database, 0);
    dup2(saved, STDERR_FILENO);
    close(saved);
    read_printed(file);
    fclose(file);
    pie_folder_remove(folder);
    assert_int_equal(r, 0);
}

static size_t count_lines(void) {
    size_t lines = 0;
    for (const char *p = printed; *p; p++)
        lines += *p == '\n';
    return lines;
}

static void expect_part(const char *text) {
    if (!strstr(printed, text))
        fprintf(stderr, "%s\n", printed);
    assert_non_null(strstr(printed, text));
}

static void test_the_worst_findings_come_first(void **state) {
    print_summary("", "100");
    expect_part("of the CPU time; waiting 0.00 s\n"
                "\n"
                "waste.py:8: 15 % of the run wasted: loop-invariant computation (1.92 s, redundant stores)\n"
                "    compute it once before the loop: each round gets the same result\n"
                "waste.py:6: 13 % of the run wasted: slice underutilization (1.62 s, redundant loads)\n"
                "waste.py:7: 8 % of the run wasted: API misuse (1.00 s, redundant loads)\n"
                "\n"
                "   CPU s");
    assert_null(strstr(printed, "waste.py:15: "));
}

static void test_it_is_one_screen(void **state) {
    static const char *const widths[] = {"60", "80", "100", "140"};
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
        char *rest;
        print_summary("", widths[i]);
        assert_in_range(count_lines(), 10, 25);
        for (char *line = strtok_r(printed, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
            if (strstr(line, "of the run wasted"))
                assert_true(pie_text_width(line) <= (size_t)atoi(widths[i]));
        }
    }
}

/* Line 15 calls line 2 of a library, which makes the redundant loads: one finding for people. */
static void test_library_lines_are_told_by_the_users_own(void **state) {
    print_summary("DELETE FROM watch WHERE first_node <> 215", "100");
    expect_part("\nwaste.py:15: 6 % of the run wasted: API misuse (0.80 s, redundant loads)\n");
    assert_null(strstr(printed, "core.py"));
}

static void test_advice_takes_two_lines_at_most(void **state) {
    print_summary("DELETE FROM watch WHERE first_node <> 206", "60");
    expect_part("\nwaste.py:6: 13 % of the run wasted: slice underutilization …\n"
                "    work on slices or whole arrays (vectorise) instead of\n"
                "    one element at a time; where single elements are needed…\n"
                "\n");
}

static void test_reuse_and_what_weighs_little_are_not_told(void **state) {
    print_summary("DELETE FROM watch WHERE first_node NOT IN (210, 212, 214)", "100");
    expect_part("\nNo redundant loads or stores of weight were found (100 watches).\n");
    assert_null(strstr(printed, "of the run wasted"));
}

static void test_why_it_was_not_measured_is_said(void **state) {
    print_summary(
        "DELETE FROM watch; UPDATE process SET sampler = 'none', sampler_note = 'breakpoints are refused: "
        "redundant loads and stores are not watched for; to mend it: ask'",
        "60");
    expect_part("\n\nbreakpoints are refused: redundant loads and stores are not\n"
                "watched for; to mend it: ask\n\n");
    assert_null(strstr(printed, "No redundant"));
}

static void test_nothing_is_said_where_nothing_was_asked_for(void **state) {
    print_summary("DELETE FROM watch; UPDATE process SET sampler = 'none', sampler_note = NULL", "100");
    assert_null(strstr(printed, "edundan"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_worst_findings_come_first),
        cmocka_unit_test(test_it_is_one_screen),
        cmocka_unit_test(test_library_lines_are_told_by_the_users_own),
        cmocka_unit_test(test_advice_takes_two_lines_at_most),
        cmocka_unit_test(test_reuse_and_what_weighs_little_are_not_told),
        cmocka_unit_test(test_why_it_was_not_measured_is_said),
        cmocka_unit_test(test_nothing_is_said_where_nothing_was_asked_for),
    };
    pie_text_set_locale();
    unsetenv("FORCE_COLOR");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
