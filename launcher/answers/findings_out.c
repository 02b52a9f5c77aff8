/* SPDX-License-Identifier: Apache-2.0 */
#include "launcher/answers/findings_out.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "launcher/answers/finding.h"
#include "launcher/answers/held.h"
#include "launcher/answers/output.h"
#include "launcher/answers/paths.h"
#include "launcher/answers/table.h"
#include "launcher/text/text.h"
#include "storage/ask/query.h"
#include "storage/ask/questions.h"
#include "storage/base/message.h"
#include "storage/read/reader.h"

/* Of those who did not say how many: rows of the table, findings printed in full, pairs with their paths. */
enum { ROWS = 20, IN_FULL = 5 };

struct findings {
    struct pie_finding *all;
    size_t count, capacity;
    size_t more; /* that were not read */
    bool are_functions;
};

static bool has_column(const struct pie_answer *answer, const char *name) {
    struct pie_cursor *cursor = answer->query->cursor;
    for (int i = 0; i < pie_cursor_column_count(cursor); i++) {
        if (strcmp(pie_cursor_column_name(cursor, i), name) == 0)
            return true;
    }
    return false;
}

bool pie_findings_are(const struct pie_answer *answer) {
    return answer->query->question && has_column(answer, "redundant_fraction") &&
           has_column(answer, "wasted_s") && has_column(answer, "severity");
}

static int add(struct findings *findings, struct pie_cursor *cursor) {
    if (findings->count == findings->capacity) {
        size_t capacity = findings->capacity ? 2 * findings->capacity : 32;
        struct pie_finding *all = reallocarray(findings->all, capacity, sizeof *all);
        if (!all)
            return -ENOMEM;
        findings->all = all;
        findings->capacity = capacity;
    }
    int r = pie_finding_read(cursor, &findings->all[findings->count]);
    findings->count += r == 0;
    return r;
}

static int read_findings(struct findings *findings, const struct pie_answer *answer, char **ret_message) {
    size_t shown = answer->query->rows_shown ? answer->query->rows_shown : SIZE_MAX;
    int next, r = 0;
    while (r == 0 && (next = pie_cursor_next(answer->query->cursor, ret_message)) != 0) {
        if (next < 0)
            return next;
        if (findings->count == shown)
            findings->more++;
        else
            r = add(findings, answer->query->cursor);
    }
    return r < 0 ? pie_message(r, ret_message, "out of memory") : 0;
}

static void finish(struct findings *findings) {
    for (size_t i = 0; i < findings->count; i++)
        pie_finding_finish(&findings->all[i]);
    free(findings->all);
}

/* The table's columns. */
enum { NUMBER, SEVERITY, SHARE, WASTED, REDUNDANT, KIND, PLACE, CATEGORY, COLUMNS };

static int set_columns(struct pie_table *table, bool are_functions) {
    const struct {
        const char *name;
        enum pie_table_kind kind;
    } columns[COLUMNS] = {
        [NUMBER] = {"#", PIE_TABLE_NUMBER},
        [SEVERITY] = {"severity", PIE_TABLE_TEXT},
        [SHARE] = {"wasted", PIE_TABLE_NUMBER},
        [WASTED] = {"s", PIE_TABLE_NUMBER},
        [REDUNDANT] = {"redundant", PIE_TABLE_NUMBER},
        [KIND] = {"kind", PIE_TABLE_TEXT},
        [PLACE] = {are_functions ? "function" : "line", PIE_TABLE_PATH},
        [CATEGORY] = {"category", PIE_TABLE_TEXT},
    };
    int r = 0;
    for (size_t i = 0; i < COLUMNS && r == 0; i++)
        r = pie_table_set_column(table, i, columns[i].name, columns[i].kind);
    return r;
}

static char *format_number(const char *format, double value) {
    char *text;
    if (isnan(value))
        return NULL;
    return asprintf(&text, format, value) < 0 ? NULL : text;
}

static char *copy(const char *text) {
    return text ? strdup(text) : NULL;
}

static int add_row(struct pie_table *table, const struct pie_finding *finding) {
    char fraction[32];
    int r = pie_table_add_row(table);
    if (r < 0)
        return r;
    pie_finding_fraction(finding, fraction, sizeof fraction);
    pie_table_take_cell(table, NUMBER, format_number("%.0f", (double)table->row_count));
    pie_table_take_cell(table, SEVERITY, copy(finding->severity));
    pie_table_take_cell(table, WASTED, format_number("%.3f", finding->wasted_s));
    pie_table_take_cell(table, SHARE, format_number("%.1f %%", 100 * finding->wasted_share));
    pie_table_take_cell(table, REDUNDANT, copy(fraction));
    pie_table_take_cell(table, KIND, copy(finding->kind));
    pie_table_take_cell(table, PLACE, pie_finding_name(finding));
    pie_table_take_cell(table, CATEGORY, copy(finding->category));
    return 0;
}

