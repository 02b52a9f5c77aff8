/* SPDX-License-Identifier: Apache-2.0 */

/* Virtual tables that are there without being made (https://www.sqlite.org/vtab.html, section 2.1.1): one for each
 * table whose rows may lie packed. */

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "storage/file/packed_tables.h"
#include "storage/file/packing.h"

/* What is asked for, and the numbers of the parameters behind it. */
enum {
    BY_PROCESS = 1,
    FROM_SLICE = 2,
    TO_SLICE = 4,
    BY_PACKED = 8,
};

enum { COLUMN_PROCESS, COLUMN_SLICE }; /* of each table; the last one is `packed` */

struct table {
    sqlite3_vtab base;
    sqlite3 *db;
    const struct pie_packing *packing;
};

/* Which rows: bounds, as SQLite compares them. */
struct range {
    sqlite3_value *process, *from_s, *to_s; /* NULL: all */
    bool wants_packed, wants_plain;
};

struct cursor {
    sqlite3_vtab_cursor base;
    sqlite3_stmt *packed, *plain; /* prepared when first needed; at a row, or reset */
    bool has_packed, has_plain;   /* they are at a row */
    struct pie_unpacking unpacking;
    struct pie_packed_row row; /* the present one, while has_packed */
    int64_t nth;
};

static struct table *table_of(struct cursor *cursor) {
    return (struct table *)cursor->base.pVtab;
}

static int connect(sqlite3 *db, void *data, int count, const char *const *words, sqlite3_vtab **ret_table,
                   char **ret_message) {
    const struct pie_packing *packing = data;
    char *sql = sqlite3_mprintf("CREATE TABLE x (%s, packed INTEGER HIDDEN)", packing->types);
    int code = sql ? sqlite3_declare_vtab(db, sql) : SQLITE_NOMEM;

    sqlite3_free(sql);
    if (code == SQLITE_OK)
        code = sqlite3_vtab_config(db, SQLITE_VTAB_INNOCUOUS);
    struct table *table = code == SQLITE_OK ? sqlite3_malloc(sizeof *table) : NULL;
    if (!table)
        return code == SQLITE_OK ? SQLITE_NOMEM : code;
    *table = (struct table){.db = db, .packing = packing};
    *ret_table = &table->base;
    return SQLITE_OK;
}

static int disconnect(sqlite3_vtab *table) {
    sqlite3_free(table);
    return SQLITE_OK;
}

/* --- Planning --- */

static int kind_of(const struct table *table, const struct sqlite3_index_constraint *constraint) {
    bool is_equal = constraint->op == SQLITE_INDEX_CONSTRAINT_EQ;

    if (!constraint->usable)
        return 0;
    if (constraint->iColumn == COLUMN_PROCESS)
        return is_equal ? BY_PROCESS : 0;
    if (constraint->iColumn == (int)table->packing->column_count)
        return is_equal ? BY_PACKED : 0;
    if (constraint->iColumn != COLUMN_SLICE)
        return 0;
    switch (constraint->op) {
    case SQLITE_INDEX_CONSTRAINT_EQ:
        return FROM_SLICE | TO_SLICE;
    case SQLITE_INDEX_CONSTRAINT_GE:
    case SQLITE_INDEX_CONSTRAINT_GT:
        return FROM_SLICE;
    case SQLITE_INDEX_CONSTRAINT_LE:
    case SQLITE_INDEX_CONSTRAINT_LT:
        return TO_SLICE;
    default:
        return 0;
    }
}

/* SQLite looks at each row again, so bounds may be wider than asked for. idxStr has a letter for each parameter: its
 * kind. */
static int plan(sqlite3_vtab *base, sqlite3_index_info *info) {
    const struct table *table = (const struct table *)base;
    char *kinds = sqlite3_malloc(info->nConstraint + 1);
    int taken = 0, all = 0;

    if (!kinds)
        return SQLITE_NOMEM;
    for (int i = 0; i < info->nConstraint; i++) {
        int kind = kind_of(table, &info->aConstraint[i]);
        if (!kind || (all & kind))
            continue;
        all |= kind;
        kinds[taken] = (char)('0' + kind);
        info->aConstraintUsage[i].argvIndex = ++taken;
    }
    kinds[taken] = 0;
    info->idxStr = kinds;
    info->needToFreeIdxStr = 1;
    info->estimatedCost = all & BY_PROCESS ? 1e5 : 1e9;
    info->estimatedRows = all & BY_PROCESS ? 10000 : 10000000;
    return SQLITE_OK;
}

