/* SPDX-License-Identifier: Apache-2.0 */
#include "launcher/answers/table.h"

#include <errno.h>
#include <libsmartcols.h>
#include <stdlib.h>
#include <string.h>

#include "launcher/text/text.h"

enum { TEXT_MIN = 16, PATH_MIN = 20, GAP = 1 };

int pie_table_init(struct pie_table *table, size_t column_count) {
    *table = (struct pie_table){.column_count = column_count};
    table->columns = calloc(column_count + 1, sizeof *table->columns);
    return table->columns ? 0 : -ENOMEM;
}

void pie_table_clear(struct pie_table *table) {
    for (size_t i = 0; i < table->row_count * table->column_count; i++)
        free(table->cells[i]);
    table->row_count = 0;
    table->bytes = 0;
}

void pie_table_finish(struct pie_table *table) {
    pie_table_clear(table);
    for (size_t i = 0; i < table->column_count; i++)
        free(table->columns[i].name);
    free(table->cells);
    free(table->columns);
    *table = (struct pie_table){0};
}

int pie_table_set_column(struct pie_table *table, size_t column, const char *name, enum pie_table_kind kind) {
    table->columns[column].name = strdup(name);
    table->columns[column].kind = kind;
    return table->columns[column].name ? 0 : -ENOMEM;
}

int pie_table_add_row(struct pie_table *table) {
    if (table->row_count == table->row_capacity) {
        size_t capacity = table->row_capacity ? table->row_capacity * 2 : 32;
        char **cells = reallocarray(table->cells, capacity * table->column_count + 1, sizeof *cells);
        if (!cells)
            return -ENOMEM;
        table->cells = cells;
        table->row_capacity = capacity;
    }
    for (size_t i = 0; i < table->column_count; i++)
        table->cells[table->row_count * table->column_count + i] = NULL;
    table->row_count++;
    return 0;
}

static char **cell_at(const struct pie_table *table, size_t row, size_t column) {
    return &table->cells[row * table->column_count + column];
}

void pie_table_take_zero(struct pie_table *table, size_t column, char *text) {
    *cell_at(table, table->row_count - 1, column) = text;
    table->bytes += sizeof text + (text ? strlen(text) + 1 : 0);
}

void pie_table_take_cell(struct pie_table *table, size_t column, char *text) {
    table->columns[column].has_value = table->columns[column].has_value || text;
    pie_table_take_zero(table, column, text);
}

static bool is_empty(const struct pie_table *table, size_t column) {
    return table->row_count > 0 && !table->columns[column].has_value;
}

static size_t natural_width(const struct pie_table *table, size_t column) {
    size_t width = pie_text_width(table->columns[column].name);
    for (size_t row = 0; row < table->row_count; row++) {
        const char *text = *cell_at(table, row, column);
        size_t here = text ? pie_text_width(text) : 0;
        width = here > width ? here : width;
    }
    return width;
}

/* The least a column needs: numbers are never cut. */
static size_t least_width(const struct pie_table *table, size_t column) {
    size_t natural = natural_width(table, column), name = pie_text_width(table->columns[column].name);
    size_t least = table->columns[column].kind == PIE_TABLE_NUMBER ? natural
                   : table->columns[column].kind == PIE_TABLE_PATH ? PATH_MIN
                                                                   : TEXT_MIN;
    least = least < name ? name : least;
    return natural < least ? natural : least;
}

static size_t sum_widths(const struct pie_table *table, size_t (*width)(const struct pie_table *, size_t)) {
    size_t sum = 0;
    for (size_t i = 0; i < table->column_count; i++) {
        if (!table->columns[i].is_hidden)
            sum += width(table, i) + GAP;
    }
    return sum;
}

static void cut_column(struct pie_table *table, size_t column, size_t width) {
    for (size_t row = 0; row < table->row_count; row++) {
        char **cell = cell_at(table, row, column);
        char *cut = NULL;
        if (*cell)
            cut = table->columns[column].kind == PIE_TABLE_PATH ? pie_text_cut_start(*cell, width)
                                                                : pie_text_cut_end(*cell, width);
        if (cut) {
            free(*cell);
            *cell = cut;
        }
    }
}

