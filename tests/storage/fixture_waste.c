/* SPDX-License-Identifier: Apache-2.0 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/ports/config.h"
#include "profiler/ports/pystack.h"
#include "profiler/ports/sink.h"
#include "profiler/watch/watch.h"
#include "storage/write/writer.h"
#include "tests/storage/fixture.h"
#include "tests/storage/folder.h"

/* A made-up program, waste.py, with one line for each kind of finding. tests/storage/test_redundancy.py knows what must
 * come out. Every watch weighs 1 ms; calls leave 800 ns (bin 0), 20 us (bin 1) or 1 ms (bin 2); gaps are 5 us, accesses
 * 8 bytes. */

#define PACKAGES "lib/python3.11/site-packages"

static const int64_t start_ns = 1700000000000000000;

enum { LOAD = PIE_WATCH_LOAD, STORE = PIE_WATCH_STORE };
enum { SAME = PIE_WATCH_REDUNDANT, CHANGED = PIE_WATCH_CHANGED, EVICTED = PIE_WATCH_EVICTED };
enum {
    OTHER = PIE_WATCH_MEMORY_OTHER,
    OBJECT = PIE_WATCH_MEMORY_OBJECT,
    ARRAY = PIE_WATCH_MEMORY_ARRAY,
    RESULT = PIE_WATCH_MEMORY_RESULT,
    RETURNED = PIE_WATCH_MEMORY_RETURNED,
};
enum { SINGLE = 0, BULK = PIE_WATCH_IN_LOOP };
enum {
    ITEM = PIE_OPERATION_SUBSCRIPT,
    CALL = PIE_OPERATION_CALL,
    ADD = PIE_OPERATION_OPERATOR,
    ATTRIBUTE = PIE_OPERATION_ATTRIBUTE,
    NONE = PIE_OPERATION_OTHER,
    LOOP = PIE_OPERATION_IN_LOOP,
};

static const char program[] =
    "import numpy as np\n"                                  /* 1 */
    "import fastlib\n"                                      /* 2 */
    "def work(a, b, n):\n"                                  /* 3 */
    "    total = 0.0\n"                                     /* 4 */
    "    for i in range(n):\n"                              /* 5 */
    "        total += a[i]\n"                               /* 6: slice underutilization */
    "        total += np.cos(b)\n"                          /* 7: API misuse */
    "        c = np.exp(a)\n"                               /* 8: loop-invariant */
    "        a[:] = np.maximum(a, b)\n"                     /* 9: inefficient algorithm */
    "        d = a @ c\n"                                   /* 10: reuse */
    "        total += a.size\n"                             /* 11: undecided */
    "        total += d[0]\n"                               /* 12: few traps */
    "        a += 1\n"                                      /* 13: nothing redundant */
    "        total += c[i]\n"                               /* 14: known by its name only */
    "        fastlib.crunch(a)\n"                           /* 15: in a library */
    "        row = a[i, :]\n"                               /* 16: stores of a view */
    "        b = a.sum()\n"                                 /* 17: never seen again */
    "def rotate(angle):\n"                                  /* 18 */
    "    return np.array([np.cos(angle), np.sin(angle)])\n" /* 19: repeated calls */
    "    return draw(angle)\n"                              /* 20: few calls return what can be compared */
    "    return blend(angle)\n"                             /* 21: fewer still, beside stores that tell */
    "    return [turn(angle, i) for i in range(9)]\n";      /* 22: half of the calls return the same */

/* Columns: line, native function that was called (NULL: its library is stripped), CPU time in ms of Python and of
 * native code. */
static const struct line {
    uint32_t number;
    const char *native;
    uint32_t python_ms, native_ms;
} lines[] = {
    {6, "array_subscript", 200, 1800},
    {7, "ufunc_generic_vectorcall", 100, 900},
    {8, "exp_loop", 0, 2000},
    {9, "maximum_loop", 0, 1000},
    {10, "cblas_dgemm", 0, 1500},
    {11, NULL, 100, 500},
    {12, "array_subscript", 50, 450},
    {13, "add_loop", 0, 300},
    {14, "array_subscript", 0, 200},
    {15, "array_subscript", 100, 0},
    {16, NULL, 0, 100},
    {17, "sum_loop", 0, 100},
    {19, "array_new", 100, 700},
    {20, "draw_lines", 0, 400},
    {21, "blend_rows", 0, 400},
    {22, "turn_points", 0, 400},
};

