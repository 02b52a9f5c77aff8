/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "launcher/answers/findings_out.h"
#include "launcher/answers/held.h"
#include "launcher/answers/output.h"
#include "launcher/answers/table.h"
#include "launcher/answers/tree_out.h"
#include "launcher/text/text.h"
#include "storage/ask/query.h"
#include "storage/ask/questions.h"
#include "storage/base/message.h"
#include "storage/read/reader.h"

/* What the first rows leave out interests few: the rest is counted and shown to those who ask. */
enum { KEPT_COLUMNS = 5 };

static bool ends_with(const char *text, const char *end) {
    size_t size = strlen(text), end_size = strlen(end);
    return size >= end_size && strcmp(text + size - end_size, end) == 0;
}

static bool is_path(const char *name) {
    return ends_with(name, "file") || strcmp(name, "module") == 0 || strcmp(name, "executable") == 0;
}

static char *format_real(const char *name, double value) {
    char *text;
    const char *format = ends_with(name, "_s") || strstr(name, "_s_") ? "%.3f"
                         : strstr(name, "share")                      ? "%.1f %%"
                                                                      : "%g";
    return asprintf(&text, format, strstr(name, "share") ? value * 100 : value) < 0 ? NULL : text;
}

/* Bytes, and the ends of their intervals. */
static bool is_bytes(const char *name) {
    static const char *const names[] = {"allocated_low", "allocated_high", "peak_low",
                                        "peak_high",     "growth_low",     "growth_high"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(name, names[i]) == 0)
            return true;
    }
    return strstr(name, "bytes") != NULL;
}

static char *format_bytes(const char *name, double bytes) {
    char text[PIE_TEXT_BYTES_SIZE], *out;
    pie_text_bytes(bytes, text);
    return asprintf(&out, "%s%s", text, ends_with(name, "_per_s") ? "/s" : "") < 0 ? NULL : out;
}

/* Of one call, which may take nanoseconds. */
static bool is_duration(const char *name) {
    static const char *const names[] = {"mean_s", "p50_s", "p95_s", "p99_s"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(name, names[i]) == 0)
            return true;
    }
    return false;
}

static char *format_duration(double seconds) {
    char text[PIE_TEXT_SECONDS_SIZE];
    pie_text_seconds(seconds, text);
    return strdup(text);
}

static char *format_cell(struct pie_cursor *cursor, int column) {
    const char *name = pie_cursor_column_name(cursor, column), *text;
    char *out;
    int size;
    enum pie_value_type type = pie_cursor_type(cursor, column);
    if (is_bytes(name) && (type == PIE_VALUE_INTEGER || type == PIE_VALUE_REAL))
        return format_bytes(name, pie_cursor_real(cursor, column));
    if (is_duration(name) && type == PIE_VALUE_REAL)
        return format_duration(pie_cursor_real(cursor, column));
    switch (type) {
    case PIE_VALUE_NULL:
        return NULL;
    case PIE_VALUE_REAL:
        return format_real(name, pie_cursor_real(cursor, column));
    case PIE_VALUE_BLOB:
        (void)pie_cursor_blob(cursor, column, &size);
        return asprintf(&out, "(%d bytes)", size) < 0 ? NULL : out;
    default:
        text = pie_cursor_text(cursor, column);
        return text ? pie_text_printable(is_path(name) ? pie_text_short_path(text) : text) : NULL;
    }
}

/* In a tree, the function's place shows its parent. */
static char *indent(char *text, int64_t depth) {
    char *out;
    int blanks = depth > 0 && depth < 1000 ? (int)(2 * (depth - 1)) : 0;
    int size = text ? asprintf(&out, "%*s%s", blanks, "", text) : -1;
    if (size < 0)
        return text;
    free(text);
    return out;
}

/* In an answer to a question, a figure of nothing. */
static bool is_zero(struct pie_cursor *cursor, int column, bool is_question) {
    enum pie_value_type type = pie_cursor_type(cursor, column);
    bool is_number = type == PIE_VALUE_INTEGER || type == PIE_VALUE_REAL;
    return is_question && is_number && pie_cursor_real(cursor, column) == 0;
}

static int add_row(struct pie_table *table, struct pie_cursor *cursor, const struct pie_question *question) {
    bool is_tree = question && question->is_tree;
    int r = pie_table_add_row(table);
    for (int i = 0; r == 0 && i < pie_cursor_column_count(cursor); i++) {
        char *text = format_cell(cursor, i);
        enum pie_value_type type = pie_cursor_type(cursor, i);
        if (type == PIE_VALUE_TEXT && table->columns[i].kind == PIE_TABLE_NUMBER)
            table->columns[i].kind = is_path(table->columns[i].name) ? PIE_TABLE_PATH : PIE_TABLE_TEXT;
        if (is_tree && strcmp(table->columns[i].name, "function") == 0)
            text = indent(text ? text : strdup("?"), pie_cursor_int(cursor, 0));
        (is_zero(cursor, i, question) ? pie_table_take_zero : pie_table_take_cell)(table, (size_t)i, text);
    }
    return r;
}

