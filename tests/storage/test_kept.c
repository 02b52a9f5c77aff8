/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "storage/file/schema_statements.h"
#include "storage/read/reader.h"
#include "tests/storage/fixture.h"
#include "tests/storage/folder.h"

/* A view is the same whether it is made, written before the statement, or stands on tables of one run. */

enum { ROWS_MAX = 4000, TEXT_BYTES = 1 << 16 };

struct answer {
    char *rows[ROWS_MAX];
    size_t count;
};

typedef int open_fn(struct pie_reader *reader, const char *sql, struct pie_cursor **ret_cursor,
                    char **ret_message);

static char *text_of_row(struct pie_cursor *cursor) {
    char *text = malloc(TEXT_BYTES);
    size_t at = 0;

    assert_non_null(text);
    for (int i = 0; i < pie_cursor_column_count(cursor) && at < TEXT_BYTES; i++) {
        const char *name = pie_cursor_column_name(cursor, i), *value = pie_cursor_text(cursor, i);
        if (pie_cursor_type(cursor, i) == PIE_VALUE_REAL) /* sums in another order */
            at += (size_t)snprintf(text + at, TEXT_BYTES - at, "%s=%.9g real|", name,
                                   pie_cursor_real(cursor, i));
        else
            at += (size_t)snprintf(text + at, TEXT_BYTES - at, "%s=%s %d|", name, value ? value : "NULL",
                                   (int)pie_cursor_type(cursor, i));
    }
    assert_true(at < TEXT_BYTES);
    return text;
}

static int compare_rows(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void ask(struct pie_reader *reader, open_fn *open, const char *sql, int64_t run,
                struct answer *ret_answer) {
    struct pie_cursor *cursor;
    char *message = NULL;
    int r = open(reader, sql, &cursor, &message);

    ret_answer->count = 0;
    if (r < 0)
        fail_msg("%s: %s", sql, message);
    pie_cursor_bind_int(cursor, ":run", run);
    while ((r = pie_cursor_next(cursor, &message)) > 0) {
        assert_true(ret_answer->count < ROWS_MAX);
        ret_answer->rows[ret_answer->count++] = text_of_row(cursor);
    }
    if (r < 0)
        fail_msg("%s: %s", sql, message);
    pie_cursor_close(cursor);
    qsort(ret_answer->rows, ret_answer->count, sizeof *ret_answer->rows, compare_rows);
}

static void release(struct answer *answer) {
    for (size_t i = 0; i < answer->count; i++)
        free(answer->rows[i]);
}

static void expect_same(const char *sql, const struct answer *a, const struct answer *b) {
    if (a->count != b->count)
        fail_msg("%s: %zu rows and %zu", sql, a->count, b->count);
    for (size_t i = 0; i < a->count; i++)
        if (strcmp(a->rows[i], b->rows[i]) != 0)
            fail_msg("%s:\n%s\n%s", sql, a->rows[i], b->rows[i]);
}

static struct pie_reader *open_reader(void) {
    struct pie_reader *reader;
    char *message = NULL;
    int r = pie_reader_open(pie_folder_database(), &reader, &message);

    if (r < 0)
        fail_msg("%s", message);
    return reader;
}

/* Rows of all views for people. */
static size_t compare_views(int64_t run) {
    static struct answer made, written, kept;
    struct pie_reader *makes = open_reader(), *writes = open_reader(), *keeps = open_reader();
    size_t count, rows = 0;
    const struct pie_schema_statement *views = pie_schema_views(&count);

    pie_reader_keep_run(keeps, run);
    for (size_t i = 0; i < count; i++) {
        char sql[128];
        if (strncmp(views[i].name, "v_", 2) != 0)
            continue;
        snprintf(sql, sizeof sql, "SELECT * FROM %.*s WHERE run = :run", (int)views[i].name_size,
                 views[i].name);
        ask(makes, pie_cursor_open, sql, run, &made);
        ask(writes, pie_cursor_open_once, sql, run, &written);
        ask(keeps, pie_cursor_open_once, sql, run, &kept);
        expect_same(sql, &made, &written);
        expect_same(sql, &made, &kept);
        rows += made.count;
        release(&made);
        release(&written);
        release(&kept);
    }
    pie_reader_close(makes);
    pie_reader_close(writes);
    pie_reader_close(keeps);
    return rows;
}

static const char *folder_of_database(void) {
    static char folder[4096];
    const char *database = pie_folder_database();

    snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(database, '/') - database), database);
    return folder;
}

static int64_t ask_number(const char *sql) {
    return pie_fixture_ask(pie_folder_database(), sql);
}

static void test_views_are_the_same_in_all_ways(void **state) {
    pie_fixture_write(pie_folder_database(), folder_of_database(), 1);
    pie_fixture_write_waste(pie_folder_database(), folder_of_database());
    pie_fixture_write_memory(pie_folder_database(), folder_of_database());
    pie_fixture_write_traced(pie_folder_database(), folder_of_database());
    int64_t runs = ask_number("SELECT max(id) FROM run");
    assert_int_equal(runs, 4);
    for (int64_t run = 1; run <= runs; run++)
        assert_true(compare_views(run) >= 10);
}

