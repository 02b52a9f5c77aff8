/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/read/cost_time.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdint.h>
#include <stdlib.h>

#include "profiler/base/own_memory.h"
#include "profiler/base/string_pool.h"
#include "storage/file/process_rows.h"
#include "storage/file/sums.h"
#include "storage/read/cost_sums.h"
#include "storage/read/place_time.h"

enum {
    COLUMN_FILE = PIE_PROCESS_ROWS_PLAIN,
    COLUMN_LINE,
    COLUMN_FUNCTION,
    COLUMN_LIBRARY,
    COLUMN_USER_FILE,
    COLUMN_USER_LINE,
    COLUMN_CPU,
    COLUMN_SQUARES,
    COLUMN_NTH,
    COLUMN_SUMS,
};
enum { SUM_PYTHON = 1, SUM_SYSTEM = 3 }; /* of CPU time, the first and the last */

static const char declaration[] =
    "CREATE TABLE x (run INTEGER, file TEXT, line INTEGER, function TEXT, library TEXT, user_file TEXT,"
    " user_line INTEGER, cpu_ns INTEGER, cpu_sq_ns2 REAL, nth INTEGER, " PIE_COST_SUMS_DECLARED ")";

struct process {
    int64_t id;
    bool has_clock;
};

struct file {
    int64_t id;
    const char *path, *library;
    bool is_own;
};

struct function {
    int64_t id, file;
    const char *name;
    struct pie_cost_number first_line;
};

struct location {
    int64_t id, function;
    struct pie_cost_number line;
};

/* A table of the file, by ascending ids, which each element begins with. */
struct elements {
    char *all;
    size_t count, size;
};

struct reading {
    struct pie_cost_sums costs;
    struct pie_string_pool *texts;
    sqlite3 *db;
    int64_t run;
    bool has_clock;            /* of the process that is read */
    struct elements processes; /* of the run */
    struct elements files, functions, locations;
};

/* --- The names of a process --- */

/* Room for one more, all 0: arrays double at powers of two. NULL: no memory. */
static void *add_element(struct elements *elements) {
    size_t count = elements->count;
    if ((count & (count - 1)) == 0) {
        char *grown = pie_realloc(elements->all, (count ? 2 * count : 1) * elements->size);
        if (!grown)
            return NULL;
        elements->all = grown;
    }
    elements->count++;
    return elements->all + count * elements->size;
}

