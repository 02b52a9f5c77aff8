/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "profiler/ports/config.h"
#include "profiler/ports/pystack.h"
#include "profiler/ports/sink.h"
#include "storage/file/schema.h"
#include "storage/read/reader.h"
#include "storage/write/writer.h"
#include "tests/storage/fixture.h"
#include "tests/storage/folder.h"

static const struct pie_config config = {.overhead_budget = 0.05};
static const char *folder;

static int set_up(void **state) {
    folder = pie_folder_make();
    return 0;
}

static int tear_down(void **state) {
    pie_folder_remove(folder);
    return 0;
}

static const char *at(const char *name) {
    return pie_folder_path(folder, name);
}

static struct pie_sink *open_sink(const char *path) {
    struct pie_sink *sink;
    assert_int_equal(pie_writer_open(path, &config, &sink), 0);
    return sink;
}

static int64_t begin_process(struct pie_sink *sink, int64_t run) {
    int64_t found;
    struct pie_process_row row = {.pid = getpid(), .is_child = run != 0, .run_id = run, .clock = "timer"};
    assert_int_equal(sink->ops->begin_process(sink, &row, &found), 0);
    return found;
}

static int put_one(struct pie_sink *sink, uint32_t id) {
    int r = sink->ops->begin(sink, 0);
    struct pie_location location = {
        .id = {id}, .kind = PIE_LOCATION_PYTHON, .function = "f", .file = "/x.py", .line = 1};
    struct pie_node_row node = {.id = {id}, .location = {id}};
    struct pie_thread_row thread = {.id = 1, .name = "t"};
    struct pie_sample_row sample = {
        .thread = 1, .node = {id}, .samples = 1, .python_ns = 1000, .cpu_sq_ns2 = 1e6};
    r = r == 0 ? sink->ops->put_location(sink, &location) : r;
    r = r == 0 ? sink->ops->put_node(sink, &node) : r;
    r = r == 0 ? sink->ops->put_thread(sink, &thread) : r;
    r = r == 0 ? sink->ops->put_sample(sink, &sample) : r;
    return r == 0 ? sink->ops->commit(sink, 1) : r;
}

static void test_runs_are_appended_and_one_file_is_left(void **state) {
    pie_fixture_write(at("a.db"), folder, 3);
    assert_int_equal(pie_fixture_ask(at("a.db"), "SELECT count(*) FROM v_run WHERE cpu_s = 1"), 3);
    assert_int_equal(
        pie_fixture_ask(at("a.db"), "SELECT sum(samples) FROM v_line WHERE run = 2 AND line = 6"), 600);
    assert_int_equal(access(at("a.db-wal"), F_OK), -1);
    assert_int_equal(access(at("a.db-shm"), F_OK), -1);
}

static void test_increments_of_one_context_add_up(void **state) {
    struct pie_sink *sink = open_sink(at("a.db"));
    begin_process(sink, 0);
    for (int i = 0; i < 5; i++)
        assert_int_equal(put_one(sink, 7), 0);
    sink->ops->close(sink);
    assert_int_equal(pie_fixture_ask(at("a.db"), "SELECT sum(python_ns) + 100000 * count(*) FROM sample"),
                     105000);
    assert_int_equal(pie_fixture_ask(at("a.db"), "SELECT ended_ns IS NULL FROM process"), 1);
}

/* work (own) -> crunch (library) -> crunch's helper (library) -> native code, and work -> native code. */
static void put_two_depths(struct pie_sink *sink) {
    static const char *const files[] = {"/home/me/app.py", "/usr/lib/python3.11/a.py",
                                        "/usr/lib/python3.11/b.py"};
    for (uint32_t id = 1; id <= 4; id++) {
        struct pie_location location = {.id = {id},
                                        .kind = id < 4 ? PIE_LOCATION_PYTHON : PIE_LOCATION_NATIVE,
                                        .function = "f",
                                        .file = id < 4 ? files[id - 1] : NULL,
                                        .line = 1,
                                        .module = id < 4 ? NULL : "/usr/lib/libz.so"};
        struct pie_node_row node = {.id = {id}, .parent = {id - 1}, .location = {id}};
        assert_int_equal(sink->ops->put_location(sink, &location), 0);
        assert_int_equal(sink->ops->put_node(sink, &node), 0);
    }
    struct pie_node_row node = {.id = {5}, .parent = {1}, .location = {4}};
    assert_int_equal(sink->ops->put_node(sink, &node), 0);
}

