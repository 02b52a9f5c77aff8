/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "storage/ask/query.h"
#include "storage/ask/questions.h"
#include "storage/formats/export.h"
#include "storage/file/schema.h"
#include "storage/read/reader.h"
#include "tests/storage/fixture.h"
#include "tests/storage/folder.h"

/* What reads beyond an end shows under AddressSanitizer, and hardly ever without. */
#ifdef __SANITIZE_ADDRESS__
enum { DAMAGED_FILES = 400, SEED = 20261121 };
#else
enum { DAMAGED_FILES = 100, SEED = 20261121 };
#endif

static const char *folder;
static unsigned char *original;
static size_t original_size;

static const char *at(const char *name) {
    return pie_folder_path(folder, name);
}

static int set_up(void **state) {
    struct stat status;
    folder = pie_folder_make();
    pie_fixture_write(at("good.db"), folder, 1);
    pie_fixture_write_waste(at("good.db"), folder);
    FILE *file = fopen(at("good.db"), "r");
    stat(at("good.db"), &status);
    original_size = (size_t)status.st_size;
    original = malloc(original_size);
    return fread(original, 1, original_size, file) == original_size && fclose(file) == 0 ? 0 : -1;
}

static int tear_down(void **state) {
    free(original);
    pie_folder_remove(folder);
    return 0;
}

static void write_bytes(const char *path, const unsigned char *bytes, size_t size) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

/* Either answers or one line that says why not. */
static void expect_line(int r, char *message) {
    if (r >= 0) {
        assert_null(message);
        return;
    }
    assert_non_null(message);
    assert_true(strlen(message) > 0);
    free(message);
}

static void read_all(struct pie_reader *reader, const char *question) {
    struct pie_query query;
    char *message = NULL;
    int r = pie_query_open(reader, question, 0, &query, &message);
    if (r == 0) {
        while ((r = pie_cursor_next(query.cursor, &message)) > 0) {
            for (int i = 0; i < pie_cursor_column_count(query.cursor); i++)
                (void)pie_cursor_text(query.cursor, i);
        }
        pie_query_close(&query);
    }
    expect_line(r, message);
}

static void read_everything(const char *path) {
    struct pie_reader *reader;
    size_t count;
    char *message = NULL;
    int64_t run;
    int r = pie_reader_open(path, &reader, &message);
    expect_line(r, message);
    if (r < 0)
        return;
    pie_reader_set_time_limit(reader, 5);
    const struct pie_question *questions = pie_question_all(&count);
    for (size_t i = 0; i < count; i++)
        read_all(reader, questions[i].name);
    message = NULL;
    r = pie_reader_get_run(reader, 0, &run, &message);
    expect_line(r, message);
    FILE *nowhere = fopen("/dev/null", "w");
    static const char *const formats[] = {"pprof",    "speedscope", "collapsed", "firefox",
                                          "perfetto", "callgrind",  "pstats",    "svg",
                                          "csv",      "json",       "md"};
    enum { FORMATS = sizeof formats / sizeof *formats };
    static unsigned turn;
    for (int i = 0; r == 0 && i < 2; i++) {
        message = NULL;
        struct pie_export_choice choice = {.run = run,
                                           .detail = i ? PIE_CALLTREE_FULL : PIE_CALLTREE_READABLE,
                                           .has_threads = turn % 3 == 0};
        const struct pie_export_format *format = pie_export_find(formats[turn++ % FORMATS]);
        int exported = format->missing ? 0 : format->write(nowhere, reader, &choice, &message);
        expect_line(exported, message);
    }
    fclose(nowhere);
    pie_reader_close(reader);
}

static uint32_t random_state = SEED;

/* Marsaglia's xorshift, so that a failure can be repeated anywhere. */
static uint32_t random_below(uint32_t limit) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 17;
    random_state ^= random_state << 5;
    return random_state % limit;
}

