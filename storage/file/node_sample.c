/* SPDX-License-Identifier: Apache-2.0 */

/* A virtual table (https://www.sqlite.org/vtab.html). Where there is a temporary table or view `sample`, such as that
 * of a period or a place, it is what is added up, else all rows of the file are. */

#include "storage/file/node_sample.h"

#include <sqlite3.h>
#include <stdint.h>

#include "profiler/base/own_memory.h"
#include "profiler/base/u64map.h"

enum {
    COLUMN_PROCESS,
    COLUMN_THREAD,
    COLUMN_NODE,
    COLUMN_SAMPLES,
    WHOLE_SUMS = 7, /* samples and nanoseconds; behind them the one that is no whole number */
    COLUMN_SQUARES = COLUMN_SAMPLES + WHOLE_SUMS,
    BATCH_MAX = 1 << 18, /* rows: 21 MB */
};

static const char declaration[] =
    "CREATE TABLE x (process INTEGER, thread INTEGER, node INTEGER, samples INTEGER, python_ns INTEGER,"
    " native_ns INTEGER, system_ns INTEGER, wait_ns INTEGER, runnable_ns INTEGER, throttled_ns INTEGER,"
    " cpu_sq_ns2 REAL)";
#define ROWS_OF_PROCESS(table)                                                                               \
    "SELECT thread, node, samples, python_ns, native_ns, system_ns, wait_ns, runnable_ns, throttled_ns, "    \
    "cpu_sq_ns2 FROM " table " WHERE process = ?1"
static const char *const rows_of_process[] = {ROWS_OF_PROCESS("temp.sample"),
                                              ROWS_OF_PROCESS("every_sample")};

struct sums {
    uint32_t thread, node;
    int64_t whole[WHOLE_SUMS];
    double squares;
};

/* Of one process, as the file was at a time: all of them, or BATCH_MAX of them from as many rows of the file as
 * that takes. */
struct added {
    int64_t process;
    struct sums *sums;
    size_t count, capacity;
    unsigned version, users;
};

struct table {
    sqlite3_vtab base;
    sqlite3 *db;
    struct added *last; /* a question asks for it twice: for its rows and for what shares are taken of */
};

struct cursor {
    sqlite3_vtab_cursor base;
    struct added *added; /* NULL: behind the last row */
    sqlite3_stmt *rest;  /* rows of the file that are not in it; NULL: none */
    size_t at;
};

static void release(struct added *added) {
    if (!added || --added->users > 0)
        return;
    pie_free(added->sums);
    pie_free(added);
}

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
    release(((struct table *)table)->last);
    sqlite3_free(table);
    return SQLITE_OK;
}

/* The rows of one process at a time; what that costs makes SQLite ask for each process once. */
static int plan(sqlite3_vtab *table, sqlite3_index_info *info) {
    for (int i = 0; i < info->nConstraint; i++) {
        const struct sqlite3_index_constraint *constraint = &info->aConstraint[i];
        if (constraint->iColumn != COLUMN_PROCESS || constraint->op != SQLITE_INDEX_CONSTRAINT_EQ ||
            !constraint->usable)
            continue;
        info->aConstraintUsage[i].argvIndex = 1;
        info->aConstraintUsage[i].omit = 1;
        info->estimatedCost = 1e6;
        info->estimatedRows = 1000;
        return SQLITE_OK;
    }
    return SQLITE_CONSTRAINT;
}

static int open_cursor(sqlite3_vtab *table, sqlite3_vtab_cursor **ret_cursor) {
    struct cursor *cursor = sqlite3_malloc(sizeof *cursor);

    if (!cursor)
        return SQLITE_NOMEM;
    *cursor = (struct cursor){0};
    *ret_cursor = &cursor->base;
    return SQLITE_OK;
}

/* A statement may keep its cursor long after the last row. */
static void leave(struct cursor *cursor) {
    release(cursor->added);
    sqlite3_finalize(cursor->rest);
    *cursor = (struct cursor){.base = cursor->base};
}

static int close_cursor(sqlite3_vtab_cursor *base) {
    leave((struct cursor *)base);
    sqlite3_free(base);
    return SQLITE_OK;
}

/* A new row of sums, all 0; NULL if there is no memory. */
static struct sums *add_sums(struct added *added, uint32_t thread, uint32_t node) {
    if (added->count == added->capacity) {
        size_t capacity = added->capacity ? added->capacity * 2 : 256;
        struct sums *grown = pie_realloc(added->sums, capacity * sizeof *grown);
        if (!grown)
            return NULL;
        added->sums = grown;
        added->capacity = capacity;
    }
    struct sums *sums = &added->sums[added->count++];
    *sums = (struct sums){.thread = thread, .node = node};
    return sums;
}

