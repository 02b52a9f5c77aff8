/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/file/stillness.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/storage/folder.h"

static const char text[] = "as it was";

/* Over what is there: neither its inode nor its size changes. */
static void write_again(void) {
    int fd = open(pie_folder_database(), O_WRONLY | O_CREAT, 0600);
    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, text, sizeof text, 0), sizeof text);
    assert_int_equal(close(fd), 0);
}

static void set_written(const char *path, time_t s) {
    const struct timespec times[2] = {{.tv_sec = s}, {.tv_sec = s}};
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static struct pie_stillness begin(void) {
    struct pie_stillness stillness;
    assert_int_equal(pie_stillness_begin(pie_folder_database(), &stillness), 0);
    return stillness;
}

static void test_reading_is_no_writing(void **state) {
    char found[sizeof text];
    write_again();
    struct pie_stillness stillness = begin();
    int fd = open(pie_folder_database(), O_RDONLY);
    assert_int_equal(read(fd, found, sizeof found), sizeof found);
    close(fd);
    assert_true(pie_stillness_holds(pie_folder_database(), &stillness));
}

/* What was written a moment ago has the time of a tick in which more can be written. */
static void test_every_write_is_seen(void **state) {
    for (int i = 0; i < 50; i++) {
        write_again();
        struct pie_stillness stillness = begin();
        write_again();
        assert_false(pie_stillness_holds(pie_folder_database(), &stillness));
    }
}

static void test_a_write_after_long_is_seen(void **state) {
    write_again();
    set_written(pie_folder_database(), 1000000000);
    struct pie_stillness stillness = begin();
    assert_true(pie_stillness_holds(pie_folder_database(), &stillness));
    write_again();
    assert_false(pie_stillness_holds(pie_folder_database(), &stillness));
}

static void test_another_file_in_its_place_is_seen(void **state) {
    char other[256];
    write_again();
    set_written(pie_folder_database(), 1000000000);
    struct pie_stillness stillness = begin();
    assert_true(snprintf(other, sizeof other, "%s.other", pie_folder_database()) < (int)sizeof other);
    assert_int_equal(rename(pie_folder_database(), other), 0);
    assert_false(pie_stillness_holds(pie_folder_database(), &stillness));
    write_again();
    set_written(pie_folder_database(), 1000000000);
    assert_false(pie_stillness_holds(pie_folder_database(), &stillness));
}

static void test_no_file(void **state) {
    struct pie_stillness stillness;
    assert_int_equal(pie_stillness_begin(pie_folder_database(), &stillness), -ENOENT);
}

/* Another machine's clock: it is not waited for until then. */
static void test_a_time_to_come(void **state) {
    write_again();
    set_written(pie_folder_database(), 4000000000);
    struct pie_stillness stillness = begin();
    assert_true(pie_stillness_holds(pie_folder_database(), &stillness));
}

#define IN_A_FOLDER(test) cmocka_unit_test_setup_teardown(test, pie_folder_set_up, pie_folder_tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_A_FOLDER(test_reading_is_no_writing),
        IN_A_FOLDER(test_every_write_is_seen),
        IN_A_FOLDER(test_a_write_after_long_is_seen),
        IN_A_FOLDER(test_another_file_in_its_place_is_seen),
        IN_A_FOLDER(test_no_file),
        IN_A_FOLDER(test_a_time_to_come),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