/* The same accesses by kind, outcome, memory, …; `second`: line of the second access. */
static const struct watches {
    uint32_t line;
    uint8_t kind, outcome, memory, traits, length, operation;
    uint32_t second, count;
} watches[] = {
    {6, LOAD, SAME, OBJECT, SINGLE, 0, ITEM | LOOP, 6, 60},
    {6, LOAD, SAME, OBJECT, SINGLE, 0, ADD | LOOP, 7, 20},
    {6, LOAD, CHANGED, OTHER, SINGLE, 0, ITEM | LOOP, 6, 10},
    {6, LOAD, SAME, ARRAY, SINGLE, 0, ITEM | LOOP, 6, 5},
    {6, LOAD, SAME, OBJECT, SINGLE, 1, ITEM | LOOP, 6, 2},
    {6, LOAD, EVICTED, OBJECT, SINGLE, 0, ITEM | LOOP, 0, 3},
    {7, LOAD, SAME, OTHER, SINGLE, 0, CALL | LOOP, 19, 40},
    {7, LOAD, SAME, OTHER, SINGLE, 0, ADD | LOOP, 6, 10},
    {8, STORE, SAME, ARRAY, BULK, 2, CALL | LOOP, 8, 48},
    {8, STORE, CHANGED, ARRAY, BULK, 2, CALL | LOOP, 8, 2},
    {8, LOAD, SAME, ARRAY, BULK, 2, CALL | LOOP, 8, 50},
    {9, STORE, SAME, ARRAY, BULK, 2, CALL | LOOP, 9, 35},
    {9, STORE, CHANGED, ARRAY, BULK, 2, CALL | LOOP, 9, 15},
    {10, LOAD, SAME, ARRAY, BULK, 2, ADD | LOOP, 10, 70},
    {10, LOAD, SAME, OBJECT, SINGLE, 0, ADD | LOOP, 10, 4},
    {10, LOAD, CHANGED, ARRAY, BULK, 2, ADD | LOOP, 10, 6},
    {11, LOAD, SAME, OBJECT, SINGLE, 0, ATTRIBUTE | LOOP, 11, 30},
    {12, LOAD, SAME, OBJECT, SINGLE, 0, ITEM | LOOP, 6, 8},
    {13, STORE, CHANGED, ARRAY, BULK, 2, ADD | LOOP, 13, 20},
    {14, LOAD, SAME, OTHER, SINGLE, 0, NONE, 14, 12},
    {15, LOAD, SAME, OBJECT, SINGLE, 0, CALL | LOOP, 15, 45},
    {16, STORE, SAME, RESULT, SINGLE, 0, ITEM | LOOP, 16, 25},
    {17, LOAD, EVICTED, ARRAY, BULK, 2, CALL | LOOP, 0, 30},
    {19, STORE, SAME, RESULT, SINGLE, 0, CALL, 19, 6},
    {19, STORE, SAME, RETURNED, SINGLE, 0, CALL, 19, 20},
    {19, STORE, CHANGED, RESULT, SINGLE, 0, CALL, 19, 4},
    {20, STORE, SAME, RETURNED, SINGLE, 0, CALL, 20, 10},
    {20, STORE, CHANGED, OTHER, BULK, 2, CALL, 20, 90},
    {21, STORE, SAME, RETURNED, SINGLE, 0, CALL, 21, 12},
    {21, STORE, SAME, OTHER, BULK, 2, CALL, 21, 72},
    {21, STORE, CHANGED, OTHER, BULK, 2, CALL, 21, 24},
    {22, STORE, SAME, RETURNED, SINGLE, 0, CALL | LOOP, 22, 14},
    {22, STORE, CHANGED, RETURNED, SINGLE, 0, CALL | LOOP, 22, 16},
    {22, LOAD, SAME, OBJECT, SINGLE, 0, CALL | LOOP, 22, 50},
};