static int compare_ids(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

/* Most files have all ids from 1 on. NULL: there is none. */
static const void *find(const struct elements *elements, int64_t id) {
    const char *at = elements->all + (id - 1) * (int64_t)elements->size;
    if (id < 1 || elements->count == 0)
        return NULL;
    if ((uint64_t)id <= elements->count && *(const int64_t *)at == id)
        return at;
    return bsearch(&id, elements->all, elements->count, elements->size, compare_ids);
}

static const char *text_of(struct reading *reading, sqlite3_stmt *row, int column) {
    return pie_string_pool_put(reading->texts, (const char *)sqlite3_column_text(row, column));
}

static struct pie_cost_number number_of(sqlite3_stmt *row, int column) {
    return (struct pie_cost_number){.value = sqlite3_column_int64(row, column),
                                    .is_known = sqlite3_column_type(row, column) != SQLITE_NULL};
}

static int take_file(void *data, sqlite3_stmt *row) {
    struct reading *reading = data;
    struct file *file = add_element(&reading->files);
    if (!file)
        return SQLITE_NOMEM;
    *file = (struct file){.id = sqlite3_column_int64(row, 0),
                          .path = text_of(reading, row, 1),
                          .is_own = sqlite3_column_int64(row, 2) != 0,
                          .library = text_of(reading, row, 3)};
    return SQLITE_OK;
}

static int take_function(void *data, sqlite3_stmt *row) {
    struct reading *reading = data;
    struct function *function = add_element(&reading->functions);
    if (!function)
        return SQLITE_NOMEM;
    *function = (struct function){.id = sqlite3_column_int64(row, 0),
                                  .name = text_of(reading, row, 1),
                                  .first_line = number_of(row, 2),
                                  .file = sqlite3_column_int64(row, 3)};
    return SQLITE_OK;
}

static int take_location(void *data, sqlite3_stmt *row) {
    struct location *location = add_element(&((struct reading *)data)->locations);
    if (!location)
        return SQLITE_NOMEM;
    *location = (struct location){.id = sqlite3_column_int64(row, 0),
                                  .line = number_of(row, 1),
                                  .function = sqlite3_column_int64(row, 2)};
    return SQLITE_OK;
}

static void forget_names(struct reading *reading) {
    pie_free(reading->files.all);
    pie_free(reading->functions.all);
    pie_free(reading->locations.all);
    reading->files = (struct elements){.size = sizeof(struct file)};
    reading->functions = (struct elements){.size = sizeof(struct function)};
    reading->locations = (struct elements){.size = sizeof(struct location)};
}

/* --- What its places cost --- */

/* A location with its function and file, as far as they are there. */
struct place {
    struct pie_cost_number line;
    const struct function *function;
    const struct file *file;
};

static struct place place_of(const struct reading *reading, int64_t id) {
    const struct location *location = find(&reading->locations, id);
    struct place place = {0};
    if (!location)
        return place;
    place.line = location->line;
    place.function = find(&reading->functions, location->function);
    place.file = place.function ? find(&reading->files, place.function->file) : NULL;
    return place;
}

/* Code made from text ("<string>") is own where own code runs it. */
static int take_cost(void *data, sqlite3_stmt *row) {
    struct reading *reading = data;
    int64_t line = sqlite3_column_int64(row, 0), own = sqlite3_column_int64(row, 1);
    struct place inner = place_of(reading, line), user = place_of(reading, own);
    bool is_own = inner.file && inner.file->is_own && line == own;
    struct pie_cost_row part = {.has_cpu = reading->has_clock,
                                .file = inner.file ? inner.file->path : NULL,
                                .function = inner.function ? inner.function->name : NULL,
                                .squares = sqlite3_column_double(row, 2 + PIE_COST_SUM_COUNT)};

    if (!reading->costs.by_function)
        part.line = inner.line;
    else if (inner.function)
        part.line = inner.function->first_line;
    if (!is_own) {
        part.library = inner.file ? inner.file->library : NULL;
        part.user_file = user.file ? user.file->path : NULL;
        part.user_line = user.line;
    }
    for (int i = 0; i < PIE_COST_SUM_COUNT; i++) {
        bool is_cpu = i >= SUM_PYTHON && i <= SUM_SYSTEM;
        part.sums[i] = is_cpu && !reading->has_clock ? 0 : sqlite3_column_int64(row, 2 + i);
    }
    int r = pie_cost_sums_add(&reading->costs, &part);
    return r == -EOVERFLOW ? SQLITE_TOOBIG : r < 0 ? SQLITE_NOMEM : SQLITE_OK;
}

static const struct {
    const char *sql;
    int (*take)(void *reading, sqlite3_stmt *row);
} parts[] = {
    {"SELECT id, path, is_own, library FROM file WHERE process = ?1 ORDER BY id", take_file},
    {"SELECT id, name, first_line, file FROM function WHERE process = ?1 ORDER BY id", take_function},
    {"SELECT id, line, function FROM location WHERE process = ?1 ORDER BY id", take_location},
    {"SELECT line_location, own_location, " PIE_COST_SUMS ", cpu_sq_ns2 FROM " PIE_PLACE_TIME_TABLE
     " WHERE process = ?1 AND kind = 1",
     take_cost},
};

static int take_process(void *data, sqlite3_stmt *row) {
    struct process *process = add_element(&((struct reading *)data)->processes);
    if (!process)
        return SQLITE_NOMEM;
    *process = (struct process){.id = sqlite3_column_int64(row, 0), .has_clock = sqlite3_column_int(row, 1)};
    return SQLITE_OK;
}

static int read_process(struct reading *reading, const struct process *process) {
    int code = SQLITE_OK;

    reading->has_clock = process->has_clock;
    forget_names(reading);
    for (size_t i = 0; i < sizeof parts / sizeof *parts && code == SQLITE_OK; i++)
        code = pie_process_rows_each(reading->db, parts[i].sql, process->id, parts[i].take, reading);
    return code;
}

/* Processes first: a statement that is open meanwhile would end well, and take the message of a failure with it. */
static int read_processes(struct reading *reading) {
    int code = pie_process_rows_each(reading->db,
                                     "SELECT id, clock IS NOT 'none' FROM process WHERE run = ?1 ORDER BY id",
                                     reading->run, take_process, reading);
    const struct process *processes = (const struct process *)reading->processes.all;

    for (size_t i = 0; i < reading->processes.count && code == SQLITE_OK; i++)
        code = read_process(reading, &processes[i]);
    return code;
}

static int read_run(sqlite3 *db, int64_t run, bool by_function, void **ret_rows) {
    struct reading *reading = *ret_rows = pie_calloc(1, sizeof *reading);

    if (!reading || pie_string_pool_create(&reading->texts) < 0)
        return SQLITE_NOMEM;
    reading->db = db;
    reading->run = run;
    reading->costs.by_function = by_function;
    reading->processes.size = sizeof(struct process);
    int code = read_processes(reading);
    forget_names(reading);
    pie_free(reading->processes.all);
    reading->processes.all = NULL;
    pie_cost_sums_end(&reading->costs);
    return code;
}

static int read_lines(sqlite3 *db, int64_t run, void **ret_rows) {
    return read_run(db, run, false, ret_rows);
}

static int read_functions(sqlite3 *db, int64_t run, void **ret_rows) {
    return read_run(db, run, true, ret_rows);
}

/* --- The tables --- */

static void release(void *rows) {
    struct reading *reading = rows;

    if (!reading)
        return;
    pie_cost_sums_finish(&reading->costs);
    pie_string_pool_destroy(reading->texts);
    pie_free(reading);
}

static size_t count_rows(const void *rows) {
    return ((const struct reading *)rows)->costs.count;
}

static void answer_number(sqlite3_context *context, struct pie_cost_number number) {
    if (number.is_known)
        sqlite3_result_int64(context, number.value);
}

static void answer_text(sqlite3_context *context, const char *text) {
    if (text)
        sqlite3_result_text(context, text, -1, SQLITE_TRANSIENT);
}

static void answer(const void *rows, size_t at, int column, sqlite3_context *context) {
    const struct pie_cost_row *row = &((const struct reading *)rows)->costs.rows[at];
    int sum = column - COLUMN_SUMS;

    if (column == COLUMN_FILE)
        answer_text(context, row->file);
    else if (column == COLUMN_LINE)
        answer_number(context, row->line);
    else if (column == COLUMN_FUNCTION)
        answer_text(context, row->function);
    else if (column == COLUMN_LIBRARY)
        answer_text(context, row->library);
    else if (column == COLUMN_USER_FILE)
        answer_text(context, row->user_file);
    else if (column == COLUMN_USER_LINE)
        answer_number(context, row->user_line);
    else if (column == COLUMN_SQUARES)
        sqlite3_result_double(context, row->squares);
    else if (column == COLUMN_NTH)
        sqlite3_result_int64(context, row->nth);
    else if (!row->has_cpu && (column == COLUMN_CPU || (sum >= SUM_PYTHON && sum <= SUM_SYSTEM)))
        sqlite3_result_null(context);
    else
        sqlite3_result_int64(context, column == COLUMN_CPU ? pie_cost_cpu_ns(row) : row->sums[sum]);
}

#define TABLE(reads)                                                                                         \
    {.declaration = declaration,                                                                             \
     .first_columns = PIE_PROCESS_ROWS_PLAIN,                                                                \
     .needs = "SELECT 1 FROM " PIE_PLACE_TIME_TABLE " WHERE process = 0",                                    \
     .read = (reads),                                                                                        \
     .release = release,                                                                                     \
     .count = count_rows,                                                                                    \
     .answer = answer}

int pie_cost_time_add(sqlite3 *db) {
    static const struct pie_process_rows_ops lines = TABLE(read_lines), functions = TABLE(read_functions);
    int code = pie_process_rows_add(db, PIE_LINE_SUM_TABLE, &lines);

    return code == SQLITE_OK ? pie_process_rows_add(db, PIE_FUNCTION_SUM_TABLE, &functions) : code;
}