static struct pie_watch_row watch_at(uint32_t node) {
    return (struct pie_watch_row){.kind = 1,
                                  .outcome = 1,
                                  .first_node = {node},
                                  .second_node = {5},
                                  .operations = {1, 3, 4 + 16},
                                  .operations_count = 3,
                                  .watches = 2,
                                  .bytes = 16,
                                  .weight_ns = 0.5,
                                  .weight_sq_ns2 = 0.25,
                                  .length_ns = 100,
                                  .gap_ns = 1000,
                                  .array_bytes = 4096,
                                  .round_ns = 70};
}

static void put_watch(struct pie_sink *sink, struct pie_watch_row row) {
    assert_int_equal(sink->ops->put_watch(sink, &row), 0);
}

static void test_increments_of_one_kind_of_watch_add_up(void **state) {
    struct pie_sink *sink = open_sink(at("a.db"));
    begin_process(sink, 0);
    put_two_depths(sink);
    struct pie_watch_row changed = watch_at(4), later = watch_at(4);
    changed.outcome = 2;
    later.weight_ns = 1e18;
    later.gap_ns = UINT64_MAX; /* SQLite's integers are signed */
    put_watch(sink, watch_at(4));
    put_watch(sink, watch_at(4));
    assert_int_equal(sink->ops->commit(sink, 1), 0);
    put_watch(sink, changed);
    put_watch(sink, watch_at(4));
    assert_int_equal(sink->ops->commit(sink, 2), 0);
    changed.traits = 1;
    put_watch(sink, changed);
    changed.memory = 3;
    put_watch(sink, changed);
    changed.length = 2;
    changed.second_node.value = 0;
    put_watch(sink, changed);
    later.kind = 2;
    put_watch(sink, later);
    assert_int_equal(sink->ops->commit(sink, 3), 0);
    sink->ops->close(sink);
    assert_int_equal(pie_fixture_ask(at("a.db"), "SELECT count(*) FROM watch"), 6);
    assert_int_equal(
        pie_fixture_ask(at("a.db"),
                        "SELECT count(*) FROM watch WHERE kind = 1 AND outcome = 1 AND watches = 6"
                        " AND bytes = 48 AND weight_ns = 1.5 AND weight_sq_ns2 = 0.75"
                        " AND length_ns = 300 AND gap_ns = 3000"
                        " AND array_bytes = 12288 AND round_ns = 210"),
        1);
    assert_int_equal(
        pie_fixture_ask(at("a.db"), "SELECT gap_ns = 9223372036854775807 FROM watch WHERE kind = 2"), 1);
}

/* Operations are those of Python frames, innermost first. */
static void test_a_watch_has_the_operations_of_its_own_and_its_innermost_line(void **state) {
    static const struct {
        uint32_t node, operations, own, inner;
    } cases[] = {
        {4, 3, 20, 1},               /* two library frames below the own one */
        {5, 3, 1, 1},  {4, 2, 0, 1}, /* the own frame was not recorded */
        {4, 0, 0, 0},  {9, 3, 0, 1}, /* a node never seen */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pie_sink *sink = open_sink(at("a.db"));
        begin_process(sink, 0);
        put_two_depths(sink);
        struct pie_watch_row row = watch_at(cases[i].node);
        row.operations_count = cases[i].operations;
        put_watch(sink, row);
        assert_int_equal(sink->ops->commit(sink, 1), 0);
        sink->ops->close(sink);
        assert_int_equal(pie_fixture_ask(at("a.db"), "SELECT own_operation + 100 * inner_operation FROM watch"
                                                     " WHERE process = (SELECT max(id) FROM process)"),
                         cases[i].own + 100 * cases[i].inner);
    }
}

enum { S = 1000000000 };

