/* SPDX-License-Identifier: Apache-2.0 */
/* Contexts and threads fold into others: no sum changes, nothing refers to what is gone, and who is killed in the
 * middle has lost nothing. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "profiler/ports/config.h"
#include "profiler/ports/pystack.h"
#include "profiler/ports/sink.h"
#include "storage/file/packed_tables.h"
#include "storage/write/fold.h"
#include "storage/write/writer.h"
#include "tests/storage/fixture.h"
#include "tests/storage/folder.h"

static const int64_t START_NS = 1700000000000000000, SECOND_NS = 1000000000;

/* A program whose function `main` calls a new function each second, once; node 2 is the only one with weight. */
enum { MAIN = 1, HEAVY = 2, FIRST = 3, CALLEES = 100 };

static int64_t ask(const char *sql) {
    return pie_fixture_ask(pie_folder_database(), sql);
}

static void put_context(struct pie_sink *sink, uint32_t id, uint32_t parent) {
    char file[32];
    snprintf(file, sizeof file, id < FIRST ? "/x.py" : "<made %u>", id);
    const struct pie_location location = {
        .id = {id}, .kind = PIE_LOCATION_PYTHON, .function = "f", .file = file, .line = 1};
    const struct pie_node_row node = {.id = {id}, .parent = {parent}, .location = {id}};
    pie_fixture_check(sink->ops->put_location(sink, &location));
    pie_fixture_check(sink->ops->put_node(sink, &node));
}

/* For two locks, one of which is held there as well. */
static void put_wait(struct pie_sink *sink, uint32_t thread, uint32_t node, uint64_t amount) {
    struct pie_wait_row wait = {.thread = thread,
                                .node = {node},
                                .cause = PIE_WAIT_LOCK,
                                .peer = {node},
                                .wait_ns = (int64_t)amount,
                                .looks = 1};
    pie_fixture_check(sink->ops->put_wait(sink, &wait));
    wait.node.value = HEAVY;
    wait.resource = "/a/lock";
    pie_fixture_check(sink->ops->put_wait(sink, &wait));
}

static void put_rows(struct pie_sink *sink, uint32_t node, uint64_t amount) {
    const struct pie_sample_row sample = {.thread = 1,
                                          .node = {node},
                                          .samples = 1,
                                          .native_ns = amount,
                                          .cpu_sq_ns2 = 1,
                                          .wait_ns = (int64_t)amount};
    const struct pie_watch_row watch = {.kind = 1,
                                        .outcome = 1,
                                        .first_node = {node},
                                        .second_node = {node},
                                        .watches = 1,
                                        .bytes = amount,
                                        .weight_ns = (double)amount};
    const struct pie_allocated_row allocated = {.node = {node}, .samples = 1, .bytes = {amount, 0}};
    const struct pie_allocation_row allocation = {
        .node = {node}, .size = node % 2, .samples = 1, .allocated_bytes = {amount, 0}, .first_ns = START_NS};
    const struct pie_copy_row copy = {
        .node = {node}, .estimate = PIE_COPY_COUNTED, .samples = 1, .bytes = amount};
    pie_fixture_check(sink->ops->put_sample(sink, &sample));
    pie_fixture_check(sink->ops->put_watch(sink, &watch));
    pie_fixture_check(sink->ops->put_allocated(sink, &allocated));
    pie_fixture_check(sink->ops->put_allocation(sink, &allocation));
    pie_fixture_check(sink->ops->put_copy(sink, &copy));
    const struct pie_copy_end_row end = {
        .node = {node}, .outcome = PIE_COPY_WRITTEN, .copies = 1, .bytes = amount};
    pie_fixture_check(sink->ops->put_copy_end(sink, &end));
    const struct pie_reading_row reading = {
        .node = {node}, .kind = PIE_READ_SEARCH, .samples = 1, .cpu_ns = amount, .max_size = 100};
    pie_fixture_check(sink->ops->put_reading(sink, &reading));
    put_wait(sink, 1, node, amount);
}

static struct pie_sink *begin_run(uint64_t max_bytes) {
    const struct pie_config config = {.overhead_budget = 0.05, .max_bytes = max_bytes};
    const struct pie_process_row process = {.pid = 1, .clock = "perf", .started_ns = START_NS};
    struct pie_sink *sink;
    int64_t run;
    pie_fixture_check(pie_writer_open(pie_folder_database(), &config, &sink));
    pie_fixture_check(sink->ops->begin_process(sink, &process, &run));
    put_context(sink, MAIN, 0);
    put_context(sink, HEAVY, MAIN);
    return sink;
}