static void test_a_damaged_file_gives_an_answer_or_a_message(void **state) {
    unsigned char *bytes = malloc(original_size);
    for (int i = 0; i < DAMAGED_FILES; i++) {
        size_t size = original_size;
        memcpy(bytes, original, size);
        if (i % 4 == 0)
            size = random_below((uint32_t)size) + 1;
        else if (i % 4 == 1)
            memset(bytes + 4096 * random_below((uint32_t)size / 4096), (int)random_below(256), 4096);
        for (uint32_t flips = i % 4 >= 2 ? random_below(30) + 1 : 0; flips > 0; flips--)
            bytes[random_below((uint32_t)size)] ^= (unsigned char)(1u << random_below(8));
        write_bytes(at("bad.db"), bytes, size);
        read_everything(at("bad.db"));
    }
    free(bytes);
}

static void test_every_truncated_file_is_refused(void **state) {
    for (size_t size = 0; size < original_size; size += 2048) {
        struct pie_reader *reader;
        char *message = NULL;
        write_bytes(at("cut.db"), original, size);
        if (pie_reader_open(at("cut.db"), &reader, &message) == 0)
            fail_msg("%zu of %zu bytes", size, original_size);
        assert_non_null(message);
        free(message);
    }
}

static void change(const char *path, const char *sql) {
    sqlite3 *db;
    char *error = NULL;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 0, NULL);
    if (sqlite3_exec(db, sql, NULL, NULL, &error) != SQLITE_OK)
        fail_msg("%s", error);
    sqlite3_close(db);
}

static void refused_after(const char *sql, const char *word) {
    struct pie_reader *reader;
    char *message = NULL;
    write_bytes(at("changed.db"), original, original_size);
    change(at("changed.db"), sql);
    assert_true(pie_reader_open(at("changed.db"), &reader, &message) < 0);
    assert_non_null(message);
    if (!strstr(message, word))
        fail_msg("no \"%s\" in: %s", word, message);
    free(message);
}

static void test_a_file_with_other_tables_is_refused(void **state) {
    refused_after("DROP TABLE sample; CREATE TABLE sample (x)", "schema");
    refused_after("DROP TABLE sample; CREATE VIEW sample AS SELECT 1 AS process", "schema");
    refused_after("PRAGMA user_version = 1200", "newer");
    refused_after("PRAGMA user_version = 3", "older");
    refused_after("PRAGMA user_version = -1", "damaged");
    refused_after("PRAGMA application_id = 1", "another program");
    refused_after("PRAGMA application_id = 0; PRAGMA user_version = 0", "another program");
}

static void test_a_file_whose_maker_was_killed_says_so(void **state) {
    struct pie_reader *reader;
    char *message = NULL;
    write_bytes(at("begun.db"), original, 0);
    assert_int_equal(pie_reader_open(at("begun.db"), &reader, &message), -ENODATA);
    assert_non_null(strstr(message, "killed before it wrote anything"));
    free(message);
    change(at("begun.db"), "CREATE TABLE t (x); DROP TABLE t; PRAGMA journal_mode = WAL");
    assert_int_equal(pie_reader_open(at("begun.db"), &reader, &message), -ENODATA);
    assert_non_null(strstr(message, "killed before it wrote anything"));
    free(message);
}

static int64_t ask(struct pie_reader *reader, const char *sql) {
    struct pie_cursor *cursor;
    char *message = NULL;
    if (pie_cursor_open(reader, sql, &cursor, &message) < 0 || pie_cursor_next(cursor, &message) != 1)
        fail_msg("%s: %s", sql, message ? message : "no row");
    int64_t value = pie_cursor_int(cursor, 0);
    pie_cursor_close(cursor);
    return value;
}

