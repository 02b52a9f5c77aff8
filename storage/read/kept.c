/* SPDX-License-Identifier: Apache-2.0 */

/* The views of the findings stand on each other, thirty high. To prepare a question to the top SQLite resolves, flattens
 * and types all of them at once, which takes it longer the more there are below. Where some on the way are tables, each
 * part is a small statement. And a view that several questions use is worked out once.
 *
 * Columns have no types, so values stay what they were. */

#include "storage/read/kept.h"

#include <errno.h>
#include <sqlite3.h>
#include <stddef.h>
#include <string.h>

#include "storage/base/message.h"
#include "storage/file/schema_statements.h"
#include "storage/read/reader_internal.h"
#include "storage/read/views.h"

enum { PARAMETERS_MAX = 500 };

static const struct {
    const char *name;
    bool has_runs; /* else its rows are the same for all */
} kept[] = {
    {"x_threshold", false},        {"x_total", true},        {"x_thread", true},
    {"x_line_fact", true},         {"x_lent_line", true},    {"x_line_arguments", true},
    {"x_finding", true},           {"x_weighed_finding", true}, {"x_told_finding", true},
    {"x_windowed_finding", true},  {"x_judged_finding", true},
    {"x_line_finding", true},
};

static const char *condition_of(const struct pie_schema_statement *view) {
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        if (strlen(kept[i].name) == view->name_size && memcmp(kept[i].name, view->name, view->name_size) == 0)
            return kept[i].has_runs ? " WHERE run = ?" : "";
    return NULL;
}

bool pie_kept_is(const struct pie_schema_statement *view) {
    return condition_of(view) != NULL;
}

static sqlite3_stmt *prepare_and_free(sqlite3 *db, char *sql, int *code) {
    sqlite3_stmt *statement = NULL;

    if (*code == SQLITE_OK)
        *code = sql ? sqlite3_prepare_v2(db, sql, -1, &statement, NULL) : SQLITE_NOMEM;
    sqlite3_free(sql);
    return statement;
}

/* Rows in memory: a table cannot be made while a statement is at a row, since that is to stop when the schema changes. */
struct rows {
    sqlite3_value **values; /* of one row after the other */
    size_t count;
    int columns;
};

static int take_row(struct rows *rows, sqlite3_stmt *statement) {
    size_t wanted = rows->count + (size_t)rows->columns;
    sqlite3_value **values = sqlite3_realloc64(rows->values, wanted * sizeof(sqlite3_value *));

    if (!values)
        return SQLITE_NOMEM;
    rows->values = values;
    for (int i = 0; i < rows->columns; i++) {
        sqlite3_value *value = sqlite3_value_dup(sqlite3_column_value(statement, i));
        if (!value)
            return SQLITE_NOMEM;
        values[rows->count++] = value;
    }
    return SQLITE_OK;
}

static int take_rows(struct rows *rows, sqlite3_stmt *statement) {
    int code;

    rows->columns = sqlite3_column_count(statement);
    while ((code = sqlite3_step(statement)) == SQLITE_ROW)
        if (take_row(rows, statement) != SQLITE_OK)
            return SQLITE_NOMEM;
    return code == SQLITE_DONE ? SQLITE_OK : code;
}

static void release_rows(struct rows *rows) {
    for (size_t i = 0; i < rows->count; i++)
        sqlite3_value_free(rows->values[i]);
    sqlite3_free(rows->values);
}

/* "CREATE TEMP TABLE name (a, b)" */
static char *creation_of(const struct pie_schema_statement *view, sqlite3_stmt *rows) {
    sqlite3_str *text = sqlite3_str_new(NULL);

    sqlite3_str_appendf(text, "CREATE TEMP TABLE %.*s", (int)view->name_size, view->name);
    for (int i = 0; i < sqlite3_column_count(rows); i++)
        sqlite3_str_appendf(text, "%s\"%w\"", i == 0 ? " (" : ", ", sqlite3_column_name(rows, i));
    sqlite3_str_appendall(text, ")");
    return sqlite3_str_finish(text);
}

