/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/storage/fixture.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/ports/config.h"
#include "profiler/ports/sink.h"
#include "storage/read/reader.h"
#include "storage/write/writer.h"
#include "tests/storage/folder.h"

#define PACKAGES "lib/python3.11/site-packages"

static const int64_t start_ns = 1700000000000000000;

static char app[PATH_MAX], core[PATH_MAX];
static struct pie_sink *sink;

static void check(int r, const char *what) {
    if (r >= 0)
        return;
    fprintf(stderr, "fixture: %s: %s\n", what, strerror(-r));
    exit(1);
}

void pie_fixture_check(int r) {
    check(r, "the sink");
}

int64_t pie_fixture_ask(const char *database, const char *sql) {
    struct pie_reader *reader;
    struct pie_cursor *cursor = NULL;
    char *message = NULL;
    int r = pie_reader_open(database, &reader, &message);
    if (r == 0)
        r = pie_cursor_open(reader, sql, &cursor, &message);
    if (r == 0)
        r = pie_cursor_next(cursor, &message);
    check(r == 0 ? -ENOENT : r, message ? message : sql);
    int64_t value = pie_cursor_int(cursor, 0);
    pie_cursor_close(cursor);
    pie_reader_close(reader);
    return value;
}

static void write_program(const char *folder) {
    pie_folder_write(folder, "app.py",
                     "import fastlib\n"
                     "\n"
                     "def work(n):\n"
                     "    total = 0\n"
                     "    for i in range(n):\n"
                     "        total += i * i\n"
                     "    return total\n"
                     "\n"
                     "def main():\n"
                     "    work(10)\n"
                     "    fastlib.crunch([3, 1, 2])\n"
                     "\n"
                     "main()\n");
    pie_folder_write(folder, PACKAGES "/fastlib/core.py", "def crunch(xs):\n    return _native.sort(xs)\n");
    pie_folder_write(folder, PACKAGES "/fast_lib-1.2.dist-info/METADATA",
                     "Metadata-Version: 2.1\nName: Fast-Lib\nVersion: 1.2\n");
    pie_folder_write(folder, PACKAGES "/fast_lib-1.2.dist-info/RECORD",
                     "fastlib/core.py,,\nfastlib/_native.so,,\n");
}

static void put_python(uint32_t id, const char *function, const char *file, int32_t first_line,
                       int32_t line) {
    check(sink->ops->put_location(sink, &(struct pie_location){.id = {id},
                                                               .kind = PIE_LOCATION_PYTHON,
                                                               .function = function,
                                                               .file = file,
                                                               .line = line,
                                                               .first_line = first_line}),
          "location");
}

static void put_native(uint32_t id, uint32_t caller, const char *function, const char *module,
                       uint64_t offset) {
    check(sink->ops->put_location(sink, &(struct pie_location){.id = {id},
                                                               .caller = {caller},
                                                               .kind = PIE_LOCATION_NATIVE,
                                                               .function = function,
                                                               .module = module,
                                                               .build_id = "0123abcd",
                                                               .offset = offset}),
          "location");
}

static void put_node(uint32_t id, uint32_t parent, uint32_t location) {
    check(sink->ops->put_node(sink,
                              &(struct pie_node_row){.id = {id}, .parent = {parent}, .location = {location}}),
          "node");
}

/* n samples of one weight in ms each. */
static void put_sample(uint32_t thread, uint32_t node, uint32_t n, double python, double native,
                       double system) {
    double each_ns = (python + native + system) * 1e6;
    check(sink->ops->put_sample(sink, &(struct pie_sample_row){.thread = thread,
                                                               .node = {node},
                                                               .samples = n,
                                                               .python_ns = (uint64_t)(python * 1e6 * n),
                                                               .native_ns = (uint64_t)(native * 1e6 * n),
                                                               .system_ns = (uint64_t)(system * 1e6 * n),
                                                               .cpu_sq_ns2 = each_ns * each_ns * n}),
          "sample");
}

static void put_wait(uint32_t thread, uint32_t node, uint32_t ticks, double ms) {
    check(sink->ops->put_sample(sink, &(struct pie_sample_row){.thread = thread,
                                                               .node = {node},
                                                               .wait_samples = ticks,
                                                               .wait_ns = (uint64_t)(ms * 1e6)}),
          "sample");
}