/* Locations and nodes of a line have its number; what it calls: */
enum {
    ENTRY = 100,
    ACCESS = 200,
    LIBRARY_LINE = 50,
    INTERPRETER = 51,
    START = 52,
    LIBRARY_CALLER = 15,
    ALLOCATING_LINE = 16
};

static const char libpython[] = "/usr/lib/libpython3.11.so.1.0";
static struct pie_sink *sink;
static char app[PATH_MAX], core[PATH_MAX], numpy[PATH_MAX];

static void check(int r, const char *what) {
    if (r >= 0)
        return;
    fprintf(stderr, "fixture: %s: %s\n", what, strerror(-r));
    exit(1);
}

static int32_t first_line(const char *file, uint32_t line) {
    return !file ? 0 : line < 3 ? 1 : line < 18 ? 3 : 18;
}

static void put_location(uint32_t id, const char *function, const char *file, uint32_t line,
                         const char *module, uint32_t caller) {
    check(sink->ops->put_location(
              sink, &(struct pie_location){.id = {id},
                                           .caller = {caller},
                                           .kind = module ? PIE_LOCATION_NATIVE : PIE_LOCATION_PYTHON,
                                           .function = function,
                                           .file = file,
                                           .line = (int32_t)line,
                                           .first_line = first_line(file, line),
                                           .is_in_loop = !module && line >= 6 && line <= 17,
                                           .module = module,
                                           .offset = module ? 0x1000 + id : 0}),
          "location");
}

static void put_node(uint32_t id, uint32_t parent, uint32_t location) {
    check(sink->ops->put_node(sink,
                              &(struct pie_node_row){.id = {id}, .parent = {parent}, .location = {location}}),
          "node");
}

/* start_thread -> <module>:1 -> work or rotate, line N -> PyObject_Call -> what the line called -> view_item, into
 * which get_pointer is inlined, and into that check_bounds, which makes the access. */
static void put_line(const struct line *line) {
    uint32_t n = line->number;
    put_location(n, n < 18 ? "work" : "rotate", app, n, NULL, 0);
    put_node(n, 1, n);
    uint32_t parent = n;
    if (n == LIBRARY_CALLER) {
        put_node(LIBRARY_LINE, n, LIBRARY_LINE);
        parent = LIBRARY_LINE;
    }
    put_node(300 + n, parent, INTERPRETER);
    put_location(ENTRY + n, line->native, NULL, 0, numpy, 0);
    put_node(ENTRY + n, 300 + n, ENTRY + n);
    put_location(500 + n, "view_item", NULL, 0, numpy, 0);
    put_location(400 + n, "get_pointer", NULL, 0, numpy, 500 + n);
    if (n == ALLOCATING_LINE)
        put_location(ACCESS + n, "PyObject_Malloc", NULL, 0, libpython, 0);
    else
        put_location(ACCESS + n, "check_bounds", NULL, 0, numpy, 400 + n);
    put_node(ACCESS + n, ENTRY + n, ACCESS + n);
}

static void put_contexts(void) {
    put_location(START, "start_thread", NULL, 0, "/lib/x86_64-linux-gnu/libc.so.6", 0);
    put_location(1, "<module>", app, 1, NULL, 0);
    put_location(LIBRARY_LINE, "crunch", core, 2, NULL, 0);
    put_location(INTERPRETER, "PyObject_Call", NULL, 0, libpython, 0);
    put_node(START, 0, START);
    put_node(1, START, 1);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        put_line(&lines[i]);
}

static void put_sample(uint32_t node, double python_ns, double native_ns) {
    check(sink->ops->put_sample(sink, &(struct pie_sample_row){.thread = 1,
                                                               .node = {node},
                                                               .samples = 1,
                                                               .python_ns = (uint64_t)python_ns,
                                                               .native_ns = (uint64_t)native_ns,
                                                               .cpu_sq_ns2 = 1e12}),
          "sample");
}

