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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_waiting_adds_up_by_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