/* Totals: a row takes the place of the node's last one. */
static void test_allocations_of_a_context_are_replaced(void **state) {
    struct pie_sink *sink = open_sink(at("a.db"));
    struct pie_allocation_row row = {.node = {4},
                                     .size = 3,
                                     .samples = 1,
                                     .allocated_bytes = {[PIE_HEAP_NATIVE] = 2, [PIE_HEAP_PYTHON] = 1},
                                     .allocated_sq_bytes2 = 3.5,
                                     .live_bytes = 4,
                                     .live_sq_bytes2 = 4.5,
                                     .peak_bytes = {[PIE_HEAP_NATIVE] = 6, [PIE_HEAP_PYTHON] = 5},
                                     .peak_sq_bytes2 = 7.5,
                                     .live_bytes_s = 8.5,
                                     .mallocs = 9,
                                     .frees = 8,
                                     .kept_bytes = {11, 12, 13, 14, 15, 16, 17, 18},
                                     .first_ns = 7,
                                     .blocks = 19.5,
                                     .rises = 20,
                                     .falls = 21};
    begin_process(sink, 0);
    put_two_depths(sink);
    assert_int_equal(sink->ops->put_allocation(sink, &row), 0);
    assert_int_equal(sink->ops->commit(sink, 1), 0);
    row.samples = 2;
    row.allocated_bytes[PIE_HEAP_NATIVE] = UINT64_MAX; /* SQLite's integers are signed */
    assert_int_equal(sink->ops->put_allocation(sink, &row), 0);
    row.node.value = 5;
    assert_int_equal(sink->ops->put_allocation(sink, &row), 0);
    row.size = 4; /* of another size: a row beside it */
    assert_int_equal(sink->ops->put_allocation(sink, &row), 0);
    assert_int_equal(sink->ops->commit(sink, 2), 0);
    sink->ops->close(sink);
    assert_int_equal(pie_fixture_ask(at("a.db"), "SELECT count(*) FROM allocation"), 3);
    assert_int_equal(
        pie_fixture_ask(at("a.db"),
                        "SELECT count(*) FROM allocation WHERE node = 4 AND size = 3 AND samples = 2"
                        " AND allocated_native_bytes = 9223372036854775807 AND allocated_python_bytes = 1"
                        " AND allocated_sq_bytes2 = 3.5 AND live_bytes = 4 AND live_sq_bytes2 = 4.5 AND "
                        "peak_native_bytes = 6"
                        " AND peak_python_bytes = 5 AND peak_sq_bytes2 = 7.5 AND live_bytes_s = 8.5"
                        " AND mallocs = 9 AND frees = 8 AND first_ns = 7 AND kept_1 = 11 AND kept_2 = 12"
                        " AND kept_3 = 13 AND kept_4 = 14 AND kept_5 = 15 AND kept_6 = 16 AND kept_7 = 17"
                        " AND kept_8 = 18 AND blocks = 19.5 AND rises = 20 AND falls = 21"),
        1);
}

static void put_copy(struct pie_sink *sink, uint32_t node, uint8_t estimate) {
    struct pie_copy_row row = {
        .node = {node}, .samples = 2, .estimate = estimate, .bytes = 100, .sq_bytes2 = 0.5};
    assert_int_equal(sink->ops->put_copy(sink, &row), 0);
}

static void test_increments_of_copies_add_up_by_estimate(void **state) {
    struct pie_sink *sink = open_sink(at("a.db"));
    begin_process(sink, 0);
    put_two_depths(sink);
    put_copy(sink, 4, PIE_COPY_COUNTED);
    put_copy(sink, 4, PIE_COPY_COUNTED);
    put_copy(sink, 4, PIE_COPY_LOOP);
    assert_int_equal(sink->ops->commit(sink, 1), 0);
    put_copy(sink, 4, PIE_COPY_COUNTED);
    put_copy(sink, 5, PIE_COPY_SAMPLED);
    assert_int_equal(sink->ops->commit(sink, 2), 0);
    sink->ops->close(sink);
    assert_int_equal(pie_fixture_ask(at("a.db"), "SELECT count(*) FROM copy"), 3);
    assert_int_equal(pie_fixture_ask(at("a.db"),
                                     "SELECT samples = 6 AND bytes = 300 AND sq_bytes2 = 1.5 FROM copy"
                                     " WHERE node = 4 AND estimate = 1"),
                     1);
    assert_int_equal(pie_fixture_ask(at("a.db"), "SELECT sum(bytes) FROM copy WHERE estimate > 1"), 200);
}

static void put_copy_end(struct pie_sink *sink, uint32_t node, enum pie_copy_outcome outcome) {
    struct pie_copy_end_row row = {.node = {node}, .outcome = (uint8_t)outcome, .copies = 2, .bytes = 100};
    assert_int_equal(sink->ops->put_copy_end(sink, &row), 0);
}