static void test_views_are_the_readers_own(void **state) {
    struct pie_reader *reader;
    char *message = NULL;
    write_bytes(at("views.db"), original, original_size);
    assert_int_equal(pie_reader_open(at("views.db"), &reader, &message), 0);
    int64_t lines = ask(reader, "SELECT count(*) FROM v_line");
    assert_true(lines > 1);
    pie_reader_close(reader);
    change(at("views.db"),
           "CREATE VIEW v_line AS SELECT load_extension('x') AS run; CREATE VIEW x_total AS SELECT 1");
    assert_int_equal(pie_reader_open(at("views.db"), &reader, &message), 0);
    assert_int_equal(ask(reader, "SELECT count(*) FROM v_line"), lines);
    pie_reader_close(reader);
}

static int count_rows(const char *path, const char *question) {
    struct pie_reader *reader;
    struct pie_query query;
    char *message = NULL;
    int rows = 0;
    assert_int_equal(pie_reader_open(path, &reader, &message), 0);
    assert_int_equal(pie_query_open(reader, question, 0, &query, &message), 0);
    while (pie_cursor_next(query.cursor, &message) > 0)
        rows++;
    pie_query_close(&query);
    pie_reader_close(reader);
    return rows;
}

/* A question has this table by the name of its module, behind which any of the file's would come first. */
static void test_the_table_of_added_samples_is_the_readers_own(void **state) {
    write_bytes(at("table.db"), original, original_size);
    int rows = count_rows(at("table.db"), "hot lines of run 1");
    assert_true(rows > 1);
    change(at("table.db"), "CREATE TABLE x_node_sample AS SELECT 0 AS process, 0 AS node");
    assert_int_equal(count_rows(at("table.db"), "hot lines of run 1"), rows);
    change(at("table.db"),
           "DROP TABLE x_node_sample; CREATE VIEW X_Node_Sample AS SELECT load_extension('x')");
    assert_int_equal(count_rows(at("table.db"), "hot lines of run 1"), rows);
}

/* In quotes, in capitals, in a comment, beside each other; asked for once more. */
static void test_views_are_made_where_they_are_named(void **state) {
    struct pie_reader *reader;
    char *message = NULL;
    write_bytes(at("named.db"), original, original_size);
    assert_int_equal(pie_reader_open(at("named.db"), &reader, &message), 0);
    assert_int_equal(ask(reader, "SELECT count(*) FROM sqlite_temp_schema"), 0);
    int64_t runs = ask(reader, "SELECT count(*) FROM run");
    assert_int_equal(ask(reader, "SELECT count(*) FROM \"v_run\""), runs);
    assert_int_equal(ask(reader, "SELECT count(*) FROM V_RUN,v_run r WHERE r.run=V_RUN.run"), runs);
    assert_int_equal(ask(reader, "SELECT count(*) FROM [V_Run] /* v_leak */"), runs);
    assert_true(ask(reader, "SELECT count(*) FROM sqlite_temp_schema WHERE name = 'v_leak'") == 1);
    int64_t made = ask(reader, "SELECT count(*) FROM sqlite_temp_schema");
    assert_int_equal(ask(reader, "SELECT count(*) FROM v_run"), runs);
    assert_int_equal(ask(reader, "SELECT count(*) FROM sqlite_temp_schema"), made);
    pie_reader_close(reader);
}

static void test_views_that_could_not_be_made_are_made_later(void **state) {
    struct pie_reader *reader;
    struct pie_cursor *cursor;
    char *message = NULL;
    write_bytes(at("later.db"), original, original_size);
    assert_int_equal(pie_reader_open(at("later.db"), &reader, &message), 0);
    int before = sqlite3_limit(pie_reader_database(reader), SQLITE_LIMIT_SQL_LENGTH, 400);
    assert_true(pie_cursor_open(reader, "SELECT * FROM v_line", &cursor, &message) < 0);
    free(message);
    sqlite3_limit(pie_reader_database(reader), SQLITE_LIMIT_SQL_LENGTH, before);
    assert_true(ask(reader, "SELECT count(*) FROM v_line") > 1);
    pie_reader_close(reader);
}