static int add_row(struct added *added, struct pie_u64map *places, sqlite3_stmt *row) {
    uint32_t thread = (uint32_t)sqlite3_column_int64(row, 0), node = (uint32_t)sqlite3_column_int64(row, 1);
    uint64_t key = (uint64_t)thread << 32 | node;
    uint32_t place = pie_u64map_get(places, key);
    struct sums *sums = place ? &added->sums[place - 1] : add_sums(added, thread, node);

    if (!sums || (!place && pie_u64map_put(places, key, (uint32_t)added->count) < 0))
        return SQLITE_NOMEM;
    for (int i = 0; i < WHOLE_SUMS; i++)
        if (__builtin_add_overflow(sums->whole[i], sqlite3_column_int64(row, 2 + i), &sums->whole[i]))
            return SQLITE_TOOBIG;
    sums->squares += sqlite3_column_double(row, 2 + WHOLE_SUMS);
    return SQLITE_OK;
}

/* What is wrong with the rows is said by who reads them; too large a sum as SQLite's sum() says it. */
static void pass_on_error(struct cursor *cursor, int code) {
    struct table *table = (struct table *)cursor->base.pVtab;

    sqlite3_free(table->base.zErrMsg);
    table->base.zErrMsg =
        sqlite3_mprintf("%s", code == SQLITE_TOOBIG ? "integer overflow" : sqlite3_errmsg(table->db));
}

/* The next batch; none if there are no more rows. */
static int add_rows(struct cursor *cursor) {
    struct pie_u64map places = {0};
    struct added *added = cursor->added;
    int code = SQLITE_OK;

    added->count = cursor->at = 0;
    while (code == SQLITE_OK && added->count < BATCH_MAX && (code = sqlite3_step(cursor->rest)) == SQLITE_ROW)
        code = add_row(added, &places, cursor->rest);
    pie_u64map_finish(&places);
    if (code == SQLITE_DONE) {
        sqlite3_finalize(cursor->rest);
        cursor->rest = NULL;
        code = SQLITE_OK;
    }
    if (code != SQLITE_OK)
        pass_on_error(cursor, code);
    if (code != SQLITE_OK || added->count == 0)
        leave(cursor);
    return code;
}

static int begin(struct cursor *cursor, sqlite3 *db, int64_t process, unsigned version) {
    int code = sqlite3_prepare_v2(db, rows_of_process[0], -1, &cursor->rest, NULL);

    if (code == SQLITE_ERROR) /* there is no such table */
        code = sqlite3_prepare_v2(db, rows_of_process[1], -1, &cursor->rest, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_bind_int64(cursor->rest, 1, process);
    if (code != SQLITE_OK)
        return code;
    cursor->added = pie_calloc(1, sizeof *cursor->added);
    if (!cursor->added)
        return SQLITE_NOMEM;
    *cursor->added = (struct added){.process = process, .version = version, .users = 1};
    return add_rows(cursor);
}

static int filter(sqlite3_vtab_cursor *base, int index, const char *name, int count, sqlite3_value **values) {
    struct cursor *cursor = (struct cursor *)base;
    struct table *table = (struct table *)base->pVtab;
    int64_t process = sqlite3_value_int64(values[0]);
    unsigned version; /* another one if somebody wrote to the file since */
    int code = sqlite3_file_control(table->db, "main", SQLITE_FCNTL_DATA_VERSION, &version);

    leave(cursor);
    if (code != SQLITE_OK)
        return code;
    /* Outside of a transaction the version is that of the last one. */
    if (table->last && table->last->process == process && table->last->version == version &&
        sqlite3_txn_state(table->db, "main") != SQLITE_TXN_NONE) {
        cursor->added = table->last;
        cursor->added->users++;
        return SQLITE_OK;
    }
    release(table->last);
    table->last = NULL;
    code = begin(cursor, table->db, process, version);
    if (code == SQLITE_OK && cursor->added && !cursor->rest) {
        table->last = cursor->added;
        cursor->added->users++;
    }
    return code;
}

static int next(sqlite3_vtab_cursor *base) {
    struct cursor *cursor = (struct cursor *)base;

    if (++cursor->at < cursor->added->count)
        return SQLITE_OK;
    if (cursor->rest)
        return add_rows(cursor);
    leave(cursor);
    return SQLITE_OK;
}

static int is_at_end(sqlite3_vtab_cursor *base) {
    return !((struct cursor *)base)->added;
}

static int column(sqlite3_vtab_cursor *base, sqlite3_context *context, int number) {
    struct cursor *cursor = (struct cursor *)base;
    const struct sums *sums = &cursor->added->sums[cursor->at];

    if (number == COLUMN_SQUARES)
        sqlite3_result_double(context, sums->squares);
    else
        sqlite3_result_int64(context, number == COLUMN_PROCESS  ? cursor->added->process
                                      : number == COLUMN_THREAD ? sums->thread
                                      : number == COLUMN_NODE   ? sums->node
                                                                : sums->whole[number - COLUMN_SAMPLES]);
    return SQLITE_OK;
}

static int rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *ret_rowid) {
    *ret_rowid = (sqlite3_int64)((struct cursor *)base)->at;
    return SQLITE_OK;
}

int pie_node_sample_add(sqlite3 *db) {
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

    return sqlite3_create_module(db, PIE_NODE_SAMPLE_TABLE, &module, NULL);
}
