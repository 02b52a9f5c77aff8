/* SPDX-License-Identifier: Apache-2.0 */

/* Where there is a temporary table or view `sample`, such as that of a period or a thread, it is what is added up, else
 * all rows of the file are. */

#include "storage/read/call_time.h"

#include <assert.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "profiler/base/own_memory.h"
#include "storage/file/process_rows.h"
#include "storage/file/sums.h"
#include "storage/read/call_sums.h"

enum { COLUMN_FUNCTION = PIE_PROCESS_ROWS_KINDS, COLUMN_LOCATION, COLUMN_OTHER, COLUMN_SUMS };

static const char declaration[] =
    "CREATE TABLE x (process INTEGER, kind INTEGER, function INTEGER, location INTEGER, other INTEGER,"
    " " PIE_COST_SUMS_DECLARED ", self_ns INTEGER)";
static_assert((int)PIE_CALL_READ_SUMS == PIE_COST_SUM_COUNT, "as they are read");

static int code_of(int r) {
    return r < 0 ? SQLITE_NOMEM : SQLITE_OK;
}

static int take_function(void *calls, sqlite3_stmt *row) {
    return code_of(
        pie_call_sums_add_function(calls, sqlite3_column_int64(row, 0), sqlite3_column_int(row, 1) == 1));
}

static int take_location(void *calls, sqlite3_stmt *row) {
    return code_of(
        pie_call_sums_add_location(calls, sqlite3_column_int64(row, 0), sqlite3_column_int64(row, 1)));
}

static int take_node(void *calls, sqlite3_stmt *row) {
    return code_of(pie_call_sums_add_node(calls, sqlite3_column_int64(row, 0), sqlite3_column_int64(row, 1),
                                          sqlite3_column_int64(row, 2), sqlite3_column_int64(row, 3),
                                          sqlite3_column_int64(row, 4)));
}

static int take_sample(void *calls, sqlite3_stmt *row) {
    int64_t sums[PIE_CALL_READ_SUMS];

    for (int i = 0; i < PIE_CALL_READ_SUMS; i++)
        sums[i] = sqlite3_column_int64(row, 1 + i);
    return code_of(pie_call_sums_add_sample(calls, sqlite3_column_int64(row, 0), sums));
}

static const struct {
    const char *sql;
    int (*take)(void *calls, sqlite3_stmt *row);
} structure[] = {
    {"SELECT u.id, f.is_own FROM function u LEFT JOIN file f ON f.process = u.process AND f.id = u.file"
     " WHERE u.process = ?1 AND u.kind = 1 ORDER BY u.id",
     take_function},
    {"SELECT id, function FROM location WHERE process = ?1 ORDER BY id", take_location},
    {"SELECT id, parent, location, entry_function, own_location FROM node WHERE process = ?1 ORDER BY id",
     take_node},
};

#define SAMPLES_OF(table) "SELECT node, " PIE_COST_SUMS " FROM " table " WHERE process = ?1"

static int read_samples(sqlite3 *db, int64_t process, struct pie_call_sums *calls) {
    bool is_cut = pie_process_rows_can(db, "SELECT 1 FROM temp.sample");

    return pie_process_rows_each(db, is_cut ? SAMPLES_OF("temp.sample") : SAMPLES_OF("every_sample"), process,
                                 take_sample, calls);
}

static int read_process(sqlite3 *db, int64_t process, void **ret_rows) {
    struct pie_call_sums *calls = *ret_rows = pie_calloc(1, sizeof *calls);
    int code = calls ? SQLITE_OK : SQLITE_NOMEM;

    for (size_t i = 0; i < sizeof structure / sizeof *structure && code == SQLITE_OK; i++)
        code = pie_process_rows_each(db, structure[i].sql, process, structure[i].take, calls);
    if (code != SQLITE_OK)
        return code;
    pie_call_sums_link(calls);
    code = read_samples(db, process, calls);
    return code == SQLITE_OK ? code_of(pie_call_sums_end(calls)) : code;
}

static void release(void *calls) {
    if (calls)
        pie_call_sums_finish(calls);
    pie_free(calls);
}

static size_t count_rows(const void *calls) {
    return ((const struct pie_call_sums *)calls)->row_count;
}

static const struct pie_call_sum *row_at(const void *calls, size_t row) {
    return &((const struct pie_call_sums *)calls)->rows[row];
}

/* What is taken back of a recursive function leaves rows of nothing. */
static int64_t kind_of(const void *calls, size_t at) {
    const struct pie_call_sum *row = row_at(calls, at);
    int64_t any = 0;

    for (int i = 0; i < PIE_CALL_SUMS; i++)
        any |= row->sums[i];
    return any != 0 ? row->kind : 0;
}

static void answer(const void *calls, size_t at, int number, sqlite3_context *context) {
    const struct pie_call_sum *row = row_at(calls, at);

    sqlite3_result_int64(context, number == COLUMN_FUNCTION   ? row->function
                                  : number == COLUMN_LOCATION ? row->location
                                  : number == COLUMN_OTHER    ? row->other
                                                              : row->sums[number - COLUMN_SUMS]);
}

int pie_call_time_add(sqlite3 *db) {
    static const struct pie_process_rows_ops ops = {.declaration = declaration,
                                                    .first_columns = PIE_PROCESS_ROWS_KINDS,
                                                    .needs = "SELECT 1 FROM every_sample LIMIT 0",
                                                    .read = read_process,
                                                    .release = release,
                                                    .count = count_rows,
                                                    .kind = kind_of,
                                                    .answer = answer};

    return pie_process_rows_add(db, PIE_CALL_TIME_TABLE, &ops);
}
