/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "launcher/output.h"
#include "storage/message.h"
#include "storage/query.h"
#include "storage/reader.h"

/* RFC 4180: a header line, CRLF at the end of each record, fields quoted where they must be. A missing value is an empty
 * field, an empty text a quoted one. */

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

static int print_records(FILE *out, struct pie_cursor *cursor, char **ret_message) {
    int count = pie_cursor_column_count(cursor), r;
    for (int i = 0; i < count; i++) {
        fputs(i ? "," : "", out);
        print_field(out, pie_cursor_column_name(cursor, i));
    }
    fputs("\r\n", out);
    while ((r = pie_cursor_next(cursor, ret_message)) > 0) {
        for (int i = 0; i < count; i++) {
            fputs(i ? "," : "", out);
            print_value(out, cursor, i);
        }
        fputs("\r\n", out);
    }
    return r;
}

int pie_csv_print(FILE *out, const struct pie_answer *answer, char **ret_message) {
    char *text = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&text, &size);
    if (!memory)
        return pie_message(-ENOMEM, ret_message, "out of memory");
    int r = print_records(memory, answer->query->cursor, ret_message);
    if (fclose(memory) != 0 && r == 0)
        r = pie_message(-ENOMEM, ret_message, "out of memory");
    if (r == 0)
        fwrite(text, 1, size, out);
    free(text);
    return r;
}
