/* SPDX-License-Identifier: Apache-2.0 */
#include <sqlite3.h>
#include <stddef.h>

#include "profiler/base/list.h"
#include "profiler/base/own_memory.h"
#include "storage/file/packed_tables.h"
#include "storage/file/packing.h"

/* Rows that are gathered for one value. All 0 is none. */
struct gathered {
    struct pie_packed_row *rows;
    size_t count, capacity;
    const struct pie_packing *packing; /* NULL: it failed */
};

static void release(void *rows) {
    pie_free(rows);
}

static struct pie_packed_row *add(struct gathered *gathered) {
    struct pie_packed_row *list =
        pie_list_grown(gathered->rows, gathered->count, &gathered->capacity, sizeof *list);
    if (!list)
        return NULL;
    gathered->rows = list;
    return &gathered->rows[gathered->count++];
}

static void answer(sqlite3_context *context, struct gathered *gathered) {
    size_t count = pie_packing_sort(gathered->packing, gathered->rows, gathered->count);
    unsigned char *bytes = pie_malloc(PIE_PACKING_HEAD_BYTES + PIE_PACKING_ROW_BYTES * count);

    if (bytes)
        sqlite3_result_blob64(context, bytes,
                              pie_packing_encode(gathered->packing, gathered->rows, count, bytes), release);
    else
        sqlite3_result_error_nomem(context);
}

/* An aggregate that saw no row, or failed, has nothing. */
static void finish(sqlite3_context *context) {
    struct gathered *gathered = sqlite3_aggregate_context(context, 0);

    if (gathered && gathered->packing)
        answer(context, gathered);
    if (gathered)
        pie_free(gathered->rows);
}

static void pack(sqlite3_context *context, int count, sqlite3_value **values) {
    const struct pie_packing *packing = sqlite3_user_data(context);
    struct gathered *gathered = sqlite3_aggregate_context(context, sizeof *gathered);
    struct pie_packed_row *row = gathered ? add(gathered) : NULL;

    if (!row) {
        sqlite3_result_error_nomem(context);
        return;
    }
    gathered->packing = packing;
    *row = (struct pie_packed_row){.part = (uint32_t)sqlite3_value_int64(values[0]),
                                   .node = (uint32_t)sqlite3_value_int64(values[1]),
                                   .squares = sqlite3_value_double(values[count - 1])};
    for (unsigned i = 0; i < packing->value_count; i++)
        row->values[i] = sqlite3_value_int64(values[2 + i]);
}

/* Of what block they are is known where they come from and where they go to. */
static int unpack(struct gathered *gathered, sqlite3_value *value) {
    struct pie_unpacking unpacking;
    struct pie_packed_row row, *added;
    const void *bytes = sqlite3_value_blob(value);
    int r = pie_unpacking_begin(&unpacking, gathered->packing, 0, bytes, (size_t)sqlite3_value_bytes(value));

    while (r == 0 && (r = pie_unpacking_next(&unpacking, &row)) > 0) {
        if (!(added = add(gathered)))
            return SQLITE_NOMEM;
        *added = row;
        r = 0;
    }
    return r == 0 ? SQLITE_OK : SQLITE_CORRUPT;
}

static void fail(sqlite3_context *context, struct gathered *gathered, int code) {
    gathered->packing = NULL;
    if (code == SQLITE_NOMEM)
        sqlite3_result_error_nomem(context);
    else
        sqlite3_result_error(context, "packed rows are damaged", -1);
    sqlite3_result_error_code(context, code);
}

static void merge_step(sqlite3_context *context, int count, sqlite3_value **values) {
    struct gathered *gathered = sqlite3_aggregate_context(context, sizeof *gathered);

    if (!gathered) {
        sqlite3_result_error_nomem(context);
        return;
    }
    gathered->packing = pie_packing_of(sqlite3_value_int64(values[0]));
    int code = unpack(gathered, values[1]);
    if (code != SQLITE_OK)
        fail(context, gathered, code);
}

static void merge_two(sqlite3_context *context, int count, sqlite3_value **values) {
    struct gathered gathered = {.packing = pie_packing_of(sqlite3_value_int64(values[0]))};
    int code = unpack(&gathered, values[1]);

    if (code == SQLITE_OK)
        code = unpack(&gathered, values[2]);
    if (code == SQLITE_OK)
        answer(context, &gathered);
    else
        fail(context, &gathered, code);
    pie_free(gathered.rows);
}

int pie_packed_functions_add(sqlite3 *db) {
    int code = SQLITE_OK, how = SQLITE_UTF8 | SQLITE_DETERMINISTIC;

    for (int kind = 1; kind <= PIE_PACKING_KINDS && code == SQLITE_OK; kind++) {
        const struct pie_packing *packing = pie_packing_of(kind);
        char name[32];
        sqlite3_snprintf(sizeof name, name, "pack_%s", packing->table);
        code = sqlite3_create_function(db, name, (int)packing->value_count + 3, how, (void *)packing, NULL,
                                       pack, finish);
    }
    if (code == SQLITE_OK)
        code = sqlite3_create_function(db, "merge_packed", 2, how, NULL, NULL, merge_step, finish);
    return code == SQLITE_OK
               ? sqlite3_create_function(db, "merge_packed", 3, how, NULL, merge_two, NULL, NULL)
               : code;
}
