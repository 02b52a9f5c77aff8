/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/page/page_table.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "storage/base/message.h"
#include "storage/page/page_json.h"
#include "storage/page/page_part.h"
#include "storage/read/reader.h"

#define STRING_END "_string"

/* Where the values of a column of the cursor go. */
struct column {
    json_t *values;
    bool is_string;
};

/* The name of a column in the page; heap, or NULL. */
static char *page_name(const char *name, bool *ret_is_string) {
    size_t size = strlen(name), end = sizeof STRING_END - 1;
    *ret_is_string = size > end && strcmp(name + size - end, STRING_END) == 0;
    return strndup(name, *ret_is_string ? size - end : size);
}

/* Makes the columns, all empty. Of several of one name the last counts, as in the JSON of a question. */
static int make_columns(struct pie_cursor *cursor, json_t *object, struct column *columns, int count) {
    for (int i = 0; i < count; i++) {
        char *name = page_name(pie_cursor_column_name(cursor, i), &columns[i].is_string);
        int r = name ? json_object_set_new(object, name, json_array()) : -1;
        columns[i].values = r == 0 ? json_object_get(object, name) : NULL;
        for (int before = 0; before < i; before++)
            if (columns[i].values &&
                strcmp(pie_cursor_column_name(cursor, before), pie_cursor_column_name(cursor, i)) == 0)
                columns[before].values = NULL;
        free(name);
        if (r < 0)
            return -ENOMEM;
    }
    return 0;
}

static int take_row(struct pie_page *page, struct pie_cursor *cursor, const struct column *columns,
                    int count) {
    for (int i = 0; i < count; i++) {
        if (!columns[i].values)
            continue;
        json_t *value = columns[i].is_string ? pie_page_string(&page->strings, pie_cursor_text(cursor, i))
                                             : pie_page_value(cursor, i);
        if (json_array_append_new(columns[i].values, value) < 0)
            return -ENOMEM;
    }
    return 0;
}

/* Rows end, too, where their texts have taken half of the room: those of a row that does not fit cannot go again. */
static int read_rows(struct pie_page *page, struct pie_cursor *cursor, size_t rows_max,
                     const struct column *columns, struct pie_page_table *table, char **ret_message) {
    size_t strings_max = page->strings.bytes + pie_page_room(page) / 2;
    rows_max = pie_page_limit(page, rows_max);
    int count = pie_cursor_column_count(cursor), r;
    while ((r = pie_cursor_next(cursor, ret_message)) > 0) {
        table->rows_total++;
        if (table->rows >= rows_max || page->strings.bytes > strings_max)
            continue;
        table->rows++;
        if (take_row(page, cursor, columns, count) < 0)
            return pie_page_no_memory(ret_message);
    }
    return r;
}

int pie_page_table_read(struct pie_page *page, struct pie_cursor *cursor, size_t rows_max,
                        struct pie_page_table *ret_table, char **ret_message) {
    int count = pie_cursor_column_count(cursor), r = -ENOMEM;
    struct pie_page_table table = {.columns = json_object()};
    struct column *columns = calloc((size_t)count + 1, sizeof *columns);
    if (columns && table.columns)
        r = make_columns(cursor, table.columns, columns, count);
    if (r < 0)
        (void)pie_page_no_memory(ret_message);
    else
        r = read_rows(page, cursor, rows_max, columns, &table, ret_message);
    free(columns);
    if (r < 0) {
        json_decref(table.columns);
        return r;
    }
    *ret_table = table;
    return 0;
}

void pie_page_table_cut(struct pie_page_table *table, size_t rows) {
    const char *name;
    json_t *values;
    if (rows >= table->rows)
        return;
    json_object_foreach(table->columns, name, values) {
        while (json_array_size(values) > rows)
            json_array_remove(values, json_array_size(values) - 1);
    }
    table->rows = rows;
}

/* Rows differ in length, so a cut by proportion is made again until it fits. */
int pie_page_table_fit(struct pie_page_table *table, size_t bytes_max) {
    size_t size;
    while ((size = pie_page_size(table->columns)) > bytes_max && table->rows > 0) {
        if (size == SIZE_MAX)
            return -ENOMEM;
        double part = (double)bytes_max / (double)size;
        size_t rows = (size_t)(part * (double)table->rows);
        pie_page_table_cut(table, rows < table->rows ? rows : table->rows - 1);
    }
    return 0;
}

int pie_page_table_finish(struct pie_page *page, const char *name, const char *order, size_t bytes_max,
                          struct pie_page_table *table, char **ret_message) {
    size_t room = pie_page_room(page);
    bytes_max = pie_page_limit(page, bytes_max);
    int r = pie_page_table_fit(table, bytes_max < room ? bytes_max : room);
    if (r < 0)
        json_decref(table->columns);
    else
        r = pie_page_put(page, name, table->columns);
    if (r == 0)
        r = pie_page_put_cut(page, name, table->rows, table->rows_total, order);
    return r < 0 ? pie_page_no_memory(ret_message) : 0;
}

int pie_page_add_statement(struct pie_page *page, const struct pie_page_statement *statement,
                           char **ret_message) {
    struct pie_page_table table;
    struct pie_cursor *cursor;
    int r = pie_cursor_open_once(page->reader, statement->sql, &cursor, ret_message);
    if (r < 0)
        return r;
    pie_cursor_bind_int(cursor, ":run", page->run);
    r = pie_page_table_read(page, cursor, statement->rows_max, &table, ret_message);
    pie_cursor_close(cursor);
    return r < 0 ? r
                 : pie_page_table_finish(page, statement->name, statement->order, statement->bytes_max,
                                         &table, ret_message);
}