static void test_what_somebody_added_does_no_harm(void **state) {
    write_bytes(at("added.db"), original, original_size);
    change(at("added.db"), "CREATE INDEX mine ON sample (node); CREATE TABLE notes (text);"
                           "CREATE TEMP TRIGGER t AFTER INSERT ON run BEGIN SELECT 1; END");
    struct pie_reader *reader;
    char *message = NULL;
    assert_int_equal(pie_reader_open(at("added.db"), &reader, &message), 0);
    pie_reader_close(reader);
}

static void test_hostile_rows_end_in_an_answer_or_a_message(void **state) {
    static const char *const changes[] = {
        "UPDATE node SET parent = id",
        "UPDATE node SET parent = (SELECT max(id) FROM node) + 1 - id",
        "UPDATE location SET caller = id",
        "UPDATE location SET function = 999",
        "UPDATE sample SET python_ns = 9223372036854775807, native_ns = 9223372036854775807",
        "UPDATE sample SET python_ns = -5, samples = -1",
        "UPDATE sample SET cpu_sq_ns2 = 9e999",
        "UPDATE function SET name = CAST(x'ff00fe1b5b' AS TEXT)",
        "UPDATE file SET path = ''",
        "UPDATE process SET argv = 'not json'",
        "UPDATE thread SET started_ns = 9223372036854775807",
        "DELETE FROM process",
        "DELETE FROM run",
        "DELETE FROM location",
        "UPDATE run SET id = -id",
        "UPDATE OR IGNORE watch SET first_node = 999",
        "UPDATE OR IGNORE watch SET second_node = first_node, outcome = 1",
        "UPDATE OR IGNORE watch SET weight_ns = -1, weight_sq_ns2 = -1",
        "UPDATE OR IGNORE watch SET weight_ns = 9e999, weight_sq_ns2 = 9e999",
        "UPDATE OR IGNORE watch SET weight_ns = 1e-300, weight_sq_ns2 = 1e300",
        "UPDATE OR IGNORE watch SET watches = 9223372036854775807, bytes = 9223372036854775807",
        "UPDATE OR IGNORE watch SET watches = 0, bytes = 0, length_ns = 0",
        "UPDATE OR IGNORE watch SET watches = -9223372036854775808, length_ns = -1, gap_ns = -1",
        "UPDATE OR IGNORE watch SET kind = 77, memory = -1, traits = 255, length = 9",
        "UPDATE OR IGNORE watch SET own_operation = -1, inner_operation = 'x'",
        "UPDATE OR IGNORE watch SET weight_ns = 'heavy', weight_sq_ns2 = x'00'",
        "UPDATE process SET sampler = x'ff00', sampler_note = 7",
        "UPDATE node SET entry_function = 999, own_location = 999",
        "UPDATE node SET entry_function = id, line_location = location, own_location = NULL",
        "UPDATE function SET name = char(0) || char(1) || '\"' || char(92) || char(10), kind = 3",
    };
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        write_bytes(at("hostile.db"), original, original_size);
        change(at("hostile.db"), changes[i]);
        read_everything(at("hostile.db"));
    }
}

static void denied(struct pie_reader *reader, const char *sql) {
    struct pie_query query;
    char *message = NULL;
    int r = pie_query_open(reader, sql, 0, &query, &message);
    if (r == 0) {
        while ((r = pie_cursor_next(query.cursor, &message)) > 0)
            ;
        pie_query_close(&query);
    }
    if (r >= 0)
        fail_msg("was answered: %s", sql);
    assert_non_null(message);
    free(message);
}

