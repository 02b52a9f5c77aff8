/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launcher/text/text.h"
#include "launcher/top/canvas.h"
#include "launcher/top/state.h"

/* Columns leave a narrow screen before the text has less than this. */
enum { TEXT_MIN = 32, MARK = 1 };

/* From these shares on a row has a colour. */
static const double HOT = 0.2, WARM = 0.05;

struct layout {
    const struct pie_top_column *columns;
    bool is_there[PIE_TOP_COLUMNS_MAX];
    size_t count, width; /* of all that are there, each with a blank behind it */
};

static size_t width_of(const struct pie_top_column *column) {
    static const size_t widths[] = {[PIE_TOP_SECONDS] = 7,
                                    [PIE_TOP_SHARE] = 5,
                                    [PIE_TOP_PART] = 4,
                                    [PIE_TOP_BYTES] = 7,
                                    [PIE_TOP_COUNT] = 7};
    size_t width = widths[column->kind], title = strlen(column->title) + MARK;
    return title > width ? title : width;
}

static bool has_value(const struct pie_top_frame *frame, const struct pie_top_column *column) {
    for (size_t i = 0; i < frame->count; i++) {
        double value = pie_top_figure(column, &frame->rows[i]);
        if (!isnan(value) && value != 0)
            return true;
    }
    return false;
}

/* The one that leaves next; -1: none may. The order's column stays. */
static int last_of(const struct layout *layout, int kept) {
    int last = -1;
    for (int i = 0; i < (int)layout->count; i++)
        if (layout->is_there[i] && i != kept &&
            (last < 0 || layout->columns[i].rank >= layout->columns[last].rank))
            last = i;
    return last;
}

static void lay_out(const struct pie_top_state *state, size_t columns, struct layout *layout) {
    int order = state->orders[state->frame.view].column;
    *layout = (struct layout){.columns = pie_top_columns(state)};
    layout->count = pie_top_column_count(layout->columns);
    for (size_t i = 0; i < layout->count; i++) {
        layout->is_there[i] = (int)i == order || has_value(&state->frame, &layout->columns[i]);
        layout->width += layout->is_there[i] ? width_of(&layout->columns[i]) + 1 : 0;
    }
    for (int last; layout->width + TEXT_MIN > columns && (last = last_of(layout, order)) >= 0;) {
        layout->is_there[last] = false;
        layout->width -= width_of(&layout->columns[last]) + 1;
    }
}

static void draw_head(struct pie_top_canvas *canvas, const struct pie_top_state *state,
                      const struct layout *layout, size_t line) {
    const struct pie_top_order *order = &state->orders[state->frame.view];
    const char *mark = order->is_reversed ? "\xe2\x96\xb2" : "\xe2\x96\xbc";
    size_t at = 0;
    char title[32];
    for (size_t i = 0; i < layout->count; i++) {
        if (!layout->is_there[i])
            continue;
        bool is_order = order->column == (int)i;
        snprintf(title, sizeof title, "%s%s", layout->columns[i].title, is_order ? mark : "");
        size_t width = width_of(&layout->columns[i]);
        pie_top_put_right(canvas, line, at, width, PIE_TOP_BAR, title);
        pie_top_put(canvas, line, at + width, 1, PIE_TOP_BAR, " ");
        at += width + 1;
    }
    bool is_text = order->column == (int)layout->count;
    snprintf(title, sizeof title, "%s%s", pie_top_view(state->frame.view)->title, is_text ? mark : "");
    pie_top_put(canvas, line, at, canvas->columns - at, PIE_TOP_BAR, title);
}

/* By the first share of the view. */
static enum pie_top_look look_of(const struct layout *layout, const struct pie_top_row *row) {
    for (size_t i = 0; i < layout->count; i++) {
        if (layout->columns[i].kind != PIE_TOP_SHARE)
            continue;
        double share = row->figures[layout->columns[i].figure];
        return share >= HOT ? PIE_TOP_HOT : share >= WARM ? PIE_TOP_WARM : PIE_TOP_PLAIN;
    }
    return PIE_TOP_PLAIN;
}