/* "redundant loads" says it already. */
static bool is_one_kind(const struct findings *findings) {
    for (size_t i = 1; i < findings->count; i++) {
        const char *one = findings->all[0].kind, *other = findings->all[i].kind;
        if (!one || !other || strcmp(one, other) != 0)
            return false;
    }
    return true;
}

/* On a narrow screen the places matter more than the text that is printed below anyway. */
static void hide_columns(struct pie_table *table, const struct findings *findings, size_t columns) {
    bool is_limited = columns > 0;
    table->columns[KIND].is_hidden = is_one_kind(findings) || (is_limited && columns < 55);
    table->columns[WASTED].is_hidden = is_limited && columns < 65;
    table->columns[REDUNDANT].is_hidden = is_limited && columns < 50;
}

static int print_table(const struct pie_finding_screen *screen, const struct findings *findings) {
    struct pie_table table;
    int r = pie_table_init(&table, COLUMNS);
    if (r == 0)
        r = set_columns(&table, findings->are_functions);
    if (r == 0)
        hide_columns(&table, findings, screen->columns);
    for (size_t i = 0; i < findings->count && r == 0; i++)
        r = add_row(&table, &findings->all[i]);
    if (r == 0) {
        pie_table_fit(&table, screen->columns, CATEGORY);
        r = pie_table_write(&table, screen->out, *screen->style.bold != '\0');
    }
    if (table.columns)
        pie_table_finish(&table);
    return r;
}

/* What is only reuse needs no advice. */
static void print_in_full(const struct pie_finding_screen *screen, const struct findings *findings,
                          bool all) {
    size_t printed = 0;
    for (size_t i = 0; i < findings->count && (printed < IN_FULL || all); i++) {
        if (pie_finding_is(&findings->all[i], "reuse"))
            continue;
        fputc('\n', screen->out);
        pie_finding_print(screen, &findings->all[i], i + 1);
        printed++;
    }
}

/* One by one as they are read: each has two whole call paths. */
static int stream_pairs(struct pie_held *held, const struct pie_answer *answer,
                        struct pie_finding_screen *screen, char **ret_message) {
    const struct pie_query *query = answer->query;
    size_t printed = 0, more = 0;
    int r = 0, next;
    while (r == 0 && (next = pie_cursor_next(query->cursor, ret_message)) != 0) {
        struct pie_finding finding;
        if (next < 0)
            return next;
        if (query->rows_shown && printed == query->rows_shown) {
            more++;
            continue;
        }
        screen->out = held->text;
        if (printed == 0)
            pie_output_print_place(held->text, query);
        fputs(printed > 0 ? "\n" : "", held->text);
        if ((r = pie_finding_read(query->cursor, &finding)) < 0)
            break;
        pie_finding_print(screen, &finding, ++printed);
        r = pie_paths_print(screen, &finding);
        pie_finding_finish(&finding);
        r = r < 0 ? r : pie_held_row(held);
    }
    if (r == 0 && printed == 0)
        pie_output_print_nothing(held->text, query);
    if (r == 0 && more > 0)
        pie_output_print_more(held->text, answer, printed, more);
    return r;
}

static int print_pairs(FILE *out, const struct pie_answer *answer, struct pie_finding_screen *screen,
                       char **ret_message) {
    struct pie_held held;
    int r = pie_held_open(&held, out);
    if (r == 0)
        r = stream_pairs(&held, answer, screen, ret_message);
    if (held.text) {
        int closed = pie_held_close(&held, r == 0 || held.is_through);
        r = r == 0 ? closed : r;
    }
    if (r == -EPIPE) /* pie_profile_close_output() reports it */
        return 0;
    return r < 0 && !*ret_message ? pie_message(r, ret_message, "out of memory") : r;
}

/* Of lines and functions. */
static int print_findings(const struct pie_answer *answer, const struct pie_finding_screen *screen,
                          char **ret_message) {
    struct findings findings = {.are_functions = has_column(answer, "worst_line")};
    int r = read_findings(&findings, answer, ret_message);
    if (r == 0) {
        bool all = answer->query->rows_shown == 0 && findings.count <= ROWS;
        if (findings.count > 0)
            pie_output_print_place(screen->out, answer->query);
        r = print_table(screen, &findings);
        if (r < 0)
            r = pie_message(r, ret_message, "out of memory");
        if (r == 0)
            print_in_full(screen, &findings, all);
        if (r == 0 && findings.count == 0)
            pie_output_print_nothing(screen->out, answer->query);
        if (r == 0 && findings.more > 0)
            pie_output_print_more(screen->out, answer, findings.count, findings.more);
    }
    finish(&findings);
    return r;
}

int pie_findings_print(FILE *out, const struct pie_answer *answer, char **ret_message) {
    struct pie_finding_screen screen = {
        .out = out,
        .reader = answer->reader,
        .run = answer->query->run,
        .columns = pie_text_columns(out),
        .style = pie_style_for(out),
    };
    return has_column(answer, "first_path") ? print_pairs(out, answer, &screen, ret_message)
                                            : print_findings(answer, &screen, ret_message);
}
