/* SPDX-License-Identifier: Apache-2.0 */
#include "launcher/answers/tree_out.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "launcher/answers/output.h"
#include "launcher/text/text.h"
#include "storage/ask/query.h"
#include "storage/ask/questions.h"
#include "storage/base/message.h"
#include "storage/read/reader.h"

enum {
    COST_WIDTH = 8 + 9 + 9,
    WAIT_WIDTH = 9,
    GAP = 2,
    SOURCE_MIN = 12, /* less says nothing */
    NAME_MAX_COLUMNS = 60,
    SOURCE_MAX = 4096,
    DEEPEST = 24, /* from here on rows are not set further to the right */
};

/* Waiting from here on is shown: less is what every program has. */
static const double WAIT_MIN_S = 0.005, WAIT_MIN_PART = 0.002;

struct row {
    int64_t depth;
    double total_s, share, parent_share, wait_s;
    char *name, *place, *source; /* printable; heap or NULL */
};

struct rows {
    struct row *list;
    size_t count, capacity;
};

static int find_column(struct pie_cursor *cursor, const char *name) {
    int count = pie_cursor_column_count(cursor);
    for (int i = 0; i < count; i++)
        if (strcmp(pie_cursor_column_name(cursor, i), name) == 0)
            return i;
    return 0;
}

static const char *text_at(struct pie_cursor *cursor, const char *name) {
    return pie_cursor_text(cursor, find_column(cursor, name));
}

static double real_at(struct pie_cursor *cursor, const char *name) {
    return pie_cursor_real(cursor, find_column(cursor, name));
}

/* "dot [numpy]", and "[numpy]" where the library has no symbols. */
static char *name_of(struct pie_cursor *cursor) {
    const char *function = text_at(cursor, "function"), *library = text_at(cursor, "library");
    char *text = NULL, *clean;
    int size = library ? asprintf(&text, "%s%s[%s]", function ? function : "", function ? " " : "", library)
               : function ? asprintf(&text, "%s", function)
                          : asprintf(&text, "(no symbol)");
    clean = size < 0 ? NULL : pie_text_printable(text);
    free(text);
    return clean;
}

/* "train.py:12"; of a library the name is enough. */
static char *place_of(struct pie_cursor *cursor) {
    const char *file = text_at(cursor, "file"), *slash = file ? strrchr(file, '/') : NULL;
    char *text = NULL, *clean;
    if (!file || text_at(cursor, "library") ||
        asprintf(&text, "%s:%lld", slash ? slash + 1 : file,
                 (long long)pie_cursor_int(cursor, find_column(cursor, "line"))) < 0)
        return NULL;
    clean = pie_text_printable(text);
    free(text);
    return clean;
}

static char *source_of(struct pie_cursor *cursor) {
    const char *text = text_at(cursor, "text");
    return text ? pie_text_printable(text + strspn(text, " \t")) : NULL;
}

static int add(struct rows *rows, struct pie_cursor *cursor) {
    if (rows->count == rows->capacity) {
        size_t capacity = rows->capacity ? 2 * rows->capacity : 32;
        struct row *list = reallocarray(rows->list, capacity, sizeof *list);
        if (!list)
            return -ENOMEM;
        rows->list = list;
        rows->capacity = capacity;
    }
    rows->list[rows->count++] = (struct row){.depth = pie_cursor_int(cursor, find_column(cursor, "depth")),
                                             .total_s = real_at(cursor, "total_s"),
                                             .share = real_at(cursor, "total_share"),
                                             .parent_share = real_at(cursor, "parent_share"),
                                             .wait_s = real_at(cursor, "wait_s"),
                                             .name = name_of(cursor),
                                             .place = place_of(cursor),
                                             .source = source_of(cursor)};
    return 0;
}

/* Is there a later row of this depth below the same row? */
static bool has_sibling(const struct rows *rows, size_t i, int64_t depth) {
    for (size_t j = i + 1; j < rows->count && rows->list[j].depth >= depth; j++)
        if (rows->list[j].depth == depth)
            return true;
    return false;
}

/* Rules from a row to its parent, two columns for each row above; heap, or NULL. */
static char *rules_of(const struct rows *rows, size_t i, size_t *ret_width) {
    int64_t depth = rows->list[i].depth < DEEPEST ? rows->list[i].depth : DEEPEST;
    char *text = calloc((size_t)(depth > 0 ? depth : 1), sizeof "├ ");
    *ret_width = depth > 1 ? 2 * (size_t)(depth - 1) : 0;
    for (int64_t at = 2; text && at < depth; at++)
        strcat(text, has_sibling(rows, i, at) ? "│ " : "  ");
    if (text && depth > 1)
        strcat(text, has_sibling(rows, i, rows->list[i].depth) ? "├ " : "└ ");
    return text;
}

struct printing {
    FILE *out;
    size_t columns;
    const struct pie_style *style;
    bool has_wait;
};

