/* SPDX-License-Identifier: Apache-2.0 */

/* What the maker of virtual tables promises to a kind of table, with one that counts: rows from `low` to `high`, of a
 * `base` that is added. */

#include "storage/file/row_table.h"

#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { BASE, LOW, HIGH };
enum { COLUMN_BASE, COLUMN_NUMBER, COLUMN_SUM };

struct counting {
    struct pie_row_cursor base;
    int64_t added, at, high;
};

static sqlite3 *db;
static int begun, ended, forgotten;

static char *declare(sqlite3 *on, const void *data) {
    return sqlite3_mprintf("CREATE TABLE x (base INTEGER, number INTEGER, sum INTEGER, %s INTEGER HIDDEN)",
                           data);
}

static int begin(struct pie_row_cursor *base, sqlite3_value *const values[PIE_ROW_TABLE_VALUES]) {
    struct counting *cursor = (struct counting *)base;

    begun++;
    cursor->added = sqlite3_value_int64(values[BASE]);
    cursor->at = values[LOW] ? sqlite3_value_int64(values[LOW]) : 0;
    cursor->high = values[HIGH] ? sqlite3_value_int64(values[HIGH]) : 99;
    return cursor->added < 0
               ? pie_row_table_fail(pie_row_table_of(base), SQLITE_CORRUPT, sqlite3_mprintf("below 0"))
               : SQLITE_OK;
}

static int next(struct pie_row_cursor *base) {
    ((struct counting *)base)->at++;
    return SQLITE_OK;
}

static bool has_row(const struct pie_row_cursor *base) {
    const struct counting *cursor = (const struct counting *)base;

    return cursor->at <= cursor->high;
}

static void answer(const struct pie_row_cursor *base, int column, sqlite3_context *context) {
    const struct counting *cursor = (const struct counting *)base;

    sqlite3_result_int64(context, column == COLUMN_BASE     ? cursor->added
                                  : column == COLUMN_NUMBER ? cursor->at
                                                            : cursor->added + cursor->at);
}

static void end(struct pie_row_cursor *base) {
    ended++;
}

static void forget(struct pie_row_table *table) {
    forgotten++;
}

static const struct pie_row_table_condition conditions[] = {
    {COLUMN_BASE, SQLITE_INDEX_CONSTRAINT_EQ, 1 << BASE, true},
    {COLUMN_NUMBER, SQLITE_INDEX_CONSTRAINT_EQ, 1 << LOW | 1 << HIGH, true},
    {COLUMN_NUMBER, SQLITE_INDEX_CONSTRAINT_GE | SQLITE_INDEX_CONSTRAINT_GT, 1 << LOW, false},
    {COLUMN_NUMBER, SQLITE_INDEX_CONSTRAINT_LE | SQLITE_INDEX_CONSTRAINT_LT, 1 << HIGH, false},
    {0},
};

static const struct pie_row_table_kind counting = {.table_bytes = sizeof(struct pie_row_table),
                                                   .cursor_bytes = sizeof(struct counting),
                                                   .conditions = conditions,
                                                   .needs_first = true,
                                                   .cost = 100,
                                                   .rows = 100,
                                                   .declare = declare,
                                                   .begin = begin,
                                                   .next = next,
                                                   .has_row = has_row,
                                                   .answer = answer,
                                                   .end = end,
                                                   .forget = forget};

static int set_up(void **state) {
    begun = ended = forgotten = 0;
    assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
    assert_int_equal(pie_row_table_add(db, "counting", &counting, "extra"), SQLITE_OK);
    return 0;
}

static int tear_down(void **state) {
    sqlite3_close(db);
    return 0;
}

static int64_t number(const char *sql) {
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(db));
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    int64_t value = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return value;
}

static void test_conditions_become_values(void **state) {
    assert_int_equal(number("SELECT count(*) FROM counting WHERE base = 5"), 100);
    assert_int_equal(number("SELECT sum(sum) FROM counting WHERE base = 5 AND number = 7"), 12);
    assert_int_equal(number("SELECT sum(number) FROM counting WHERE base = 5 AND number BETWEEN 3 AND 5"),
                     12);
    assert_int_equal(begun, 3);
    assert_int_equal(ended, 3);
}

/* "number > 3" begins at 3; SQLite leaves that row out. */
static void test_inexact_bounds_are_looked_at_again(void **state) {
    assert_int_equal(number("SELECT min(number) FROM counting WHERE base = 0 AND number > 3"), 4);
    assert_int_equal(number("SELECT max(number) FROM counting WHERE base = 0 AND number < 3"), 2);
    assert_int_equal(number("SELECT count(*) FROM counting WHERE base = 0 AND number > 3 AND number > 90"),
                     9);
}

static void test_without_the_first_value_there_are_no_rows(void **state) {
    sqlite3_stmt *statement = NULL;
    assert_int_equal(sqlite3_prepare_v2(db, "SELECT * FROM counting", -1, &statement, NULL), SQLITE_ERROR);
}

static void test_a_join_begins_once_for_each_value(void **state) {
    assert_int_equal(
        number("WITH b (base) AS (VALUES (1), (2), (3)) SELECT sum(c.sum) FROM b CROSS JOIN counting c ON"
               " c.base = b.base AND c.number = 10"),
        36);
    assert_int_equal(begun, 3);
    assert_int_equal(ended, 1);
}

static void test_a_failure_has_its_message(void **state) {
    sqlite3_stmt *statement = NULL;
    const char *sql = "SELECT count(*) FROM counting WHERE base = -1";
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &statement, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_CORRUPT);
    sqlite3_finalize(statement);
    assert_string_equal(sqlite3_errmsg(db), "below 0");
}

/* A hidden column has the name that was added, and rows are numbered. */
static void test_data_and_rowid(void **state) {
    assert_int_equal(number("SELECT max(rowid) FROM counting WHERE base = 0 AND number >= 90"), 9);
    assert_int_equal(number("SELECT extra FROM counting WHERE base = 0 AND number = 4"), 4);
}

static void test_a_table_forgets_when_it_is_closed(void **state) {
    assert_int_equal(number("SELECT count(*) FROM counting WHERE base = 1"), 100);
    assert_int_equal(forgotten, 0);
    sqlite3_close(db);
    db = NULL;
    assert_int_equal(forgotten, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_conditions_become_values, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_inexact_bounds_are_looked_at_again, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_without_the_first_value_there_are_no_rows, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_join_begins_once_for_each_value, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_failure_has_its_message, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_data_and_rowid, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_table_forgets_when_it_is_closed, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("row_table", tests, NULL, NULL);
}
