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

/* A program with three loops that were traced. The first, at line 7 of parse.py, is decided and has 13 rows, the
 * second, at line 14, is not and has a note; a child process has the first one too and timed no call. test_traced.py
 * knows all figures. */

static const int64_t start_ns = 1700000000000000000, second_ns = 1000000000;
static char app[PATH_MAX];
static struct pie_sink *sink;

static void write_program(const char *folder) {
    pie_folder_write(folder, "parse.py",
                     "import json\n"
                     "\n"
                     "def tokenize(line):\n"
                     "    return line.split()\n"
                     "\n"
                     "def parse(lines):\n"
                     "    for line in lines:\n"
                     "        words = tokenize(line)\n"
                     "        text = json.dumps(words)\n"
                     "        one(); two(); three(); four(); five()\n"
                     "        six(); seven(); eight(); nine(); ten()\n"
                     "\n"
                     "def load(paths):\n"
                     "    for path in paths:\n"
                     "        parse(open(path))\n"
                     "\n"
                     "load(['data'])\n");
}

static void put_call(const struct pie_traced_call_row *row) {
    struct pie_traced_call_row call = *row;
    call.file = app;
    pie_fixture_check(sink->ops->put_traced_call(sink, &call));
}

/* What remains: nothing is timed or decided. */
static void put_own_code(uint32_t loop, int32_t line, double share, double low, double high) {
    put_call(&(struct pie_traced_call_row){.loop = loop,
                                           .line = line,
                                           .state = PIE_TRACED_UNDECIDED,
                                           .share = share,
                                           .share_low = low,
                                           .share_high = high});
}

/* Ten calls with 9.9 % of the time. Those of line 11 are native. */
static void put_small_calls(void) {
    static const char *const names[] = {"one",   "two",         "three",   "four",   "five",
                                        "m.six", "m.\x1bseven", "m.eight", "m.nine", "m.ten"};
    static const double shares[] = {.018, .016, .014, .012, .010, .009, .008, .006, .004, .002};
    for (uint32_t i = 0; i < 10; i++)
        put_call(&(struct pie_traced_call_row){.loop = 1,
                                               .call = 3 + i,
                                               .line = i < 5 ? 10 : 11,
                                               .callee = names[i],
                                               .is_native = i >= 5,
                                               .state = PIE_TRACED_DROPPED,
                                               .decided_after = 21 + i,
                                               .calls = 10000,
                                               .observed_calls = 30,
                                               .share = shares[i],
                                               .share_low = shares[i] / 2,
                                               .share_high = 2 * shares[i],
                                               .mean_s = 93e-6 * shares[i],
                                               .p50_s = 90e-6 * shares[i],
                                               .p95_s = 120e-6 * shares[i],
                                               .p99_s = 150e-6 * shares[i]});
}

/* After 20 iterations nothing is decided, after 300 all is. */
static void put_first_loop(bool is_last) {
    struct pie_traced_loop_row loop = {.loop = 1,
                                       .file = app,
                                       .line = 7,
                                       .function = "parse",
                                       .policy = "racing",
                                       .confidence = .95,
                                       .entries = is_last ? 4 : 1,
                                       .iterations = is_last ? 10000 : 20,
                                       .observed_iterations = is_last ? 300 : 20,
                                       .body_s = is_last ? .93 : .002};
    struct pie_traced_call_row tokenize = {.loop = 1,
                                           .call = 1,
                                           .line = 8,
                                           .callee = "tokenize",
                                           .state = is_last ? PIE_TRACED_KEPT : PIE_TRACED_UNDECIDED,
                                           .decided_after = is_last ? 41 : 0,
                                           .calls = is_last ? 10000 : 20,
                                           .observed_calls = is_last ? 300 : 20,
                                           .share = .621,
                                           .share_low = is_last ? .583 : .2,
                                           .share_high = is_last ? .649 : .9,
                                           .mean_s = 57.753e-6,
                                           .variance_s2 = 1.5e-10,
                                           .p50_s = 55e-6,
                                           .p95_s = 81.2e-6,
                                           .p99_s = 120e-6};
    pie_fixture_check(sink->ops->put_traced_loop(sink, &loop));
    put_call(&tokenize);
    if (!is_last)
        return;
    put_call(&(struct pie_traced_call_row){.loop = 1,
                                           .call = 2,
                                           .line = 9,
                                           .callee = "json.dumps",
                                           .state = PIE_TRACED_DROPPED,
                                           .decided_after = 38,
                                           .calls = 10000,
                                           .observed_calls = 38,
                                           .share = .2,
                                           .share_low = .18,
                                           .share_high = .23,
                                           .mean_s = 18.6e-6,
                                           .variance_s2 = 1e-12,
                                           .p50_s = 18e-6,
                                           .p95_s = 22e-6,
                                           .p99_s = 1.2e-3});
    put_own_code(1, 7, .08, .07, .1);
    put_small_calls();
}