static char *insertion_of(const struct pie_schema_statement *view, int columns) {
    sqlite3_str *text = sqlite3_str_new(NULL);

    sqlite3_str_appendf(text, "INSERT INTO temp.%.*s VALUES", (int)view->name_size, view->name);
    for (int i = 0; i < columns; i++)
        sqlite3_str_appendf(text, "%s?", i == 0 ? " (" : ",");
    sqlite3_str_appendall(text, ")");
    return sqlite3_str_finish(text);
}

static int insert_rows(sqlite3_stmt *insert, const struct rows *rows) {
    int code = SQLITE_OK;

    for (size_t at = 0; at < rows->count && code == SQLITE_OK; at += (size_t)rows->columns) {
        for (int i = 0; i < rows->columns && code == SQLITE_OK; i++)
            code = sqlite3_bind_value(insert, i + 1, rows->values[at + (size_t)i]);
        if (code == SQLITE_OK)
            (void)sqlite3_step(insert);
        code = code == SQLITE_OK ? sqlite3_reset(insert) : code;
    }
    return code;
}

static int put_rows(sqlite3 *db, const struct pie_schema_statement *view, const char *creation,
                    const struct rows *rows) {
    int code = creation ? sqlite3_exec(db, creation, NULL, NULL, NULL) : SQLITE_NOMEM;

    if (code != SQLITE_OK || rows->count == 0)
        return code;
    sqlite3_stmt *insert = prepare_and_free(db, insertion_of(view, rows->columns), &code);
    if (code == SQLITE_OK)
        code = insert_rows(insert, rows);
    sqlite3_finalize(insert);
    return code;
}

/* Takes `select`. */
static int keep(struct pie_reader *reader, const struct pie_schema_statement *view, char *select) {
    struct rows rows = {.values = NULL};
    int code = SQLITE_OK;
    sqlite3_stmt *statement = prepare_and_free(reader->db, select, &code);

    if (code == SQLITE_OK && sqlite3_bind_parameter_count(statement) > 0)
        code = sqlite3_bind_int64(statement, 1, reader->kept_run);
    if (code == SQLITE_OK)
        code = take_rows(&rows, statement);
    char *creation = code == SQLITE_OK ? creation_of(view, statement) : NULL;
    sqlite3_finalize(statement);
    if (code == SQLITE_OK)
        code = put_rows(reader->db, view, creation, &rows);
    sqlite3_free(creation);
    release_rows(&rows);
    return code;
}

static int keep_unguarded(struct pie_reader *reader, const struct pie_schema_statement *view, char *select) {
    int limit = sqlite3_limit(reader->db, SQLITE_LIMIT_VARIABLE_NUMBER, PARAMETERS_MAX);

    pie_reader_allow_all(reader, true);
    (void)sqlite3_exec(reader->db, "PRAGMA query_only = OFF", NULL, NULL, NULL);
    int code = keep(reader, view, select);
    (void)sqlite3_exec(reader->db, "PRAGMA query_only = ON", NULL, NULL, NULL);
    pie_reader_allow_all(reader, false);
    sqlite3_limit(reader->db, SQLITE_LIMIT_VARIABLE_NUMBER, limit);
    return code;
}

int pie_kept_make(struct pie_reader *reader, const struct pie_schema_statement *view, char **ret_message) {
    char *with = NULL, *sql = sqlite3_mprintf("SELECT * FROM %.*s%s", (int)view->name_size, view->name, condition_of(view));
    if (!sql)
        return pie_message(-ENOMEM, ret_message, "out of memory");
    int r = pie_views_before(reader, sql, &with, ret_message);
    if (r == 0) {
        int code = keep_unguarded(reader, view, sqlite3_mprintf("%s%s", with, sql));
        r = code == SQLITE_OK ? 0 : pie_reader_fail(reader, code, ret_message);
    }
    sqlite3_free(with);
    sqlite3_free(sql);
    return r;
}
