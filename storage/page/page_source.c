/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/page/page_source.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "storage/page/page_json.h"
#include "storage/page/page_part.h"

enum { LINES_BYTES_MAX = 350000, TEXT_BYTES_MAX = 900000 };

static const char *const value_names[PIE_PAGE_LINE_VALUES] = {
    "python_s",     "native_s",      "system_s",        "wait_s",     "runnable_s",
    "throttled_s",  "samples",       "allocated_bytes", "peak_bytes", "growth_bytes",
    "copied_bytes", "library_cpu_s", "worked_s",        "wasted_s",   "finding",
};

static int compare_numbers(double a, double b) {
    a = isnan(a) ? -1 : a;
    b = isnan(b) ? -1 : b;
    return a > b ? -1 : a < b;
}

/* Own files first, then the costliest. */
static int compare_files(const void *a, const void *b, void *data) {
    const struct pie_page_source *source = data;
    const struct pie_page_file *x = &source->files[*(const uint32_t *)a];
    const struct pie_page_file *y = &source->files[*(const uint32_t *)b];
    if (!x->library != !y->library)
        return x->library ? 1 : -1;
    int order = compare_numbers(x->cpu_s, y->cpu_s);
    if (order == 0)
        order = compare_numbers(x->wait_s, y->wait_s);
    if (order == 0)
        order = compare_numbers(x->allocated, y->allocated);
    return order ? order : strcmp(x->path, y->path);
}

/* By the file's place in the page, then by line. */
static int compare_lines(const void *a, const void *b, void *data) {
    const struct pie_page_source *source = data;
    const struct pie_page_line *x = &source->lines[*(const uint32_t *)a];
    const struct pie_page_line *y = &source->lines[*(const uint32_t *)b];
    uint32_t x_place = source->files[x->file].place, y_place = source->files[y->file].place;
    if (x_place != y_place)
        return x_place < y_place ? -1 : 1;
    return x->line < y->line ? -1 : x->line > y->line;
}

/* Gives a place to each file that has lines in the page. Returns the files in this order (heap), or NULL. */
static uint32_t *order_files(struct pie_page_source *source) {
    uint32_t *order = calloc((size_t)source->file_count + 1, sizeof *order);
    source->files_shown = 0;
    for (uint32_t i = 0; i < source->file_count; i++)
        source->files[i].lines = 0;
    for (uint32_t i = 0; i < source->shown; i++)
        source->files[source->lines[i].file].lines++;
    for (uint32_t i = 0; order && i < source->file_count; i++)
        if (source->files[i].lines > 0)
            order[source->files_shown++] = i;
    if (order)
        qsort_r(order, source->files_shown, sizeof *order, compare_files, source);
    for (uint32_t i = 0; order && i < source->files_shown; i++)
        source->files[order[i]].place = i;
    return order;
}

static uint32_t *order_lines(struct pie_page_source *source) {
    uint32_t *order = calloc((size_t)source->shown + 1, sizeof *order);
    for (uint32_t i = 0; order && i < source->shown; i++)
        order[i] = i;
    if (order)
        qsort_r(order, source->shown, sizeof *order, compare_lines, source);
    return order;
}

static bool write_file(struct pie_page *page, const struct pie_page_file *file, json_t *table) {
    return pie_page_append(table, "path", pie_page_string(&page->strings, file->path)) &&
           pie_page_append(table, "library", pie_page_string(&page->strings, file->library)) &&
           pie_page_append(table, "cpu_s", pie_page_number(file->cpu_s)) &&
           pie_page_append(table, "wait_s", pie_page_number(file->wait_s)) &&
           pie_page_append(table, "allocated_bytes", pie_page_number(file->allocated));
}

