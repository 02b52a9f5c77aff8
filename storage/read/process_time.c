/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/read/process_time.h"

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "profiler/base/own_memory.h"
#include "storage/file/node_sample.h"
#include "storage/file/process_rows.h"
#include "storage/file/sums.h"

enum { COLUMN_SUMS = PIE_PROCESS_ROWS_PLAIN, COLUMN_SQUARES = COLUMN_SUMS + PIE_COST_SUM_COUNT };

static const char declaration[] =
    "CREATE TABLE x (process INTEGER, " PIE_COST_SUMS_DECLARED ", cpu_sq_ns2 REAL)";
static const char samples_sql[] =
    "SELECT " PIE_COST_SUMS ", cpu_sq_ns2 FROM " PIE_NODE_SAMPLE_TABLE " WHERE process = ?1";

struct sums {
    int64_t whole[PIE_COST_SUM_COUNT]; /* samples and nanoseconds */
    double squares;
    bool has_samples; /* else there is no row */
};

static int take_sample(void *data, sqlite3_stmt *row) {
    struct sums *sums = data;

    sums->has_samples = true;
    for (int i = 0; i < PIE_COST_SUM_COUNT; i++)
        if (__builtin_add_overflow(sums->whole[i], sqlite3_column_int64(row, i), &sums->whole[i]))
            return SQLITE_TOOBIG;
    sums->squares += sqlite3_column_double(row, PIE_COST_SUM_COUNT);
    return SQLITE_OK;
}

static int read_process(sqlite3 *db, int64_t process, void **ret_rows) {
    struct sums *sums = *ret_rows = pie_calloc(1, sizeof *sums);

    return sums ? pie_process_rows_each(db, samples_sql, process, take_sample, sums) : SQLITE_NOMEM;
}

static size_t count_rows(const void *rows) {
    return ((const struct sums *)rows)->has_samples ? 1 : 0;
}

static void answer(const void *rows, size_t row, int number, sqlite3_context *context) {
    const struct sums *sums = rows;

    if (number == COLUMN_SQUARES)
        sqlite3_result_double(context, sums->squares);
    else
        sqlite3_result_int64(context, sums->whole[number - COLUMN_SUMS]);
}

int pie_process_time_add(sqlite3 *db) {
    static const struct pie_process_rows_ops ops = {.declaration = declaration,
                                                    .first_columns = PIE_PROCESS_ROWS_PLAIN,
                                                    .needs = "SELECT 1 FROM " PIE_NODE_SAMPLE_TABLE
                                                             " WHERE process = 0",
                                                    .read = read_process,
                                                    .release = pie_free,
                                                    .count = count_rows,
                                                    .answer = answer};

    return pie_process_rows_add(db, PIE_PROCESS_TIME_TABLE, &ops);
}
