/* SPDX-License-Identifier: Apache-2.0 */

/* Rows about processes that cannot write them any more. */

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "profiler/ports/config.h"
#include "profiler/ports/sink.h"
#include "storage/file/db.h"
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

/* Of a child that has written its end nothing is lost, nor of one that was killed: that says it all. */
static void test_a_child_that_ended_without_a_word_has_lost_rows(void **state) {
    int64_t run = 0;
    struct pie_sink *sink = begin(&run, getpid(), 0, 0), *children[3];
    for (int i = 0; i < 3; i++)
        children[i] = begin(&run, 500 + i, getpid(), 10);
    assert_int_equal(children[1]->ops->end_process(children[1], 20, "exit", 0), 0);
    for (int i = 0; i < 2; i++)
        assert_int_equal(put_end(sink, 500 + i, 9, "exit", 0), 0);
    assert_int_equal(put_end(sink, 502, 9, "killed", 137), 0);
    assert_int_equal(sink->ops->commit(sink, 30), 0);
    for (int i = 0; i < 3; i++)
        children[i]->ops->close(children[i]);
    sink->ops->close(sink);
    assert_int_equal(ask("SELECT count(*) FROM process WHERE cause = 'exit' AND exit_status = 0"), 2);
    assert_int_equal(ask("SELECT count(*) FROM counter WHERE name = 'lost' AND is_drop AND value = 1"), 1);
    assert_int_equal(ask("SELECT pid FROM process JOIN counter ON process = id WHERE name = 'lost'"), 500);
}

enum { LIMIT_MS = 300, HELD_STEPS = 20, STEP_US = 50000 };

struct holder {
    sqlite3 *db;
    bool writes;
};

/* Holds the lock for longer than the limit. */
static void *hold(void *data) {
    const struct holder *holder = data;
    for (int i = 0; i < HELD_STEPS; i++) {
        usleep(STEP_US);
        if (holder->writes)
            utimensat(AT_FDCWD, path, NULL, 0);
    }
    sqlite3_exec(holder->db, "ROLLBACK", NULL, NULL, NULL);
    return NULL;
}

static int wait_for_holder(bool writes) {
    struct pie_db_wait wait = {.limit_ms = LIMIT_MS, .path = path, .longer = 20};
    struct holder holder = {.writes = writes};
    pthread_t thread;
    sqlite3 *db;
    assert_int_equal(sqlite3_open(path, &holder.db), SQLITE_OK);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    pie_db_set_wait(db, &wait);
    assert_int_equal(pie_db_exec(holder.db, "BEGIN IMMEDIATE"), 0);
    assert_int_equal(pthread_create(&thread, NULL, hold, &holder), 0);
    int r = pie_db_exec(db, "BEGIN IMMEDIATE");
    pthread_join(thread, NULL);
    sqlite3_close(db);
    sqlite3_close(holder.db);
    return r;
}

static void test_the_wait_is_longer_while_others_write(void **state) {
    assert_int_equal(wait_for_holder(true), 0);
    assert_int_equal(wait_for_holder(false), -EBUSY);
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
        cmocka_unit_test_setup_teardown(test_a_child_that_ended_without_a_word_has_lost_rows, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_the_wait_is_longer_while_others_write, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_who_is_gone_is_marked_and_comes_back_by_writing, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests_name("writer_ends", tests, NULL, NULL);
}