static void test_ends_of_copies_add_up_by_outcome(void **state) {
    struct pie_sink *sink = open_sink(at("a.db"));
    begin_process(sink, 0);
    put_two_depths(sink);
    put_copy_end(sink, 4, PIE_COPY_NEEDLESS);
    put_copy_end(sink, 4, PIE_COPY_WRITTEN);
    assert_int_equal(sink->ops->commit(sink, 1), 0);
    put_copy_end(sink, 4, PIE_COPY_NEEDLESS);
    put_copy_end(sink, 5, PIE_COPY_NEEDLESS);
    assert_int_equal(sink->ops->commit(sink, 2), 0);
    sink->ops->close(sink);
    assert_int_equal(pie_fixture_ask(at("a.db"), "SELECT count(*) FROM copy_end"), 3);
    assert_int_equal(
        pie_fixture_ask(at("a.db"),
                        "SELECT copies = 4 AND bytes = 200 FROM copy_end WHERE node = 4 AND outcome = 1"),
        1);
}

static void test_readings_are_replaced(void **state) {
    struct pie_sink *sink = open_sink(at("a.db"));
    struct pie_reading_row row = {
        .node = {4}, .kind = PIE_READ_SEARCH, .samples = 2, .upper_ns = 5, .max_size = 9};
    begin_process(sink, 0);
    put_two_depths(sink);
    assert_int_equal(sink->ops->put_reading(sink, &row), 0);
    assert_int_equal(sink->ops->commit(sink, 1), 0);
    row.samples = 3;
    assert_int_equal(sink->ops->put_reading(sink, &row), 0);
    row.kind = PIE_READ_ARGUMENT;
    assert_int_equal(sink->ops->put_reading(sink, &row), 0);
    assert_int_equal(sink->ops->commit(sink, 2), 0);
    sink->ops->close(sink);
    assert_int_equal(pie_fixture_ask(at("a.db"), "SELECT count(*) FROM reading"), 2);
    assert_int_equal(
        pie_fixture_ask(at("a.db"), "SELECT sum(samples = 3 AND upper_ns = 5 AND max_size = 9) FROM reading"),
        2);
}

static void test_totals_and_holders_are_replaced(void **state) {
    struct pie_sink *sink = open_sink(at("a.db"));
    struct pie_heap_row row = {.allocator = "glibc", .note = "early"};
    begin_process(sink, 0);
    put_two_depths(sink);
    assert_int_equal(sink->ops->put_heap(sink, &row), 0);
    assert_int_equal(sink->ops->put_retention_path(sink, (struct pie_node_id){4}, 3, "list"), 0);
    assert_int_equal(sink->ops->commit(sink, 1), 0);
    assert_int_equal(
        pie_fixture_ask(at("a.db"),
                        "SELECT peak_ns IS NULL AND rss_peak_bytes IS NULL AND peak_native_bytes = 0"
                        " AND note = 'early' FROM heap"),
        1);
    row = (struct pie_heap_row){.peak_ns = 1,
                                .peak_bytes = {[PIE_HEAP_NATIVE] = 3, [PIE_HEAP_PYTHON] = 2},
                                .rss_peak_bytes = 4,
                                .allocated_bytes = {[PIE_HEAP_NATIVE] = 6, [PIE_HEAP_PYTHON] = 5},
                                .freed_bytes = {[PIE_HEAP_NATIVE] = 8, [PIE_HEAP_PYTHON] = 7},
                                .profiler_bytes = 9,
                                .threshold_bytes = 10};
    assert_int_equal(sink->ops->put_heap(sink, &row), 0);
    assert_int_equal(sink->ops->put_retention_path(sink, (struct pie_node_id){4}, 3, "dict \xff"), 0);
    assert_int_equal(sink->ops->commit(sink, 2), 0);
    sink->ops->close(sink);
    assert_int_equal(pie_fixture_ask(at("a.db"), "SELECT count(*) FROM heap"), 1);
    assert_int_equal(
        pie_fixture_ask(
            at("a.db"),
            "SELECT peak_ns = 1 AND peak_python_bytes = 2 AND peak_native_bytes = 3"
            " AND rss_peak_bytes = 4 AND allocated_python_bytes = 5 AND allocated_native_bytes = 6"
            " AND freed_python_bytes = 7 AND freed_native_bytes = 8 AND profiler_bytes = 9"
            " AND threshold_bytes = 10 AND allocator IS NULL AND note IS NULL FROM heap"),
        1);
    assert_int_equal(
        pie_fixture_ask(at("a.db"), "SELECT text = 'dict ' || char(65533) AND node = 4 FROM holder"), 1);
}