static struct range range_of(const char *kinds, sqlite3_value **values) {
    struct range range = {.wants_packed = true, .wants_plain = true};

    for (int i = 0; kinds[i]; i++) {
        int kind = kinds[i] - '0';
        if (kind & BY_PROCESS)
            range.process = values[i];
        if (kind & FROM_SLICE)
            range.from_s = values[i];
        if (kind & TO_SLICE)
            range.to_s = values[i];
        if (kind & BY_PACKED)
            range.wants_plain = !(range.wants_packed = sqlite3_value_int(values[i]) != 0);
    }
    return range;
}

/* --- Reading --- */

static int bind(sqlite3_stmt *statement, const struct range *range) {
    int code = range->process ? sqlite3_bind_value(statement, 1, range->process)
                              : sqlite3_bind_int64(statement, 1, INT64_MIN);

    if (code == SQLITE_OK)
        code = range->process ? sqlite3_bind_value(statement, 2, range->process)
                              : sqlite3_bind_int64(statement, 2, INT64_MAX);
    if (code == SQLITE_OK)
        code = range->from_s ? sqlite3_bind_value(statement, 3, range->from_s)
                             : sqlite3_bind_int64(statement, 3, INT64_MIN);
    if (code == SQLITE_OK)
        code = range->to_s ? sqlite3_bind_value(statement, 4, range->to_s)
                           : sqlite3_bind_int64(statement, 4, INT64_MAX);
    return code;
}

#define IN_RANGE "process BETWEEN ?1 AND ?2 AND slice_s BETWEEN ?3 AND ?4"

/* *statement: NULL, or prepared before. Steps to the first row. */
static int begin(struct cursor *cursor, sqlite3_stmt **statement, const char *sql, const struct range *range,
                 bool *ret_has_row) {
    int code = SQLITE_OK;

    if (!*statement)
        code = sqlite3_prepare_v2(table_of(cursor)->db, sql, -1, statement, NULL);
    if (code == SQLITE_OK)
        code = bind(*statement, range);
    if (code == SQLITE_OK)
        code = sqlite3_step(*statement);
    *ret_has_row = code == SQLITE_ROW;
    return code == SQLITE_ROW || code == SQLITE_DONE ? SQLITE_OK : code;
}

static int fail_damaged(struct cursor *cursor) {
    sqlite3_vtab *base = cursor->base.pVtab;

    sqlite3_free(base->zErrMsg);
    base->zErrMsg = sqlite3_mprintf("packed rows of %s", table_of(cursor)->packing->table);
    return SQLITE_CORRUPT_VTAB;
}

/* Columns of the statement of packed rows. */
enum { PACKED_PROCESS, PACKED_SLICE, PACKED_BLOCK, PACKED_ROWS };

static int begin_block(struct cursor *cursor) {
    const void *bytes = sqlite3_column_blob(cursor->packed, PACKED_ROWS);
    size_t size = (size_t)sqlite3_column_bytes(cursor->packed, PACKED_ROWS);
    int64_t block = sqlite3_column_int64(cursor->packed, PACKED_BLOCK);

    return pie_unpacking_begin(&cursor->unpacking, table_of(cursor)->packing, block, bytes, size) < 0
               ? fail_damaged(cursor)
               : SQLITE_OK;
}

/* To the next packed row, if there is one. The statement is at a block. */
static int next_packed(struct cursor *cursor) {
    int code = SQLITE_OK, found;

    while ((found = pie_unpacking_next(&cursor->unpacking, &cursor->row)) == 0 && code == SQLITE_OK) {
        code = sqlite3_step(cursor->packed);
        cursor->has_packed = code == SQLITE_ROW;
        if (!cursor->has_packed)
            break;
        code = begin_block(cursor);
    }
    if (found < 0)
        return fail_damaged(cursor);
    if (code == SQLITE_DONE)
        code = sqlite3_reset(cursor->packed);
    return code;
}

static int next_plain(struct cursor *cursor) {
    int code = sqlite3_step(cursor->plain);

    cursor->has_plain = code == SQLITE_ROW;
    if (code == SQLITE_DONE)
        code = sqlite3_reset(cursor->plain);
    return code == SQLITE_ROW ? SQLITE_OK : code;
}

