/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/storage/fixture.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/ports/config.h"
#include "profiler/ports/sink.h"
#include "storage/write/writer.h"
#include "tests/storage/folder.h"

/* A program that leaks at line 3 (in two functions), holds an array of line 7 for a second, and calls a library at line
 * 8. It runs for 10 s; a child of it runs from its second 2 to 6. All figures are in MB; test_memory.py has the
 *   sums. */

#define PACKAGES "lib/python3.11/site-packages"
enum { MB = 1000000 };

static const int64_t start_ns = 1700000000000000000, second_ns = 1000000000;
static char app[PATH_MAX], core[PATH_MAX], fast[PATH_MAX], array[PATH_MAX];
static struct pie_sink *sink;

static void write_program(const char *folder) {
    pie_folder_write(folder, "keep.py",
                     "cache = []\n"
                     "def keep(n):\n"
                     "    cache.append([bytes(n) for i in range(n)])\n"
                     "\n"
                     "def load(n):\n"
                     "    import numpy, fastlib\n"
                     "    big = numpy.zeros(n)\n"
                     "    fastlib.crunch(big)\n"
                     "\n"
                     "load(keep(1))\n");
    pie_folder_write(folder, PACKAGES "/fastlib/core.py", "def crunch(xs):\n    return _native.sort(xs)\n");
    pie_folder_write(folder, PACKAGES "/fast_lib-1.2.dist-info/METADATA",
                     "Metadata-Version: 2.1\nName: Fast-Lib\nVersion: 1.2\n");
    pie_folder_write(folder, PACKAGES "/fast_lib-1.2.dist-info/RECORD",
                     "fastlib/core.py,,\nfastlib/_native.so,,\n");
    pie_folder_write(folder, PACKAGES "/numpy-2.0.dist-info/METADATA",
                     "Metadata-Version: 2.1\nName: numpy\nVersion: 2.0\n");
    pie_folder_write(folder, PACKAGES "/numpy-2.0.dist-info/RECORD", "numpy/_core.so,,\n");
}

static void put_location(uint32_t id, const char *function, const char *file, int32_t first_line,
                         int32_t line, const char *module) {
    struct pie_location location = {.id = {id},
                                    .kind = module ? PIE_LOCATION_NATIVE : PIE_LOCATION_PYTHON,
                                    .function = function,
                                    .file = file,
                                    .line = line,
                                    .first_line = first_line,
                                    .module = module,
                                    .offset = 16 * id};
    pie_fixture_check(sink->ops->put_location(sink, &location));
}

static void put_node(uint32_t id, uint32_t parent, uint32_t location) {
    pie_fixture_check(sink->ops->put_node(
        sink, &(struct pie_node_row){.id = {id}, .parent = {parent}, .location = {location}}));
}

/* <module>:10 -> keep:3 (node 2) -> its list comprehension, also line 3 (8); load:7 (3) -> numpy (4);
 * load:8 (5) -> crunch (6) -> fastlib's native code (7); crunch -> interpreter (9) -> numpy (10);
 * a thread of no Python (11) -> fastlib's native code (12). */
static void put_contexts(void) {
    put_location(1, "<module>", app, 1, 10, NULL);
    put_location(2, "keep", app, 2, 3, NULL);
    put_location(3, "load", app, 5, 7, NULL);
    put_location(4, "load", app, 5, 8, NULL);
    put_location(5, "crunch", core, 1, 2, NULL);
    put_location(6, "zeros", NULL, 0, 0, array);
    put_location(7, "sort", NULL, 0, 0, fast);
    put_location(8, "bytes_join", NULL, 0, 0, "/usr/lib/libpython3.11.so.1.0");
    put_location(9, "keep.<listcomp>", app, 3, 3, NULL);
    put_location(10, "start_thread", NULL, 0, 0, "/usr/lib/libc.so.6");
    put_node(1, 0, 1);
    put_node(2, 1, 2);
    put_node(3, 1, 3);
    put_node(4, 3, 6);
    put_node(5, 1, 4);
    put_node(6, 5, 5);
    put_node(7, 6, 7);
    put_node(8, 2, 9);
    put_node(9, 6, 8);
    put_node(10, 9, 6);
    put_node(11, 0, 10);
    put_node(12, 11, 7);
}

static void put_sample(uint32_t node, uint32_t samples, double python_ms, double native_ms) {
    double each_ns = (python_ms + native_ms) * 1e6;
    struct pie_sample_row row = {.thread = 1,
                                 .node = {node},
                                 .samples = samples,
                                 .python_ns = (uint64_t)(python_ms * 1e6 * samples),
                                 .native_ns = (uint64_t)(native_ms * 1e6 * samples),
                                 .cpu_sq_ns2 = each_ns * each_ns * samples};
    pie_fixture_check(sink->ops->put_sample(sink, &row));
}