static void put_thread(uint32_t id, const char *name, uint64_t cpu_ms, uint64_t samples) {
    check(sink->ops->put_thread(sink, &(struct pie_thread_row){.id = id,
                                                               .tid = 4000 + (int32_t)id,
                                                               .name = name,
                                                               .is_main = id == 1,
                                                               .started_ns = start_ns,
                                                               .cpu_ns = cpu_ms * 1000000,
                                                               .wall_ns = 2000000000,
                                                               .samples = samples}),
          "thread");
}

/* <module>:13 -> main:10 -> work:5, work:6; main:11 -> core.py crunch:2 -> native sort -> inlined compare.
 * Thread 2 waits in main:10. */
static void put_contexts(const char *library) {
    put_python(1, "<module>", app, 1, 13);
    put_python(2, "main", app, 9, 10);
    put_python(3, "main", app, 9, 11);
    put_python(4, "work", app, 3, 5);
    put_python(5, "work", app, 3, 6);
    put_python(6, "crunch", core, 1, 2);
    put_native(7, 0, "sort", library, 0x1000);
    put_native(8, 7, "compare", library, 0x1010);
    put_native(9, 0, "start_thread", "/lib/libc.so.6", 0x2000);
    put_node(1, 0, 1);
    put_node(2, 1, 2);
    put_node(3, 1, 3);
    put_node(4, 2, 4);
    put_node(5, 2, 5);
    put_node(6, 3, 6);
    put_node(7, 6, 7);
    put_node(8, 6, 8);
    put_node(9, 0, 9);
    put_node(10, 9, 2);
}

/* Each in a slice of its own. */
static void first_flush(const char *library) {
    check(sink->ops->begin(sink, start_ns), "begin");
    put_contexts(library);
    put_thread(1, "MainThread", 500, 500);
    put_sample(1, 5, 300, 1, 0, 0);
    put_sample(1, 4, 50, 1, 0, 0);
    check(sink->ops->commit(sink, start_ns + 1000000000), "commit");
}

static void second_flush(void) {
    check(sink->ops->begin(sink, start_ns + 1000000000), "begin");
    put_sample(1, 5, 300, 1, 0, 0);
    put_sample(1, 6, 50, 1, 0, 0);
    put_sample(1, 7, 100, 0, 1, 0);
    put_sample(1, 8, 150, 0, 0.5, 0.5);
    put_sample(1, 2, 1, 0, 0, 50);
    put_wait(2, 10, 40, 400);
    put_thread(1, "MainThread", 1000, 951);
    put_thread(2, "worker;\x1b[31m", 0, 0);
    check(sink->ops->put_counter(sink, "ring_full", 7, true), "counter");
    check(sink->ops->put_counter(sink, "unwind_truncated", 3, false), "counter");
    check(sink->ops->put_overhead(sink, "time", 10000000, 1000), "overhead");
    check(sink->ops->put_overhead(sink, "collection thread", 20000000, 1), "overhead");
    check(sink->ops->commit(sink, start_ns + 2000000000), "commit");
}

static void write_run(const char *database, const char *library) {
    struct pie_config config = {.overhead_budget = 0.05, .has_time = true};
    const char *const argv[] = {"python3", app, "--size", "10", NULL};
    struct pie_process_row process = {.pid = 4001,
                                      .parent_pid = 1,
                                      .started_ns = start_ns,
                                      .argv = argv,
                                      .executable = "/usr/bin/python3",
                                      .clock = "perf",
                                      .period_ns = 1000000};
    int64_t run;
    check(pie_writer_open(database, &config, &sink), database);
    check(sink->ops->begin_process(sink, &process, &run), "begin_process");
    check(sink->ops->put_environment(sink, "python_version", "3.11.2"), "environment");
    first_flush(library);
    sink->ops->suspend(sink);
    second_flush();
    check(sink->ops->end_process(sink, start_ns + 2000000000, "exit", 3), "end_process");
    sink->ops->close(sink);
}

void pie_fixture_write(const char *database, const char *folder, int count) {
    char library[PATH_MAX];
    snprintf(app, sizeof app, "%s/app.py", folder);
    snprintf(core, sizeof core, "%s/" PACKAGES "/fastlib/core.py", folder);
    snprintf(library, sizeof library, "%s/" PACKAGES "/fastlib/_native.so", folder);
    write_program(folder);
    for (int i = 0; i < count; i++)
        write_run(database, library);
}