static void put_second(struct pie_sink *sink, uint32_t second) {
    pie_fixture_check(sink->ops->begin(sink, START_NS + second * SECOND_NS));
    put_context(sink, FIRST + second, second % 3 == 2 ? FIRST + second - 1 : MAIN);
    put_rows(sink, FIRST + second, 1 + second % 10);
    put_rows(sink, HEAVY, 1000000);
    put_rows(sink, MAIN, 5);
    pie_fixture_check(sink->ops->commit(sink, START_NS + (second + 1) * SECOND_NS));
}

static void write_run(void) {
    struct pie_sink *sink = begin_run(0);
    for (uint32_t second = 0; second < CALLEES; second++)
        put_second(sink, second);
    sink->ops->close(sink);
}

/* What folding must not change. */
static char *sums(sqlite3 *db) {
    static const char sql[] =
        "SELECT group_concat(x, ';') FROM (SELECT slice_s || ',' || sum(samples) || ',' || sum(native_ns) || "
        "',' || "
        "sum(wait_ns) AS x FROM every_sample GROUP BY slice_s UNION ALL SELECT slice_s || ',' || kind || ',' "
        "|| "
        "sum(bytes) "
        "|| ',' || sum(weight_ns) FROM watch GROUP BY slice_s, kind UNION ALL SELECT slice_s || ',' || "
        "sum(python_bytes + native_bytes) FROM every_allocated GROUP BY slice_s UNION ALL SELECT size || ',' "
        "|| "
        "sum(allocated_python_bytes + allocated_native_bytes) FROM allocation GROUP BY size UNION ALL SELECT "
        "slice_s "
        "|| ',' || sum(bytes) FROM every_copy GROUP BY slice_s, estimate UNION ALL SELECT outcome || ',' || "
        "sum(copies) || ',' || sum(bytes) FROM copy_end GROUP BY outcome UNION ALL SELECT kind || ',' || "
        "sum(samples) || ',' || sum(cpu_ns) || ',' || max(max_size) FROM reading GROUP BY kind UNION ALL "
        "SELECT thread || ',' || "
        "resource || ',' || sum(wait_ns) || ',' || sum(looks) FROM wait GROUP BY thread, cause, resource)";
    sqlite3_stmt *statement;
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &statement, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    char *text = strdup((const char *)sqlite3_column_text(statement, 0));
    sqlite3_finalize(statement);
    return text;
}

static const char dangling_sql[] =
    "SELECT (SELECT count(*) FROM sample WHERE node NOT IN (SELECT id FROM node))"
    " + (SELECT count(*) FROM watch WHERE first_node NOT IN (SELECT id FROM node)"
    " OR second_node NOT IN (SELECT id FROM node))"
    " + (SELECT count(*) FROM allocated WHERE node NOT IN (SELECT id FROM node))"
    " + (SELECT count(*) FROM allocation WHERE node NOT IN (SELECT id FROM node))"
    " + (SELECT count(*) FROM copy WHERE node NOT IN (SELECT id FROM node))"
    " + (SELECT count(*) FROM copy_end WHERE node NOT IN (SELECT id FROM node))"
    " + (SELECT count(*) FROM reading WHERE node NOT IN (SELECT id FROM node))"
    " + (SELECT count(*) FROM wait WHERE node NOT IN (SELECT id FROM node)"
    " OR peer NOT IN (SELECT id FROM node))"
    " + (SELECT count(*) FROM node WHERE parent NOT IN (SELECT id FROM node))"
    " + (SELECT count(*) FROM node WHERE location NOT IN (SELECT id FROM location))"
    " + (SELECT count(*) FROM location WHERE function NOT IN (SELECT id FROM function))"
    " + (SELECT count(*) FROM function WHERE file NOT IN (SELECT id FROM file))";

