/* SPDX-License-Identifier: Apache-2.0 */
/* Packed rows in SQL: packing, merging and reading them changes nothing about what a table holds. */
#include "storage/file/packed_tables.h"

#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "storage/file/packing.h"
#include "storage/file/schema_statements.h"
#include "storage/file/sqlite_open.h"
#include "tests/storage/folder.h"

static sqlite3 *db, *other;

static void execute(sqlite3 *on, const char *sql) {
    if (sqlite3_exec(on, sql, NULL, NULL, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(on));
}

static int64_t number(const char *sql) {
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(db));
    if (sqlite3_step(statement) != SQLITE_ROW)
        fail_msg("%s: %s", sql, sqlite3_errmsg(db));
    int64_t value = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return value;
}

/* What it was before. */
#define KEEP "CREATE TEMP TABLE kept AS SELECT * FROM main.sample"
#define IS_AS_BEFORE                                                                                         \
    "SELECT (SELECT count(*) FROM every_sample) = (SELECT count(*) FROM kept) AND NOT EXISTS ("              \
    "SELECT * FROM every_sample EXCEPT SELECT * FROM kept)"
#define PACK                                                                                                 \
    "INSERT INTO packed (process, slice_s, kind, block, rows) SELECT process, slice_s, "                     \
    "1, " PIE_PACKING_BLOCK(                                                                                 \
        "thread",                                                                                            \
        "node") " AS block, pack_sample(thread, node, python_ns, native_ns, "                                \
                "system_ns, samples, runnable_ns, wait_ns, wait_samples, throttled_ns, cpu_sq_ns2) FROM "    \
                "sample "                                                                                    \
                "WHERE slice_s < 19 GROUP BY process, slice_s, block ON CONFLICT DO UPDATE SET rows = "      \
                "merge_packed(kind, rows, excluded.rows); DELETE FROM sample WHERE slice_s < 19;"

