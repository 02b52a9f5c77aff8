/* SPDX-License-Identifier: Apache-2.0 */

/* Rows about processes that cannot write them any more. */

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

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

static int64_t ask(const char *sql) {
    return pie_fixture_ask(path, sql);
}

/* run 0: a new one. */
static struct pie_sink *begin(int64_t *run, int32_t pid, int32_t parent_pid, int64_t started_ns) {
    static const struct pie_config config = {.overhead_budget = 0.05};
    struct pie_process_row row = {.pid = pid,
                                  .parent_pid = parent_pid,
                                  .is_child = *run != 0,
                                  .run_id = *run,
                                  .started_ns = started_ns,
                                  .clock = "timer"};
    struct pie_sink *sink;
    assert_int_equal(pie_writer_open(path, &config, &sink), 0);
    assert_int_equal(sink->ops->begin_process(sink, &row, run), 0);
    return sink;
}

static int put_end(struct pie_sink *sink, int32_t pid, int64_t started_ns, const char *cause, int status) {
    struct pie_process_end_row row = {.pid = pid,
                                      .parent_pid = getpid(),
                                      .started_ns = started_ns,
                                      .ended_ns = status < 0 ? 0 : 900,
                                      .cause = cause,
                                      .exit_status = status,
                                      .lost_counter = "lost",
                                      .write_error = status == 3 ? -EACCES : 0};
    return sink->ops->put_process_end(sink, &row);
}

static void test_ends_of_others_complete_their_row_or_make_one(void **state) {
    int64_t run = 0;
    struct pie_sink *sink = begin(&run, getpid(), 0, 0), *child = begin(&run, 500, getpid(), 10);
    assert_int_equal(put_end(sink, 500, 9, "killed", 137), 0);  /* its row */
    assert_int_equal(put_end(sink, 500, 9, "killed", 139), 0);  /* again: it has ended only once */
    assert_int_equal(put_end(sink, 500, 11, "killed", 143), 0); /* another one that had the pid later */
    assert_int_equal(put_end(sink, 501, 9, "exit", 3), 0);
    assert_int_equal(put_end(sink, 502, 9, "gone", -1), 0);
    assert_int_equal(sink->ops->commit(sink, 1), 0);
    sink->ops->close(sink);
    child->ops->close(child);
    assert_int_equal(ask("SELECT count(*) FROM process"), 5);
    assert_int_equal(ask("SELECT count(*) FROM process WHERE parent = 1"), 4);
    assert_int_equal(ask("SELECT exit_status FROM process WHERE id = 2 AND cause = 'killed'"), 137);
    assert_int_equal(ask("SELECT exit_status FROM process WHERE pid = 500 AND id > 2"), 143);
    assert_int_equal(ask("SELECT p.exit_status FROM process p JOIN counter c ON c.process = p.id"
                         " WHERE c.name = 'lost' AND c.is_drop"),
                     3);
    assert_int_equal(ask("SELECT count(*) FROM process WHERE cause = 'gone' AND exit_status IS NULL"
                         " AND ended_ns IS NULL AND clock_note LIKE 'wrote nothing: gone%'"),
                     1);
}

static bool is_gone(int32_t pid, int64_t started_ns) {
    return pid == 600 && started_ns == 5;
}

static void test_who_is_gone_is_marked_and_comes_back_by_writing(void **state) {
    int64_t run = 0;
    struct pie_sink *sink = begin(&run, getpid(), 0, 0), *children[3];
    children[0] = begin(&run, 601, 600, 6); /* comes before its parent */
    children[1] = begin(&run, 600, getpid(), 5);
    children[2] = begin(&run, 602, getpid(), 5);
    assert_int_equal(ask("SELECT parent IS NULL FROM process WHERE pid = 601"), 1);
    assert_int_equal(sink->ops->end_process(sink, 9, "exit", 0), 0);
    assert_int_equal(sink->ops->complete_run(sink, is_gone), 0);
    assert_int_equal(ask("SELECT pid FROM process WHERE cause = 'gone'"), 600);
    assert_int_equal(ask("SELECT count(*) FROM process WHERE cause IS NULL"), 2);
    assert_int_equal(ask("SELECT parent FROM process WHERE pid = 601"), 3);
    assert_int_equal(ask("SELECT depth FROM v_process WHERE pid = 601"), 2);
    assert_int_equal(children[1]->ops->commit(children[1], 10), 0);
    assert_int_equal(ask("SELECT count(*) FROM process WHERE cause = 'gone'"), 0);
    for (int i = 0; i < 3; i++)
        children[i]->ops->close(children[i]);
    sink->ops->close(sink);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_ends_of_others_complete_their_row_or_make_one, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_who_is_gone_is_marked_and_comes_back_by_writing, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests_name("writer_ends", tests, NULL, NULL);
}
