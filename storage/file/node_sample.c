/* SPDX-License-Identifier: Apache-2.0 */

/* Where there is a temporary table or view `sample`, such as that of a period or a place, it is what is added up, else
 * all rows of the file are. */

#include "storage/file/node_sample.h"

#include <sqlite3.h>
#include <stdint.h>

#include "profiler/base/list.h"
#include "profiler/base/own_memory.h"
#include "profiler/base/u64map.h"
#include "storage/file/process_rows.h"
#include "storage/file/sums.h"

enum {
    COLUMN_THREAD = PIE_PROCESS_ROWS_PLAIN,
    COLUMN_NODE,
    COLUMN_SAMPLES,
    COLUMN_SQUARES = COLUMN_SAMPLES + PIE_COST_SUM_COUNT,
    BATCH_MAX = 1 << 20, /* rows: 84 MB */
};

static const char declaration[] =
    "CREATE TABLE x (process INTEGER, thread INTEGER, node INTEGER," PIE_COST_SUMS_DECLARED
    ", cpu_sq_ns2 REAL)";
#define ROWS_OF_PROCESS(table)                                                                               \
    "SELECT thread, node, " PIE_COST_SUMS ", cpu_sq_ns2 FROM " table " WHERE process = ?1"
static const char *const rows_of_process[] = {ROWS_OF_PROCESS("temp.sample"),
                                              ROWS_OF_PROCESS("every_sample")};

struct sums {
    uint32_t thread, node;
    int64_t whole[PIE_COST_SUM_COUNT]; /* samples and nanoseconds */
    double squares;
};

/* All of a process, or BATCH_MAX of them from as many rows of the file as that takes. */
struct added {
    struct sums *sums;
    size_t count, capacity;
    sqlite3_stmt *rest; /* rows of the file that are not in it; NULL: none */
};

/* A new row of sums, all 0; NULL if there is no memory. */
static struct sums *add_sums(struct added *added, uint32_t thread, uint32_t node) {
    struct sums *list = pie_list_grown(added->sums, added->count, &added->capacity, sizeof *list);
    if (!list)
        return NULL;
    added->sums = list;
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
    for (int i = 0; i < PIE_COST_SUM_COUNT; i++)
        if (__builtin_add_overflow(sums->whole[i], sqlite3_column_int64(row, 2 + i), &sums->whole[i]))
            return SQLITE_TOOBIG;
    sums->squares += sqlite3_column_double(row, 2 + PIE_COST_SUM_COUNT);
    return SQLITE_OK;
}

/* The next batch; none if there are no more rows. */
static int add_rows(void *rows) {
    struct pie_u64map places = {0};
    struct added *added = rows;
    int code = SQLITE_OK;

    added->count = 0;
    while (code == SQLITE_OK && added->count < BATCH_MAX && (code = sqlite3_step(added->rest)) == SQLITE_ROW)
        code = add_row(added, &places, added->rest);
    pie_u64map_finish(&places);
    if (code != SQLITE_DONE)
        return code;
    sqlite3_finalize(added->rest);
    added->rest = NULL;
    return SQLITE_OK;
}

static int read_process(sqlite3 *db, int64_t process, void **ret_rows) {
    struct added *added = *ret_rows = pie_calloc(1, sizeof *added);
    if (!added)
        return SQLITE_NOMEM;
    int code = sqlite3_prepare_v2(db, rows_of_process[0], -1, &added->rest, NULL);
    if (code == SQLITE_ERROR) /* there is no such table */
        code = sqlite3_prepare_v2(db, rows_of_process[1], -1, &added->rest, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_bind_int64(added->rest, 1, process);
    return code == SQLITE_OK ? add_rows(added) : code;
}

static bool has_more(const void *rows) {
    return ((const struct added *)rows)->rest;
}

static void release(void *rows) {
    struct added *added = rows;

    if (!added)
        return;
    sqlite3_finalize(added->rest);
    pie_free(added->sums);
    pie_free(added);
}

static size_t count_rows(const void *rows) {
    return ((const struct added *)rows)->count;
}

static void answer(const void *rows, size_t row, int number, sqlite3_context *context) {
    const struct sums *sums = &((const struct added *)rows)->sums[row];

    if (number == COLUMN_SQUARES)
        sqlite3_result_double(context, sums->squares);
    else
        sqlite3_result_int64(context, number == COLUMN_THREAD ? sums->thread
                                      : number == COLUMN_NODE ? sums->node
                                                              : sums->whole[number - COLUMN_SAMPLES]);
}

int pie_node_sample_add(sqlite3 *db) {
    static const struct pie_process_rows_ops ops = {.declaration = declaration,
                                                    .first_columns = PIE_PROCESS_ROWS_PLAIN,
                                                    .needs = "SELECT 1 FROM every_sample LIMIT 0",
                                                    .read = read_process,
                                                    .read_more = add_rows,
                                                    .has_more = has_more,
                                                    .release = release,
                                                    .count = count_rows,
                                                    .answer = answer};

    return pie_process_rows_add(db, PIE_NODE_SAMPLE_TABLE, &ops);
}
