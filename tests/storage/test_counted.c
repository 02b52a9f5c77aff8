/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "storage/write/counted.h"
#include "tests/storage/fixture.h"
#include "tests/storage/folder.h"

/* What a second run counted goes into a profile that is there, or nothing does. */

static const char *folder, *database;

static int set_up(void **state) {
    folder = pie_folder_make();
    database = pie_folder_path(folder, "a.db");
    pie_fixture_write(database, pie_folder_path(folder, "src"), 1);
    return 0;
}

static int tear_down(void **state) {
    pie_folder_remove(folder);
    return 0;
}

static struct pie_counted row(const char *file, int64_t line, const char *callee, uint64_t calls) {
    return (struct pie_counted){.file = file,
                                .line = line,
                                .callee = callee,
                                .is_whole = true,
                                .calls = calls,
                                .again = calls - 1,
                                .call_ns = 10 * calls,
                                .run_ns = 5000};
}

static int write_rows(const struct pie_counted *rows, size_t count) {
    char *message = NULL;
    int r = pie_counted_write(database, 1, rows, count, &message);

    assert_true((r < 0) == (message != NULL));
    free(message);
    return r;
}

static void test_rows_are_read_as_they_were_written(void **state) {
    const struct pie_counted rows[] = {row("/a.py", 3, "", 0), row("/a.py", 3, "math.cos", 7)};

    assert_int_equal(write_rows(rows, 2), 0);
    assert_int_equal(pie_fixture_ask(database, "SELECT count(*) FROM counted"), 2);
    assert_int_equal(pie_fixture_ask(database, "SELECT calls * 1000 + again * 100 + call_ns FROM counted"
                                               " WHERE callee = 'math.cos' AND process = 1 AND line = 3"),
                     7000 + 600 + 70);
    assert_int_equal(pie_fixture_ask(database, "SELECT sum(run_ns) FROM counted"), 10000);
}

static void test_a_line_has_only_its_last_count(void **state) {
    const struct pie_counted first[] = {row("/a.py", 3, "f", 2), row("/a.py", 3, "g", 3),
                                        row("/a.py", 4, "f", 4)};
    const struct pie_counted second[] = {row("/a.py", 3, "f", 5)};

    assert_int_equal(write_rows(first, 3), 0);
    assert_int_equal(write_rows(second, 1), 0);
    assert_int_equal(pie_fixture_ask(database, "SELECT sum(calls) FROM counted WHERE line = 3"), 5);
    assert_int_equal(pie_fixture_ask(database, "SELECT sum(calls) FROM counted WHERE line = 4"), 4);
}

static void test_callees_of_one_name_are_added_up(void **state) {
    const struct pie_counted rows[] = {row("/a.py", 9, "f", 2), row("/a.py", 9, "f", 5)};

    assert_int_equal(write_rows(rows, 2), 0);
    assert_int_equal(pie_fixture_ask(database, "SELECT calls * 100 + call_ns FROM counted WHERE line = 9"),
                     770);
}

static void test_what_is_no_profile_of_ours_is_left_alone(void **state) {
    const struct pie_counted rows[] = {row("/a.py", 9, "f", 2)};
    char *message = NULL;

    assert_int_equal(pie_counted_check(database, &message), 0);
    pie_folder_write(folder, "b.db", "no database, but some text");
    database = pie_folder_path(folder, "b.db");
    assert_int_equal(write_rows(rows, 1), -EBADMSG);
    assert_int_equal(pie_counted_check(database, &message), -EBADMSG);
    free(message);
    database = pie_folder_path(folder, "none.db");
    assert_int_equal(write_rows(rows, 1), -ENOENT);
    assert_int_equal(access(database, F_OK), -1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_rows_are_read_as_they_were_written, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_line_has_only_its_last_count, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_callees_of_one_name_are_added_up, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_what_is_no_profile_of_ours_is_left_alone, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
