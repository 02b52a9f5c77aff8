/* SPDX-License-Identifier: Apache-2.0 */
/* Which files may be appended to. What a whole run does with them is tests/integration/test_defects_guards.py's. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "storage/db.h"
#include "storage/file_kind.h"
#include "storage/guard.h"
#include "storage/schema.h"
#include "storage/schema_check.h"
#include "storage/schema_statements.h"
#include "tests/storage/folder.h"

static sqlite3 *make(const char *more) {
    sqlite3 *db;
    assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, pie_schema_sql, NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, more, NULL, NULL, NULL), SQLITE_OK);
    return db;
}

static void expect(const char *more, bool is_whole, bool has_guests) {
    struct pie_schema_facts facts;
    sqlite3 *db = make(more);
    assert_int_equal(pie_schema_check(db, &facts), 0);
    if (facts.is_whole != is_whole || facts.has_guests != has_guests)
        fail_msg("after \"%s\": whole %d, guests %d", more, facts.is_whole, facts.has_guests);
    sqlite3_close(db);
}

static void test_our_own_schema_is_whole(void **state) {
    expect("", true, false);
}

static void test_what_is_only_read_may_be_added(void **state) {
    expect("CREATE TABLE notes (text PRIMARY KEY)", true, false);
    expect("CREATE VIEW mine AS SELECT 1", true, false);
    expect("ANALYZE", true, false);
}

static void test_what_takes_part_in_a_write_is_a_guest(void **state) {
    expect("CREATE TRIGGER t AFTER INSERT ON run BEGIN SELECT 1; END", true, true);
    expect("CREATE TRIGGER t INSTEAD OF INSERT ON v_run BEGIN SELECT 1; END", true, true);
    expect("CREATE INDEX i ON run (started_ns)", true, true);
    expect("CREATE UNIQUE INDEX i ON run (abs(started_ns))", true, true);
    expect("CREATE VIRTUAL TABLE t USING fts5(a)", true, true);
}

static void test_a_changed_object_is_missed(void **state) {
    expect("DROP TABLE sample", false, false);
    expect("DROP INDEX process_run", false, false);
    expect("DROP VIEW v_run; CREATE VIEW v_run AS SELECT 1 AS run", false, false);
    expect("ALTER TABLE run ADD COLUMN more", false, false);
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

static char *dump(sqlite3 *db) {
    sqlite3_stmt *rows;
    char *text = NULL;
    static const char sql[] =
        "SELECT (SELECT group_concat(line, char(10)) FROM (SELECT printf('%s|%s|%s|%d|%s', type, name, "
        "tbl_name, rootpage > 0, sql)"
        " AS line FROM sqlite_schema ORDER BY 1)), (SELECT application_id FROM pragma_application_id),"
        " (SELECT user_version FROM pragma_user_version), (SELECT integrity_check FROM "
        "pragma_integrity_check)";
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &rows, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(rows), SQLITE_ROW);
    text = sqlite3_mprintf("%s\n%s %s %s", sqlite3_column_text(rows, 0), sqlite3_column_text(rows, 1),
                           sqlite3_column_text(rows, 2), sqlite3_column_text(rows, 3));
    sqlite3_finalize(rows);
    return text;
}

/* Views are rows that we write ourselves: whoever opens the file then finds what the statements would have made. */
static void test_the_schema_is_made_as_its_text_makes_it(void **state) {
    sqlite3 *db, *by_text = make("");
    char *wanted = dump(by_text), *found;
    int was_defensive = 0;
    assert_int_equal(sqlite3_open(at("made.db"), &db), SQLITE_OK);
    sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    assert_int_equal(sqlite3_exec(db, "BEGIN", NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(pie_schema_make(db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "COMMIT", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, -1, &was_defensive);
    assert_int_equal(was_defensive, 1);
    assert_true(sqlite3_exec(db, "DELETE FROM sqlite_schema", NULL, NULL, NULL) != SQLITE_OK);
    sqlite3_close(db);
    assert_int_equal(sqlite3_open(at("made.db"), &db), SQLITE_OK);
    found = dump(db);
    assert_string_equal(found, wanted);
    assert_int_equal(sqlite3_exec(db, "SELECT * FROM v_redundancy, v_run, v_leak", NULL, NULL, NULL),
                     SQLITE_OK);
    sqlite3_free(found);
    sqlite3_free(wanted);
    sqlite3_close(db);
    sqlite3_close(by_text);
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
        cmocka_unit_test(test_a_changed_object_is_missed),
        cmocka_unit_test(test_a_rehearsal_changes_nothing),
        cmocka_unit_test(test_a_rehearsal_that_fails_leaves_no_transaction),
        cmocka_unit_test(test_a_deadline_ends_a_statement),
        cmocka_unit_test_setup_teardown(test_the_schema_is_made_as_its_text_makes_it, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_only_regular_files_are_opened, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_what_stands_beside_is_a_regular_file_too, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