/* Hands the room beyond the least widths to the columns that can use it, from the left. */
static void share_room(struct pie_table *table, size_t room) {
    for (size_t i = 0; i < table->column_count; i++) {
        if (table->columns[i].is_hidden || table->columns[i].kind == PIE_TABLE_NUMBER)
            continue;
        size_t least = least_width(table, i), natural = natural_width(table, i);
        size_t extra = natural - least < room ? natural - least : room;
        cut_column(table, i, least + extra);
        room -= extra;
    }
}

size_t pie_table_fit(struct pie_table *table, size_t columns, size_t keep) {
    size_t left_out = 0;
    for (size_t i = 0; i < table->column_count && !table->is_partial; i++)
        table->columns[i].is_hidden = table->columns[i].is_hidden || (i >= keep && is_empty(table, i));
    table->is_cut = columns > 0;
    if (columns == 0)
        return 0;
    for (size_t i = table->column_count; i-- > keep && sum_widths(table, least_width) > columns + GAP;) {
        left_out += !table->columns[i].is_hidden;
        table->columns[i].is_hidden = true;
    }
    size_t least = sum_widths(table, least_width);
    share_room(table, least < columns + GAP ? columns + GAP - least : 0);
    return left_out;
}

static int fill(const struct pie_table *table, struct libscols_table *out, bool colours) {
    for (size_t i = 0; i < table->column_count; i++) {
        if (table->columns[i].is_hidden)
            continue;
        struct libscols_column *column = scols_table_new_column(
            out, table->columns[i].name, 0, table->columns[i].kind == PIE_TABLE_NUMBER ? SCOLS_FL_RIGHT : 0);
        if (!column)
            return -ENOMEM;
        if (colours)
            scols_cell_set_color(scols_column_get_header(column), "bold");
    }
    for (size_t row = 0; row < table->row_count; row++) {
        struct libscols_line *line = scols_table_new_line(out, NULL);
        size_t shown = 0;
        if (!line)
            return -ENOMEM;
        for (size_t i = 0; i < table->column_count; i++) {
            const char *text = *cell_at(table, row, i);
            if (!table->columns[i].is_hidden && scols_line_set_data(line, shown++, text ? text : "-") != 0)
                return -ENOMEM;
        }
    }
    return 0;
}

/* As libsmartcols sets it, which wants to see all rows before the first is written. */
static void write_cell(const struct pie_table *table, size_t row, size_t column, bool is_last, FILE *out) {
    const char *text = *cell_at(table, row, column) ? *cell_at(table, row, column) : "-";
    size_t width = pie_text_width(text), room = table->columns[column].width;
    int blanks = width < room ? (int)(room - width) : 0;
    if (table->columns[column].kind == PIE_TABLE_NUMBER)
        fprintf(out, "%*s%s", blanks, "", text);
    else
        fprintf(out, "%s%*s", text, is_last ? 0 : blanks, "");
    fputs(is_last ? "\n" : " ", out);
}

void pie_table_write_more(struct pie_table *table, FILE *out) {
    size_t last = 0;
    for (size_t i = 0; i < table->column_count; i++) {
        last = table->columns[i].is_hidden ? last : i;
        if (table->is_cut && table->columns[i].kind != PIE_TABLE_NUMBER)
            cut_column(table, i, table->columns[i].width);
    }
    for (size_t row = 0; row < table->row_count; row++) {
        for (size_t i = 0; i < table->column_count; i++) {
            if (!table->columns[i].is_hidden)
                write_cell(table, row, i, i == last, out);
        }
    }
}

int pie_table_write(struct pie_table *table, FILE *out, bool colours) {
    for (size_t i = 0; i < table->column_count; i++)
        table->columns[i].width = natural_width(table, i);

    struct libscols_table *columns = scols_new_table();
    if (!columns)
        return -ENOMEM;
    scols_table_set_stream(columns, out);
    scols_table_set_termforce(columns, SCOLS_TERMFORCE_NEVER);
    scols_table_enable_colors(columns, colours);
    scols_table_enable_noencoding(columns, 1);
    int r = fill(table, columns, colours);
    if (r == 0 && table->row_count > 0)
        r = scols_print_table(columns) < 0 ? -EIO : 0;
    scols_unref_table(columns);
    return r;
}