/* In MB. sq: sum of squared weights in MB x MB; live_s: MB x s. */
struct allocation {
    uint32_t node, samples;
    uint64_t python, native;
    double sq;
    uint64_t live, peak_python, peak_native;
    double peak_sq, live_s;
    uint32_t mallocs, frees;
    uint64_t kept; /* spread evenly over the time */
};

static void put_allocation(const struct allocation *row, int64_t first_ns) {
    struct pie_allocation_row allocation = {
        .node = {row->node},
        .samples = row->samples,
        .allocated_bytes = {[PIE_HEAP_PYTHON] = row->python * MB, [PIE_HEAP_NATIVE] = row->native * MB},
        .allocated_sq_bytes2 = row->sq * MB * MB,
        .live_bytes = row->live * MB,
        .peak_bytes = {[PIE_HEAP_PYTHON] = row->peak_python * MB, [PIE_HEAP_NATIVE] = row->peak_native * MB},
        .peak_sq_bytes2 = row->peak_sq * MB * MB,
        .live_bytes_s = row->live_s * MB,
        .live_sq_bytes2 = row->peak_sq * MB * MB,
        .mallocs = row->mallocs,
        .frees = row->frees,
        .first_ns = first_ns,
    };
    for (int i = 0; i < PIE_KEPT_PARTS; i++)
        allocation.kept_bytes[i] = row->kept * MB / PIE_KEPT_PARTS;
    pie_fixture_check(sink->ops->put_allocation(sink, &allocation));
}

static const struct allocation parent_rows[] = {
    {2, 20, 20, 0, 20, 20, 14, 0, 14, 100, 20, 0, 18}, {8, 10, 10, 0, 10, 10, 7, 0, 7, 50, 10, 0, 9},
    {4, 1, 0, 400, 0, 0, 0, 400, 0, 400, 1, 1, 0},     {6, 10, 5, 0, 2.5, 1, 2, 0, 1, 10, 5, 5, 0},
    {7, 40, 0, 100, 250, 2, 0, 20, 50, 20, 40, 39, 1}, {12, 2, 0, 3, 4.5, 3, 0, 0, 0, 3, 2, 0, 3},
};
static const struct allocation child_rows[] = {{2, 5, 5, 0, 5, 1, 2, 0, 2, 4, 5, 0, 0}};

static void put_copy(uint32_t node, enum pie_copy_estimate estimate, uint32_t samples, uint64_t bytes,
                     double sq) {
    struct pie_copy_row row = {.node = {node},
                               .samples = samples,
                               .estimate = (uint8_t)estimate,
                               .bytes = bytes * MB,
                               .sq_bytes2 = sq * MB * MB};
    pie_fixture_check(sink->ops->put_copy(sink, &row));
}

static void put_live(uint32_t node, int64_t second, uint64_t live) {
    struct pie_live_row row = {
        .node = {node}, .time_ns = start_ns + second * second_ns, .live_bytes = live * MB};
    pie_fixture_check(sink->ops->put_live(sink, &row));
}

static void put_footprint(int64_t second, uint64_t python, uint64_t native, uint64_t rss, uint32_t node) {
    struct pie_footprint_row row = {
        .time_ns = start_ns + second * second_ns,
        .heap_bytes = {[PIE_HEAP_PYTHON] = python * MB, [PIE_HEAP_NATIVE] = native * MB},
        .rss_bytes = rss * MB,
        .node = {node}};
    pie_fixture_check(sink->ops->put_footprint(sink, &row));
}

static void put_heap(const struct pie_heap_row *row) {
    pie_fixture_check(sink->ops->put_heap(sink, row));
}

/* One second of the parent's curves. Line 3 has 3 MB more each second, line 8 has 3 MB from second 1 on. */
static void put_parent_second(int64_t second) {
    put_live(2, second, 2 * (uint64_t)second);
    put_live(8, second, (uint64_t)second);
    if (second == 1) {
        put_live(6, second, 1);
        put_live(7, second, 2);
    }
    if (second == 7 || second == 8)
        put_live(4, second, second == 7 ? 400 : 0);
    put_footprint(second, 5 + 3 * (uint64_t)second, second == 7 ? 430 : 10,
                  second < 7 ? 40 + (uint64_t)second : 480,
                  second == 7   ? 4
                  : second == 3 ? 2
                                : 0);
}

