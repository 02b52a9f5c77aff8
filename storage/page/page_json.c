/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/page/page_json.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "storage/base/utf8.h"
#include "storage/read/json_value.h"
#include "storage/read/reader.h"

/* Whole numbers up to here are the same as doubles. */
#define WHOLE_MAX 9007199254740992.0

enum { FLAGS = JSON_COMPACT | JSON_ENCODE_ANY | PIE_JSON_NUMBERS, ESCAPE_SIZE = 6 };

/* What stands at `text` instead of what is written, and how long that is; NULL: it is written as it is. */
static const char *escape_of(const char *text, size_t size, size_t *ret_size) {
    *ret_size = 1;
    if (text[0] == '<')
        return "\\u003c";
    *ret_size = 3;
    if (size >= 3 && memcmp(text, "\xe2\x80\xa8", 3) == 0)
        return "\\u2028";
    if (size >= 3 && memcmp(text, "\xe2\x80\xa9", 3) == 0)
        return "\\u2029";
    return NULL;
}

/* Bytes from `text` on that are written as they are. */
static size_t plain_size(const char *text, size_t size) {
    size_t at = 0, ignored;
    while (at < size &&
           !((text[at] == '<' || text[at] == '\xe2') && escape_of(text + at, size - at, &ignored)))
        at++;
    return at;
}

/* jansson hands over runs of whole characters, so none that is escaped here lies in two. */
static int write_part(const char *text, size_t size, void *data) {
    FILE *out = data;
    while (size > 0) {
        size_t plain = plain_size(text, size), escaped = 0;
        fwrite(text, 1, plain, out);
        text += plain;
        size -= plain;
        if (size > 0) {
            fputs(escape_of(text, size, &escaped), out);
            text += escaped;
            size -= escaped;
        }
    }
    return ferror(out) ? -1 : 0;
}

static int count_part(const char *text, size_t size, void *data) {
    size_t *count = data;
    while (size > 0) {
        size_t plain = plain_size(text, size), escaped = 0;
        *count += plain;
        text += plain;
        size -= plain;
        if (size > 0) {
            (void)escape_of(text, size, &escaped);
            *count += ESCAPE_SIZE;
            text += escaped;
            size -= escaped;
        }
    }
    return 0;
}

int pie_page_dump(FILE *out, const json_t *value) {
    return json_dump_callback(value, write_part, out, FLAGS) == 0 ? 0 : -EIO;
}

size_t pie_page_size(const json_t *value) {
    size_t size = 0;
    return json_dump_callback(value, count_part, &size, FLAGS) == 0 ? size : SIZE_MAX;
}

/* How much of a text stays: whole characters. */
static size_t kept_size(const char *text) {
    size_t size = strnlen(text, PIE_PAGE_TEXT_MAX + 1);
    if (size <= PIE_PAGE_TEXT_MAX)
        return size;
    size = PIE_PAGE_TEXT_MAX;
    while (size > 0 && ((unsigned char)text[size] & 0xc0) == 0x80)
        size--;
    return size;
}

json_t *pie_page_text(const char *text) {
    if (!text)
        return json_null();
    char clean[3 * PIE_PAGE_TEXT_MAX + sizeof "…"];
    size_t kept = kept_size(text), size = pie_utf8_clean(clean, text, kept);
    if (text[kept]) {
        memcpy(clean + size, "…", sizeof "…" - 1);
        size += sizeof "…" - 1;
    }
    return json_stringn(clean, size);
}

json_t *pie_page_number(double value) {
    if (!isfinite(value))
        return json_null();
    return value == trunc(value) && fabs(value) < WHOLE_MAX ? json_integer((json_int_t)value)
                                                            : json_real(value);
}

json_t *pie_page_columns(const char *const *names) {
    json_t *columns = json_object();
    for (; columns && *names; names++) {
        if (json_object_set_new(columns, *names, json_array()) < 0) {
            json_decref(columns);
            columns = NULL;
        }
    }
    return columns;
}

bool pie_page_append(json_t *columns, const char *name, json_t *value) {
    return json_array_append_new(json_object_get(columns, name), value) == 0;
}

json_t *pie_page_value(struct pie_cursor *cursor, int column) {
    if (pie_cursor_type(cursor, column) == PIE_VALUE_REAL)
        return pie_page_number(pie_cursor_real(cursor, column));
    json_t *value = pie_json_value(cursor, column);
    if (!json_is_string(value))
        return value;
    json_t *cut = pie_page_text(json_string_value(value));
    json_decref(value);
    return cut;
}