/* What the library's line costs: 700 ms in its native code, 300 in its Python. */
static void put_samples(void) {
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        put_sample(lines[i].number, lines[i].python_ms * 1e6, 0);
        put_sample(ACCESS + lines[i].number, 0, lines[i].native_ms * 1e6);
    }
    put_sample(LIBRARY_LINE, 300e6, 0);
    put_sample(ACCESS + LIBRARY_CALLER, 0, 700e6);
}

/* Of the two frames of crunch, called by line 15, the inner one indexes. */
static struct pie_watch_row watch_row(const struct watches *of, uint32_t count) {
    static const uint64_t length_ns[] = {800, 20000, 1000000};
    struct pie_watch_row row = {
        .kind = of->kind,
        .outcome = of->outcome,
        .memory = of->memory,
        .traits = of->traits,
        .length = of->length,
        .first_node = {ACCESS + of->line},
        .second_node = {of->second ? ACCESS + of->second : 0},
        .operations = {of->operation, CALL},
        .operations_count = 2,
        .watches = count,
        .bytes = 8 * (uint64_t)count,
        .weight_ns = 1e6 * count,
        .weight_sq_ns2 = 1e12 * count,
        .length_ns = length_ns[of->length] * count,
        .gap_ns = 5000 * (uint64_t)count,
    };
    if (of->line == LIBRARY_CALLER) {
        memcpy(row.operations, (uint8_t[]){ITEM | LOOP, of->operation, CALL}, 3);
        row.operations_count = 3;
    }
    return row;
}

static void put_watches(uint32_t part) {
    for (size_t i = 0; i < sizeof watches / sizeof *watches; i++) {
        uint32_t half = watches[i].count / 2, count = part == 0 ? half : watches[i].count - half;
        struct pie_watch_row row = watch_row(&watches[i], count);
        check(sink->ops->put_watch(sink, &row), "watch");
    }
}

static void write_files(const char *folder) {
    pie_folder_write(folder, "waste.py", program);
    pie_folder_write(folder, PACKAGES "/fastlib/core.py", "def crunch(xs):\n    return [x for x in xs]\n");
    pie_folder_write(folder, PACKAGES "/fast_lib-1.2.dist-info/METADATA",
                     "Metadata-Version: 2.1\nName: Fast-Lib\nVersion: 1.2\n");
    pie_folder_write(folder, PACKAGES "/fast_lib-1.2.dist-info/RECORD", "fastlib/core.py,,\n");
    pie_folder_write(folder, PACKAGES "/numpy-2.1.dist-info/METADATA", "Name: numpy\nVersion: 2.1\n");
    pie_folder_write(folder, PACKAGES "/numpy-2.1.dist-info/RECORD", "numpy/core.so,,\n");
    snprintf(app, sizeof app, "%s/waste.py", folder);
    snprintf(core, sizeof core, "%s/" PACKAGES "/fastlib/core.py", folder);
    snprintf(numpy, sizeof numpy, "%s/" PACKAGES "/numpy/core.so", folder);
}

void pie_fixture_write_waste(const char *database, const char *folder) {
    struct pie_config config = {.overhead_budget = 0.05, .has_time = true, .has_redundancy = true};
    const char *const argv[] = {"python3", "waste.py", NULL};
    struct pie_process_row process = {.pid = 5001,
                                      .started_ns = start_ns,
                                      .argv = argv,
                                      .clock = "perf",
                                      .period_ns = 1000000,
                                      .sampler = "taskclock",
                                      .sampler_note = "this machine has no PMU"};
    int64_t run;
    write_files(folder);
    check(pie_writer_open(database, &config, &sink), database);
    check(sink->ops->begin_process(sink, &process, &run), "begin_process");
    check(sink->ops->begin(sink, 0), "begin");
    put_contexts();
    put_samples();
    put_watches(0);
    check(sink->ops->commit(sink, start_ns + 1000000000), "commit");
    check(sink->ops->begin(sink, 0), "begin");
    put_watches(1);
    check(sink->ops->commit(sink, start_ns + 2000000000), "commit");
    check(sink->ops->end_process(sink, start_ns + 2000000000, "exit", 0), "end_process");
    sink->ops->close(sink);
}
