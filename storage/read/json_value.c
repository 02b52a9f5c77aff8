/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/read/json_value.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "storage/base/utf8.h"
#include "storage/read/reader.h"

json_t *pie_json_text(const char *text) {
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

json_t *pie_json_value(struct pie_cursor *cursor, int column) {
    json_t *path;
    switch (pie_cursor_type(cursor, column)) {
    case PIE_VALUE_INTEGER:
        return json_integer(pie_cursor_int(cursor, column));
    case PIE_VALUE_REAL:
        return isfinite(pie_cursor_real(cursor, column)) ? json_real(pie_cursor_real(cursor, column))
                                                         : json_null();
    case PIE_VALUE_TEXT:
        path = json_path(pie_cursor_column_name(cursor, column), pie_cursor_text(cursor, column));
        return path ? path : pie_json_text(pie_cursor_text(cursor, column));
    case PIE_VALUE_BLOB:
        return json_hex(cursor, column);
    default:
        return json_null();
    }
}
