/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/read/place_time.h"

#include <assert.h>
#include <errno.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "profiler/base/own_memory.h"
#include "storage/file/node_sample.h"
#include "storage/file/process_rows.h"
#include "storage/file/sums.h"
#include "storage/read/place_sums.h"

enum {
    COLUMN_LINE_LOCATION = PIE_PROCESS_ROWS_RUNS,
    COLUMN_OWN_LOCATION,
    COLUMN_LIBRARY_MODULE,
    COLUMN_FUNCTION,
    COLUMN_THREAD,
    COLUMN_SUMS,
    COLUMN_SQUARES = COLUMN_SUMS + PIE_PLACE_SUMS,
};

static const char declaration[] =
    "CREATE TABLE x (process INTEGER, kind INTEGER, run INTEGER, line_location INTEGER,"
    " own_location INTEGER, library_module INTEGER, function INTEGER, thread INTEGER,"
    " " PIE_COST_SUMS_DECLARED ", cpu_sq_ns2 REAL)";
static_assert((int)PIE_PLACE_SUMS == PIE_COST_SUM_COUNT, "as they are read");

static const char functions_sql[] = "SELECT id FROM function WHERE process = ?1 AND kind = 2 ORDER BY id";
static const char locations_sql[] = "SELECT id, function FROM location WHERE process = ?1 ORDER BY id";
#define CONTEXTS(true_line, nodes)                                                                           \
    "SELECT n.id, n.line_location, n.own_location, n.library_module, n.location, " true_line " FROM " nodes  \
    " WHERE n.process = ?1 ORDER BY n.id"
/* A place's cut shows contexts at other lines than their own (place_cut.c). */
static const char contexts_sql[] = CONTEXTS("n.line_location", "node n");
static const char cut_contexts_sql[] =
    CONTEXTS("m.line_location", "temp.node n JOIN main.node m ON m.process = n.process AND m.id = n.id");

/* Squares are no whole numbers: added up first by context and thread, as SQLite would. */
static const char samples_sql[] =
    "SELECT node, thread, " PIE_COST_SUMS ", cpu_sq_ns2 FROM " PIE_NODE_SAMPLE_TABLE " WHERE process = ?1";

static int code_of(int r) {
    return r == -EOVERFLOW ? SQLITE_TOOBIG : r < 0 ? SQLITE_NOMEM : SQLITE_OK;
}

static int take_function(void *places, sqlite3_stmt *row) {
    return code_of(pie_place_sums_add_function(places, sqlite3_column_int64(row, 0)));
}

static int take_location(void *places, sqlite3_stmt *row) {
    return code_of(
        pie_place_sums_add_location(places, sqlite3_column_int64(row, 0), sqlite3_column_int64(row, 1)));
}

static int take_context(void *places, sqlite3_stmt *row) {
    int64_t ids[PIE_PLACE_IDS];

    for (int i = 0; i < PIE_PLACE_IDS; i++)
        ids[i] = sqlite3_column_int64(row, i);
    return code_of(pie_place_sums_add_context(places, ids));
}

static int take_sample(void *places, sqlite3_stmt *row) {
    struct pie_place_sample sample = {.context = sqlite3_column_int64(row, 0),
                                      .thread = sqlite3_column_int64(row, 1),
                                      .squares = sqlite3_column_double(row, 2 + PIE_PLACE_SUMS)};

    for (int i = 0; i < PIE_PLACE_SUMS; i++)
        sample.sums[i] = sqlite3_column_int64(row, 2 + i);
    return code_of(pie_place_sums_add_sample(places, &sample));
}

static int read_process(sqlite3 *db, int64_t process, void **ret_rows) {
    struct pie_place_sums *places = *ret_rows = pie_calloc(1, sizeof *places);
    int code =
        places ? pie_process_rows_each(db, functions_sql, process, take_function, places) : SQLITE_NOMEM;

    if (code == SQLITE_OK)
        code = pie_process_rows_each(db, locations_sql, process, take_location, places);
    bool is_cut = pie_process_rows_can(db, "SELECT 1 FROM temp.node");
    if (code == SQLITE_OK)
        code = pie_process_rows_each(db, is_cut ? cut_contexts_sql : contexts_sql, process, take_context,
                                     places);
    if (code == SQLITE_OK)
        code = pie_process_rows_each(db, samples_sql, process, take_sample, places);
    if (code == SQLITE_OK)
        pie_place_sums_end(places);
    return code;
}

static void release(void *places) {
    if (places)
        pie_place_sums_finish(places);
    pie_free(places);
}

static size_t count_rows(const void *places) {
    return ((const struct pie_place_sums *)places)->row_count;
}

static const struct pie_place_sum *row_at(const void *places, size_t row) {
    return &((const struct pie_place_sums *)places)->rows[row];
}

static int64_t kind_of(const void *places, size_t row) {
    return row_at(places, row)->kind;
}

static void answer_id(sqlite3_context *context, uint32_t id) {
    if (id)
        sqlite3_result_int64(context, id);
}

static void answer(const void *places, size_t at, int number, sqlite3_context *context) {
    const struct pie_place_sum *row = row_at(places, at);

    if (number == COLUMN_LINE_LOCATION)
        answer_id(context, row->line_location);
    else if (number == COLUMN_OWN_LOCATION)
        answer_id(context, row->own_location);
    else if (number == COLUMN_LIBRARY_MODULE)
        answer_id(context, row->library_module);
    else if (number == COLUMN_FUNCTION)
        answer_id(context, row->function);
    else if (number == COLUMN_THREAD && row->kind == PIE_PLACE_THREAD)
        sqlite3_result_int64(context, row->thread);
    else if (number == COLUMN_THREAD)
        sqlite3_result_null(context);
    else if (number == COLUMN_SQUARES)
        sqlite3_result_double(context, row->squares);
    else
        sqlite3_result_int64(context, row->sums[number - COLUMN_SUMS]);
}

int pie_place_time_add(sqlite3 *db) {
    static const struct pie_process_rows_ops ops = {.declaration = declaration,
                                                    .first_columns = PIE_PROCESS_ROWS_RUNS,
                                                    .needs = "SELECT 1 FROM " PIE_NODE_SAMPLE_TABLE
                                                             " WHERE process = 0",
                                                    .read = read_process,
                                                    .release = release,
                                                    .count = count_rows,
                                                    .kind = kind_of,
                                                    .answer = answer};

    return pie_process_rows_add(db, PIE_PLACE_TIME_TABLE, &ops);
}
