/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
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

static const char *folder, *path;

static int set_up(void **state) {
    folder = pie_folder_make();
    path = pie_folder_path(folder, "a.db");
    return 0;
}

static int tear_down(void **state) {
    pie_folder_remove(folder);
    return 0;
}

static struct pie_sink *open_sink(void) {
    static const struct pie_config config = {.overhead_budget = 0.05};
    struct pie_process_row row = {.pid = 1, .clock = "timer"};
    struct pie_sink *sink;
    int64_t run;
    assert_int_equal(pie_writer_open(path, &config, &sink), 0);
    assert_int_equal(sink->ops->begin_process(sink, &row, &run), 0);
    return sink;
}

static void test_traced_loops_and_calls_are_replaced(void **state) {
    struct pie_sink *sink = open_sink();
    struct pie_traced_loop_row loop = {.loop = 3, .policy = "early", .note = "early"};
    struct pie_traced_call_row call = {.loop = 3, .call = 7, .mean_s = 1, .variance_s2 = 1, .p50_s = 1};
    assert_int_equal(sink->ops->put_traced_loop(sink, &loop), 0);
    assert_int_equal(sink->ops->put_traced_call(sink, &call), 0);
    assert_int_equal(sink->ops->commit(sink, 1), 0);
    assert_int_equal(
        pie_fixture_ask(path, "SELECT file IS NULL AND line IS NULL AND function IS NULL AND note = 'early'"
                              " FROM learned_loop"),
        1);
    assert_int_equal(pie_fixture_ask(path, "SELECT callee IS NULL AND decided_after IS NULL AND share = 0"
                                           " AND mean_s IS NULL AND variance_s2 IS NULL AND p50_s IS NULL"
                                           " AND p95_s IS NULL AND p99_s IS NULL FROM learned_call"),
                     1);
    loop = (struct pie_traced_loop_row){.loop = 3,
                                        .file = "/home/me/a\xff.py",
                                        .line = 41,
                                        .function = "parse \xff",
                                        .policy = "racing",
                                        .confidence = .95,
                                        .entries = 2,
                                        .iterations = UINT64_MAX, /* SQLite's integers are signed */
                                        .observed_iterations = 5,
                                        .body_s = .5};
    call = (struct pie_traced_call_row){.loop = 3,
                                        .call = 7,
                                        .file = "/home/me/a\xff.py",
                                        .line = 42,
                                        .callee = "m.\xff",
                                        .is_native = true,
                                        .state = PIE_TRACED_KEPT,
                                        .decided_after = 4,
                                        .calls = UINT64_MAX,
                                        .observed_calls = 1,
                                        .share = NAN,
                                        .share_low = .1,
                                        .share_high = .2,
                                        .mean_s = 1,
                                        .variance_s2 = 2,
                                        .p50_s = 3,
                                        .p95_s = 4,
                                        .p99_s = 5};
    assert_int_equal(sink->ops->put_traced_loop(sink, &loop), 0);
    assert_int_equal(sink->ops->put_traced_call(sink, &call), 0);
    call.call = 8;
    call.observed_calls = 2;
    assert_int_equal(sink->ops->put_traced_call(sink, &call), 0);
    assert_int_equal(sink->ops->commit(sink, 2), 0);
    sink->ops->close(sink);
    assert_int_equal(pie_fixture_ask(path, "SELECT count(*) FROM learned_loop"), 1);
    assert_int_equal(pie_fixture_ask(path, "SELECT count(*) FROM learned_call"), 2);
    assert_int_equal(
        pie_fixture_ask(path,
                        "SELECT id = 3 AND file = '/home/me/a' || char(65533) || '.py' AND line = 41"
                        " AND function = 'parse ' || char(65533) AND policy = 'racing' AND confidence = 0.95"
                        " AND entries = 2 AND iterations = 9223372036854775807 AND observed_iterations = 5"
                        " AND body_s = 0.5 AND note IS NULL FROM learned_loop"),
        1);
    assert_int_equal(
        pie_fixture_ask(path,
                        "SELECT loop = 3 AND line = 42 AND callee = 'm.' || char(65533) AND is_native = 1"
                        " AND state = 3 AND decided_after = 4 AND calls = 9223372036854775807"
                        " AND observed_calls = 1 AND share IS NULL AND share_low = 0.1 AND share_high = 0.2"
                        " AND mean_s = 1 AND variance_s2 IS NULL AND p50_s = 3 AND p95_s = 4 AND p99_s = 5"
                        " FROM learned_call WHERE call = 7"),
        1);
    assert_int_equal(pie_fixture_ask(path, "SELECT variance_s2 = 2 FROM learned_call WHERE call = 8"), 1);
}

/* The loop's line and what is around it; a loop without a file has none, and one that comes again is not read again. */
static void test_the_source_of_a_loop_is_kept(void **state) {
    struct pie_sink *sink = open_sink();
    pie_folder_write(folder, "parse.py", "a = 1\nfor line in lines:\n    parse(line)\n");
    struct pie_traced_loop_row loop = {.loop = 1, .file = pie_folder_path(folder, "parse.py"), .line = 2};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(sink->ops->put_traced_loop(sink, &loop), 0);
        assert_int_equal(sink->ops->put_traced_loop(sink, &(struct pie_traced_loop_row){.loop = 2}), 0);
        assert_int_equal(sink->ops->commit(sink, 1 + i), 0);
    }
    sink->ops->close(sink);
    assert_int_equal(pie_fixture_ask(path, "SELECT text = 'for line in lines:' FROM v_source WHERE line = 2"),
                     1);
    assert_int_equal(pie_fixture_ask(path, "SELECT count(*) FROM v_source WHERE file LIKE '%/parse.py'"), 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_traced_loops_and_calls_are_replaced, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_the_source_of_a_loop_is_kept, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("writer_traced", tests, NULL, NULL);
}
