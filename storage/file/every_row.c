/* SPDX-License-Identifier: Apache-2.0 */

/* Virtual tables that are there without being made (https://www.sqlite.org/vtab.html, section 2.1.1): one for each
 * table whose rows may lie packed. */

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "storage/file/packed_tables.h"
#include "storage/file/packing.h"
#include "storage/file/row_table.h"

/* What is asked for: values of begin(). */
enum { BY_PROCESS, FROM_SLICE, TO_SLICE, BY_PACKED };

enum {
    COLUMN_PACKED,
    COLUMN_PROCESS,
    COLUMN_SLICE
}; /* the first ones; columns of the file begin with the second */

struct cursor {
    struct pie_row_cursor base;
    sqlite3_stmt *packed, *plain; /* prepared when first needed; at a row, or reset */
    bool has_packed, has_plain;   /* they are at a row */
    struct pie_unpacking unpacking;
    struct pie_packed_row row; /* the present one, while has_packed */
};

static const struct pie_packing *packing_of(const struct cursor *cursor) {
    return pie_row_table_of(&cursor->base)->data;
}

static char *declare(sqlite3 *db, const void *data) {
    return sqlite3_mprintf("CREATE TABLE x (packed INTEGER HIDDEN, %s)",
                           ((const struct pie_packing *)data)->types);
}

static int bind(sqlite3_stmt *statement, sqlite3_value *const values[]) {
    sqlite3_value *const bounds[] = {values[BY_PROCESS], values[BY_PROCESS], values[FROM_SLICE],
                                     values[TO_SLICE]};
    static const int64_t widest[] = {INT64_MIN, INT64_MAX, INT64_MIN, INT64_MAX};
    int code = SQLITE_OK;

    for (int i = 0; i < 4 && code == SQLITE_OK; i++)
        code = bounds[i] ? sqlite3_bind_value(statement, i + 1, bounds[i])
                         : sqlite3_bind_int64(statement, i + 1, widest[i]);
    return code;
}

#define IN_RANGE "process BETWEEN ?1 AND ?2 AND slice_s BETWEEN ?3 AND ?4"

/* *statement: NULL, or prepared before. Steps to the first row. */
static int begin_rows(struct cursor *cursor, sqlite3_stmt **statement, const char *sql,
                      sqlite3_value *const values[], bool *ret_has_row) {
    int code = SQLITE_OK;

    if (!*statement)
        code = sqlite3_prepare_v2(pie_row_table_of(&cursor->base)->db, sql, -1, statement, NULL);
    if (code == SQLITE_OK)
        code = bind(*statement, values);
    if (code == SQLITE_OK)
        code = sqlite3_step(*statement);
    *ret_has_row = code == SQLITE_ROW;
    return code == SQLITE_ROW || code == SQLITE_DONE ? SQLITE_OK : code;
}

static int fail_damaged(struct cursor *cursor) {
    return pie_row_table_fail(pie_row_table_of(&cursor->base), SQLITE_CORRUPT_VTAB,
                              sqlite3_mprintf("packed rows of %s", packing_of(cursor)->table));
}

/* Columns of the statement of packed rows. */
enum { PACKED_PROCESS, PACKED_SLICE, PACKED_BLOCK, PACKED_ROWS };

