/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/read/process_rows.h"

#include <sqlite3.h>
#include <stdbool.h>

#include "profiler/base/own_memory.h"

enum { COLUMN_PROCESS, COLUMN_KIND };
enum { HAS_KIND = 1, HAS_RUN = 2 }; /* what is given beside the process, in this order */

/* The rows of a process, as the file was. */
struct known {
    int64_t process;
    void *rows;
    unsigned version, users;
};

struct table {
    sqlite3_vtab base;
    sqlite3 *db;
    const struct pie_process_rows_ops *ops;
    struct known *last;
};

struct cursor {
    sqlite3_vtab_cursor base;
    struct known *known; /* NULL: there are no rows */
    int64_t kind, run;   /* that are asked for; kind 0: all */
    size_t at;
};

static const struct pie_process_rows_ops *ops_of(const sqlite3_vtab_cursor *cursor) {
    return ((const struct table *)cursor->pVtab)->ops;
}

static void drop(const struct pie_process_rows_ops *ops, struct known *known) {
    if (!known || --known->users > 0)
        return;
    ops->release(known->rows);
    pie_free(known);
}

static int connect(sqlite3 *db, void *data, int count, const char *const *words, sqlite3_vtab **ret_table,
                   char **ret_message) {
    const struct pie_process_rows_ops *ops = data;
    int code = sqlite3_declare_vtab(db, ops->declaration);

    (void)sqlite3_exec(db, ops->needs, NULL, NULL, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_vtab_config(db, SQLITE_VTAB_INNOCUOUS);
    struct table *table = code == SQLITE_OK ? sqlite3_malloc(sizeof(struct table)) : NULL;
    if (!table)
        return code == SQLITE_OK ? SQLITE_NOMEM : code;
    *table = (struct table){.db = db, .ops = ops};
    *ret_table = &table->base;
    return SQLITE_OK;
}

static int disconnect(sqlite3_vtab *base) {
    struct table *table = (struct table *)base;

    drop(table->ops, table->last);
    sqlite3_free(table);
    return SQLITE_OK;
}

/* The column's condition "= ..." becomes the next argument of filter(). */
static int take_condition(sqlite3_index_info *info, int column, int argument) {
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

/* What a process costs makes SQLite ask for each once. */
static int plan(sqlite3_vtab *table, sqlite3_index_info *info) {
    int run_column = ((const struct table *)table)->ops->run_column;

    if (!take_condition(info, COLUMN_PROCESS, 1))
        return SQLITE_CONSTRAINT;
    if (take_condition(info, COLUMN_KIND, 2))
        info->idxNum |= HAS_KIND;
    if (run_column && take_condition(info, run_column, info->idxNum & HAS_KIND ? 3 : 2))
        info->idxNum |= HAS_RUN;
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
    struct cursor *cursor = (struct cursor *)base;

    drop(ops_of(base), cursor->known);
    sqlite3_free(cursor);
    return SQLITE_OK;
}

int pie_process_rows_each(sqlite3 *db, const char *sql, int64_t process,
                          int (*take)(void *data, sqlite3_stmt *row), void *data) {
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(db, sql, -1, &statement, NULL);

    if (code == SQLITE_OK)
        code = sqlite3_bind_int64(statement, 1, process);
    while (code == SQLITE_OK && (code = sqlite3_step(statement)) == SQLITE_ROW)
        code = take(data, statement);
    sqlite3_finalize(statement);
    return code == SQLITE_DONE ? SQLITE_OK : code;
}

bool pie_process_rows_can(sqlite3 *db, const char *sql) {
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(db, sql, -1, &statement, NULL);

    sqlite3_finalize(statement);
    return code != SQLITE_ERROR; /* any other error is for who reads it */
}

/* A version outside of a transaction is that of the last one. */
static bool is_of_now(const struct table *table, int64_t process, unsigned version) {
    const struct known *last = table->last;

    return last && last->process == process && last->version == version &&
           sqlite3_txn_state(table->db, "main") != SQLITE_TXN_NONE;
}

/* Fills table->last. */
static int work_out(struct table *table, int64_t process, unsigned version) {
    drop(table->ops, table->last);
    table->last = pie_calloc(1, sizeof *table->last);
    if (!table->last)
        return SQLITE_NOMEM;
    *table->last = (struct known){.process = process, .version = version, .users = 1};
    int code = table->ops->read(table->db, process, &table->last->rows);
    if (code == SQLITE_OK)
        return SQLITE_OK;
    sqlite3_free(table->base.zErrMsg);
    table->base.zErrMsg =
        sqlite3_mprintf("%s", code == SQLITE_TOOBIG ? "integer overflow" : sqlite3_errmsg(table->db));
    drop(table->ops, table->last);
    table->last = NULL;
    return code;
}

static void go_to_asked(struct cursor *cursor) {
    const struct pie_process_rows_ops *ops = ops_of(&cursor->base);
    size_t count = ops->count(cursor->known->rows);

    for (; cursor->at < count; cursor->at++) {
        int64_t kind = ops->kind(cursor->known->rows, cursor->at);
        if (kind != 0 && (cursor->kind == 0 || cursor->kind == kind))
            break;
    }
}

static int filter(sqlite3_vtab_cursor *base, int index, const char *name, int count, sqlite3_value **values) {
    struct cursor *cursor = (struct cursor *)base;
    struct table *table = (struct table *)base->pVtab;
    int64_t process = sqlite3_value_int64(values[0]);
    unsigned version; /* another one if somebody wrote to the file since */
    int code = sqlite3_file_control(table->db, "main", SQLITE_FCNTL_DATA_VERSION, &version);

    drop(table->ops, cursor->known);
    *cursor = (struct cursor){.base = cursor->base,
                              .kind = index & HAS_KIND ? sqlite3_value_int64(values[1]) : 0,
                              .run = index & HAS_RUN ? sqlite3_value_int64(values[count - 1]) : 0};
    if (code == SQLITE_OK && !is_of_now(table, process, version))
        code = work_out(table, process, version);
    if (code != SQLITE_OK)
        return code;
    cursor->known = table->last;
    cursor->known->users++;
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

    return !cursor->known || cursor->at >= ops_of(base)->count(cursor->known->rows);
}

static int column(sqlite3_vtab_cursor *base, sqlite3_context *context, int number) {
    const struct cursor *cursor = (const struct cursor *)base;

    if (number == COLUMN_PROCESS)
        sqlite3_result_int64(context, cursor->known->process);
    else if (number == ops_of(base)->run_column)
        sqlite3_result_int64(context, cursor->run);
    else if (number == COLUMN_KIND)
        sqlite3_result_int64(context, ops_of(base)->kind(cursor->known->rows, cursor->at));
    else
        ops_of(base)->answer(cursor->known->rows, cursor->at, number, context);
    return SQLITE_OK;
}

static int rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *ret_rowid) {
    *ret_rowid = (sqlite3_int64)((struct cursor *)base)->at;
    return SQLITE_OK;
}

int pie_process_rows_add(sqlite3 *db, const char *name, const struct pie_process_rows_ops *ops) {
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

    return sqlite3_create_module(db, name, &module, (void *)ops);
}
