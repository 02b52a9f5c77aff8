/* SPDX-License-Identifier: Apache-2.0 */
/* Rows by slices of time, while these become wider: nothing is lost or twice, also when the writer is killed. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "profiler/ports/config.h"
#include "profiler/ports/sink.h"
#include "storage/write/writer.h"
#include "tests/storage/fixture.h"
#include "tests/storage/folder.h"

static const int64_t START_NS = 1700000000000000000, SECOND_NS = 1000000000;

enum { NODES = 7 };

static int64_t ask(const char *sql) {
    return pie_fixture_ask(pie_folder_database(), sql);
}

static struct pie_sink *begin_run(uint64_t keep_s) {
    const struct pie_config config = {.overhead_budget = 0.05, .keep_s = keep_s};
    struct pie_process_row process = {.pid = 1, .clock = "perf", .started_ns = START_NS};
    struct pie_sink *sink;
    int64_t run;
    pie_fixture_check(pie_writer_open(pie_folder_database(), &config, &sink));
    pie_fixture_check(sink->ops->begin_process(sink, &process, &run));
    for (uint32_t id = 1; id <= NODES; id++) {
        struct pie_location location = {
            .id = {id}, .kind = PIE_LOCATION_PYTHON, .function = "f", .file = "/x.py", .line = (int32_t)id};
        struct pie_node_row node = {.id = {id}, .location = {id}};
        pie_fixture_check(sink->ops->put_location(sink, &location));
        pie_fixture_check(sink->ops->put_node(sink, &node));
    }
    return sink;
}

/* What is measured in one second: of each kind a row, with figures that tell the second. */
static void put_second(struct pie_sink *sink, int64_t second) {
    uint32_t node = 1 + (uint32_t)(second % NODES);
    uint64_t amount = (uint64_t)second + 1;
    struct pie_sample_row sample = {
        .thread = 1, .node = {node}, .samples = 1, .python_ns = amount, .cpu_sq_ns2 = 1};
    struct pie_watch_row watch = {
        .kind = 1, .outcome = 1, .first_node = {node}, .second_node = {node}, .watches = 1, .bytes = amount};
    struct pie_allocated_row allocated = {.node = {node}, .samples = 1, .bytes = {amount, 0}};
    struct pie_copy_row copy = {.node = {node}, .estimate = PIE_COPY_COUNTED, .samples = 1, .bytes = amount};
    pie_fixture_check(sink->ops->begin(sink, START_NS + second * SECOND_NS));
    pie_fixture_check(sink->ops->put_sample(sink, &sample));
    pie_fixture_check(sink->ops->put_watch(sink, &watch));
    pie_fixture_check(sink->ops->put_allocated(sink, &allocated));
    pie_fixture_check(sink->ops->put_copy(sink, &copy));
    /* of the run so far; what it was before is no cost of this second */
    pie_fixture_check(sink->ops->put_overhead(sink, "time", amount * (amount + 1) / 2, 1000));
    pie_fixture_check(sink->ops->put_overhead(sink, "memory", 1, 0));
    pie_fixture_check(sink->ops->commit(sink, START_NS + (second + 1) * SECOND_NS));
}

/* All that is finished, and nothing else. A wider slice may have begun with rows that were packed. */
static void check_packed(int64_t present_s) {
    static const char *const tables[] = {"sample", "allocated", "copy"};
    for (int kind = 1; kind <= 3; kind++) {
        char sql[200];
        snprintf(sql, sizeof sql,
                 "SELECT count(*) FROM main.%s WHERE slice_s <> (SELECT max(slice_s) FROM main.%s)",
                 tables[kind - 1], tables[kind - 1]);
        assert_int_equal(ask(sql), 0);
        snprintf(sql, sizeof sql, "SELECT max(slice_s) FROM main.%s", tables[kind - 1]);
        assert_int_equal(ask(sql), present_s);
        snprintf(sql, sizeof sql,
                 "SELECT count(DISTINCT slice_s) * slice_width_s FROM packed, process WHERE kind = %d AND "
                 "slice_s < %d",
                 kind, (int)present_s);
        assert_int_equal(ask(sql), present_s);
    }
}

