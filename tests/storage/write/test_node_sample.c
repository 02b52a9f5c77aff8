/* SPDX-License-Identifier: Apache-2.0 */

/* The sums over slices that views are made of are those that SQLite makes. */

#include "storage/file/node_sample.h"
#include "storage/file/packed_tables.h"
#include "storage/file/schema_statements.h"
#include "storage/file/sqlite_open.h"
#include "tests/storage/folder.h"

#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static sqlite3 *writer, *reader;

static void execute(sqlite3 *db, const char *sql) {
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(db));
}

static int64_t number(const char *sql) {
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(reader, sql, -1, &statement, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(reader));
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    int64_t value = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return value;
}

/* Two processes of 40 slices; nodes come and go, two threads share some. */
static int set_up(void **state) {
    pie_folder_set_up(state);
    const char *path = pie_folder_database();
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    assert_int_equal(pie_sqlite_open(path, &writer, flags, NULL), SQLITE_OK);
    execute(writer, "BEGIN");
    assert_int_equal(pie_schema_make(writer), SQLITE_OK);
    execute(
        writer,
        "COMMIT; PRAGMA journal_mode = WAL;"
        "WITH RECURSIVE c(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM c WHERE i < 7999)"
        " INSERT INTO sample (process, slice_s, node, thread, samples, wait_samples, python_ns, native_ns,"
        "   system_ns, wait_ns, runnable_ns, throttled_ns, cpu_sq_ns2)"
        " SELECT 1 + i % 2, i / 200, i % 200 * (1 + i / 4000), 1 + i % 3 / 2, i, i, i * 3, i * 5, i * 7, i * "
        "11,"
        "   i * 13, i * 17, i * 1e10 FROM c");
    assert_int_equal(pie_sqlite_open(path, &reader, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
    assert_int_equal(pie_packed_tables_add(reader), SQLITE_OK);
    assert_int_equal(pie_node_sample_add(reader), SQLITE_OK);
    execute(reader, "CREATE VIRTUAL TABLE temp.added USING x_node_sample;"
                    "CREATE TEMP TABLE processes AS SELECT DISTINCT process AS id FROM sample");
    return 0;
}

static int tear_down(void **state) {
    sqlite3_close(reader);
    sqlite3_close(writer);
    return pie_folder_tear_down(state);
}

#define SUMS                                                                                                 \
    "sum(samples), sum(python_ns), sum(native_ns), sum(system_ns), sum(wait_ns), sum(runnable_ns),"          \
    " sum(throttled_ns), sum(cpu_sq_ns2)"
#define BY_SQLITE(process)                                                                                   \
    "SELECT process, thread, node, " SUMS " FROM sample WHERE process = " process " GROUP BY thread, node"
#define OURS(process)                                                                                        \
    "SELECT process, thread, node, samples, python_ns, native_ns, system_ns, wait_ns, runnable_ns,"          \
    " throttled_ns, cpu_sq_ns2 FROM added WHERE process = " process

static void test_sums_are_those_of_sqlite(void **state) {
    assert_int_equal(number("SELECT count(*) FROM (" BY_SQLITE("1") ")"), 300);
    assert_int_equal(number("SELECT count(*) FROM (" OURS("1") ")"), 300);
    assert_int_equal(number("SELECT count(*) FROM (" OURS("1") " EXCEPT " BY_SQLITE("1") ")"), 0);
    assert_int_equal(number("SELECT count(*) FROM (" OURS("2") " EXCEPT " BY_SQLITE("2") ")"), 0);
    assert_int_equal(number("SELECT count(*) FROM (" OURS("3") ")"), 0);
}

static void test_joined_with_processes(void **state) {
    assert_int_equal(number("SELECT sum(samples) FROM processes p JOIN added s ON s.process = p.id"),
                     7999 * 8000 / 2);
    /* Two cursors at once, on different processes. */
    assert_int_equal(number("SELECT count(*) FROM added a, added b WHERE a.process = 1 AND b.process = 2"
                            " AND a.thread = b.thread AND a.node = b.node + 1"),
                     number("SELECT count(*) FROM (" BY_SQLITE("1") ") a, (" BY_SQLITE(
                         "2") ") b"
                              " WHERE a.thread = b.thread AND a.node = b.node + 1"));
}

static void test_rows_written_meanwhile_are_seen(void **state) {
    int64_t before = number("SELECT sum(samples) FROM added WHERE process = 1");
    assert_int_equal(number("SELECT sum(samples) FROM added WHERE process = 1"), before);
    execute(writer, "UPDATE sample SET samples = samples + 1 WHERE process = 1");
    assert_int_equal(number("SELECT sum(samples) FROM added WHERE process = 1"), before + 4000);
    /* In one transaction the file stays as it is. */
    execute(reader, "BEGIN; SELECT count(*) FROM sample");
    assert_int_equal(number("SELECT sum(samples) FROM added WHERE process = 1"), before + 4000);
    execute(writer, "UPDATE sample SET samples = samples + 1 WHERE process = 1");
    assert_int_equal(number("SELECT sum(samples) FROM added WHERE process = 1"), before + 4000);
    execute(reader, "COMMIT; BEGIN; SELECT count(*) FROM sample");
    assert_int_equal(number("SELECT sum(samples) FROM added WHERE process = 1"), before + 8000);
    execute(reader, "COMMIT");
}

static void test_a_temporary_view_is_what_is_added_up(void **state) {
    execute(reader, "CREATE TEMP VIEW sample AS SELECT * FROM main.sample WHERE slice_s = 3");
    assert_int_equal(number("SELECT sum(samples) FROM added WHERE process = 1"),
                     number("SELECT sum(samples) FROM main.sample WHERE process = 1 AND slice_s = 3"));
}

/* More than are kept at once. */
static void test_many_nodes(void **state) {
    execute(
        writer,
        "WITH RECURSIVE c(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM c WHERE i < 299999)"
        " INSERT INTO sample (process, slice_s, node, thread, samples, wait_samples, python_ns, native_ns,"
        "   system_ns, wait_ns, runnable_ns, throttled_ns, cpu_sq_ns2)"
        " SELECT 3, i / 150000, i % 150000, 1, 1, 0, i, 0, 0, 0, 0, 0, 1 FROM c");
    assert_int_equal(number("SELECT sum(samples) FROM added WHERE process = 3"), 300000);
    assert_int_equal(
        number("SELECT count(*) FROM (SELECT node, sum(python_ns) FROM added WHERE process = 3 GROUP BY node"
               " EXCEPT SELECT node, sum(python_ns) FROM sample WHERE process = 3 GROUP BY node)"),
        0);
    assert_int_equal(number("SELECT count(DISTINCT node) FROM added WHERE process = 3"), 150000);
}

static void test_the_process_must_be_given(void **state) {
    sqlite3_stmt *statement = NULL;
    assert_int_equal(sqlite3_prepare_v2(reader, "SELECT * FROM added", -1, &statement, NULL), SQLITE_ERROR);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_sums_are_those_of_sqlite, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_joined_with_processes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_rows_written_meanwhile_are_seen, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_temporary_view_is_what_is_added_up, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_many_nodes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_the_process_must_be_given, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("node_sample", tests, NULL, NULL);
}