static void put_footprint(struct pie_sink *sink, int64_t time_ns, uint64_t bytes, uint64_t rss,
                          uint32_t node) {
    struct pie_footprint_row row = {.time_ns = time_ns,
                                    .heap_bytes = {[PIE_HEAP_NATIVE] = bytes, [PIE_HEAP_PYTHON] = 2 * bytes},
                                    .rss_bytes = rss,
                                    .node = {node}};
    assert_int_equal(sink->ops->put_footprint(sink, &row), 0);
}

static void test_points_are_in_the_file_at_once_and_unknown_is_null(void **state) {
    struct pie_sink *sink = open_sink(at("a.db"));
    begin_process(sink, 0);
    put_two_depths(sink);
    put_footprint(sink, 10, 5, 0, 0);
    assert_int_equal(sink->ops->commit(sink, 1), 0);
    put_footprint(sink, 20, 6, 7, 4);
    assert_int_equal(sink->ops->commit(sink, 2),
                     0); /* and killed: the sink is not closed before the file is read */
    assert_int_equal(pie_fixture_ask(at("a.db"), "SELECT count(*) FROM footprint"), 2);
    assert_int_equal(pie_fixture_ask(at("a.db"),
                                     "SELECT python_bytes = 10 AND native_bytes = 5 AND rss_bytes IS NULL AND"
                                     " node IS NULL FROM footprint WHERE t_ns = 10"),
                     1);
    assert_int_equal(pie_fixture_ask(at("a.db"),
                                     "SELECT python_bytes = 12 AND native_bytes = 6 AND rss_bytes = 7 AND"
                                     " node = 4 FROM footprint WHERE t_ns = 20"),
                     1);
    sink->ops->close(sink);
}

/* Nodes 4 and 5 lie below own line 1, node 6 on the same line in another function; node 9 was never seen. Node 4 has
 * blocks of two sizes. */
