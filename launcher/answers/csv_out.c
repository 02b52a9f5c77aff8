/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "launcher/answers/held.h"
#include "launcher/answers/output.h"
#include "storage/base/message.h"
#include "storage/ask/query.h"
#include "storage/read/reader.h"

/* RFC 4180: a header line, CRLF at the end of each record, fields quoted where they must be. A missing value is an
 * empty field, an empty text a quoted one. */

static void print_field(FILE *out, const char *text) {
    if (*text && !text[strcspn(text, ",\"\r\n")]) {
        fputs(text, out);
        return;
    }
    fputc('"', out);
    for (; *text; text++) {
        if (*text == '"')
            fputc('"', out);
        fputc(*text, out);
    }
    fputc('"', out);
}

static void print_value(FILE *out, struct pie_cursor *cursor, int column) {
    int size;
    const unsigned char *bytes;
    switch (pie_cursor_type(cursor, column)) {
    case PIE_VALUE_NULL:
        break;
    case PIE_VALUE_REAL:
        fprintf(out, "%.12g", pie_cursor_real(cursor, column));
        break;
    case PIE_VALUE_BLOB:
        bytes = pie_cursor_blob(cursor, column, &size);
        for (int i = 0; i < size; i++)
            fprintf(out, "%02x", bytes[i]);
        break;
    default:
        print_field(out, pie_cursor_text(cursor, column));
    }
}

static void print_header(FILE *out, struct pie_cursor *cursor) {
    for (int i = 0; i < pie_cursor_column_count(cursor); i++) {
        fputs(i ? "," : "", out);
        print_field(out, pie_cursor_column_name(cursor, i));
    }
    fputs("\r\n", out);
}

/* The records that are printed; the others are counted in *ret_more. */
static int print_records(struct pie_held *held, const struct pie_query *query, size_t *ret_more,
                         char **ret_message) {
    struct pie_cursor *cursor = query->cursor;
    size_t printed = 0;
    int r = 0, next = 0;
    while (r == 0 && (next = pie_cursor_next(cursor, ret_message)) > 0) {
        if (query->rows_shown > 0 && printed == query->rows_shown) {
            ++*ret_more;
            continue;
        }
        for (int i = 0; i < pie_cursor_column_count(cursor); i++) {
            fputs(i ? "," : "", held->text);
            print_value(held->text, cursor, i);
        }
        fputs("\r\n", held->text);
        r = pie_held_row(held);
        printed++;
    }
    if (next < 0)
        return next;
    *ret_more += (size_t)query->first.behind;
    return r == -ENOMEM ? pie_message(r, ret_message, "out of memory") : 0;
}

int pie_csv_print(FILE *out, const struct pie_answer *answer, char **ret_message) {
    struct pie_held held;
    size_t more = 0;
    if (pie_held_open(&held, out) < 0)
        return pie_message(-ENOMEM, ret_message, "out of memory");
    print_header(held.text, answer->query->cursor);
    int r = print_records(&held, answer->query, &more, ret_message);
    int closed = pie_held_close(&held, r == 0 || held.is_through);
    if (r == 0 && closed == -ENOMEM)
        r = pie_message(closed, ret_message, "out of memory");
    if (r == 0 && more > 0)
        pie_output_print_more(stderr, answer, answer->query->rows_shown, more);
    return r;
}