static void print_head(const struct printing *printing) {
    static const char more[] = ", with all that it called";
    size_t used = COST_WIDTH + (printing->has_wait ? WAIT_WIDTH : 0) + GAP;
    bool has_room = printing->columns == 0 || printing->columns >= used + sizeof more + strlen("function");
    fprintf(printing->out, "%s   CPU s    share   parent%s  function%s%s\n", printing->style->dim,
            printing->has_wait ? "   wait s" : "", has_room ? more : "", printing->style->plain);
}

static void print_share(const struct printing *printing, double share) {
    fprintf(printing->out, "  %5.1f %%", 100 * share);
}

static size_t width_of(const char *text) {
    return text ? pie_text_width(text) : 0;
}

/* As much of a text as there is room for, and at least SOURCE_MIN; heap, or NULL: nothing. */
static char *fitting(const struct printing *printing, const char *text, size_t *used, size_t most) {
    size_t room =
        printing->columns == 0 || printing->columns > *used + most ? most : printing->columns - *used;
    bool has_room = printing->columns == 0 || *used + SOURCE_MIN <= printing->columns;
    char *cut = text && has_room ? pie_text_cut_end(text, room) : NULL;
    *used += cut ? GAP + width_of(cut) : 0;
    return cut;
}

/* "train  train.py:12  for batch in loader:", as far as there is room. */
static void print_sentence(const struct printing *printing, const struct row *row, const char *rules,
                           size_t used) {
    const char *dim = printing->style->dim, *plain = printing->style->plain;
    char *name = fitting(printing, row->name, &used, NAME_MAX_COLUMNS);
    char *place = fitting(printing, row->place, &used, NAME_MAX_COLUMNS);
    char *source = fitting(printing, row->source, &used, SOURCE_MAX);
    fprintf(printing->out, "  %s%s%s%s%s", dim, rules, plain, name ? name : "", dim);
    fprintf(printing->out, "%s%s%s%s%s\n", place ? "  " : "", place ? place : "", source ? "  " : "",
            source ? source : "", plain);
    free(name);
    free(place);
    free(source);
}

static void print_row(const struct printing *printing, const struct rows *rows, size_t i) {
    const struct row *row = &rows->list[i];
    const struct pie_style *style = printing->style;
    const char *colour = row->share >= 0.5 ? style->hot : row->share >= 0.1 ? style->warm : "";
    size_t width = 0;
    char *rules = rules_of(rows, i, &width);
    fprintf(printing->out, "%s%8.3f", colour, row->total_s);
    print_share(printing, row->share);
    fputs(*colour ? style->plain : "", printing->out);
    print_share(printing, row->parent_share);
    if (printing->has_wait)
        fprintf(printing->out, "%*.2f", WAIT_WIDTH, row->wait_s);
    print_sentence(printing, row, rules ? rules : "",
                   COST_WIDTH + (printing->has_wait ? WAIT_WIDTH : 0) + GAP + width);
    free(rules);
}

static void finish(struct rows *rows) {
    for (size_t i = 0; i < rows->count; i++) {
        free(rows->list[i].name);
        free(rows->list[i].place);
        free(rows->list[i].source);
    }
    free(rows->list);
}

int pie_tree_print_rows(FILE *out, struct pie_cursor *cursor, size_t columns, const struct pie_style *style,
                        char **ret_message) {
    struct printing printing = {.out = out, .columns = columns, .style = style};
    struct rows rows = {.count = 0};
    int r;
    while ((r = pie_cursor_next(cursor, ret_message)) > 0 && (r = add(&rows, cursor)) == 0)
        ;
    for (size_t i = 0; i < rows.count; i++)
        printing.has_wait =
            printing.has_wait || rows.list[i].wait_s >= WAIT_MIN_S + WAIT_MIN_PART * rows.list[0].total_s;
    if (r == 0 && rows.count > 0)
        print_head(&printing);
    for (size_t i = 0; i < rows.count && r == 0; i++)
        print_row(&printing, &rows, i);
    r = r < 0 ? r : (int)rows.count;
    finish(&rows);
    return r;
}

bool pie_tree_is(const struct pie_answer *answer) {
    return answer->query->question && answer->query->question->is_cut_by_nth;
}

int pie_tree_print(FILE *out, const struct pie_answer *answer, char **ret_message) {
    const struct pie_style style = pie_style_for(out);
    char *text = NULL;
    size_t size;
    FILE *held = open_memstream(&text, &size);
    if (!held)
        return pie_message(-ENOMEM, ret_message, "out of memory");
    pie_output_print_place(held, answer->query);
    int r = pie_tree_print_rows(held, answer->query->cursor, pie_text_columns(out), &style, ret_message);
    if (r == 0)
        pie_output_print_nothing(held, answer->query);
    if (fclose(held) == 0 && r >= 0)
        fwrite(text, 1, size, out);
    free(text);
    return r < 0 && !*ret_message ? pie_message(r, ret_message, "out of memory") : r < 0 ? r : 0;
}
