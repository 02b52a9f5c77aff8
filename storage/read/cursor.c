/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "storage/base/message.h"
#include "storage/read/reader_internal.h"
#include "storage/read/views.h"

struct pie_cursor {
    struct pie_reader *reader;
    sqlite3_stmt *statement;
    size_t with_size; /* of the views before it */
};

/* Is there anything but spaces, comments and semicolons? */
static bool is_rest_empty(sqlite3 *db, const char *rest) {
    sqlite3_stmt *statement = NULL;
    while (*rest) {
        int code = sqlite3_prepare_v2(db, rest, -1, &statement, &rest);
        bool is_empty = code == SQLITE_OK && !statement;
        sqlite3_finalize(statement);
        if (!is_empty)
            return false;
    }
    return true;
}

/* with_size: of what we put before the statement. */
static int open_statement(struct pie_reader *reader, const char *sql, size_t with_size,
                          struct pie_cursor **ret_cursor, char **ret_message) {
    sqlite3_stmt *statement = NULL;
    const char *rest = NULL;
    int r = 0;
    int code = pie_guard_prepare(reader->db, &reader->guard, sql, &statement, &rest);
    if (code != SQLITE_OK)
        return pie_reader_fail(reader, code, ret_message);
    if (!statement)
        r = pie_message(-EINVAL, ret_message, "there is no SQL statement in \"%s\"", sql);
    else if (!is_rest_empty(reader->db, rest))
        r = pie_message(-E2BIG, ret_message, "more than one SQL statement; ask one after the other");
    else if (!sqlite3_stmt_readonly(statement))
        r = pie_message(-EACCES, ret_message, "only reading is allowed");
    struct pie_cursor *cursor = r == 0 ? calloc(1, sizeof *cursor) : NULL;
    if (r == 0 && !cursor)
        r = pie_message(-ENOMEM, ret_message, "out of memory");
    if (r < 0) {
        sqlite3_finalize(statement);
        return r;
    }
    *cursor = (struct pie_cursor){.reader = reader, .statement = statement, .with_size = with_size};
    *ret_cursor = cursor;
    return 0;
}

int pie_cursor_open(struct pie_reader *reader, const char *sql, struct pie_cursor **ret_cursor,
                    char **ret_message) {
    pie_guard_start_clock(&reader->guard, reader->time_limit_s);
    int r = pie_views_make(reader, sql, ret_message);
    return r < 0 ? r : open_statement(reader, sql, 0, ret_cursor, ret_message);
}

int pie_cursor_open_once(struct pie_reader *reader, const char *select, struct pie_cursor **ret_cursor,
                         char **ret_message) {
    char *with;
    pie_guard_start_clock(&reader->guard, reader->time_limit_s);
    int r = pie_views_before(reader, select, &with, ret_message);
    if (r < 0)
        return r;
    bool has_with = *with == 'W' && strncmp(select, "WITH ", 5) == 0; /* theirs goes on with ours */
    char *sql = sqlite3_mprintf("%s%s%s", with, has_with ? ", " : "", has_with ? select + 5 : select);
    r = sql ? open_statement(reader, sql, strlen(with), ret_cursor, ret_message)
            : pie_message(-ENOMEM, ret_message, "out of memory");
    sqlite3_free(sql);
    sqlite3_free(with);
    return r;
}

void pie_cursor_close(struct pie_cursor *cursor) {
    if (!cursor)
        return;
    sqlite3_finalize(cursor->statement);
    free(cursor);
}

void pie_cursor_bind_int(struct pie_cursor *cursor, const char *name, int64_t value) {
    int index = sqlite3_bind_parameter_index(cursor->statement, name);
    if (index > 0)
        sqlite3_bind_int64(cursor->statement, index, value);
}

void pie_cursor_bind_text(struct pie_cursor *cursor, const char *name, const char *text) {
    int index = sqlite3_bind_parameter_index(cursor->statement, name);
    if (index > 0)
        sqlite3_bind_text(cursor->statement, index, text, -1, SQLITE_TRANSIENT);
}

char *pie_cursor_expanded_sql(struct pie_cursor *cursor) {
    char *expanded = sqlite3_expanded_sql(cursor->statement);
    char *copy = expanded ? strdup(expanded + cursor->with_size) : NULL;
    sqlite3_free(expanded);
    return copy;
}

int pie_cursor_next(struct pie_cursor *cursor, char **ret_message) {
    int code = sqlite3_step(cursor->statement);
    if (code == SQLITE_ROW)
        return 1;
    return code == SQLITE_DONE ? 0 : pie_reader_fail(cursor->reader, code, ret_message);
}

int pie_cursor_column_count(struct pie_cursor *cursor) {
    return sqlite3_column_count(cursor->statement);
}

const char *pie_cursor_column_name(struct pie_cursor *cursor, int column) {
    return sqlite3_column_name(cursor->statement, column);
}

enum pie_value_type pie_cursor_type(struct pie_cursor *cursor, int column) {
    switch (sqlite3_column_type(cursor->statement, column)) {
    case SQLITE_INTEGER:
        return PIE_VALUE_INTEGER;
    case SQLITE_FLOAT:
        return PIE_VALUE_REAL;
    case SQLITE_TEXT:
        return PIE_VALUE_TEXT;
    case SQLITE_BLOB:
        return PIE_VALUE_BLOB;
    default:
        return PIE_VALUE_NULL;
    }
}

int64_t pie_cursor_int(struct pie_cursor *cursor, int column) {
    return sqlite3_column_int64(cursor->statement, column);
}

double pie_cursor_real(struct pie_cursor *cursor, int column) {
    return sqlite3_column_double(cursor->statement, column);
}

const char *pie_cursor_text(struct pie_cursor *cursor, int column) {
    return (const char *)sqlite3_column_text(cursor->statement, column);
}

const void *pie_cursor_blob(struct pie_cursor *cursor, int column, int *ret_size) {
    const void *bytes = sqlite3_column_blob(cursor->statement, column);
    *ret_size = sqlite3_column_bytes(cursor->statement, column);
    return bytes;
}
