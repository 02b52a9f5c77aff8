/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/file/image.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "storage/file/sqlite_open.h"
#include "tests/storage/folder.h"

enum { ROWS = 2000, IMAGES = 20, TRIES = 1000000, MODE = 0600 };

static const char tables[] = "PRAGMA journal_mode = WAL;"
                             "CREATE TABLE a (id INTEGER PRIMARY KEY, n, text);"
                             "WITH RECURSIVE i (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM i WHERE n < 2000)"
                             "INSERT INTO a SELECT n, 0, randomblob(1500) FROM i";

static sqlite3 *open_database(void) {
    sqlite3 *db = NULL;
    assert_int_equal(
        pie_sqlite_open(pie_folder_database(), &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL),
        SQLITE_OK);
    sqlite3_busy_timeout(db, 10000);
    return db;
}

static void run(sqlite3 *db, const char *sql) {
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
}

static void make_database(const char *more) {
    sqlite3 *db = open_database();
    run(db, tables);
    run(db, more);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

static int64_t ask(sqlite3 *db, const char *sql) {
    sqlite3_stmt *statement = NULL;
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &statement, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    int64_t value = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return value;
}

static int open_image(const char *path) {
    sqlite3 *db = NULL;
    int code = pie_image_open(path, &db);
    assert_true((code == SQLITE_OK) == (db != NULL));
    sqlite3_close(db);
    return code;
}

static void test_a_file_at_rest_is_read_without_files_beside_it(void **state) {
    sqlite3 *db = NULL, *other = NULL;
    char log[4096];
    make_database("SELECT 1");
    assert_int_equal(pie_image_open(pie_folder_database(), &db), SQLITE_OK);
    snprintf(log, sizeof log, "%s-wal", pie_folder_database());
    assert_int_equal(access(log, F_OK), -1);
    assert_int_equal(ask(db, "SELECT count(*) FROM a"), ROWS);
    assert_true(sqlite3_exec(db, "DELETE FROM a", NULL, NULL, NULL) != SQLITE_OK);
    assert_int_equal(pie_sqlite_open(":memory:", &other, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
    assert_int_equal(pie_image_attach(other, "it's", pie_folder_database()), SQLITE_OK);
    assert_int_equal(ask(other, "SELECT count(*) FROM \"it's\".a"), ROWS);
    sqlite3_close(other);
    sqlite3_close(db);
}

static void test_a_file_that_somebody_has_open_is_not(void **state) {
    make_database("SELECT 1");
    sqlite3 *db = open_database();
    run(db, "UPDATE a SET n = 1");
    assert_int_equal(open_image(pie_folder_database()), SQLITE_NOTFOUND);
    sqlite3_close(db);
    assert_int_equal(open_image(pie_folder_database()), SQLITE_OK);
}

static void test_a_file_that_somebody_is_closing_is_not(void **state) {
    struct flock all = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 0x40000000, .l_len = 512};
    make_database("SELECT 1");
    int fd = open(pie_folder_database(), O_RDWR);
    assert_int_equal(fcntl(fd, F_OFD_SETLK, &all), 0);
    assert_int_equal(open_image(pie_folder_database()), SQLITE_NOTFOUND);
    close(fd);
    assert_int_equal(open_image(pie_folder_database()), SQLITE_OK);
}

static void test_other_files_are_not(void **state) {
    const char *other = pie_folder_path(pie_folder_database(), "../b.db");
    make_database("PRAGMA journal_mode = DELETE");
    assert_int_equal(open_image(pie_folder_database()), SQLITE_NOTFOUND);
    sqlite3 *db = open_database();
    run(db, "PRAGMA journal_mode = WAL; CREATE TABLE large AS SELECT randomblob(5000000)");
    sqlite3_close(db);
    assert_int_equal(open_image(pie_folder_database()), SQLITE_NOTFOUND);
    assert_int_equal(open_image(other), SQLITE_NOTFOUND);
    assert_int_equal(open_image("/"), SQLITE_NOTFOUND);
    assert_int_equal(open_image("/dev/zero"), SQLITE_NOTFOUND);
}

static void name_of(char *name, size_t size, const char *suffix) {
    assert_true(snprintf(name, size, "%s%s", pie_folder_database(), suffix) < (int)size);
}

/* SQLite looks for the log beside the name that it is given, behind links of one kind only. */
static void test_a_file_with_two_names_is_not(void **state) {
    char other[4096];
    make_database("SELECT 1");
    name_of(other, sizeof other, ".link");
    assert_int_equal(symlink(pie_folder_database(), other), 0);
    assert_int_equal(open_image(other), SQLITE_NOTFOUND);
    assert_int_equal(unlink(other), 0);
    assert_int_equal(link(pie_folder_database(), other), 0);
    assert_int_equal(open_image(other), SQLITE_NOTFOUND);
    assert_int_equal(unlink(other), 0);
}

static void test_a_journal_is_sqlites_to_look_at(void **state) {
    char journal[4096];
    make_database("SELECT 1");
    name_of(journal, sizeof journal, "-journal");
    assert_int_equal(close(open(journal, O_CREAT | O_WRONLY, MODE)), 0);
    assert_int_equal(open_image(pie_folder_database()), SQLITE_NOTFOUND);
}

/* The first page of rows and the last. */
static const char write_ends[] = "PRAGMA synchronous = OFF; UPDATE a SET n = n + 1 WHERE id IN (1, 2000);"
                                 "PRAGMA wal_checkpoint";

/* Opens, writes, puts the log into the file, closes: as fast as it can, until it is killed. */
static _Noreturn void write_for_ever(void) {
    for (;;) {
        sqlite3 *db = NULL;
        bool has_failed =
            pie_sqlite_open(pie_folder_database(), &db, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK ||
            sqlite3_busy_timeout(db, 10000) != SQLITE_OK;
        for (int i = 0; i < 3 && !has_failed; i++)
            has_failed = sqlite3_exec(db, write_ends, NULL, NULL, NULL) != SQLITE_OK;
        if (sqlite3_close(db) != SQLITE_OK || has_failed)
            _exit(1);
        usleep(300);
    }
}

/* All of it is of one time, whatever others do meanwhile. */
static void test_an_image_is_whole(void **state) {
    int found = 0;
    make_database("SELECT 1");
    pid_t writer = fork();
    if (writer == 0)
        write_for_ever();
    for (int i = 0; i < TRIES && found < IMAGES; i++) {
        sqlite3 *db = NULL;
        if (pie_image_open(pie_folder_database(), &db) != SQLITE_OK)
            continue;
        assert_int_equal(ask(db, "SELECT count(DISTINCT n) = 1 FROM a WHERE id IN (1, 2000)"), 1);
        sqlite3_close(db);
        found++;
    }
    assert_int_equal(kill(writer, SIGKILL), 0);
    int status;
    assert_int_equal(waitpid(writer, &status, 0), writer);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(found, IMAGES);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_file_at_rest_is_read_without_files_beside_it,
                                        pie_folder_set_up, pie_folder_tear_down),
        cmocka_unit_test_setup_teardown(test_a_file_that_somebody_has_open_is_not, pie_folder_set_up,
                                        pie_folder_tear_down),
        cmocka_unit_test_setup_teardown(test_a_file_that_somebody_is_closing_is_not, pie_folder_set_up,
                                        pie_folder_tear_down),
        cmocka_unit_test_setup_teardown(test_other_files_are_not, pie_folder_set_up, pie_folder_tear_down),
        cmocka_unit_test_setup_teardown(test_a_file_with_two_names_is_not, pie_folder_set_up,
                                        pie_folder_tear_down),
        cmocka_unit_test_setup_teardown(test_a_journal_is_sqlites_to_look_at, pie_folder_set_up,
                                        pie_folder_tear_down),
        cmocka_unit_test_setup_teardown(test_an_image_is_whole, pie_folder_set_up, pie_folder_tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