static void put_parent_rest(bool is_last) {
    static const struct pie_heap_row early = {.threshold_bytes = 1};
    static const struct pie_heap_row heap = {
        .peak_ns = 1700000007000000000,
        .peak_bytes = {[PIE_HEAP_PYTHON] = 26 * MB, [PIE_HEAP_NATIVE] = 430 * MB},
        .rss_peak_bytes = 480 * MB,
        .allocated_bytes = {[PIE_HEAP_PYTHON] = 60 * MB, [PIE_HEAP_NATIVE] = 520 * MB},
        .freed_bytes = {[PIE_HEAP_PYTHON] = 25 * MB, [PIE_HEAP_NATIVE] = 510 * MB},
        .profiler_bytes = 7 * MB,
        .threshold_bytes = 10485767,
        .allocator = "glibc",
    };
    for (size_t i = 0; i < sizeof parent_rows / sizeof *parent_rows; i++)
        put_allocation(&parent_rows[i], start_ns + (parent_rows[i].node == 8 ? second_ns : 0));
    put_copy(4, PIE_COPY_COUNTED, 1, 400, 0);
    put_copy(4, PIE_COPY_SAMPLED, 5, 50, 500);
    if (!is_last) {
        put_heap(&early);
        return;
    }
    put_heap(&heap);
    put_copy(4, PIE_COPY_LOOP, 5, 50, 500);
    put_copy(7, PIE_COPY_SAMPLED, 4, 40, 400);
    put_copy(10, PIE_COPY_COUNTED, 1, 60, 0);
    put_copy(2, PIE_COPY_SAMPLED, 1, 10, 100);
    put_copy(9, PIE_COPY_SAMPLED, 1, 5, 25);
    put_copy(12, PIE_COPY_SAMPLED, 1, 2, 4);
    put_sample(2, 100, 1, 0);
    put_sample(4, 300, 0, 1);
    put_sample(7, 500, 0, 1);
    pie_fixture_check(sink->ops->put_retention_path(sink, (struct pie_node_id){2}, 0,
                                                    "list of bytes -> module __main__.cache"));
}

static void begin_process(const char *database, bool is_child, int64_t *run) {
    static const struct pie_config config = {.overhead_budget = 0.05, .has_time = true, .has_memory = true};
    const char *const argv[] = {"python3", app, NULL};
    struct pie_process_row process = {.pid = is_child ? 4102 : 4101,
                                      .parent_pid = is_child ? 4101 : 1,
                                      .is_child = is_child,
                                      .run_id = *run,
                                      .started_ns = start_ns + (is_child ? 2 * second_ns : 0),
                                      .argv = argv,
                                      .clock = "perf",
                                      .period_ns = 1000000};
    pie_fixture_check(pie_writer_open(database, &config, &sink));
    pie_fixture_check(sink->ops->begin_process(sink, &process, run));
    pie_fixture_check(sink->ops->begin(sink, 0));
    put_contexts();
}

static void write_parent(const char *database, int64_t *ret_run) {
    begin_process(database, false, ret_run);
    pie_fixture_check(sink->ops->put_thread(
        sink, &(struct pie_thread_row){.id = 1, .name = "MainThread", .is_main = true, .cpu_ns = 900 * MB}));
    for (int64_t second = 0; second <= 10; second++) {
        put_parent_second(second);
        if (second == 5)
            put_parent_rest(false);
        if (second == 10)
            put_parent_rest(true);
        pie_fixture_check(sink->ops->commit(sink, start_ns + second * second_ns));
    }
    pie_fixture_check(sink->ops->end_process(sink, start_ns + 10 * second_ns, "exit", 0));
    sink->ops->close(sink);
}

/* It has the leaking line too, but does not grow. */
static void write_child(const char *database, int64_t run) {
    static const struct pie_heap_row heap = {
        .peak_ns = 1700000003000000000,
        .peak_bytes = {[PIE_HEAP_PYTHON] = 3 * MB, [PIE_HEAP_NATIVE] = 1 * MB},
        .allocated_bytes = {[PIE_HEAP_PYTHON] = 6 * MB, [PIE_HEAP_NATIVE] = 2 * MB},
        .freed_bytes = {[PIE_HEAP_PYTHON] = 4 * MB, [PIE_HEAP_NATIVE] = 1 * MB},
        .profiler_bytes = 6 * MB,
        .threshold_bytes = 65537,
        .allocator = "/opt/libtcmalloc.so",
        .note = "huge pages are not measured: the kernel has no counter",
    };
    begin_process(database, true, &run);
    put_allocation(&child_rows[0], start_ns + 3 * second_ns);
    put_live(2, 3, 1);
    put_live(2, 6, 1);
    put_footprint(3, 3, 1, 0, 0);
    put_footprint(6, 2, 1, 0, 0);
    put_heap(&heap);
    put_copy(2, PIE_COPY_COUNTED, 1, 20, 0);
    pie_fixture_check(sink->ops->put_retention_path(sink, (struct pie_node_id){2}, 0, "dict -> frame main"));
    pie_fixture_check(sink->ops->commit(sink, start_ns + 6 * second_ns));
    pie_fixture_check(sink->ops->end_process(sink, start_ns + 6 * second_ns, "exit", 0));
    sink->ops->close(sink);
}

void pie_fixture_write_memory(const char *database, const char *folder) {
    int64_t run = 0;
    snprintf(app, sizeof app, "%s/keep.py", folder);
    snprintf(core, sizeof core, "%s/" PACKAGES "/fastlib/core.py", folder);
    snprintf(fast, sizeof fast, "%s/" PACKAGES "/fastlib/_native.so", folder);
    snprintf(array, sizeof array, "%s/" PACKAGES "/numpy/_core.so", folder);
    write_program(folder);
    write_parent(database, &run);
    write_child(database, run);
}
