/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/machine/throttle.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

/* A folder with files as the kernel shows them. */
static char folder[] = "/tmp/pieprof-throttle-XXXXXX";
static char mountinfo[64], cgroup[64];
static const struct pie_throttle_files files = {mountinfo, cgroup};

static const uint64_t MS = 1000000;

static void write_file(const char *name, const char *format, ...) {
    char path[256];
    va_list values;

    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    va_start(values, format);
    vfprintf(file, format, values);
    va_end(values);
    assert_int_equal(fclose(file), 0);
}

static void make_folder(const char *name) {
    char path[256];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    mkdir(path, 0700);
}

static int set_up(void **state) {
    assert_non_null(mkdtemp(folder));
    snprintf(mountinfo, sizeof mountinfo, "%s/mountinfo", folder);
    snprintf(cgroup, sizeof cgroup, "%s/cgroup", folder);
    make_folder("v2");
    make_folder("v2/outer");
    make_folder("v2/outer/inner");
    make_folder("v1");
    make_folder("v1/box");
    return 0;
}

static int tear_down(void **state) {
    char command[128];

    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

static void write_v2(uint64_t throttled_us, unsigned periods) {
    write_file("mountinfo",
               "22 1 0:20 / /proc rw - proc proc rw\n30 22 0:26 / %s/v2 rw,nosuid - cgroup2 cgroup2 rw\n",
               folder);
    write_file("cgroup", "0::/outer/inner\n");
    write_file("v2/outer/cpu.max", "30000 100000\n");
    write_file("v2/outer/inner/cpu.max", "max 100000\n");
    write_file("v2/outer/inner/cpu.stat", "usage_usec 5\nnr_periods 0\nnr_throttled 0\nthrottled_usec 0\n");
    write_file("v2/outer/cpu.stat", "usage_usec 5\nnr_periods 9\nnr_throttled %u\nthrottled_usec %llu\n",
               periods, (unsigned long long)throttled_us);
}

/* The quota of a group further out counts. */
static void test_groups_of_version_2(void **state) {
    struct pie_throttle throttle = {0};

    write_v2(1000000, 10);
    pie_throttle_find(&throttle, &files);
    assert_int_equal(throttle.n_levels, 1);
    assert_non_null(strstr(throttle.levels[0].path, "/v2/outer"));
    pie_throttle_read(&throttle, MS);
    assert_int_equal(throttle.total_ns, 0); /* what was before is not ours */
    write_v2(1070000, 11);
    pie_throttle_read(&throttle, 101 * MS);
    assert_int_equal(throttle.total_ns, 70 * MS); /* 100 - 30: one processor */
    write_v2(1070000 + 370000, 12);
    pie_throttle_read(&throttle, 201 * MS);
    assert_in_range(throttle.total_ns, 162 * MS, 163 * MS); /* four that ran 7.5 ms each */
}

static unsigned opened;

static int open_counted(const char *path) {
    opened++;
    return open(path, O_RDONLY | O_CLOEXEC);
}

/* Its file is opened once, also when the groups are found again, and closed when the group is another. */
static void test_the_file_stays_open(void **state) {
    struct pie_throttle throttle = {.open_kept = open_counted};

    opened = 0;
    write_v2(1000000, 10);
    pie_throttle_find(&throttle, &files);
    assert_int_equal(opened, 0);
    pie_throttle_read(&throttle, MS);
    write_v2(1070000, 11);
    pie_throttle_find(&throttle, &files);
    pie_throttle_read(&throttle, 101 * MS);
    assert_int_equal(throttle.total_ns, 70 * MS);
    assert_int_equal(opened, 1);
    int fd = throttle.levels[0].stat;
    write_file("v2/outer/cpu.max", "max 100000\n");
    pie_throttle_find(&throttle, &files);
    assert_int_equal(fcntl(fd, F_GETFD), -1);
    for (size_t i = 0; i < throttle.n_levels; i++)
        assert_int_equal(throttle.levels[i].stat, 0);
}

static void write_v1(uint64_t throttled_ns, unsigned periods) {
    write_file(
        "mountinfo",
        "40 30 0:9 / %s/none rw - cgroup cgroup rw,cpuset\n41 30 0:30 /docker/7 %s/v1 rw - cgroup cgroup "
        "rw,cpu,cpuacct\n",
        folder, folder);
    write_file("cgroup", "5:cpuset:/\n4:cpu,cpuacct:/docker/7/box\n0::/\n");
    write_file("v1/box/cpu.cfs_quota_us", "50000\n");
    write_file("v1/box/cpu.cfs_period_us", "100000\n");
    write_file("v1/cpu.cfs_quota_us", "-1\n");
    write_file("v1/box/cpu.stat", "nr_periods 9\nnr_throttled %u\nthrottled_time %llu\n", periods,
               (unsigned long long)throttled_ns);
}

/* Mounted from a group on, as in a container without a namespace of its own. */
static void test_groups_of_version_1(void **state) {
    struct pie_throttle throttle = {0};

    write_v1(5, 1);
    pie_throttle_find(&throttle, &files);
    assert_int_equal(throttle.n_levels, 1);
    assert_non_null(strstr(throttle.levels[0].path, "/v1/box"));
    pie_throttle_read(&throttle, MS);
    write_v1(5 + 40 * MS, 2);
    pie_throttle_read(&throttle, 90 * MS);
    assert_int_equal(throttle.total_ns, 40 * MS);
}

/* No quota is seen, but what is done to the group. */
static void test_a_quota_out_of_sight(void **state) {
    struct pie_throttle throttle = {0};

    write_v2(0, 0);
    write_file("v2/outer/cpu.max", "max 100000\n");
    write_file("v2/outer/inner/cpu.stat.local", "throttled_usec 7\n");
    pie_throttle_find(&throttle, &files);
    assert_int_equal(throttle.n_levels, 1);
    pie_throttle_read(&throttle, MS);
    write_file("v2/outer/inner/cpu.stat.local", "throttled_usec 50007\n");
    pie_throttle_read(&throttle, 60 * MS);
    assert_int_equal(throttle.total_ns, 50 * MS);
    write_file("cgroup", "nonsense");
    pie_throttle_find(&throttle, &files);
    assert_int_equal(throttle.n_levels, 0);
}

/* A delay is throttled up to what the group was in its time, once for each thread. */
static void test_a_delay_has_its_share(void **state) {
    struct pie_throttle throttle = {0};
    uint64_t first = 0, second = 0, now_ns = 1000 * MS;

    write_v2(0, 0);
    pie_throttle_find(&throttle, &files);
    throttle.found_ns = now_ns;
    pie_throttle_read(&throttle, now_ns);
    write_v2(70000, 1);
    now_ns += 100 * MS;
    assert_int_equal(pie_throttle_share(&throttle, now_ns, MS / 10, &first), 0); /* not worth a look */
    assert_int_equal(pie_throttle_share(&throttle, now_ns, 20 * MS, &first), 20 * MS);
    assert_int_equal(pie_throttle_share(&throttle, now_ns, 60 * MS, &first), 50 * MS); /* 70 in all */
    assert_int_equal(pie_throttle_share(&throttle, now_ns, 75 * MS, &second), 70 * MS);
    now_ns += 20 * MS;
    assert_int_equal(pie_throttle_share(&throttle, now_ns, 9 * MS, &first), 0);
    now_ns += 500 * MS; /* what was long ago is no part of what is new */
    uint64_t third = 0;
    assert_int_equal(pie_throttle_share(&throttle, now_ns, 9 * MS, &third), 0);
}

/* It is asked about at the time of its end: what is newer will do. */
static void test_a_thread_that_ended_before_the_last_look(void **state) {
    struct pie_throttle throttle = {0};
    uint64_t seen = 0, now_ns = 1000 * MS;

    write_v2(0, 0);
    pie_throttle_find(&throttle, &files);
    pie_throttle_read(&throttle, now_ns - 80 * MS);
    write_v2(70000, 1);
    throttle.found_ns = now_ns;
    pie_throttle_read(&throttle, now_ns);
    assert_int_equal(pie_throttle_share(&throttle, now_ns - MS, 60 * MS, &seen), 60 * MS);
    assert_int_equal(throttle.found_ns, now_ns);
    assert_int_equal(throttle.read_ns, now_ns);
    assert_int_equal(throttle.n_history, 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_groups_of_version_2),
        cmocka_unit_test(test_the_file_stays_open),
        cmocka_unit_test(test_groups_of_version_1),
        cmocka_unit_test(test_a_quota_out_of_sight),
        cmocka_unit_test(test_a_delay_has_its_share),
        cmocka_unit_test(test_a_thread_that_ended_before_the_last_look),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