static bool is_nothing(const struct pie_top_column *column, const struct pie_top_row *row) {
    return row->figures[column->figure] == 0;
}

/* "name  place" */
static void draw_text(struct pie_top_canvas *canvas, const struct pie_top_state *state,
                      const struct pie_top_row *row, size_t line, size_t at,
                      const enum pie_top_look *chosen) {
    const struct pie_top_view *view = pie_top_view(state->frame.view);
    const char *first = view->is_place_first ? row->place : row->name;
    const char *second =
        view->is_place_first ? (row->more ? row->more : row->name) : (row->place ? row->place : row->more);
    size_t room = canvas->columns - at;
    size_t used = pie_top_put(canvas, line, at, chosen ? room : pie_text_width(first ? first : "?"),
                              chosen            ? *chosen
                              : row->is_library ? PIE_TOP_DIM
                                                : PIE_TOP_PLAIN,
                              first ? first : "?");
    if (second && used + 2 < room)
        pie_top_put(canvas, line, at + used + 2, room - used - 2, chosen ? *chosen : PIE_TOP_DIM, second);
}

static void draw_row(struct pie_top_canvas *canvas, const struct pie_top_state *state,
                     const struct layout *layout, const struct pie_top_row *row, size_t line,
                     bool is_chosen) {
    const enum pie_top_look chosen = PIE_TOP_CHOSEN;
    size_t at = 0;
    char text[PIE_TOP_CELL_BYTES];
    for (size_t i = 0; i < layout->count; i++) {
        const struct pie_top_column *column = &layout->columns[i];
        if (!layout->is_there[i])
            continue;
        pie_top_cell(column, row, text);
        enum pie_top_look look = is_nothing(column, row) ? PIE_TOP_DIM : PIE_TOP_PLAIN;
        if (column->kind == PIE_TOP_SHARE && look == PIE_TOP_PLAIN)
            look = look_of(layout, row);
        size_t width = width_of(column);
        pie_top_put_right(canvas, line, at, width, is_chosen ? chosen : look, text);
        if (is_chosen)
            pie_top_put(canvas, line, at + width, 1, chosen, " ");
        at += width + 1;
    }
    draw_text(canvas, state, row, line, at, is_chosen ? &chosen : NULL);
}

static void say_nothing(struct pie_top_canvas *canvas, const struct pie_top_state *state, size_t line) {
    const char *nothing = pie_top_view(state->frame.view)->nothing;
    if (state->frame.count > 0)
        pie_top_print(canvas, line, 1, PIE_TOP_DIM, "no row has \"%s\"; Esc shows all", state->filter);
    else
        pie_top_print(canvas, line, 1, PIE_TOP_DIM, "%s", nothing);
}

void pie_top_draw_table(struct pie_top_canvas *canvas, struct pie_top_state *state, size_t line, size_t lines,
                        bool has_cursor) {
    struct layout layout;
    lay_out(state, canvas->columns, &layout);
    draw_head(canvas, state, &layout, line);
    state->page = lines > 1 ? lines - 1 : 1;
    if (state->chosen < state->first)
        state->first = state->chosen;
    if (state->chosen >= state->first + state->page)
        state->first = state->chosen - state->page + 1;
    if (state->first + state->page > state->shown_count)
        state->first = state->shown_count > state->page ? state->shown_count - state->page : 0;
    for (size_t i = 0; i + 1 < lines && state->first + i < state->shown_count; i++)
        draw_row(canvas, state, &layout, &state->frame.rows[state->shown[state->first + i]], line + 1 + i,
                 has_cursor && state->first + i == state->chosen);
    if (state->shown_count == 0 && lines > 1)
        say_nothing(canvas, state, line + 1);
}