static int begin_block(struct cursor *cursor) {
    const void *bytes = sqlite3_column_blob(cursor->packed, PACKED_ROWS);
    size_t size = (size_t)sqlite3_column_bytes(cursor->packed, PACKED_ROWS);
    int64_t block = sqlite3_column_int64(cursor->packed, PACKED_BLOCK);

    return pie_unpacking_begin(&cursor->unpacking, packing_of(cursor), block, bytes, size) < 0
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
static int start(struct cursor *cursor, sqlite3_value *const values[]) {
    const struct pie_packing *packing = packing_of(cursor);
    const sqlite3_value *by_packed = values[BY_PACKED];
    bool wants_packed = !by_packed || sqlite3_value_int(values[BY_PACKED]) != 0;
    int code = SQLITE_OK, kind = 1;
    char sql[512];

    while (pie_packing_of(kind) != packing)
        kind++;
    if (wants_packed) {
        sqlite3_snprintf(
            sizeof sql, sql,
            "SELECT process, slice_s, block, rows FROM main.packed WHERE " IN_RANGE " AND kind = %d", kind);
        code = begin_rows(cursor, &cursor->packed, sql, values, &cursor->has_packed);
    }
    if (code == SQLITE_OK && (!by_packed || !wants_packed)) {
        sqlite3_snprintf(sizeof sql, sql, "SELECT %s FROM main.%s WHERE " IN_RANGE, packing->columns,
                         packing->table);
        code = begin_rows(cursor, &cursor->plain, sql, values, &cursor->has_plain);
    }
    if (code != SQLITE_OK || !cursor->has_packed)
        return code;
    code = begin_block(cursor);
    return code == SQLITE_OK ? next_packed(cursor) : code;
}

static int begin(struct pie_row_cursor *base, sqlite3_value *const values[]) {
    struct cursor *cursor = (struct cursor *)base;

    sqlite3_reset(cursor->packed);
    sqlite3_reset(cursor->plain);
    cursor->has_packed = cursor->has_plain = false;
    return start(cursor, values);
}

static int next(struct pie_row_cursor *base) {
    struct cursor *cursor = (struct cursor *)base;

    return cursor->has_packed ? next_packed(cursor) : next_plain(cursor);
}

static bool has_row(const struct pie_row_cursor *base) {
    const struct cursor *cursor = (const struct cursor *)base;

    return cursor->has_packed || cursor->has_plain;
}

static void end(struct pie_row_cursor *base) {
    struct cursor *cursor = (struct cursor *)base;

    sqlite3_finalize(cursor->packed);
    sqlite3_finalize(cursor->plain);
}

static void answer_packed(const struct cursor *cursor, sqlite3_context *context, int source) {
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

static void answer(const struct pie_row_cursor *base, int number, sqlite3_context *context) {
    const struct cursor *cursor = (const struct cursor *)base;
    const struct pie_packing *packing = packing_of(cursor);

    if (number == COLUMN_PACKED)
        sqlite3_result_int(context, cursor->has_packed);
    else if (cursor->has_packed)
        answer_packed(cursor, context, packing->sources[number - COLUMN_PROCESS]);
    else
        sqlite3_result_value(context, sqlite3_column_value(cursor->plain, number - COLUMN_PROCESS));
}

/* Bounds of slices are inclusive here. */
static const struct pie_row_table_condition conditions[] = {
    {COLUMN_PROCESS, SQLITE_INDEX_CONSTRAINT_EQ, 1 << BY_PROCESS, false},
    {COLUMN_SLICE, SQLITE_INDEX_CONSTRAINT_EQ, 1 << FROM_SLICE | 1 << TO_SLICE, false},
    {COLUMN_SLICE, SQLITE_INDEX_CONSTRAINT_GE | SQLITE_INDEX_CONSTRAINT_GT, 1 << FROM_SLICE, false},
    {COLUMN_SLICE, SQLITE_INDEX_CONSTRAINT_LE | SQLITE_INDEX_CONSTRAINT_LT, 1 << TO_SLICE, false},
    {COLUMN_PACKED, SQLITE_INDEX_CONSTRAINT_EQ, 1 << BY_PACKED, false},
    {0},
};

int pie_every_row_add(sqlite3 *db) {
    static const struct pie_row_table_kind kind = {.table_bytes = sizeof(struct pie_row_table),
                                                   .cursor_bytes = sizeof(struct cursor),
                                                   .conditions = conditions,
                                                   .cost = 1e5,
                                                   .cost_of_all = 1e9,
                                                   .rows = 10000,
                                                   .rows_of_all = 10000000,
                                                   .declare = declare,
                                                   .begin = begin,
                                                   .next = next,
                                                   .has_row = has_row,
                                                   .answer = answer,
                                                   .end = end};
    int code = SQLITE_OK;

    for (int i = 1; i <= PIE_PACKING_KINDS && code == SQLITE_OK; i++) {
        const struct pie_packing *packing = pie_packing_of(i);
        char name[32];
        sqlite3_snprintf(sizeof name, name, "every_%s", packing->table);
        code = pie_row_table_add(db, name, &kind, packing);
    }
    return code;
}

int pie_packed_tables_add(sqlite3 *db) {
    int code = pie_packed_functions_add(db);

    return code == SQLITE_OK ? pie_every_row_add(db) : code;
}
