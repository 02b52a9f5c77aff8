/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "launcher/output.h"
#include "storage/message.h"
#include "storage/query.h"
#include "storage/reader.h"
#include "storage/utf8.h"

/* {"schema": 1, "run": …, "query": …, "sql": …, "rows": […]}: the interface that programs rely on. Keys and their
 * meaning change only with the number. */
enum { JSON_SCHEMA = 1 };

/* 12 digits hold a nanosecond in a quarter of an hour; more would show how binary fractions are stored. */
#define NUMBER_FLAGS JSON_REAL_PRECISION(12)

static json_t *json_text(const char *text) {
    size_t size = strlen(text);
    char *clean = malloc(3 * size + 1);
    json_t *value = clean ? json_stringn(clean, pie_utf8_clean(clean, text, size)) : NULL;
    free(clean);
    return value;
}

/* Call paths are kept as JSON: an array of frames. Anything else in such a column stays the text that it is. */
static json_t *json_path(const char *name, const char *text) {
    static const char end[] = "_path";
    size_t size = strlen(name);
    if (size < sizeof end || strcmp(name + size - (sizeof end - 1), end) != 0)
        return NULL;
    json_t *value = json_loads(text, JSON_ALLOW_NUL, NULL);
    if (value && !json_is_array(value)) {
        json_decref(value);
        return NULL;
    }
    return value;
}

static json_t *json_hex(struct pie_cursor *cursor, int column) {
    int size;
    const unsigned char *bytes = pie_cursor_blob(cursor, column, &size);
    char *hex = malloc(2 * (size_t)size + 1);
    for (int i = 0; hex && i < size; i++)
        sprintf(hex + 2 * i, "%02x", bytes[i]);
    json_t *value = hex ? json_stringn(hex, 2 * (size_t)size) : NULL;
    free(hex);
    return value;
}

/* JSON has no infinity: a number beyond all bounds is a missing one. */
static json_t *json_value(struct pie_cursor *cursor, int column) {
    json_t *path;
    switch (pie_cursor_type(cursor, column)) {
    case PIE_VALUE_INTEGER:
        return json_integer(pie_cursor_int(cursor, column));
    case PIE_VALUE_REAL:
        return isfinite(pie_cursor_real(cursor, column)) ? json_real(pie_cursor_real(cursor, column))
                                                         : json_null();
    case PIE_VALUE_TEXT:
        path = json_path(pie_cursor_column_name(cursor, column), pie_cursor_text(cursor, column));
        return path ? path : json_text(pie_cursor_text(cursor, column));
    case PIE_VALUE_BLOB:
        return json_hex(cursor, column);
    default:
        return json_null();
    }
}

static json_t *json_row(struct pie_cursor *cursor) {
    json_t *row = json_object();
    for (int i = 0; row && i < pie_cursor_column_count(cursor); i++)
        json_object_set_new(row, pie_cursor_column_name(cursor, i), json_value(cursor, i));
    return row;
}

static int print_rows(FILE *out, struct pie_cursor *cursor, char **ret_message) {
    int r;
    for (bool first = true; (r = pie_cursor_next(cursor, ret_message)) > 0; first = false) {
        json_t *row = json_row(cursor);
        fputs(first ? "\n  " : ",\n  ", out);
        int failed = !row || json_dumpf(row, out, NUMBER_FLAGS) < 0;
        json_decref(row);
        if (failed)
            return pie_message(-ENOMEM, ret_message, "out of memory");
    }
    return r;
}

static int print_head(FILE *out, const struct pie_answer *answer, char **ret_message) {
    json_t *question = json_text(answer->question), *sql = json_text(answer->query->sql);
    json_t *head = json_pack("{s:i, s:I, s:o*, s:o*}", "schema", JSON_SCHEMA, "run",
                             (json_int_t)answer->query->run, "query", question, "sql", sql);
    char *text = head ? json_dumps(head, 0) : NULL;
    json_decref(head);
    if (!text)
        return pie_message(-ENOMEM, ret_message, "out of memory");
    fprintf(out, "%.*s, \"rows\": [", (int)strlen(text) - 1, text);
    free(text);
    return 0;
}

int pie_json_print(FILE *out, const struct pie_answer *answer, char **ret_message) {
    char *text = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&text, &size);
    if (!memory)
        return pie_message(-ENOMEM, ret_message, "out of memory");
    int r = print_head(memory, answer, ret_message);
    if (r == 0)
        r = print_rows(memory, answer->query->cursor, ret_message);
    fputs("\n]}\n", memory);
    if (fclose(memory) != 0 && r == 0)
        r = pie_message(-ENOMEM, ret_message, "out of memory");
    if (r == 0)
        fwrite(text, 1, size, out);
    free(text);
    return r;
}