static void test_sql_may_only_read(void **state) {
    static const char *const forbidden[] = {
        "DELETE FROM run",
        "WITH x AS (SELECT 1) DELETE FROM run",
        "WITH x AS (SELECT 1) INSERT INTO run SELECT 1, 2, 3, 4",
        "SELECT load_extension('x.so')",
        "SELECT fts3_tokenizer('simple')",
        "SELECT * FROM pragma_database_list",
        "SELECT 1; SELECT 2",
        "SELECT 1; DROP TABLE run",
        "ATTACH '/tmp/x' AS y",
        "PRAGMA query_only = 0",
        "EXPLAIN DELETE FROM run",
        "SELECT zeroblob(1000000000)",
        "VALUES (1) UNION ALL SELECT load_extension('x')",
        "CREATE TEMP TABLE t (x)",
        "SELECT",
        "",
    };
    struct pie_reader *reader;
    char *message = NULL;
    assert_int_equal(pie_reader_open(at("good.db"), &reader, &message), 0);
    for (size_t i = 0; i < sizeof forbidden / sizeof *forbidden; i++)
        denied(reader, forbidden[i]);
    read_all(reader, "SELECT * FROM pragma_table_info('v_line')");
    read_all(reader, "call tree");
    denied(reader, "WITH x AS (SELECT 1) DELETE FROM call_tree");
    pie_reader_close(reader);
}

static void test_an_endless_query_ends_in_time(void **state) {
    struct pie_reader *reader;
    char *message = NULL;
    assert_int_equal(pie_reader_open(at("good.db"), &reader, &message), 0);
    pie_reader_set_time_limit(reader, 0.2);
    denied(reader, "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n");
    read_all(reader, "threads");
    pie_reader_close(reader);
}

static void test_other_things_than_files_are_refused(void **state) {
    static const char *const names[] = {"/dev/zero", "/", "/no/such/file"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct pie_reader *reader;
        char *message = NULL;
        assert_true(pie_reader_open(names[i], &reader, &message) < 0);
        assert_non_null(message);
        free(message);
    }
}

static int read_where_one_may_not_write(void) {
    struct pie_reader *reader;
    struct pie_query query;
    char *message = NULL;
    int rows = 0;
    if (pie_reader_open(at("sealed/a%20?.db"), &reader, &message) < 0 || pie_reader_note(reader))
        return 100;
    if (pie_query_open(reader, "hot lines of run 1", 0, &query, &message) < 0)
        return 101;
    while (pie_cursor_next(query.cursor, &message) > 0)
        rows++;
    return rows;
}

/* As on a read-only medium: the log's files can neither be found nor made. */
static void test_a_read_only_folder_is_read(void **state) {
    pie_folder_write(folder, "sealed/x", "");
    write_bytes(at("sealed/a%20?.db"), original, original_size);
    assert_int_equal(chmod(folder, 0755), 0);
    assert_int_equal(chmod(at("sealed"), 0555), 0);
    int rows = pie_folder_as_nobody(read_where_one_may_not_write);
    chmod(at("sealed"), 0755);
    assert_int_equal(rows, 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_damaged_file_gives_an_answer_or_a_message),
        cmocka_unit_test(test_every_truncated_file_is_refused),
        cmocka_unit_test(test_a_file_with_other_tables_is_refused),
        cmocka_unit_test(test_a_file_whose_maker_was_killed_says_so),
        cmocka_unit_test(test_views_are_the_readers_own),
        cmocka_unit_test(test_the_table_of_added_samples_is_the_readers_own),
        cmocka_unit_test(test_views_are_made_where_they_are_named),
        cmocka_unit_test(test_views_that_could_not_be_made_are_made_later),
        cmocka_unit_test(test_what_somebody_added_does_no_harm),
        cmocka_unit_test(test_hostile_rows_end_in_an_answer_or_a_message),
        cmocka_unit_test(test_sql_may_only_read),
        cmocka_unit_test(test_an_endless_query_ends_in_time),
        cmocka_unit_test(test_other_things_than_files_are_refused),
        cmocka_unit_test(test_a_read_only_folder_is_read),
    };
    return cmocka_run_group_tests_name("reader", tests, set_up, tear_down);
}