/* Two processes of 20 slices; five threads, and nodes of several blocks. */
static int set_up(void **state) {
    pie_folder_set_up(state);
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    assert_int_equal(pie_sqlite_open(pie_folder_database(), &db, flags, NULL), SQLITE_OK);
    assert_int_equal(pie_schema_make(db), SQLITE_OK);
    assert_int_equal(pie_packed_tables_add(db), SQLITE_OK);
    execute(
        db,
        "PRAGMA journal_mode = WAL;"
        "WITH RECURSIVE c(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM c WHERE i < 7999)"
        " INSERT INTO sample (process, slice_s, node, thread, samples, wait_samples, python_ns, native_ns,"
        "   system_ns, wait_ns, runnable_ns, throttled_ns, cpu_sq_ns2)"
        " SELECT 1 + i % 2, i / 400, i * 6029 % 4294967296, 1 + i % 5, i % 4, i % 3, i * 3, i * 5 * (i % 2), "
        "0, "
        "7 - i, i * 13, 0, iif(i % 4 = 1, 1.0 * (i * 3 + i * 5 * (i % 2)) * (i * 3 + i * 5 * (i % 2)), i / "
        "7.0) "
        "FROM c");
    execute(db, KEEP);
    assert_int_equal(pie_sqlite_open(pie_folder_database(), &other, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
    assert_int_equal(pie_packed_tables_add(other), SQLITE_OK);
    return 0;
}

static int tear_down(void **state) {
    sqlite3_close(other);
    sqlite3_close(db);
    return pie_folder_tear_down(state);
}

static void test_columns_are_those_of_the_tables(void **state) {
    for (int64_t kind = 1; kind <= PIE_PACKING_KINDS; kind++) {
        char sql[400];
        const char *table = pie_packing_of(kind)->table;
        sqlite3_snprintf(
            sizeof sql, sql,
            "SELECT (SELECT group_concat(name || ' ' || type) FROM pragma_table_info('%s')) = (SELECT "
            "group_concat(name || ' ' || type) FROM pragma_table_info('every_%s'))",
            table, table);
        assert_int_equal(number(sql), 1);
    }
}

static void test_packed_rows_are_those_that_were_packed(void **state) {
    assert_int_equal(number(IS_AS_BEFORE), 1);
    execute(db, PACK);
    assert_int_equal(number("SELECT count(*) FROM sample"), 400);
    assert_int_equal(number("SELECT count(*) FROM every_sample WHERE packed = 1"), 7600);
    assert_int_equal(number("SELECT count(*) FROM every_sample WHERE packed = 0"), 400);
    assert_int_equal(number(IS_AS_BEFORE), 1);
}

/* What is asked for narrows what is read, not what is found. */
static void test_bounds(void **state) {
    static const char *const bounds[] = {"process = 1",
                                         "process = '2'",
                                         "process = 3",
                                         "slice_s = 7",
                                         "slice_s > 17",
                                         "slice_s >= 17.5",
                                         "slice_s BETWEEN 3 AND 19",
                                         "process = 1 AND slice_s < 2",
                                         "node < 9000",
                                         "slice_s = 'x'",
                                         "slice_s IN (1, 19, 99) AND process IN (1, 2)"};
    execute(db, PACK);
    for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++) {
        char sql[300];
        sqlite3_snprintf(sizeof sql, sql,
                         "SELECT (SELECT sum(python_ns) FROM every_sample WHERE %s) IS (SELECT "
                         "sum(python_ns) FROM kept WHERE %s)",
                         bounds[i], bounds[i]);
        assert_int_equal(number(sql), 1);
    }
    execute(db, "CREATE TEMP TABLE p AS SELECT DISTINCT process AS id, 3 AS low FROM kept");
    assert_int_equal(
        number("SELECT (SELECT count(*) FROM p JOIN every_sample s ON s.process = p.id AND s.slice_s >= low)"
               " = (SELECT count(*) FROM kept WHERE slice_s >= 3)"),
        1);
}

static void test_late_rows_are_added_to_those_of_their_slice(void **state) {
    execute(db, PACK "INSERT INTO sample SELECT * FROM kept WHERE slice_s = 4;");
    assert_int_equal(number("SELECT count(*) FROM every_sample WHERE slice_s = 4"), 800);
    execute(db,
            PACK "UPDATE temp.kept SET samples = 2 * samples, wait_samples = 2 * wait_samples, python_ns = "
                 "2 * python_ns, native_ns = 2 * native_ns, wait_ns = 2 * wait_ns, runnable_ns = 2 * "
                 "runnable_ns, cpu_sq_ns2 = 2 * cpu_sq_ns2 WHERE slice_s = 4");
    assert_int_equal(number(IS_AS_BEFORE), 1);
}

static void test_slices_are_merged(void **state) {
    execute(db, PACK
            "INSERT OR REPLACE INTO packed (process, slice_s, kind, block, rows) SELECT process, slice_s - "
            "slice_s % 4 AS s, kind, block, merge_packed(kind, rows) FROM packed GROUP BY process, s, kind, "
            "block;"
            "DELETE FROM packed WHERE slice_s % 4 <> 0;");
    assert_int_equal(
        number("SELECT count(*) FROM (SELECT slice_s - slice_s % 4 AS s, sum(python_ns) AS n FROM "
               "kept WHERE slice_s < 16 GROUP BY 1 EXCEPT SELECT slice_s, sum(python_ns) FROM "
               "every_sample GROUP BY 1)"),
        0);
    assert_int_equal(
        number("SELECT (SELECT sum(samples) FROM every_sample) = (SELECT sum(samples) FROM kept)"), 1);
}

/* Rows that are packed between two steps of a reader are neither missed nor told twice. */
static void test_a_reader_sees_the_file_as_it_was(void **state) {
    sqlite3_stmt *statement = NULL;
    int64_t count = 1;
    assert_int_equal(sqlite3_prepare_v2(other, "SELECT python_ns FROM every_sample", -1, &statement, NULL),
                     SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    execute(db, "BEGIN;" PACK "COMMIT");
    while (sqlite3_step(statement) == SQLITE_ROW)
        count++;
    assert_int_equal(count, 8000);
    assert_int_equal(sqlite3_reset(statement), SQLITE_OK);
    for (count = 0; sqlite3_step(statement) == SQLITE_ROW;)
        count++;
    assert_int_equal(count, 8000);
    sqlite3_finalize(statement);
}

static void test_damage_is_reported(void **state) {
    static const char *const values[] = {"NULL",           "x''", "x'0200'", "x'0105'", "'text'",
                                         "zeroblob(9999)", "7"};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        char sql[200];
        execute(db, "DROP TABLE packed; CREATE TABLE packed (process, slice_s, kind, block, rows)");
        sqlite3_snprintf(sizeof sql, sql, "INSERT INTO packed VALUES (1, 0, 1, 0, %s)", values[i]);
        execute(db, sql);
        assert_int_equal(sqlite3_exec(db, "SELECT sum(samples) FROM every_sample", NULL, NULL, NULL),
                         SQLITE_CORRUPT);
        assert_int_equal(sqlite3_extended_errcode(db), SQLITE_CORRUPT_VTAB);
        assert_string_equal(sqlite3_errmsg(db), "packed rows of sample");
        assert_int_equal(sqlite3_exec(db, "SELECT merge_packed(1, rows) FROM packed", NULL, NULL, NULL),
                         SQLITE_CORRUPT);
        assert_int_equal(
            sqlite3_exec(db, "SELECT merge_packed(1, rows, x'01') FROM packed", NULL, NULL, NULL),
            SQLITE_CORRUPT);
    }
    assert_int_equal(sqlite3_exec(db, "SELECT merge_packed(9, x'01', x'01')", NULL, NULL, NULL),
                     SQLITE_CORRUPT);
    assert_int_equal(number("SELECT merge_packed(1, x'01', x'01') = x'01'"), 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_columns_are_those_of_the_tables, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_packed_rows_are_those_that_were_packed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_bounds, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_late_rows_are_added_to_those_of_their_slice, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_slices_are_merged, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_reader_sees_the_file_as_it_was, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_damage_is_reported, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("packed_tables", tests, NULL, NULL);
}