static void put_second_loop(void) {
    static const char note[] = "what C code calls by itself is not seen: 2 of 3 calls of map() are in it";
    struct pie_traced_loop_row loop = {.loop = 2,
                                       .file = app,
                                       .line = 14,
                                       .function = "load",
                                       .policy = "successive rejects",
                                       .confidence = .99,
                                       .entries = 1,
                                       .iterations = 1,
                                       .observed_iterations = 1,
                                       .body_s = .5,
                                       .note = note};
    pie_fixture_check(sink->ops->put_traced_loop(sink, &loop));
    put_call(&(struct pie_traced_call_row){.loop = 2,
                                           .call = 1,
                                           .line = 15,
                                           .callee = "parse",
                                           .state = PIE_TRACED_UNDECIDED,
                                           .calls = 1,
                                           .observed_calls = 1,
                                           .share = .9,
                                           .share_high = 1,
                                           .mean_s = .45,
                                           .variance_s2 = 1,
                                           .p50_s = .45,
                                           .p95_s = .45,
                                           .p99_s = .45});
    put_own_code(2, 14, .1, 0, 1);
}

static void put_child_loop(void) {
    struct pie_traced_loop_row loop = {.loop = 1,
                                       .file = app,
                                       .line = 7,
                                       .function = "parse",
                                       .policy = "racing",
                                       .confidence = .95,
                                       .entries = 1,
                                       .iterations = 50,
                                       .body_s = .01};
    pie_fixture_check(sink->ops->put_traced_loop(sink, &loop));
    put_call(&(struct pie_traced_call_row){.loop = 1,
                                           .call = 1,
                                           .line = 8,
                                           .callee = "tokenize",
                                           .state = PIE_TRACED_UNDECIDED,
                                           .share_high = 1});
}

static void begin_process(const char *database, bool is_child, int64_t *run) {
    static const struct pie_config config = {.overhead_budget = 0.05, .has_time = true};
    const char *const argv[] = {"python3", app, NULL};
    struct pie_process_row process = {.pid = is_child ? 5002 : 5001,
                                      .parent_pid = is_child ? 5001 : 1,
                                      .is_child = is_child,
                                      .run_id = *run,
                                      .started_ns = start_ns,
                                      .argv = argv,
                                      .clock = "perf",
                                      .period_ns = 1000000};
    pie_fixture_check(pie_writer_open(database, &config, &sink));
    pie_fixture_check(sink->ops->begin_process(sink, &process, run));
    pie_fixture_check(sink->ops->begin(sink, 0));
}

static void end_process(void) {
    pie_fixture_check(sink->ops->commit(sink, start_ns + second_ns));
    pie_fixture_check(sink->ops->end_process(sink, start_ns + second_ns, "exit", 0));
    sink->ops->close(sink);
}

void pie_fixture_write_traced(const char *database, const char *folder) {
    int64_t run = 0;
    snprintf(app, sizeof app, "%s/parse.py", folder);
    write_program(folder);
    begin_process(database, false, &run);
    put_first_loop(false);
    pie_fixture_check(sink->ops->commit(sink, start_ns + second_ns / 2));
    put_first_loop(true);
    put_second_loop();
    end_process();
    begin_process(database, true, &run);
    put_child_loop();
    end_process();
}
