/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "profiler/ports/config.h"
#include "profiler/ports/sink.h"
#include "storage/write/writer.h"
#include "tests/storage/fixture.h"
#include "tests/storage/folder.h"

static void put_wait(struct pie_sink *sink, const char *resource, uint32_t peer, int64_t wait_ns) {
    struct pie_wait_row row = {.thread = 1,
                               .node = {4},
                               .cause = PIE_WAIT_FILE,
                               .resource = resource,
                               .peer = {peer},
                               .wait_ns = wait_ns,
                               .looks = wait_ns > 0};
    assert_int_equal(sink->ops->put_wait(sink, &row), 0);
}

/* What was too much is taken back; a path may be any bytes. */
static void test_waiting_adds_up_by_reason(void **state) {
    static const struct pie_config config = {.overhead_budget = 0.05};
    const struct pie_process_row process = {.pid = 1, .clock = "timer"};
    const char *folder = pie_folder_make(), *path = pie_folder_path(folder, "a.db");
    struct pie_sink *sink;
    int64_t run;

    assert_int_equal(pie_writer_open(path, &config, &sink), 0);
    assert_int_equal(sink->ops->begin_process(sink, &process, &run), 0);
    put_wait(sink, NULL, 0, 100);
    put_wait(sink, "/a", 0, 1000);
    put_wait(sink, "/\xff", 5, 10);
    assert_int_equal(sink->ops->commit(sink, 1), 0);
    put_wait(sink, "/a", 0, 2000);
    put_wait(sink, "/a", 0, -500);
    assert_int_equal(sink->ops->commit(sink, 2), 0);
    sink->ops->close(sink);
    assert_int_equal(pie_fixture_ask(path, "SELECT count(*) FROM wait"), 3);
    assert_int_equal(pie_fixture_ask(path, "SELECT wait_ns * 10 + looks FROM wait WHERE resource = '/a'"),
                     25002);
    assert_int_equal(pie_fixture_ask(path, "SELECT wait_ns FROM wait WHERE resource = ''"), 100);
    assert_int_equal(pie_fixture_ask(path, "SELECT wait_ns FROM wait WHERE peer = 5 AND cause = 5"), 10);
    pie_folder_remove(folder);
}

static void put_cause(struct pie_sink *sink, uint32_t node, enum pie_wait_cause cause, int64_t wait_ns) {
    struct pie_wait_row row = {.thread = 1, .node = {node}, .cause = cause, .wait_ns = wait_ns, .looks = 1};

    assert_int_equal(sink->ops->put_wait(sink, &row), 0);
}

/* A context's first cause is what the others leave of a slice: only these have rows there. */
static void test_later_causes_have_their_slices(void **state) {
    static const struct pie_config config = {.overhead_budget = 0.05};
    const struct pie_process_row process = {.pid = 1, .clock = "timer"};
    const char *folder = pie_folder_make(), *path = pie_folder_path(folder, "a.db");
    struct pie_sink *sink;
    int64_t run;

    assert_int_equal(pie_writer_open(path, &config, &sink), 0);
    assert_int_equal(sink->ops->begin_process(sink, &process, &run), 0);
    put_cause(sink, 4, PIE_WAIT_PIPE, 1000);
    put_cause(sink, 5, PIE_WAIT_LOCK, 50);
    assert_int_equal(sink->ops->commit(sink, 1), 0);
    put_cause(sink, 4, PIE_WAIT_LOCK, 20);
    put_cause(sink, 4, PIE_WAIT_PIPE, 500);
    assert_int_equal(sink->ops->commit(sink, 2), 0);
    put_cause(sink, 4, PIE_WAIT_LOCK, -5);
    assert_int_equal(sink->ops->commit(sink, 3), 0);
    sink->ops->close(sink);
    assert_int_equal(pie_fixture_ask(path, "SELECT group_concat(node * 100 + cause * 10 + is_rest, '') = "
                                           "'420441521' FROM (SELECT * FROM wait ORDER BY node, cause)"),
                     1);
    assert_int_equal(pie_fixture_ask(path, "SELECT count(*) FROM related"), 1);
    assert_int_equal(
        pie_fixture_ask(path, "SELECT time_ns FROM related WHERE thread = 1 AND node = 4 AND kind = 18"), 15);
    pie_folder_remove(folder);
}

static void test_tasks_add_up_by_name(void **state) {
    static const struct pie_config config = {.overhead_budget = 0.05};
    const struct pie_process_row process = {.pid = 1, .clock = "timer"};
    struct pie_task_row row = {
        .thread = 1, .node = {9}, .coroutine = {4}, .cause = PIE_WAIT_SLEEP, .name = "a", .wait_ns = 10};
    const char *folder = pie_folder_make(), *path = pie_folder_path(folder, "a.db");
    struct pie_sink *sink;
    int64_t run;

    assert_int_equal(pie_writer_open(path, &config, &sink), 0);
    assert_int_equal(sink->ops->begin_process(sink, &process, &run), 0);
    assert_int_equal(sink->ops->put_task(sink, &row), 0);
    assert_int_equal(sink->ops->put_task(sink, &row), 0);
    row.name = NULL;
    assert_int_equal(sink->ops->put_task(sink, &row), 0);
    assert_int_equal(sink->ops->commit(sink, 1), 0);
    sink->ops->close(sink);
    assert_int_equal(pie_fixture_ask(path, "SELECT count(*) FROM task"), 2);
    assert_int_equal(pie_fixture_ask(path, "SELECT wait_ns FROM task WHERE name = 'a' AND coroutine = 4"),
                     20);
    assert_int_equal(pie_fixture_ask(path, "SELECT wait_ns FROM task WHERE name = ''"), 10);
    pie_folder_remove(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_waiting_adds_up_by_reason),
        cmocka_unit_test(test_later_causes_have_their_slices),
        cmocka_unit_test(test_tasks_add_up_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
