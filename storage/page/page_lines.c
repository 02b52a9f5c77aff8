/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "storage/base/message.h"
#include "storage/page/page_json.h"
#include "storage/page/page_part.h"
#include "storage/page/page_source.h"
#include "storage/page/page_table.h"
#include "storage/read/reader.h"

enum { LINES_MAX = 10000 };

/* Lines of own files are as in the report: with what they called in libraries. Memory and copies stand at the same
 * lines. The most important first: by their parts of the run's CPU time, which counts twice, of waiting and of
 * memory. */
#define COST "python_s, native_s, system_s, wait_s, runnable_s, throttled_s, samples"
#define NO_COST "NULL, NULL, NULL, NULL, NULL, NULL, NULL"
#define PART(column) "coalesce(" column " / nullif(sum(" column ") OVER (), 0), 0)"
static const char lines_sql[] =
    "WITH part AS MATERIALIZED ("
    "SELECT file, line, NULL AS owner, function, " COST ", NULL AS allocated, NULL AS peak, NULL AS growth,"
    " NULL AS copied, library AS below, library_cpu_s AS below_s, NULL AS worked FROM x_own_line WHERE run = "
    ":run"
    " UNION ALL SELECT file, line, library, function, " COST ", NULL, NULL, NULL, NULL, NULL, NULL, worked_s"
    " FROM x_line_share WHERE run = :run AND library IS NOT NULL"
    " UNION ALL SELECT file, line, NULL, function, " NO_COST
    ", allocated_bytes, peak_bytes, growth_bytes, copy_bytes,"
    " NULL, NULL, NULL FROM v_own_memory WHERE run = :run"
    " UNION ALL SELECT file, line, library, function, " NO_COST
    ", allocated_bytes, peak_bytes, growth_bytes, NULL,"
    " NULL, NULL, NULL FROM v_memory WHERE run = :run AND library IS NOT NULL"
    " UNION ALL SELECT file, line, library, function, " NO_COST ", NULL, NULL, NULL, bytes, NULL, NULL, NULL"
    " FROM v_copy WHERE run = :run AND library IS NOT NULL"
    " UNION ALL SELECT iif(library IS NULL, file, user_file), iif(library IS NULL, line, user_line), NULL,"
    " iif(library IS NULL, function, NULL), " NO_COST ", NULL, NULL, NULL, NULL, NULL, NULL, worked_s"
    " FROM v_worked WHERE run = :run),"
    " whole AS (SELECT file, line, max(owner) AS owner, max(function) AS function, sum(python_s) AS python_s,"
    " sum(native_s) AS native_s, sum(system_s) AS system_s, sum(wait_s) AS wait_s, sum(runnable_s) AS "
    "runnable_s,"
    " sum(throttled_s) AS throttled_s, sum(samples) AS samples, sum(allocated) AS allocated, sum(peak) AS "
    "peak,"
    " sum(growth) AS growth, sum(copied) AS copied, max(below) AS below, max(below_s) AS below_s, "
    "sum(worked) AS worked FROM part "
    "WHERE file IS NOT NULL AND line IS NOT NULL"
    " GROUP BY file, line, owner IS NULL)"
    " SELECT file, line, owner, function, below, " COST ", allocated, peak, growth, copied, below_s, worked"
    " FROM whole ORDER BY 2 * " PART("(python_s + native_s + system_s)") " + " PART("wait_s") " + " PART(
        "1.0 * allocated") " + " PART("1.0 * copied") " DESC, file, line";

enum { FILE_COLUMN, LINE_COLUMN, OWNER_COLUMN, FUNCTION_COLUMN, BELOW_COLUMN, FIRST_VALUE };

/* "o" or "l" and the path; heap, or NULL. */
static char *key_of(const char *path, bool is_own) {
    size_t size = strlen(path) + 1;
    char *key = malloc(size + 1);
    if (key) {
        key[0] = is_own ? 'o' : 'l';
        memcpy(key + 1, path, size);
    }
    return key;
}

uint32_t pie_page_source_find(const struct pie_page_source *source, const char *path, bool is_own) {
    char *key = key_of(path, is_own);
    uint32_t number = key ? pie_idmap_get(&source->files_of, key, strlen(key)) : 0;
    free(key);
    return number > 0 ? number - 1 : UINT32_MAX;
}

/* Room for one more: arrays double at powers of two. */
static void *grow(void *array, uint32_t count, size_t size) {
    if (count != 0 && (count & (count - 1)) != 0)
        return array;
    return reallocarray(array, count ? (size_t)count * 2 : 1, size);
}