static bool write_line(struct pie_page *page, const struct pie_page_source *source,
                       const struct pie_page_line *line, json_t *table) {
    bool is_written = pie_page_append(table, "file", json_integer(source->files[line->file].place)) &&
                      pie_page_append(table, "line", json_integer(line->line)) &&
                      pie_page_append(table, "function", pie_page_string(&page->strings, line->function)) &&
                      pie_page_append(table, "library", pie_page_string(&page->strings, line->library));
    for (int i = 0; i < PIE_PAGE_LINE_VALUES && is_written; i++)
        is_written = pie_page_append(table, value_names[i], pie_page_number(line->values[i]));
    return is_written;
}

/* Of the lines shown: {"files": …, "lines": …}, or NULL without memory. */
static json_t *write_shown(struct pie_page *page, struct pie_page_source *source) {
    static const char *const file_names[] = {"path", "library", "cpu_s", "wait_s", "allocated_bytes", NULL};
    static const char *const line_names[] = {"file", "line", "function", "library", NULL};
    json_t *files = pie_page_columns(file_names);
    json_t *lines = pie_page_columns(line_names);
    uint32_t *file_order = order_files(source), *line_order = order_lines(source);
    bool is_written = files && lines && file_order && line_order;
    for (int i = 0; i < PIE_PAGE_LINE_VALUES && is_written; i++)
        is_written = json_object_set_new(lines, value_names[i], json_array()) == 0;
    for (uint32_t i = 0; i < source->files_shown && is_written; i++)
        is_written = write_file(page, &source->files[file_order[i]], files);
    for (uint32_t i = 0; i < source->shown && is_written; i++)
        is_written = write_line(page, source, &source->lines[line_order[i]], lines);
    free(file_order);
    free(line_order);
    json_t *object = is_written ? json_pack("{s:O, s:O}", "files", files, "lines", lines) : NULL;
    json_decref(files);
    json_decref(lines);
    return object;
}

json_t *pie_page_lines_write(struct pie_page *page, struct pie_page_source *source, size_t bytes_max) {
    size_t strings = json_array_size(page->strings.list), before = page->strings.bytes;
    source->shown = source->line_count;
    for (;;) {
        json_t *object = write_shown(page, source);
        size_t size = object ? pie_page_size(object) + page->strings.bytes - before : 0;
        if (!object || size <= bytes_max || source->shown == 0)
            return object;
        json_decref(object);
        if (pie_page_strings_forget(&page->strings, strings) < 0)
            return NULL;
        source->shown = (uint32_t)(0.95 * source->shown * (double)bytes_max / (double)size);
    }
}

static int put_cuts(struct pie_page *page, const struct pie_page_source *source) {
    int r = pie_page_put_cut(page, "source.files", source->files_shown, source->file_count,
                             "own files first, then CPU time and waiting");
    return r < 0 ? r
                 : pie_page_put_cut(page, "source.lines", source->shown, source->line_total,
                                    "part of CPU time, waiting and memory");
}

int pie_page_add_source(struct pie_page *page, char **ret_message) {
    struct pie_page_source source;
    json_t *text = NULL;
    int r = pie_page_lines_read(page, &source, ret_message);
    size_t room = pie_page_room(page), lines_max = pie_page_limit(page, LINES_BYTES_MAX),
           text_max = pie_page_limit(page, TEXT_BYTES_MAX);
    json_t *object = r < 0 ? NULL : pie_page_lines_write(page, &source, room < lines_max ? room : lines_max);
    if (r == 0 && !object)
        r = pie_page_no_memory(ret_message);
    if (r == 0) {
        size_t used = pie_page_size(object);
        room = pie_page_room(page) > used ? pie_page_room(page) - used : 0;
        r = pie_page_text_read(page, &source, room < text_max ? room : text_max, &text, ret_message);
    }
    if (r == 0 && (json_object_set_new(object, "text", text) < 0 || put_cuts(page, &source) < 0 ||
                   pie_page_put(page, "source", json_incref(object)) < 0))
        r = pie_page_no_memory(ret_message);
    json_decref(object);
    pie_page_lines_finish(&source);
    return r;
}