/* The first steps of both are made before the first row is given out, so that both see the file as it was at one time:
 * rows are packed meanwhile. */
static int start(struct cursor *cursor, const struct range *range) {
    const struct pie_packing *packing = table_of(cursor)->packing;
    int code = SQLITE_OK, kind = 1;
    char sql[512];

    while (pie_packing_of(kind) != packing)
        kind++;
    if (range->wants_packed) {
        sqlite3_snprintf(
            sizeof sql, sql,
            "SELECT process, slice_s, block, rows FROM main.packed WHERE " IN_RANGE " AND kind = %d", kind);
        code = begin(cursor, &cursor->packed, sql, range, &cursor->has_packed);
    }
    if (code == SQLITE_OK && range->wants_plain) {
        sqlite3_snprintf(sizeof sql, sql, "SELECT %s FROM main.%s WHERE " IN_RANGE, packing->columns,
                         packing->table);
        code = begin(cursor, &cursor->plain, sql, range, &cursor->has_plain);
    }
    if (code != SQLITE_OK || !cursor->has_packed)
        return code;
    code = begin_block(cursor);
    return code == SQLITE_OK ? next_packed(cursor) : code;
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

    sqlite3_finalize(cursor->packed);
    sqlite3_finalize(cursor->plain);
    sqlite3_free(cursor);
    return SQLITE_OK;
}

static int filter(sqlite3_vtab_cursor *base, int index, const char *kinds, int count,
                  sqlite3_value **values) {
    struct cursor *cursor = (struct cursor *)base;
    const struct range range = range_of(kinds, values);

    sqlite3_reset(cursor->packed);
    sqlite3_reset(cursor->plain);
    cursor->has_packed = cursor->has_plain = false;
    cursor->nth = 0;
    return start(cursor, &range);
}

static int next(sqlite3_vtab_cursor *base) {
    struct cursor *cursor = (struct cursor *)base;

    cursor->nth++;
    return cursor->has_packed ? next_packed(cursor) : next_plain(cursor);
}

static int is_at_end(sqlite3_vtab_cursor *base) {
    const struct cursor *cursor = (struct cursor *)base;

    return !cursor->has_packed && !cursor->has_plain;
}

static void answer_packed(struct cursor *cursor, sqlite3_context *context, int source) {
    switch (source) {
    case PIE_PACKING_PROCESS:
        sqlite3_result_value(context, sqlite3_column_value(cursor->packed, PACKED_PROCESS));
        break;
    case PIE_PACKING_SLICE:
        sqlite3_result_value(context, sqlite3_column_value(cursor->packed, PACKED_SLICE));
        break;
    case PIE_PACKING_PART:
        sqlite3_result_int64(context, cursor->row.part);
        break;
    case PIE_PACKING_NODE:
        sqlite3_result_int64(context, cursor->row.node);
        break;
    case PIE_PACKING_SQUARES:
        sqlite3_result_double(context, cursor->row.squares);
        break;
    default:
        sqlite3_result_int64(context, cursor->row.values[source]);
    }
}

static int column(sqlite3_vtab_cursor *base, sqlite3_context *context, int number) {
    struct cursor *cursor = (struct cursor *)base;
    const struct pie_packing *packing = table_of(cursor)->packing;

    if (number >= (int)packing->column_count)
        sqlite3_result_int(context, cursor->has_packed);
    else if (cursor->has_packed)
        answer_packed(cursor, context, packing->sources[number]);
    else
        sqlite3_result_value(context, sqlite3_column_value(cursor->plain, number));
    return SQLITE_OK;
}

static int rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *ret_rowid) {
    *ret_rowid = ((struct cursor *)base)->nth;
    return SQLITE_OK;
}

int pie_every_row_add(sqlite3 *db) {
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
    int code = SQLITE_OK;

    for (int kind = 1; kind <= PIE_PACKING_KINDS && code == SQLITE_OK; kind++) {
        const struct pie_packing *packing = pie_packing_of(kind);
        char name[32];
        sqlite3_snprintf(sizeof name, name, "every_%s", packing->table);
        code = sqlite3_create_module(db, name, &module, (void *)packing);
    }
    return code;
}

int pie_packed_tables_add(sqlite3 *db) {
    int code = pie_packed_functions_add(db);

    return code == SQLITE_OK ? pie_every_row_add(db) : code;
}