static void execute(const char *sql) {
    sqlite3 *db;
    char *message = NULL;

    assert_int_equal(sqlite3_open(pie_folder_database(), &db), SQLITE_OK);
    if (sqlite3_exec(db, sql, NULL, NULL, &message) != SQLITE_OK)
        fail_msg("%s", message);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

/* Of each kind by itself: what there is too little of is left out, and nothing else is. */
static void test_findings_of_one_kind_are_found(void **state) {
    static const struct {
        int kind, samples;
        size_t found;
    } turns[] = {{1, 19, 0}, {1, 20, 1}, {3, 20, 1}, {4, 19, 0}, {4, 20, 1}, {10, 9, 0}, {10, 10, 1}};
    pie_fixture_write(pie_folder_database(), folder_of_database(), 1);
    for (size_t i = 0; i < sizeof turns / sizeof *turns; i++) {
        static struct answer answer;
        char sql[1024];
        snprintf(sql, sizeof sql,
                 "DELETE FROM reading; INSERT INTO reading (process, node, kind, samples, cpu_ns, "
                 "cpu_sq_ns2, same,"
                 " rises, others, lower_ns, upper_ns, sum_size, max_size) SELECT n.process, n.id, %d, %d, "
                 "1e10, 1, 0,"
                 " %d, 0, 1, 1000000000, 1000, 1000 FROM node n JOIN sample s ON s.process = n.process AND "
                 "s.node = n.id"
                 " WHERE n.own_location = n.line_location LIMIT 1",
                 turns[i].kind, turns[i].samples, turns[i].samples);
        execute(sql);
        struct pie_reader *reader = open_reader();
        pie_reader_keep_run(reader, 1);
        ask(reader, pie_cursor_open_once, "SELECT * FROM v_redundancy WHERE run = :run", 1, &answer);
        if (answer.count != turns[i].found)
            fail_msg("kind %d, %d samples: %zu", turns[i].kind, turns[i].samples, answer.count);
        release(&answer);
        pie_reader_close(reader);
    }
    (void)compare_views(1);
}

/* All that is kept is empty but what has no need of evidence: each statement finds its columns. */
static void test_a_run_without_evidence_has_the_same_columns(void **state) {
    static struct answer answer;
    pie_fixture_write(pie_folder_database(), folder_of_database(), 1);
    assert_int_equal(ask_number("SELECT count(*) FROM watch"), 0);
    struct pie_reader *reader = open_reader();
    pie_reader_keep_run(reader, 1);
    ask(reader, pie_cursor_open_once, "SELECT * FROM v_redundancy WHERE run = :run", 1, &answer);
    assert_int_equal(answer.count, 0);
    ask(reader, pie_cursor_open_once, "SELECT * FROM v_redundancy_function WHERE run = :run", 1, &answer);
    assert_int_equal(answer.count, 0);
    pie_reader_close(reader);
}

/* What comes from a step that found nothing is not prepared: its table has all columns all the same. */
static void test_what_comes_from_nothing_has_all_columns(void **state) {
    static const char *const views[] = {"x_windowed_finding", "x_judged_finding", "x_line_finding"};
    pie_fixture_write(pie_folder_database(), folder_of_database(), 1);
    assert_int_equal(ask_number("SELECT count(*) FROM x_told_finding"), 0);
    struct pie_reader *makes = open_reader(), *keeps = open_reader();
    pie_reader_keep_run(keeps, 1);
    for (size_t i = 0; i < sizeof views / sizeof *views; i++) {
        char sql[128];
        struct pie_cursor *made, *kept;
        snprintf(sql, sizeof sql, "SELECT * FROM %s WHERE run = :run", views[i]);
        assert_int_equal(pie_cursor_open(makes, sql, &made, NULL), 0);
        assert_int_equal(pie_cursor_open_once(keeps, sql, &kept, NULL), 0);
        assert_int_equal(pie_cursor_column_count(kept), pie_cursor_column_count(made));
        for (int k = 0; k < pie_cursor_column_count(made); k++)
            assert_string_equal(pie_cursor_column_name(kept, k), pie_cursor_column_name(made, k));
        pie_cursor_close(made);
        pie_cursor_close(kept);
    }
    pie_reader_close(makes);
    pie_reader_close(keeps);
}

/* A statement with a WITH clause of its own, an alias, a text and a column that look like views. */
static void test_a_statement_is_taken_as_it_stands(void **state) {
    static struct answer answer;
    static const char sql[] =
        "WITH mine AS (SELECT r.run, 'v_run' AS x_total FROM v_run r) SELECT m.x_total,"
        " t.run FROM mine m JOIN v_run t ON t.run = m.run -- v_thread\n WHERE m.run = :run";
    pie_fixture_write(pie_folder_database(), folder_of_database(), 1);
    struct pie_reader *reader = open_reader();
    ask(reader, pie_cursor_open_once, sql, 1, &answer);
    assert_int_equal(answer.count, 1);
    assert_string_equal(answer.rows[0], "x_total=v_run 3|run=1 1|");
    release(&answer);
    pie_reader_close(reader);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_views_are_the_same_in_all_ways, pie_folder_set_up,
                                        pie_folder_tear_down),
        cmocka_unit_test_setup_teardown(test_findings_of_one_kind_are_found, pie_folder_set_up,
                                        pie_folder_tear_down),
        cmocka_unit_test_setup_teardown(test_a_run_without_evidence_has_the_same_columns, pie_folder_set_up,
                                        pie_folder_tear_down),
        cmocka_unit_test_setup_teardown(test_what_comes_from_nothing_has_all_columns, pie_folder_set_up,
                                        pie_folder_tear_down),
        cmocka_unit_test_setup_teardown(test_a_statement_is_taken_as_it_stands, pie_folder_set_up,
                                        pie_folder_tear_down),
    };
    return cmocka_run_group_tests_name("kept", tests, NULL, NULL);
}
