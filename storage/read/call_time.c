/* SPDX-License-Identifier: Apache-2.0 */

/* A virtual table (https://www.sqlite.org/vtab.html). Where there is a temporary table or view `sample`, such as that
 * of a period or a thread, it is what is added up, else all rows of the file are. */

#include "storage/read/call_time.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdint.h>

#include "storage/read/call_sums.h"

enum { COLUMN_PROCESS, COLUMN_KIND, COLUMN_FUNCTION, COLUMN_LOCATION, COLUMN_OTHER, COLUMN_SUMS };

static const char declaration[] =
    "CREATE TABLE x (process INTEGER, kind INTEGER, function INTEGER, location INTEGER, other INTEGER,"
    " samples INTEGER, python_ns INTEGER, native_ns INTEGER, system_ns INTEGER, wait_ns INTEGER,"
    " runnable_ns INTEGER, throttled_ns INTEGER, self_ns INTEGER)";

struct table {
    sqlite3_vtab base;
    sqlite3 *db;
};

struct cursor {
    sqlite3_vtab_cursor base;
    struct pie_call_sums calls;
    int64_t process, kind; /* that is asked for; kind 0: all */
    size_t at;             /* row */
};

static int connect(sqlite3 *db, void *unused, int count, const char *const *words, sqlite3_vtab **ret_table,
                   char **ret_message) {
    int code = sqlite3_declare_vtab(db, declaration);

    (void)sqlite3_exec(db, "SELECT 1 FROM every_sample LIMIT 0", NULL, NULL, NULL); /* makes it */
    if (code == SQLITE_OK)
        code = sqlite3_vtab_config(db, SQLITE_VTAB_INNOCUOUS);
    struct table *table = code == SQLITE_OK ? sqlite3_malloc(sizeof(struct table)) : NULL;
    if (!table)
        return code == SQLITE_OK ? SQLITE_NOMEM : code;
    *table = (struct table){.db = db};
    *ret_table = &table->base;
    return SQLITE_OK;
}

static int disconnect(sqlite3_vtab *table) {
    sqlite3_free(table);
    return SQLITE_OK;
}

/* The column's condition "= …" becomes the next argument of filter(). */
static int take(sqlite3_index_info *info, int column, int argument) {
    for (int i = 0; i < info->nConstraint; i++) {
        const struct sqlite3_index_constraint *constraint = &info->aConstraint[i];
        if (constraint->iColumn != column || constraint->op != SQLITE_INDEX_CONSTRAINT_EQ ||
            !constraint->usable)
            continue;
        info->aConstraintUsage[i].argvIndex = argument;
        info->aConstraintUsage[i].omit = 1;
        return 1;
    }
    return 0;
}

/* The rows of one process at a time; what that costs makes SQLite ask for each process once. */
static int plan(sqlite3_vtab *table, sqlite3_index_info *info) {
    if (!take(info, COLUMN_PROCESS, 1))
        return SQLITE_CONSTRAINT;
    (void)take(info, COLUMN_KIND, 2);
    info->estimatedCost = 1e6;
    info->estimatedRows = 1000;
    return SQLITE_OK;
}

static int open_cursor(sqlite3_vtab *table, sqlite3_vtab_cursor **ret_cursor) {
    struct cursor *cursor = sqlite3_malloc(sizeof *cursor);

    if (!cursor)
        return SQLITE_NOMEM;
    *cursor = (struct cursor){0};
    *ret_cursor = &cursor->base;
    return SQLITE_OK;
}

static int close_cursor(sqlite3_vtab_cursor *base) {
    pie_call_sums_finish(&((struct cursor *)base)->calls);
    sqlite3_free(base);
    return SQLITE_OK;
}

typedef int (*take_fn)(struct pie_call_sums *calls, sqlite3_stmt *row);

/* Hands each row of a statement about the process to take_row(). Returns an SQLite result code. */
static int each_row(struct cursor *cursor, sqlite3_stmt *statement, take_fn take_row) {
    int code = sqlite3_bind_int64(statement, 1, cursor->process), r = 0;

    while (code == SQLITE_OK && r == 0 && (code = sqlite3_step(statement)) == SQLITE_ROW) {
        r = take_row(&cursor->calls, statement);
        code = SQLITE_OK;
    }
    sqlite3_finalize(statement);
    return r < 0 ? SQLITE_NOMEM : code == SQLITE_DONE ? SQLITE_OK : code;
}

static int take_function(struct pie_call_sums *calls, sqlite3_stmt *row) {
    return pie_call_sums_add_function(calls, sqlite3_column_int64(row, 0));
}

static int take_location(struct pie_call_sums *calls, sqlite3_stmt *row) {
    return pie_call_sums_add_location(calls, sqlite3_column_int64(row, 0), sqlite3_column_int64(row, 1));
}

static int take_node(struct pie_call_sums *calls, sqlite3_stmt *row) {
    return pie_call_sums_add_node(calls, sqlite3_column_int64(row, 0), sqlite3_column_int64(row, 1),
                                  sqlite3_column_int64(row, 2), sqlite3_column_int64(row, 3));
}