/* Returns how many folded. The file is as good after it as before. */
static int64_t fold(const struct pie_in_use *in_use, double share) {
    sqlite3 *db;
    assert_int_equal(sqlite3_open(pie_folder_database(), &db), SQLITE_OK);
    assert_int_equal(pie_packed_tables_add(db), SQLITE_OK);
    char *before = sums(db);
    assert_int_equal(sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    int64_t folded = pie_fold_contexts(db, 1, in_use, share);
    assert_int_equal(sqlite3_exec(db, "COMMIT", NULL, NULL, NULL), SQLITE_OK);
    char *after = sums(db);
    assert_string_equal(before, after);
    free(before);
    free(after);
    sqlite3_close(db);
    assert_int_equal(ask(dangling_sql), 0);
    return folded;
}

static void test_the_oldest_without_weight_fold(void **state) {
    write_run();
    assert_int_equal(ask("SELECT count(DISTINCT slice_s) FROM packed WHERE kind = 1"), CALLEES - 1);
    assert_int_equal(fold(NULL, 0.5), 51); /* callee 49 called 50: both were seen in slice 50 */
    assert_int_equal(ask("SELECT count(DISTINCT slice_s) FROM packed WHERE kind = 1"), CALLEES - 1);
    assert_int_equal(ask("SELECT count(*) FROM main.sample"),
                     ask("SELECT count(*) FROM sample WHERE slice_s = (SELECT max(slice_s) FROM sample)"));
    assert_int_equal(ask("SELECT count(*) FROM node"), 2 + CALLEES - 51 + 1);
    assert_int_equal(ask("SELECT count(*) FROM location"), 2 + CALLEES - 51 + 1);
    assert_int_equal(ask("SELECT count(*) FROM function"),
                     1 + CALLEES - 51 + 1); /* f of /x.py stands for two */
    assert_int_equal(ask("SELECT count(*) FROM file"), 1 + CALLEES - 51);
    assert_int_equal(ask("SELECT min(id) FROM node WHERE id > 2"), FIRST + 51);
    assert_int_equal(ask("SELECT parent FROM node WHERE id = 4294967294"), MAIN);
    assert_int_equal(
        ask("SELECT count(*) FROM node n JOIN location l ON l.id = n.location JOIN function f ON "
            "f.id = l.function WHERE n.id = 4294967294 AND f.name = '(other)'"),
        1);
    assert_int_equal(ask("SELECT sum(samples) FROM sample WHERE node = 4294967294"), 51);
    assert_int_equal(ask("SELECT count(*) FROM sample WHERE node = 2"), CALLEES);
}

/* Once more, and once more: what is "(other)" stays that of the same caller. */
static void test_folding_again_adds_to_the_same(void **state) {
    write_run();
    fold(NULL, 0.3);
    fold(NULL, 0.5);
    fold(NULL, 1);
    assert_int_equal(fold(NULL, 1), 0);
    assert_int_equal(ask("SELECT count(*) FROM node"),
                     3); /* main is what the others fold below, though it has no weight */
    assert_int_equal(ask("SELECT sum(samples) FROM sample WHERE node = 4294967294"), CALLEES);
}

static bool keeps_some(const void *data, struct pie_location_id id) {
    return id.value <= HEAVY || id.value == FIRST + 8; /* called by the one before, which is kept by that */
}

static bool keeps_callers_too(const void *data, struct pie_node_id node) {
    return keeps_some(data, (struct pie_location_id){node.value}) || node.value == FIRST + 7;
}

static void test_nodes_in_use_stay(void **state) {
    const struct pie_in_use in_use = {keeps_callers_too, keeps_some, NULL};
    write_run();
    assert_int_equal(fold(&in_use, 1), CALLEES - 2);
    assert_int_equal(ask("SELECT count(*) FROM node WHERE id BETWEEN 3 AND 200"), 2);
    assert_int_equal(ask("SELECT count(*) FROM location WHERE id = 11"), 1);
}

static void test_threads_of_one_name_become_one(void **state) {
    struct pie_sink *sink = begin_run(0);
    char name[32];
    for (uint32_t id = 1; id <= 40; id++) {
        snprintf(name, sizeof name, id % 2 ? "Thread-%u (work)" : "pool_%u", id);
        const struct pie_thread_row thread = {.id = id,
                                              .tid = (int32_t)id,
                                              .name = name,
                                              .is_main = id == 1,
                                              .started_ns = START_NS + id,
                                              .ended_ns = id == 40 ? 0 : START_NS + 2 * SECOND_NS + id,
                                              .cpu_ns = id,
                                              .wall_ns = 10 * id,
                                              .samples = 1};
        const struct pie_sample_row sample = {.thread = id, .node = {MAIN}, .samples = 1, .native_ns = id};
        pie_fixture_check(sink->ops->put_thread(sink, &thread));
        pie_fixture_check(sink->ops->begin(sink, START_NS));
        pie_fixture_check(sink->ops->put_sample(sink, &sample));
        put_wait(sink, id, MAIN, id);
        pie_fixture_check(sink->ops->commit(sink, START_NS));
    }
    sink->ops->close(sink);
    sqlite3 *db;
    assert_int_equal(sqlite3_open(pie_folder_database(), &db), SQLITE_OK);
    assert_int_equal(pie_packed_tables_add(db), SQLITE_OK);
    assert_int_equal(pie_fold_threads(db, 1), 18 + 18);
    assert_int_equal(pie_fold_threads(db, 1), 0);
    sqlite3_close(db);
    assert_int_equal(ask("SELECT count(*) FROM thread"), 4); /* main, the two kinds, the one that lives */
    assert_int_equal(ask("SELECT sum(cpu_ns) * 100 + sum(threads) FROM thread"), 820 * 100 + 40);
    assert_int_equal(ask("SELECT sum(native_ns) FROM sample"), 820);
    assert_int_equal(ask("SELECT sum(native_ns) FROM sample WHERE thread = 3"), 400 - 1);
    assert_int_equal(ask("SELECT count(*) * 10000 + sum(wait_ns) FROM wait"), 2 * 4 * 10000 + 2 * 820);
    assert_int_equal(ask("SELECT wait_ns * 100 + looks FROM wait WHERE thread = 3 AND resource = ''"),
                     (400 - 1) * 100 + 19);
    assert_int_equal(
        ask("SELECT count(*) FROM thread WHERE name IN ('Thread-# (work)', 'pool_#') AND tid IS NULL"), 2);
    assert_int_equal(ask("SELECT ended_ns - started_ns FROM thread WHERE id = 3"), 2 * SECOND_NS + 36);
}

/* --- By the writer --- */

static uint32_t last; /* younger ones are kept */

static bool keeps_young(const void *data, struct pie_location_id id) {
    return id.value <= HEAVY || id.value + 20 > last;
}

static bool keeps_young_node(const void *data, struct pie_node_id node) {
    return keeps_young(data, (struct pie_location_id){node.value});
}

static void put_second_and_forget(struct pie_sink *sink, uint32_t second) {
    const struct pie_in_use in_use = {keeps_young_node, keeps_young, NULL};
    put_second(sink, second);
    last = FIRST + second;
    if (sink->wants_to_forget)
        sink->ops->forget(sink, &in_use);
}

/* A process under AddressSanitizer takes 0.7 s to begin and be killed. */
#ifdef __SANITIZE_ADDRESS__
enum { IS_SLOW = 1 };
#else
enum { IS_SLOW = 0 };
#endif

static int64_t bytes_of_file(void) {
    struct stat status;
    assert_int_equal(stat(pie_folder_database(), &status), 0);
    return status.st_size;
}

static void test_a_file_stays_below_its_limit(void **state) {
    enum { LIMIT = 400000 };
    struct pie_sink *sink = begin_run(LIMIT);
    for (uint32_t second = 0; second < 6000; second++) {
        put_second_and_forget(sink, second);
        if (second % 500 == 0)
            assert_in_range(bytes_of_file(), 1, LIMIT);
    }
    sink->ops->close(sink);
    assert_int_equal(ask(dangling_sql), 0);
    assert_int_equal(ask("SELECT sum(samples) FROM sample"), 3 * 6000);
    assert_in_range(ask("SELECT value FROM counter WHERE name = 'contexts_folded'"), 3000, 6000);
    assert_int_equal(ask("SELECT count(*) FROM file WHERE path = '<made 6000>'"), 1);
    assert_int_equal(ask("SELECT count(*) FROM file WHERE path = '<made 10>'"), 0);
}

static bool keeps_all(const void *data, struct pie_location_id id) {
    return true;
}

static bool keeps_all_nodes(const void *data, struct pie_node_id node) {
    return true;
}

/* Of a program all of whose contexts are in use: nothing can go, nothing is lost, and it is said by how much. */
static void test_a_file_in_which_no_room_can_be_made_says_so(void **state) {
    enum { LIMIT = 100000, SECONDS = 1000 };
    const struct pie_in_use in_use = {keeps_all_nodes, keeps_all, NULL};
    struct pie_sink *sink = begin_run(LIMIT);
    for (uint32_t second = 0; second < SECONDS; second++) {
        put_second(sink, second);
        if (sink->wants_to_forget)
            sink->ops->forget(sink, &in_use);
    }
    sink->ops->close(sink);
    int64_t over = bytes_of_file() - LIMIT,
            told = ask("SELECT value FROM counter WHERE name = 'bytes_over_max_size'");
    assert_in_range(over, LIMIT / 20, INT64_MAX);
    assert_in_range(told, over / 2,
                    over); /* when it was last tried: it is tried again when the file has grown by a part */
    assert_int_equal(ask("SELECT sum(samples) FROM sample"), 3 * SECONDS);
    assert_int_equal(ask("SELECT count(*) FROM counter WHERE name = 'contexts_folded'"), 0);
}

static void write_until_killed(_Atomic uint32_t *committed) {
    struct pie_sink *sink = begin_run(110000);
    for (uint32_t second = 0;; second++) {
        put_second_and_forget(sink, second);
        ++*committed;
    }
}

static void kill_after(uint32_t commits, int64_t pause_ns, int64_t *folded) {
    _Atomic uint32_t *committed =
        mmap(NULL, sizeof *committed, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(committed, MAP_FAILED);
    pid_t child = fork();
    if (child == 0)
        write_until_killed(committed);
    const struct timespec pause = {0, pause_ns}, moment = {0, 50000};
    while (*committed < commits && waitpid(child, NULL, WNOHANG) == 0)
        nanosleep(&moment, NULL);
    nanosleep(&pause, NULL);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    assert_in_range(ask("SELECT sum(samples) / 3 FROM sample"), *committed, *committed + 1);
    assert_int_equal(ask("SELECT (SELECT sum(native_ns) FROM sample) = (SELECT sum(bytes) FROM copy)"), 1);
    assert_int_equal(ask("SELECT (SELECT sum(bytes) FROM watch) = (SELECT sum(bytes) FROM copy)"), 1);
    assert_int_equal(ask(dangling_sql), 0);
    *folded += ask("SELECT count(*) FROM counter WHERE name = 'contexts_folded'");
    munmap((void *)committed, sizeof *committed);
}

static void test_a_killed_writer_has_folded_all_or_nothing(void **state) {
    /* A window of 5 % of the time is missed once in 170 runs. */
    enum { KILLS = 200 / (IS_SLOW ? 5 : 2) };
    int64_t folded = 0;
    for (int nth = 0; nth < 200; nth += 200 / KILLS) {
        kill_after(60 + (uint32_t)nth, nth * 37000 % 4000000, &folded);
        pie_folder_tear_down(state);
        pie_folder_set_up(state);
    }
    print_message("# %lld of %d files had something folded\n", (long long)folded, KILLS);
    assert_in_range(folded, KILLS * 3 / 10, KILLS);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_the_oldest_without_weight_fold, pie_folder_set_up,
                                        pie_folder_tear_down),
        cmocka_unit_test_setup_teardown(test_folding_again_adds_to_the_same, pie_folder_set_up,
                                        pie_folder_tear_down),
        cmocka_unit_test_setup_teardown(test_nodes_in_use_stay, pie_folder_set_up, pie_folder_tear_down),
        cmocka_unit_test_setup_teardown(test_threads_of_one_name_become_one, pie_folder_set_up,
                                        pie_folder_tear_down),
        cmocka_unit_test_setup_teardown(test_a_file_stays_below_its_limit, pie_folder_set_up,
                                        pie_folder_tear_down),
        cmocka_unit_test_setup_teardown(test_a_file_in_which_no_room_can_be_made_says_so, pie_folder_set_up,
                                        pie_folder_tear_down),
        cmocka_unit_test_setup_teardown(test_a_killed_writer_has_folded_all_or_nothing, pie_folder_set_up,
                                        pie_folder_tear_down),
    };
    return cmocka_run_group_tests_name("fold", tests, NULL, NULL);
}