static void test_a_lines_curve_is_the_sum_of_its_contexts(void **state) {
    struct pie_sink *sink = open_sink(at("a.db"));
    struct pie_location other = {.id = {6},
                                 .kind = PIE_LOCATION_PYTHON,
                                 .function = "f.<lambda>",
                                 .file = "/home/me/app.py",
                                 .line = 1,
                                 .first_line = 1};
    static const struct pie_live_row rows[] = {
        {{4}, 1, 1 * (int64_t)S, 60}, {{4}, 5, 1 * (int64_t)S, 40},    {{5}, 1, 1 * (int64_t)S, 20},
        {{6}, 1, 1 * (int64_t)S, 3},  {{9}, 1, 1 * (int64_t)S, 50000}, {{4}, 5, 2 * (int64_t)S, 10},
        {{6}, 1, 2 * (int64_t)S, 0},
    };
    begin_process(sink, 0);
    put_two_depths(sink);
    assert_int_equal(sink->ops->put_location(sink, &other), 0);
    assert_int_equal(sink->ops->put_node(sink, &(struct pie_node_row){.id = {6}, .location = {6}}), 0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(sink->ops->put_live(sink, &rows[i]), 0);
    assert_int_equal(sink->ops->end_process(sink, 3, "exit", 0), 0);
    sink->ops->close(sink);
    assert_int_equal(pie_fixture_ask(at("a.db"), "SELECT count(*) FROM line_footprint"), 3);
    assert_int_equal(
        pie_fixture_ask(at("a.db"),
                        "SELECT sum(location * live_bytes * (t_ns / 1000000000)) FROM line_footprint"),
        123 + 2 * 90);
    assert_int_equal(pie_fixture_ask(at("a.db"), "SELECT live_bytes FROM line_footprint WHERE location = 0"),
                     50000);
}

/* Two hours of a program that allocates all the time, in many lines, with a flush each second. */
static void test_curves_do_not_make_the_file_grow(void **state) {
    enum { SECONDS = 7200, LINES = 80 };
    struct pie_sink *sink = open_sink(at("a.db"));
    uint64_t peak = 0, value = 0;
    begin_process(sink, 0);
    for (uint32_t id = 1; id <= LINES; id++) {
        struct pie_location location = {.id = {id},
                                        .kind = PIE_LOCATION_PYTHON,
                                        .function = "f",
                                        .file = "/home/me/app.py",
                                        .line = (int32_t)id};
        assert_int_equal(sink->ops->put_location(sink, &location), 0);
        assert_int_equal(sink->ops->put_node(sink, &(struct pie_node_row){.id = {id}, .location = {id}}), 0);
    }
    for (int64_t second = 1; second <= SECONDS; second++) {
        value = (value * 7919 + 104729) % 1000000007;
        peak = value > peak ? value : peak;
        put_footprint(sink, second * S, value, value / 2, 0);
        for (uint32_t id = 1; id <= LINES; id++) {
            struct pie_live_row row = {.node = {id}, .time_ns = second * S, .live_bytes = value / id};
            assert_int_equal(sink->ops->put_live(sink, &row), 0);
        }
        assert_int_equal(sink->ops->commit(sink, second), 0);
    }
    sink->ops->close(sink);
    struct stat status;
    assert_int_equal(stat(at("a.db"), &status), 0);
    assert_in_range(status.st_size, 0, 600000); /* 83 bytes a second */
    assert_in_range(pie_fixture_ask(at("a.db"), "SELECT count(*) FROM footprint"), 50, 100);
    assert_int_equal(pie_fixture_ask(at("a.db"), "SELECT max(native_bytes) FROM footprint"), peak);
    assert_int_equal(pie_fixture_ask(at("a.db"), "SELECT max(t_ns) / 1000000000 FROM footprint"), SECONDS);
    assert_int_equal(pie_fixture_ask(at("a.db"), "SELECT count(DISTINCT location) FROM line_footprint"), 64);
    assert_in_range(
        pie_fixture_ask(at("a.db"),
                        "SELECT max(n) FROM (SELECT count(*) AS n FROM line_footprint GROUP BY location)"),
        50, 100);
    assert_int_equal(
        pie_fixture_ask(at("a.db"), "SELECT max(live_bytes) FROM line_footprint WHERE location = 2"),
        peak / 2);
}

static void test_a_process_tells_how_accesses_are_sampled(void **state) {
    static const char *const samplers[] = {"pmu", NULL};
    for (size_t i = 0; i < 2; i++) {
        struct pie_sink *sink = open_sink(at("a.db"));
        struct pie_process_row row = {.pid = 1, .clock = "perf", .sampler = samplers[i]};
        int64_t run;
        if (samplers[i])
            row.sampler_note = "no precise loads";
        assert_int_equal(sink->ops->begin_process(sink, &row, &run), 0);
        sink->ops->close(sink);
    }
    assert_int_equal(pie_fixture_ask(at("a.db"), "SELECT count(*) FROM v_process WHERE sampler = 'pmu'"
                                                 " AND sampler_note = 'no precise loads'"),
                     1);
    assert_int_equal(
        pie_fixture_ask(at("a.db"),
                        "SELECT count(*) FROM v_run WHERE sampler = 'none' AND sampler_note IS NULL"),
        1);
}

/* Each process makes the schema if it is the first, and its own run. */
static void test_several_processes_open_a_new_file_at_once(void **state) {
    enum { PROCESSES = 8 };
    pid_t children[PROCESSES];
    for (int i = 0; i < PROCESSES; i++) {
        children[i] = fork();
        if (children[i] == 0) {
            struct pie_sink *sink;
            struct pie_process_row row = {.pid = getpid(), .clock = "none"};
            int64_t run;
            int r = pie_writer_open(at("a.db"), &config, &sink);
            r = r == 0 ? sink->ops->begin_process(sink, &row, &run) : r;
            for (uint32_t id = 1; r == 0 && id <= 20; id++)
                while ((r = put_one(sink, id)) == -EBUSY)
                    ;
            r = r == 0 ? sink->ops->end_process(sink, 2, "exit", 0) : r;
            if (r == 0)
                sink->ops->close(sink);
            _exit(r == 0 ? 0 : 1);
        }
    }
    for (int i = 0; i < PROCESSES; i++) {
        int status;
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_int_equal(status, 0);
    }
    assert_int_equal(pie_fixture_ask(at("a.db"), "SELECT count(*) FROM run"), PROCESSES);
    assert_int_equal(pie_fixture_ask(at("a.db"), "SELECT sum(python_ns) / 20000 FROM sample"), PROCESSES);
    assert_int_equal(access(at("a.db-wal"), F_OK), -1);
}

static void test_a_child_joins_the_run_of_its_parent(void **state) {
    struct pie_sink *parent = open_sink(at("a.db")), *child = open_sink(at("a.db"));
    int64_t run = begin_process(parent, 0), found;
    struct pie_process_row row = {
        .pid = 77, .parent_pid = getpid(), .is_child = true, .run_id = run, .clock = "perf"};
    assert_int_equal(child->ops->begin_process(child, &row, &found), 0);
    assert_int_equal(found, run);
    child->ops->close(child);
    parent->ops->close(parent);
    assert_int_equal(pie_fixture_ask(at("a.db"), "SELECT processes FROM v_run"), 2);
    assert_int_equal(pie_fixture_ask(at("a.db"), "SELECT parent FROM v_process WHERE pid = 77"), 1);
}

/* Another writer keeps the lock: the commit gives up soon, and the next one brings its rows. */
static void test_rows_refused_by_another_writer_are_written_later(void **state) {
    struct pie_sink *sink = open_sink(at("a.db"));
    sqlite3 *other;
    begin_process(sink, 0);
    assert_int_equal(sqlite3_open(at("a.db"), &other), SQLITE_OK);
    assert_int_equal(sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(put_one(sink, 1), -EBUSY);
    assert_int_equal(sqlite3_exec(other, "COMMIT", NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(put_one(sink, 2), 0);
    sqlite3_close(other);
    sink->ops->close(sink);
    assert_int_equal(pie_fixture_ask(at("a.db"), "SELECT count(*) FROM sample"), 2);
}

static void test_a_suspended_writer_holds_no_descriptor(void **state) {
    struct pie_sink *sink = open_sink(at("a.db"));
    char name[64], target[4096];
    begin_process(sink, 0);
    assert_int_equal(put_one(sink, 1), 0);
    sink->ops->suspend(sink);
    for (int fd = 0; fd < 64; fd++) {
        snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
        ssize_t size = readlink(name, target, sizeof target - 1);
        target[size > 0 ? size : 0] = 0;
        assert_null(strstr(target, "a.db"));
    }
    assert_int_equal(put_one(sink, 2), 0);
    sink->ops->close(sink);
    assert_int_equal(pie_fixture_ask(at("a.db"), "SELECT count(*) FROM sample"), 2);
}

static void test_a_deleted_file_ends_the_writer(void **state) {
    struct pie_sink *sink = open_sink(at("a.db"));
    begin_process(sink, 0);
    assert_int_equal(put_one(sink, 1), 0);
    assert_int_equal(unlink(at("a.db")), 0);
    assert_int_equal(put_one(sink, 2), -ENOENT);
    assert_int_equal(put_one(sink, 3), -ENOENT);
    sink->ops->suspend(sink);
    assert_int_equal(sink->ops->end_process(sink, 1, "exit", 0), -ENOENT);
    sink->ops->close(sink);
    assert_int_equal(access(at("a.db"), F_OK), -1);
}

/* What was committed by a process that was killed is there, without its help. */
static void test_a_killed_writer_leaves_what_it_committed(void **state) {
    pid_t child = fork();
    if (child == 0) {
        struct pie_sink *sink = open_sink(at("a.db"));
        begin_process(sink, 0);
        for (uint32_t id = 1; id <= 3; id++)
            put_one(sink, id);
        sink->ops->begin(sink, 0);
        kill(getpid(), SIGKILL);
    }
    waitpid(child, NULL, 0);
    assert_int_equal(pie_fixture_ask(at("a.db"), "SELECT count(*) FROM sample"), 3);
    struct pie_sink *sink = open_sink(at("a.db"));
    assert_int_equal(begin_process(sink, 0), 2);
    sink->ops->close(sink);
    assert_int_equal(access(at("a.db-wal"), F_OK), -1);
}

static void refused(const char *path, int error) {
    char *message = NULL;
    assert_int_equal(pie_writer_check(path, &message), error);
    assert_non_null(message);
    assert_null(strchr(message, '\n'));
    assert_non_null(strstr(message, "-o"));
    free(message);
}

static void make_database(const char *path, int application_id, int version) {
    sqlite3 *db;
    char sql[200];
    snprintf(sql, sizeof sql, "CREATE TABLE t (x); PRAGMA application_id = %d; PRAGMA user_version = %d",
             application_id, version);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

/* FNV-1a over the bytes of a file. */
static uint64_t digest(const char *path) {
    uint64_t sum = 14695981039346656037u;
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    for (int byte = fgetc(file); byte != EOF; byte = fgetc(file))
        sum = (sum ^ (uint64_t)byte) * 1099511628211u;
    assert_int_equal(fclose(file), 0);
    return sum;
}

/* Neither can it be opened, nor does the attempt leave a trace. */
static void not_opened(const char *path, int error) {
    struct pie_sink *sink;
    char beside[4200];
    uint64_t before = digest(path);
    assert_int_equal(pie_writer_open(path, &config, &sink), error);
    assert_true(digest(path) == before);
    snprintf(beside, sizeof beside, "%s-wal", path);
    assert_int_equal(access(beside, F_OK), -1);
}

static void test_what_is_no_profile_is_refused_and_left_alone(void **state) {
    pie_folder_write(folder, "text.db",
                     "This is not a database, though it is long enough to have a header of one "
                     "hundred bytes, which it has.");
    pie_folder_write(folder, "short.db", "x");
    make_database(at("other.db"), 1, 1);
    make_database(at("plain.db"), 0, 0);
    make_database(at("newer.db"), PIE_SCHEMA_APPLICATION_ID, PIE_SCHEMA_VERSION + 100);
    make_database(at("older.db"), PIE_SCHEMA_APPLICATION_ID, PIE_SCHEMA_LAST_PLAIN);
    refused(at("text.db"), -EBADMSG);
    refused(at("short.db"), -EBADMSG);
    refused(at("other.db"), -EEXIST);
    refused(at("plain.db"), -EEXIST);
    refused(at("newer.db"), -EPROTO);
    refused(at("older.db"), -EPROTO);
    refused(folder, -EISDIR);
    refused("/dev/null", -EINVAL);
    refused(at("no/such/folder.db"), -ENOENT);
    refused("", -EINVAL);
    not_opened(at("text.db"), -EBADMSG);
    not_opened(at("other.db"), -EEXIST);
    not_opened(at("newer.db"), -EPROTO);
    not_opened(at("older.db"), -EPROTO);
}

static void test_a_good_place_is_accepted_and_nothing_is_created(void **state) {
    char *message = NULL;
    assert_int_equal(pie_writer_check(at("new.db"), &message), 0);
    assert_int_equal(access(at("new.db"), F_OK), -1);
    pie_fixture_write(at("a.db"), folder, 1);
    assert_int_equal(pie_writer_check(at("a.db"), &message), 0);
    pie_folder_write(folder, "empty.db", "");
    assert_int_equal(pie_writer_check(at("empty.db"), &message), 0);
    assert_null(message);
}

/* Counts what is not refused as it should be. */
static int write_where_one_may_not(void) {
    char *message = NULL, *other = NULL;
    return (pie_writer_check(at("sub/a.db"), &message) != -EACCES) + (!message || !strstr(message, "-o")) +
           (pie_writer_check(at("sub/new.db"), &other) != -EACCES) + (!other || !strstr(other, "/sub"));
}

static void test_an_unwritable_place_is_refused(void **state) {
    pie_folder_write(folder, "sub/a.db", "");
    assert_int_equal(chmod(folder, 0755), 0);
    assert_int_equal(chmod(at("sub/a.db"), 0444), 0);
    assert_int_equal(chmod(at("sub"), 0555), 0);
    assert_int_equal(pie_folder_as_nobody(write_where_one_may_not), 0);
    assert_int_equal(chmod(at("sub"), 0755), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_runs_are_appended_and_one_file_is_left),
        TEST(test_increments_of_one_context_add_up),
        TEST(test_increments_of_one_kind_of_watch_add_up),
        TEST(test_a_watch_has_the_operations_of_its_own_and_its_innermost_line),
        TEST(test_allocations_of_a_context_are_replaced),
        TEST(test_increments_of_copies_add_up_by_estimate),
        TEST(test_ends_of_copies_add_up_by_outcome),
        TEST(test_readings_are_replaced),
        TEST(test_totals_and_holders_are_replaced),
        TEST(test_points_are_in_the_file_at_once_and_unknown_is_null),
        TEST(test_a_lines_curve_is_the_sum_of_its_contexts),
        TEST(test_curves_do_not_make_the_file_grow),
        TEST(test_a_process_tells_how_accesses_are_sampled),
        TEST(test_several_processes_open_a_new_file_at_once),
        TEST(test_a_child_joins_the_run_of_its_parent),
        TEST(test_rows_refused_by_another_writer_are_written_later),
        TEST(test_a_suspended_writer_holds_no_descriptor),
        TEST(test_a_deleted_file_ends_the_writer),
        TEST(test_a_killed_writer_leaves_what_it_committed),
        TEST(test_what_is_no_profile_is_refused_and_left_alone),
        TEST(test_a_good_place_is_accepted_and_nothing_is_created),
        TEST(test_an_unwritable_place_is_refused),
    };
    return cmocka_run_group_tests_name("writer", tests, NULL, NULL);
}
