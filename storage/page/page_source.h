/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "storage/base/idmap.h"

struct pie_cursor;
struct pie_page;

/* Files with their lines and texts (data.d.ts: Source). Context: cli. */

/* Columns of a line that are numbers, in the order of lines_sql. */
enum pie_page_line_value {
    PIE_PAGE_LINE_PYTHON_S,
    PIE_PAGE_LINE_NATIVE_S,
    PIE_PAGE_LINE_SYSTEM_S,
    PIE_PAGE_LINE_WAIT_S,
    PIE_PAGE_LINE_RUNNABLE_S,
    PIE_PAGE_LINE_THROTTLED_S,
    PIE_PAGE_LINE_SAMPLES,
    PIE_PAGE_LINE_ALLOCATED,
    PIE_PAGE_LINE_PEAK,
    PIE_PAGE_LINE_GROWTH,
    PIE_PAGE_LINE_COPIED,
    PIE_PAGE_LINE_LIBRARY_S,
    PIE_PAGE_LINE_WORKED_S,
    PIE_PAGE_LINE_READ, /* as many are read */
    PIE_PAGE_LINE_WASTED_S = PIE_PAGE_LINE_READ,
    PIE_PAGE_LINE_FINDING,
    PIE_PAGE_LINE_VALUES,
};

struct pie_page_line {
    uint32_t file; /* index into files */
    int64_t line;
    char *function, *library;            /* heap, or NULL */
    double values[PIE_PAGE_LINE_VALUES]; /* NAN: not known */
};

struct pie_page_file {
    char *path, *library;            /* heap; library NULL: own code */
    double cpu_s, wait_s, allocated; /* of all lines; NAN: not known */
    uint32_t lines;                  /* of them that are in the page */
    uint32_t place;                  /* in the page's files, if it has lines there */
};

struct pie_page_source {
    struct pie_page_line *lines; /* the most important ones first */
    uint32_t line_count, line_total;
    uint32_t shown; /* of the lines: in the page */
    struct pie_page_file *files;
    uint32_t file_count, files_shown;
    struct pie_idmap files_of; /* by path: own files with "o" before it, libraries' with "l": index + 1 */
};

/* Reads the lines of a run. Returns 0, or -errno and a message. */
int pie_page_lines_read(struct pie_page *page, struct pie_page_source *ret_source, char **ret_message);
void pie_page_lines_finish(struct pie_page_source *source);

/* Takes as many lines as fit, and their files. Returns {"files": …, "lines": …}, or NULL without memory. */
json_t *pie_page_lines_write(struct pie_page *page, struct pie_page_source *source, size_t bytes_max);

/* The texts of the files in the page, nearest to their lines first, as many as fit. Returns 0, or -errno and a
 * message. */
int pie_page_text_read(struct pie_page *page, const struct pie_page_source *source, size_t bytes_max,
                       json_t **ret_text, char **ret_message);

/* The file of a path, or UINT32_MAX. */
uint32_t pie_page_source_find(const struct pie_page_source *source, const char *path, bool is_own);