static int take_sample(struct pie_call_sums *calls, sqlite3_stmt *row) {
    int64_t sums[PIE_CALL_READ_SUMS];

    for (int i = 0; i < PIE_CALL_READ_SUMS; i++)
        sums[i] = sqlite3_column_int64(row, 1 + i);
    return pie_call_sums_add_sample(calls, sqlite3_column_int64(row, 0), sums);
}

static const struct {
    const char *sql;
    take_fn take;
} structure[] = {
    {"SELECT id FROM function WHERE process = ?1 AND kind = 1 ORDER BY id", take_function},
    {"SELECT id, function FROM location WHERE process = ?1 ORDER BY id", take_location},
    {"SELECT id, parent, location, entry_function FROM node WHERE process = ?1 ORDER BY id", take_node},
};

#define SAMPLES_OF(table)                                                                                    \
    "SELECT node, samples, python_ns, native_ns, system_ns, wait_ns, runnable_ns, throttled_ns FROM " table  \
    " WHERE process = ?1"

/* As node_sample.c has it: without the temporary table there is an error. */
static int read_samples(struct cursor *cursor, sqlite3 *db) {
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(db, SAMPLES_OF("temp.sample"), -1, &statement, NULL);

    if (code == SQLITE_ERROR)
        code = sqlite3_prepare_v2(db, SAMPLES_OF("every_sample"), -1, &statement, NULL);
    return code == SQLITE_OK ? each_row(cursor, statement, take_sample) : code;
}

static int read_process(struct cursor *cursor, sqlite3 *db) {
    int code = SQLITE_OK;

    for (size_t i = 0; i < sizeof structure / sizeof *structure && code == SQLITE_OK; i++) {
        sqlite3_stmt *statement = NULL;
        code = sqlite3_prepare_v2(db, structure[i].sql, -1, &statement, NULL);
        if (code == SQLITE_OK)
            code = each_row(cursor, statement, structure[i].take);
    }
    if (code != SQLITE_OK)
        return code;
    pie_call_sums_link(&cursor->calls);
    code = read_samples(cursor, db);
    return code == SQLITE_OK && pie_call_sums_end(&cursor->calls) < 0 ? SQLITE_NOMEM : code;
}

/* What is taken back of a recursive function leaves rows of nothing. */
static int is_asked_for(const struct cursor *cursor, const struct pie_call_sum *row) {
    int64_t any = 0;

    for (int i = 0; i < PIE_CALL_SUMS; i++)
        any |= row->sums[i];
    return any != 0 && (cursor->kind == 0 || cursor->kind == row->kind);
}

static void go_to_asked(struct cursor *cursor) {
    while (cursor->at < cursor->calls.row_count && !is_asked_for(cursor, &cursor->calls.rows[cursor->at]))
        cursor->at++;
}

static int filter(sqlite3_vtab_cursor *base, int index, const char *name, int count, sqlite3_value **values) {
    struct cursor *cursor = (struct cursor *)base;
    struct table *table = (struct table *)base->pVtab;

    pie_call_sums_finish(&cursor->calls);
    cursor->process = sqlite3_value_int64(values[0]);
    cursor->kind = count > 1 ? sqlite3_value_int64(values[1]) : 0;
    cursor->at = 0;
    int code = read_process(cursor, table->db);
    if (code != SQLITE_OK) {
        sqlite3_free(table->base.zErrMsg);
        table->base.zErrMsg = sqlite3_mprintf("%s", sqlite3_errmsg(table->db));
        return code;
    }
    go_to_asked(cursor);
    return SQLITE_OK;
}

static int next(sqlite3_vtab_cursor *base) {
    struct cursor *cursor = (struct cursor *)base;

    cursor->at++;
    go_to_asked(cursor);
    return SQLITE_OK;
}

static int is_at_end(sqlite3_vtab_cursor *base) {
    const struct cursor *cursor = (const struct cursor *)base;

    return cursor->at >= cursor->calls.row_count;
}

static int column(sqlite3_vtab_cursor *base, sqlite3_context *context, int number) {
    const struct cursor *cursor = (const struct cursor *)base;
    const struct pie_call_sum *row = &cursor->calls.rows[cursor->at];

    sqlite3_result_int64(context, number == COLUMN_PROCESS    ? cursor->process
                                  : number == COLUMN_KIND     ? row->kind
                                  : number == COLUMN_FUNCTION ? row->function
                                  : number == COLUMN_LOCATION ? row->location
                                  : number == COLUMN_OTHER    ? row->other
                                                              : row->sums[number - COLUMN_SUMS]);
    return SQLITE_OK;
}

static int rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *ret_rowid) {
    *ret_rowid = (sqlite3_int64)((struct cursor *)base)->at;
    return SQLITE_OK;
}

int pie_call_time_add(sqlite3 *db) {
    static const sqlite3_module module = {.iVersion = 1,
                                          .xCreate = connect,
                                          .xConnect = connect,
                                          .xBestIndex = plan,
                                          .xDisconnect = disconnect,
                                          .xDestroy = disconnect,
                                          .xOpen = open_cursor,
                                          .xClose = close_cursor,
                                          .xFilter = filter,
                                          .xNext = next,
                                          .xEof = is_at_end,
                                          .xColumn = column,
                                          .xRowid = rowid};

    return sqlite3_create_module(db, PIE_CALL_TIME_TABLE, &module, NULL);
}