/* Returns 0 or -ENOMEM. */
static int get_file(struct pie_page_source *source, const char *path, const char *library,
                    uint32_t *ret_file) {
    char *key = key_of(path, !library);
    uint32_t number = key ? pie_idmap_get(&source->files_of, key, strlen(key)) : 0;
    int r = key ? 0 : -ENOMEM;
    if (r == 0 && number == 0) {
        struct pie_page_file *files = grow(source->files, source->file_count, sizeof *files);
        source->files = files ? files : source->files;
        r = files ? pie_idmap_add(&source->files_of, key, strlen(key), source->file_count + 1) : -ENOMEM;
        if (r == 0) {
            files[source->file_count++] = (struct pie_page_file){
                .path = strdup(path),
                .library = library ? strdup(library) : NULL,
                .cpu_s = NAN,
                .wait_s = NAN,
                .allocated = NAN,
            };
            number = source->file_count;
        }
    }
    free(key);
    *ret_file = number - 1;
    return r;
}

static void add_known(double *sum, double value) {
    if (!isnan(value))
        *sum = isnan(*sum) ? value : *sum + value;
}

static void add_to_file(struct pie_page_file *file, const double *values) {
    add_known(&file->cpu_s, values[PIE_PAGE_LINE_PYTHON_S] + values[PIE_PAGE_LINE_NATIVE_S] +
                                values[PIE_PAGE_LINE_SYSTEM_S]);
    add_known(&file->wait_s, values[PIE_PAGE_LINE_WAIT_S]);
    add_known(&file->allocated, values[PIE_PAGE_LINE_ALLOCATED]);
}

static const char *text_in(const json_t *table, const char *column, size_t row) {
    return json_string_value(json_array_get(json_object_get(table, column), row));
}

static double number_in(const json_t *table, const char *column, size_t row) {
    const json_t *value = json_array_get(json_object_get(table, column), row);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

/* Of the page's findings the first one at a line is the costliest there. */
static void add_finding(const struct pie_page *page, const struct pie_page_source *source,
                        struct pie_page_line *line) {
    const json_t *findings = json_object_get(page->data, "findings");
    const struct pie_page_file *file = &source->files[line->file];
    for (size_t i = 0; i < json_array_size(json_object_get(findings, "line")); i++) {
        const char *path = text_in(findings, "file", i), *severity = text_in(findings, "severity", i);
        if (number_in(findings, "line", i) == (double)line->line && path && strcmp(path, file->path) == 0 &&
            !text_in(findings, "library", i) == !file->library && severity &&
            strcmp(severity, "reuse") != 0) {
            line->values[PIE_PAGE_LINE_FINDING] = (double)i;
            line->values[PIE_PAGE_LINE_WASTED_S] = number_in(findings, "wasted_s", i);
            return;
        }
    }
}

static char *copy_text(struct pie_cursor *cursor, int column) {
    const char *text = pie_cursor_text(cursor, column);
    return text ? strdup(text) : NULL;
}

static int take_line(struct pie_page *page, struct pie_page_source *source, struct pie_cursor *cursor) {
    struct pie_page_line line = {.line = pie_cursor_int(cursor, LINE_COLUMN)};
    const char *path = pie_cursor_text(cursor, FILE_COLUMN);
    int r = get_file(source, path ? path : "", pie_cursor_text(cursor, OWNER_COLUMN), &line.file);
    if (r < 0)
        return r;
    line.values[PIE_PAGE_LINE_WASTED_S] = line.values[PIE_PAGE_LINE_FINDING] = NAN;
    for (int i = 0; i < PIE_PAGE_LINE_READ; i++)
        line.values[i] = pie_cursor_type(cursor, FIRST_VALUE + i) == PIE_VALUE_NULL
                             ? NAN
                             : pie_cursor_real(cursor, FIRST_VALUE + i);
    add_to_file(&source->files[line.file], line.values);
    if (source->line_total++ >= pie_page_limit(page, LINES_MAX))
        return 0;
    struct pie_page_line *lines = grow(source->lines, source->line_count, sizeof *lines);
    if (!lines)
        return -ENOMEM;
    add_finding(page, source, &line);
    line.function = copy_text(cursor, FUNCTION_COLUMN);
    line.library = copy_text(cursor, BELOW_COLUMN);
    source->lines = lines;
    lines[source->line_count++] = line;
    return 0;
}

int pie_page_lines_read(struct pie_page *page, struct pie_page_source *ret_source, char **ret_message) {
    struct pie_cursor *cursor;
    *ret_source = (struct pie_page_source){0};
    int r = pie_cursor_open(page->reader, lines_sql, &cursor, ret_message);
    if (r < 0)
        return r;
    pie_cursor_bind_int(cursor, ":run", page->run);
    while ((r = pie_cursor_next(cursor, ret_message)) > 0) {
        r = take_line(page, ret_source, cursor);
        if (r < 0) {
            (void)pie_page_no_memory(ret_message);
            break;
        }
    }
    pie_cursor_close(cursor);
    return r;
}

void pie_page_lines_finish(struct pie_page_source *source) {
    for (uint32_t i = 0; i < source->line_count; i++) {
        free(source->lines[i].function);
        free(source->lines[i].library);
    }
    for (uint32_t i = 0; i < source->file_count; i++) {
        free(source->files[i].path);
        free(source->files[i].library);
    }
    free(source->lines);
    free(source->files);
    pie_idmap_finish(&source->files_of);
}
