/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/file/process_rows.h"

#include <sqlite3.h>
#include <stdbool.h>

#include "profiler/base/own_memory.h"
#include "storage/file/row_table.h"

/* The first columns, as many as a table has, are also the values of begin(). */
enum { PROCESS, KIND, RUN };

/* The rows of a process, as the file was. */
struct known {
    int64_t process;
    void *rows;
    unsigned version, users;
};

struct table {
    struct pie_row_table base;
    struct known *last;
};

struct cursor {
    struct pie_row_cursor base;
    struct known *known; /* NULL: there are no rows */
    int64_t kind, run;   /* that are asked for; kind 0: all */
    size_t at;
};

static struct table *table_of(const struct cursor *cursor) {
    return (struct table *)pie_row_table_of(&cursor->base);
}

static const struct pie_process_rows_ops *ops_of(const struct cursor *cursor) {
    return table_of(cursor)->base.data;
}

static void drop(const struct pie_process_rows_ops *ops, struct known *known) {
    if (!known || --known->users > 0)
        return;
    ops->release(known->rows);
    pie_free(known);
}

static void forget(struct pie_row_table *base) {
    struct table *table = (struct table *)base;

    drop(base->data, table->last);
    table->last = NULL;
}

static char *declare(sqlite3 *db, const void *data) {
    const struct pie_process_rows_ops *ops = data;

    (void)sqlite3_exec(db, ops->needs, NULL, NULL, NULL);
    return sqlite3_mprintf("%s", ops->declaration);
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
           sqlite3_txn_state(table->base.db, "main") != SQLITE_TXN_NONE;
}

/* What is wrong with the file's rows is said by who reads them; too large a sum as SQLite's sum() says it. */
static int fail(const struct cursor *cursor, int code) {
    struct pie_row_table *table = pie_row_table_of(&cursor->base);
    const char *message = code == SQLITE_TOOBIG ? "integer overflow" : sqlite3_errmsg(table->db);

    return pie_row_table_fail(table, code, sqlite3_mprintf("%s", message));
}

/* Fills cursor->known. */
static int work_out(struct cursor *cursor, int64_t process, unsigned version) {
    const struct pie_process_rows_ops *ops = ops_of(cursor);
    struct known *known = pie_calloc(1, sizeof *known);

    if (!known)
        return SQLITE_NOMEM;
    *known = (struct known){.process = process, .version = version, .users = 1};
    int code = ops->read(pie_row_table_of(&cursor->base)->db, process, &known->rows);
    if (code == SQLITE_OK) {
        cursor->known = known;
        return SQLITE_OK;
    }
    fail(cursor, code);
    drop(ops, known);
    return code;
}

/* The table keeps whole rows, for the next one who asks. */
static void keep(struct cursor *cursor) {
    const struct pie_process_rows_ops *ops = ops_of(cursor);

    if (ops->has_more && ops->has_more(cursor->known->rows))
        return;
    table_of(cursor)->last = cursor->known;
    cursor->known->users++;
}

static bool has_row(const struct pie_row_cursor *base) {
    const struct cursor *cursor = (const struct cursor *)base;

    return cursor->known && cursor->at < ops_of(cursor)->count(cursor->known->rows);
}

static bool is_asked_for(const struct cursor *cursor) {
    const struct pie_process_rows_ops *ops = ops_of(cursor);
    int64_t kind = ops->kind ? ops->kind(cursor->known->rows, cursor->at) : 1;

    return kind != 0 && (cursor->kind == 0 || cursor->kind == kind);
}

/* A statement may keep its cursor long after the last row. */
static void leave(struct cursor *cursor) {
    drop(ops_of(cursor), cursor->known);
    cursor->known = NULL;
}

static int go_to_asked(struct cursor *cursor) {
    const struct pie_process_rows_ops *ops = ops_of(cursor);

    while (!has_row(&cursor->base) || !is_asked_for(cursor)) {
        if (has_row(&cursor->base)) {
            cursor->at++;
            continue;
        }
        if (!ops->has_more || !ops->has_more(cursor->known->rows)) {
            leave(cursor);
            return SQLITE_OK;
        }
        cursor->at = 0;
        int code = ops->read_more(cursor->known->rows);
        if (code != SQLITE_OK)
            return fail(cursor, code);
    }
    return SQLITE_OK;
}

static int begin(struct pie_row_cursor *base, sqlite3_value *const values[]) {
    struct cursor *cursor = (struct cursor *)base;
    struct table *table = table_of(cursor);
    int64_t process = sqlite3_value_int64(values[PROCESS]);
    unsigned version; /* another one if somebody wrote to the file since */
    int code = sqlite3_file_control(table->base.db, "main", SQLITE_FCNTL_DATA_VERSION, &version);

    leave(cursor);
    cursor->kind = values[KIND] ? sqlite3_value_int64(values[KIND]) : 0;
    cursor->run = values[RUN] ? sqlite3_value_int64(values[RUN]) : 0;
    cursor->at = 0;
    if (code != SQLITE_OK)
        return code;
    if (is_of_now(table, process, version)) {
        cursor->known = table->last;
        cursor->known->users++;
        return go_to_asked(cursor);
    }
    forget(&table->base);
    code = work_out(cursor, process, version);
    if (code != SQLITE_OK)
        return code;
    keep(cursor);
    return go_to_asked(cursor);
}

static int next(struct pie_row_cursor *base) {
    struct cursor *cursor = (struct cursor *)base;

    cursor->at++;
    return go_to_asked(cursor);
}

static void end(struct pie_row_cursor *base) {
    leave((struct cursor *)base);
}

static void answer(const struct pie_row_cursor *base, int number, sqlite3_context *context) {
    const struct cursor *cursor = (const struct cursor *)base;
    const struct pie_process_rows_ops *ops = ops_of(cursor);

    if (number >= ops->first_columns)
        ops->answer(cursor->known->rows, cursor->at, number, context);
    else
        sqlite3_result_int64(context, number == PROCESS ? cursor->known->process
                                      : number == KIND  ? ops->kind(cursor->known->rows, cursor->at)
                                                        : cursor->run);
}

#define BY(column) {column, SQLITE_INDEX_CONSTRAINT_EQ, 1 << (column), true}
#define TABLE(by)                                                                                            \
    {.table_bytes = sizeof(struct table),                                                                    \
     .cursor_bytes = sizeof(struct cursor),                                                                  \
     .conditions = (by),                                                                                     \
     .needs_first = true,                                                                                    \
     .cost = 1e6,                                                                                            \
     .rows = 1000,                                                                                           \
     .declare = declare,                                                                                     \
     .begin = begin,                                                                                         \
     .next = next,                                                                                           \
     .has_row = has_row,                                                                                     \
     .answer = answer,                                                                                       \
     .end = end,                                                                                             \
     .forget = forget}

int pie_process_rows_add(sqlite3 *db, const char *name, const struct pie_process_rows_ops *ops) {
    static const struct pie_row_table_condition by_process[] = {BY(PROCESS), {0}},
                                                by_kind[] = {BY(PROCESS), BY(KIND), {0}},
                                                by_run[] = {BY(PROCESS), BY(KIND), BY(RUN), {0}};
    static const struct pie_row_table_kind tables[] = {
        [PIE_PROCESS_ROWS_PLAIN] = TABLE(by_process),
        [PIE_PROCESS_ROWS_KINDS] = TABLE(by_kind),
        [PIE_PROCESS_ROWS_RUNS] = TABLE(by_run),
    };

    return pie_row_table_add(db, name, &tables[ops->first_columns], ops);
}