/* Rows that are laid out together: those that follow are set below the same columns. */
enum { PIECE_ROWS = 2000, PIECE_BYTES = 4 << 20 };

struct printing {
    struct pie_table table;
    struct pie_held held;
    size_t printed, more; /* rows, and those that are only counted */
    size_t left_out;      /* columns */
    bool is_begun;
};

/* A name of a column is text of the statement's, which may be anybody's. */
static int set_columns(struct pie_table *table, struct pie_cursor *cursor) {
    int r = 0;
    for (int i = 0; i < pie_cursor_column_count(cursor) && r == 0; i++) {
        char *name = pie_text_printable(pie_cursor_column_name(cursor, i));
        r = name ? pie_table_set_column(table, (size_t)i, name, PIE_TABLE_NUMBER) : -ENOMEM;
        free(name);
    }
    return r;
}

static int print_piece(struct printing *printing, const struct pie_answer *answer, bool is_partial) {
    struct pie_table *table = &printing->table;
    FILE *out = printing->held.out;
    int r = 0;
    if (printing->is_begun) {
        pie_table_write_more(table, printing->held.text);
    } else {
        table->is_partial = is_partial;
        if (table->row_count > 0)
            pie_output_print_place(printing->held.text, answer->query);
        printing->left_out = pie_table_fit(table, pie_text_columns(out), KEPT_COLUMNS);
        r = pie_table_write(table, printing->held.text, pie_text_is_colourful(out));
    }
    printing->is_begun = true;
    pie_table_clear(table);
    return r < 0 ? r : pie_held_row(&printing->held);
}

static int find_column(struct pie_cursor *cursor, const char *name) {
    for (int i = 0; i < pie_cursor_column_count(cursor); i++)
        if (strcmp(pie_cursor_column_name(cursor, i), name) == 0)
            return i;
    return -1;
}

/* A row of a ranking by time that is next to nothing, and neither waits nor is the first. */
static bool is_slight(const struct printing *printing, const struct pie_query *query) {
    int samples = find_column(query->cursor, "samples"), wait = find_column(query->cursor, "wait_s");
    return query->rows_shown && printing->printed > 0 && samples >= 0 && wait >= 0 &&
           pie_cursor_int(query->cursor, samples) < PIE_FIRST_ROWS_SAMPLES_MIN &&
           pie_cursor_real(query->cursor, wait) < PIE_FIRST_ROWS_WAIT_MIN_NS / 1e9;
}

/* Returns 0, or -errno, with a message where the cursor had one. */
static int read_rows(struct printing *printing, const struct pie_answer *answer, char **ret_message) {
    const struct pie_query *query = answer->query;
    struct pie_table *table = &printing->table;
    bool is_tree = query->question && query->question->is_tree;
    int r = set_columns(table, query->cursor), next;
    if (is_tree)
        table->columns[0].is_hidden = true; /* depth */
    while (r == 0 && (next = pie_cursor_next(query->cursor, ret_message)) != 0) {
        if (next < 0)
            return next;
        if ((query->rows_shown && printing->printed == query->rows_shown) || is_slight(printing, query)) {
            printing->more++;
            continue;
        }
        if (table->row_count == PIECE_ROWS || table->bytes > PIECE_BYTES)
            r = print_piece(printing, answer, true);
        if (r == 0)
            r = add_row(table, query->cursor, query->question);
        printing->printed++;
    }
    printing->more += (size_t)query->first.behind;
    return r == 0 ? print_piece(printing, answer, false) : r;
}

static void print_end(const struct printing *printing, const struct pie_answer *answer) {
    FILE *out = printing->held.text;
    if (printing->printed == 0)
        pie_output_print_nothing(out, answer->query);
    if (printing->more > 0)
        pie_output_print_more(out, answer, printing->printed, printing->more);
    if (printing->left_out > 0 && printing->printed > 0)
        fprintf(out, "%zu columns did not fit: --json and --csv have all\n", printing->left_out);
}

int pie_table_print(FILE *out, const struct pie_answer *answer, char **ret_message) {
    struct printing printing = {0};
    if (pie_findings_are(answer))
        return pie_findings_print(out, answer, ret_message);
    if (pie_tree_is(answer))
        return pie_tree_print(out, answer, ret_message);
    int r = pie_table_init(&printing.table, (size_t)pie_cursor_column_count(answer->query->cursor));
    if (r == 0)
        r = pie_held_open(&printing.held, out);
    if (r == 0)
        r = read_rows(&printing, answer, ret_message);
    if (r == 0)
        print_end(&printing, answer);
    if (printing.held.text) {
        int closed = pie_held_close(&printing.held, r == 0 || printing.held.is_through);
        r = r == 0 ? closed : r;
    }
    pie_table_finish(&printing.table);
    if (r == -EPIPE) /* pie_profile_close_output() reports it */
        return 0;
    return r < 0 && !*ret_message ? pie_message(r, ret_message, "out of memory") : r;
}