static void test_sums_stay_through_each_doubling(void **state) {
    struct pie_sink *sink = begin_run(0);
    for (int64_t second = 0; second < 1500; second++) {
        put_second(sink, second);
        if (second != 255 && second != 256 && second != 511 && second != 512 && second != 1024 &&
            second != 1499)
            continue;
        int64_t sum = (second + 1) * (second + 2) / 2, width_s = ask("SELECT slice_width_s FROM process");
        assert_int_equal(width_s, second < 256 ? 1 : second < 512 ? 2 : second < 1024 ? 4 : 8);
        assert_int_equal(ask("SELECT sum(python_ns) FROM sample"), sum);
        assert_int_equal(ask("SELECT sum(samples) FROM sample"), second + 1);
        assert_int_equal(ask("SELECT sum(bytes) FROM watch"), sum);
        assert_int_equal(ask("SELECT sum(python_bytes + native_bytes) FROM allocated"), sum);
        assert_int_equal(ask("SELECT sum(bytes) FROM copy"), sum);
        assert_int_equal(ask("SELECT sum(cpu_ns) FROM spent WHERE collector = 'time'"), sum);
        assert_int_equal(ask("SELECT cpu_ns FROM overhead WHERE collector = 'time'"), sum);
        assert_int_equal(ask("SELECT sum(cpu_ns) FROM spent WHERE collector = 'memory'"), 1);
        assert_int_equal(ask("SELECT count(DISTINCT slice_s) FROM sample"), second / width_s + 1);
        check_packed(second / width_s * width_s);
    }
    sink->ops->close(sink);
    /* each second is in its own slice: those from 800 to 807 */
    int64_t of_slice = 801 + 802 + 803 + 804 + 805 + 806 + 807 + 808;
    assert_int_equal(ask("SELECT sum(python_ns) FROM sample WHERE slice_s = 800"), of_slice);
    assert_int_equal(ask("SELECT sum(bytes) FROM copy WHERE slice_s = 800"), of_slice);
    assert_int_equal(ask("SELECT sum(cpu_ns) FROM spent WHERE slice_s = 800"), of_slice);
    assert_int_equal(ask("SELECT round(time_s * 1e9) FROM v_overhead_slice WHERE t_s = 800"), of_slice);
    assert_int_equal(ask("SELECT count(*) FROM sample WHERE slice_s % 8 <> 0"), 0);
    assert_int_equal(ask("SELECT count(*) FROM watch WHERE slice_s % 8 <> 0"), 0);
    assert_int_equal(ask("SELECT count(*) FROM allocated WHERE slice_s % 8 <> 0"), 0);
    assert_int_equal(ask("SELECT count(*) FROM v_slice"), 188);
    assert_int_equal(ask("SELECT sum(samples) FROM v_slice"), 1500);
    assert_int_equal(ask("SELECT sum(allocated_bytes) = sum(copy_bytes) FROM v_slice"), 1);
}

static void test_what_is_older_than_what_is_kept_goes(void **state) {
    struct pie_sink *sink = begin_run(100);
    for (int64_t second = 0; second < 1000; second++)
        put_second(sink, second);
    pie_fixture_check(sink->ops->end_process(sink, START_NS + 1000 * SECOND_NS, "exit", 0));
    sink->ops->close(sink);
    assert_int_equal(ask("SELECT forgotten_s FROM process"), 899);
    assert_int_equal(ask("SELECT slice_width_s FROM process"), 1);
    for (size_t i = 0; i < 4; i++) {
        static const char *const tables[] = {"sample", "watch", "allocated", "copy"};
        char sql[128];
        snprintf(sql, sizeof sql, "SELECT min(slice_s) * 10000 + count(DISTINCT slice_s) FROM %s", tables[i]);
        assert_int_equal(ask(sql), 8990101);
    }
    assert_int_equal(ask("SELECT sum(samples) FROM v_slice"), 101);
    assert_int_equal(ask("SELECT round(wall_s) FROM v_run"), 101);
    assert_int_equal(ask("SELECT sum(samples) FROM v_line"), 101);
    assert_int_equal(ask("SELECT count(*) FROM v_slice WHERE slice = 1 AND samples = 1 AND t_s = 0"), 1);
}

/* Seconds of minutes at a stroke, so that slices become wider every few commits. */
static void write_until_killed(_Atomic int64_t *committed) {
    struct pie_sink *sink = begin_run(0);
    for (int64_t second = 0;; second += second < 256 ? 60 : second < 1000000 ? second / 4 : 100000) {
        put_second(sink, second);
        ++*committed;
    }
}

static void kill_after(int64_t pause_ns) {
    _Atomic int64_t *committed =
        mmap(NULL, sizeof *committed, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(committed, MAP_FAILED);
    pid_t child = fork();
    if (child == 0)
        write_until_killed(committed);
    while (*committed == 0 && waitpid(child, NULL, WNOHANG) == 0)
        ;
    const struct timespec pause = {0, pause_ns};
    nanosleep(&pause, NULL);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    int64_t found = ask("SELECT sum(samples) FROM sample");
    assert_in_range(found, *committed, *committed + 1);
    assert_int_equal(ask("SELECT count(*) FROM pragma_table_info('sample')") > 0, 1);
    assert_int_equal(ask("SELECT (SELECT sum(python_ns) FROM sample) = (SELECT sum(bytes) FROM copy)"), 1);
    assert_int_equal(ask("SELECT (SELECT sum(bytes) FROM watch) = (SELECT sum(bytes) FROM copy)"), 1);
    assert_int_equal(
        ask("SELECT count(*) FROM sample JOIN process ON id = process WHERE slice_s % slice_width_s <> 0"),
        0);
    munmap((void *)committed, sizeof *committed);
}

static void test_a_killed_writer_leaves_whole_slices(void **state) {
    for (int nth = 0; nth < 200; nth++) {
        kill_after(10000 + nth * 37000 % 4000000);
        pie_folder_tear_down(state);
        pie_folder_set_up(state);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_sums_stay_through_each_doubling, pie_folder_set_up,
                                        pie_folder_tear_down),
        cmocka_unit_test_setup_teardown(test_what_is_older_than_what_is_kept_goes, pie_folder_set_up,
                                        pie_folder_tear_down),
        cmocka_unit_test_setup_teardown(test_a_killed_writer_leaves_whole_slices, pie_folder_set_up,
                                        pie_folder_tear_down),
    };
    return cmocka_run_group_tests_name("writer_slices", tests, NULL, NULL);
}
