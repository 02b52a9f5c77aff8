/* SPDX-License-Identifier: Apache-2.0 */
/* Which files may be appended to. What a whole run does with them is tests/integration/test_defects_guards.py's. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "storage/file/db.h"
#include "storage/file/file_kind.h"
#include "storage/file/guard.h"
#include "storage/file/schema.h"
#include "storage/file/schema_check.h"
#include "storage/file/schema_statements.h"
#include "tests/storage/folder.h"

static sqlite3 *make(const char *more) {
    sqlite3 *db;
    assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, pie_tables_sql, NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, more, NULL, NULL, NULL), SQLITE_OK);
    return db;
}

static struct pie_schema_facts facts_after(const char *more) {
    struct pie_schema_facts facts;
    sqlite3 *db = make(more);
    assert_int_equal(pie_schema_check(db, &facts), 0);
    sqlite3_close(db);
    return facts;
}

static void expect(const char *more, bool is_whole, bool has_guests) {
    struct pie_schema_facts facts = facts_after(more);
    if (!facts.is_plain || facts.is_whole != is_whole || facts.has_guests != has_guests)
        fail_msg("after \"%s\": plain %d, whole %d, guests %d", more, facts.is_plain, facts.is_whole,
                 facts.has_guests);
}

static void expect_not_plain(const char *more) {
    if (facts_after(more).is_plain)
        fail_msg("after \"%s\" it is plain", more);
}

static void test_our_own_schema_is_whole(void **state) {
    expect("", true, false);
}

static void test_what_is_only_read_may_be_added(void **state) {
    expect("CREATE TABLE notes (text PRIMARY KEY)", true, false);
    expect("CREATE VIEW mine AS SELECT 1", true, false);
    expect("ANALYZE", true, false);
    expect(pie_views_sql, true, false);
}

static void test_what_takes_part_in_a_write_is_a_guest(void **state) {
    expect("CREATE TRIGGER t AFTER INSERT ON run BEGIN SELECT 1; END", true, true);
    expect("CREATE VIEW v AS SELECT 1 AS a;"
           "CREATE TRIGGER t INSTEAD OF INSERT ON v BEGIN SELECT 1; END",
           true, true);
    expect("CREATE INDEX i ON run (started_ns)", true, true);
    expect("CREATE UNIQUE INDEX i ON run (abs(started_ns))", true, true);
    expect("CREATE VIRTUAL TABLE t USING fts5(a)", true, true);
}

static void test_other_versions_may_have_more_columns_and_not_less(void **state) {
    expect("ALTER TABLE run ADD COLUMN more", true, false);
    expect("DROP INDEX process_run", true, false);
    expect("DROP TABLE sample", false, false);
    expect("DROP TABLE counter; CREATE TABLE counter (process, name, value)", false, false);
    expect("DROP TABLE counter; CREATE TABLE Counter (is_drop, value, name, process, more)", true, false);
}

static void test_what_is_appended_to_is_ours_to_the_letter(void **state) {
    assert_true(facts_after("").is_exact);
    assert_true(facts_after("CREATE VIEW mine AS SELECT 1").is_exact);
    assert_false(facts_after("ALTER TABLE run ADD COLUMN more").is_exact);
    assert_false(facts_after("ALTER TABLE run ADD COLUMN more AS (1)").is_exact);
    assert_false(facts_after("DROP TABLE sample").is_exact);
}

static void test_what_is_computed_is_not_plain(void **state) {
    expect_not_plain("DROP TABLE sample; CREATE VIEW sample AS SELECT 1 AS process");
    expect_not_plain("DROP TABLE holder; CREATE VIRTUAL TABLE holder USING fts5(process, node, size, text)");
    expect_not_plain("DROP TABLE counter;"
                     "CREATE TABLE counter (process, name, value AS (length(name)), is_drop)");
    expect_not_plain("DROP TABLE counter;"
                     "CREATE TABLE counter (process, name, value AS (length(name)) STORED, is_drop)");
}

static bool note_column(const char *column, size_t size, void *data) {
    char *list = data;
    strncat(list, column, size);
    strcat(list, " ");
    return true;
}

static void test_columns_are_found_in_the_text(void **state) {
    size_t count;
    const struct pie_schema_statement *tables = pie_schema_tables(&count);
    char list[400] = "";
    for (size_t i = 0; i < count; i++)
        if (strncmp(tables[i].name, "counter ", strlen("counter ")) == 0)
            pie_schema_columns(&tables[i], note_column, list);
    assert_string_equal(list, "process name value is_drop ");
}

static void test_a_rehearsal_changes_nothing(void **state) {
    int64_t rows = 5;
    sqlite3 *db = make("");
    assert_int_equal(pie_schema_rehearse(db), 0);
    assert_int_equal(
        pie_db_get_int(db, "SELECT (SELECT count(*) FROM run) + (SELECT count(*) FROM process)", &rows), 0);
    assert_int_equal(rows, 0);
    assert_true(sqlite3_get_autocommit(db));
    sqlite3_close(db);
}

static void test_a_rehearsal_that_fails_leaves_no_transaction(void **state) {
    sqlite3 *db = make("CREATE TRIGGER t BEFORE INSERT ON process BEGIN SELECT raise(ABORT, 'no'); END");
    assert_true(pie_schema_rehearse(db) < 0);
    assert_true(sqlite3_get_autocommit(db));
    sqlite3_close(db);
}

static void test_a_deadline_ends_a_statement(void **state) {
    struct pie_guard guard = {0};
    sqlite3 *db = make("");
    pie_guard_limit(db, &guard);
    pie_guard_start_clock(&guard, 0.05);
    assert_int_equal(
        pie_db_exec(db, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i FROM n) SELECT count(*) FROM n"),
        -ETIMEDOUT);
    sqlite3_close(db);
}

static const char *folder;

static int set_up(void **state) {
    folder = pie_folder_make();
    return folder ? 0 : -1;
}

static int tear_down(void **state) {
    pie_folder_remove(folder);
    return 0;
}

static const char *at(const char *name) {
    return pie_folder_path(folder, name);
}

static void test_a_new_file_has_our_tables_and_nothing_else(void **state) {
    sqlite3 *db;
    int64_t value;
    struct pie_schema_facts facts;
    assert_int_equal(sqlite3_open(at("made.db"), &db), SQLITE_OK);
    assert_int_equal(pie_schema_make(db), SQLITE_OK);
    assert_int_equal(pie_schema_check(db, &facts), 0);
    assert_true(facts.is_plain && facts.is_exact && !facts.has_guests);
    assert_int_equal(pie_db_get_int(db, "SELECT count(*) FROM sqlite_schema WHERE type = 'view'", &value), 0);
    assert_int_equal(value, 0);
    assert_int_equal(pie_db_get_int(db, "PRAGMA user_version", &value), 0);
    assert_int_equal(value, PIE_SCHEMA_VERSION);
    assert_int_equal(pie_schema_age(value), PIE_SCHEMA_SAME);
    sqlite3_close(db);
}

static void test_versions_have_an_age(void **state) {
    assert_int_equal(pie_schema_age(PIE_SCHEMA_VERSION + 1), PIE_SCHEMA_SAME);
    assert_int_equal(pie_schema_age(PIE_SCHEMA_VERSION + 100), PIE_SCHEMA_NEW);
    assert_int_equal(pie_schema_age(PIE_SCHEMA_VERSION - 1), PIE_SCHEMA_OLD);
    assert_int_equal(pie_schema_age(8), PIE_SCHEMA_OLD);
    assert_int_equal(pie_schema_age(6), PIE_SCHEMA_OLD);
    assert_int_equal(pie_schema_age(5), PIE_SCHEMA_DEAD);
    assert_int_equal(pie_schema_age(0), PIE_SCHEMA_NONE);
    assert_int_equal(pie_schema_age(-7), PIE_SCHEMA_NONE);
}

static void test_only_regular_files_are_opened(void **state) {
    assert_int_equal(pie_file_kind_check(at("missing.db")), 0);
    assert_int_equal(pie_file_kind_check(folder), -EISDIR);
    assert_int_equal(pie_file_kind_check("/dev/null"), -EINVAL);
    assert_int_equal(mkfifo(at("fifo.db"), 0600), 0);
    assert_int_equal(pie_file_kind_check(at("fifo.db")), -EINVAL);
    assert_int_equal(symlink("loop.db", at("loop.db")), 0);
    assert_int_equal(pie_file_kind_check(at("loop.db")), -ELOOP);
}

static void test_what_stands_beside_is_a_regular_file_too(void **state) {
    pie_folder_write(folder, "a.db", "x");
    assert_int_equal(symlink("a.db", at("link.db")), 0);
    pie_folder_write(folder, "a.db-wal", "");
    assert_int_equal(pie_file_kind_check(at("link.db")), 0);
    assert_int_equal(truncate(at("a.db-wal"), (off_t)1 << 40), 0);
    assert_int_equal(pie_file_kind_check(at("a.db")), -EFBIG);
    assert_int_equal(unlink(at("a.db-wal")), 0);
    assert_int_equal(mkfifo(at("a.db-journal"), 0600), 0);
    assert_int_equal(pie_file_kind_check(at("a.db")), -EINVAL);
    assert_int_equal(pie_file_kind_check(at("link.db")), -EINVAL); /* a link's file has its own neighbours */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_our_own_schema_is_whole),
        cmocka_unit_test(test_what_is_only_read_may_be_added),
        cmocka_unit_test(test_what_takes_part_in_a_write_is_a_guest),
        cmocka_unit_test(test_other_versions_may_have_more_columns_and_not_less),
        cmocka_unit_test(test_what_is_appended_to_is_ours_to_the_letter),
        cmocka_unit_test(test_what_is_computed_is_not_plain),
        cmocka_unit_test(test_columns_are_found_in_the_text),
        cmocka_unit_test(test_versions_have_an_age),
        cmocka_unit_test(test_a_rehearsal_changes_nothing),
        cmocka_unit_test(test_a_rehearsal_that_fails_leaves_no_transaction),
        cmocka_unit_test(test_a_deadline_ends_a_statement),
        cmocka_unit_test_setup_teardown(test_a_new_file_has_our_tables_and_nothing_else, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_only_regular_files_are_opened, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_what_stands_beside_is_a_regular_file_too, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
