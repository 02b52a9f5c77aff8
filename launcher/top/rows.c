/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launcher/text/text.h"
#include "launcher/top/canvas.h"
#include "launcher/top/state.h"

double pie_top_figure(const struct pie_top_column *column, const struct pie_top_row *row) {
    double value = row->figures[column->figure];
    if (column->kind != PIE_TOP_PART)
        return value;
    double whole = row->figures[column->of];
    return whole > 0 ? value / whole : (double)NAN;
}

/* Three to four digits, without a blank before the unit: room is short. */
static void print_share(double share, int digits, char text[PIE_TOP_CELL_BYTES]) {
    double percent = 100 * share;
    snprintf(text, PIE_TOP_CELL_BYTES, "%.*f%%", percent >= 99.95 ? 0 : digits, percent);
}

static void print_seconds(double seconds, char text[PIE_TOP_CELL_BYTES]) {
    double size = fabs(seconds);
    snprintf(text, PIE_TOP_CELL_BYTES, "%.*f", size < 99.995 ? 2 : size < 9999.95 ? 1 : 0, seconds);
}

void pie_top_cell(const struct pie_top_column *column, const struct pie_top_row *row,
                  char text[PIE_TOP_CELL_BYTES]) {
    double value = pie_top_figure(column, row);
    text[0] = 0;
    if (isnan(value))
        return;
    if (column->kind == PIE_TOP_SECONDS)
        print_seconds(value, text);
    else if (column->kind == PIE_TOP_SHARE)
        print_share(value, 1, text);
    else if (column->kind == PIE_TOP_PART)
        print_share(value, 0, text);
    else if (column->kind == PIE_TOP_BYTES)
        pie_text_bytes(value, text);
    else
        snprintf(text, PIE_TOP_CELL_BYTES, "%.0f", value);
}

const struct pie_top_column *pie_top_columns(const struct pie_top_state *state) {
    const struct pie_top_view *view = pie_top_view(state->frame.view);
    return view->columns[state->is_total && view->shapes > 1];
}

/* --- Which rows, and in which order --- */

static bool has(const char *text, const char *filter) {
    return text && strcasestr(text, filter);
}

static bool is_shown(const struct pie_top_row *row, const char *filter) {
    return !*filter || has(row->name, filter) || has(row->path, filter) || has(row->place, filter) ||
           has(row->more, filter);
}

struct ordering {
    const struct pie_top_state *state;
    const struct pie_top_column *column; /* NULL: by text */
};

/* The greatest first, and rows without a figure last. */
static int by_figure(const struct ordering *ordering, const struct pie_top_row *one,
                     const struct pie_top_row *other) {
    double first = pie_top_figure(ordering->column, one), second = pie_top_figure(ordering->column, other);
    if (isnan(first) || isnan(second))
        return isnan(first) - isnan(second);
    return (first < second) - (first > second);
}

static const char *text_of(const struct pie_top_state *state, const struct pie_top_row *row) {
    const char *text = pie_top_view(state->frame.view)->is_place_first ? row->place : row->name;
    return text ? text : "";
}

static int compare(const void *one, const void *other, void *data) {
    const struct ordering *ordering = data;
    size_t first = *(const size_t *)one, second = *(const size_t *)other;
    const struct pie_top_state *state = ordering->state;
    const struct pie_top_row *rows = state->frame.rows;
    int order = ordering->column ? by_figure(ordering, &rows[first], &rows[second])
                                 : strcasecmp(text_of(state, &rows[first]), text_of(state, &rows[second]));
    return order ? order : (first > second) - (first < second);
}

static void reverse(size_t *shown, size_t count) {
    for (size_t i = 0; i < count / 2; i++) {
        size_t kept = shown[i];
        shown[i] = shown[count - 1 - i];
        shown[count - 1 - i] = kept;
    }
}

static void sort(struct pie_top_state *state) {
    const struct pie_top_order *order = &state->orders[state->frame.view];
    const struct pie_top_column *columns = pie_top_columns(state);
    int count = (int)pie_top_column_count(columns);
    struct ordering ordering = {state, order->column < count ? &columns[order->column] : NULL};
    if (order->column >= 0)
        qsort_r(state->shown, state->shown_count, sizeof *state->shown, compare, &ordering);
    if (order->is_reversed)
        reverse(state->shown, state->shown_count);
}

void pie_top_state_arrange(struct pie_top_state *state) {
    free(state->shown);
    state->shown_count = 0;
    state->shown = calloc(state->frame.count + 1, sizeof *state->shown);
    for (size_t i = 0; state->shown && i < state->frame.count; i++)
        if (is_shown(&state->frame.rows[i], state->filter))
            state->shown[state->shown_count++] = i;
    sort(state);
    if (state->chosen >= state->shown_count)
        state->chosen = state->shown_count ? state->shown_count - 1 : 0;
}

/* --- The state --- */

void pie_top_state_init(struct pie_top_state *state) {
    *state = (struct pie_top_state){.samples_per_s = (double)NAN, .page = 1};
    for (int id = 0; id < PIE_TOP_VIEWS; id++)
        state->orders[id].column = pie_top_view(id)->sort[0];
}

void pie_top_state_finish(struct pie_top_state *state) {
    pie_top_frame_finish(&state->frame);
    free(state->shown);
    free(state->trouble);
}

static bool is_same(const char *one, const char *other) {
    return one && other ? strcmp(one, other) == 0 : one == other;
}

static void find_again(struct pie_top_state *state, const struct pie_top_row *row) {
    for (size_t i = 0; i < state->shown_count; i++) {
        const struct pie_top_row *each = &state->frame.rows[state->shown[i]];
        if (is_same(each->name, row->name) && is_same(each->place, row->place) &&
            is_same(each->path, row->path)) {
            state->chosen = i;
            return;
        }
    }
}

/* A profile without a second view of it has the rate of the whole run. */
static double rate_of(const struct pie_top_header *before, const struct pie_top_header *now) {
    double s = now->wall_s - (before->state ? before->wall_s : 0);
    double samples = now->samples - (before->state ? before->samples : 0);
    bool is_live = before->state && now->is_running && s > 0 && samples >= 0;
    return is_live ? samples / s : now->wall_s > 0 ? now->samples / now->wall_s : (double)NAN;
}

/* The cursor follows its row, but in the first line it stays: who has not moved it looks at the costliest. */
void pie_top_state_take(struct pie_top_state *state, struct pie_top_frame *frame) {
    struct pie_top_frame before = state->frame;
    bool is_kept = before.view == frame->view && state->chosen > 0 && state->chosen < state->shown_count;
    size_t row = is_kept ? state->shown[state->chosen] : 0;
    bool is_new = frame->header.wall_s != before.header.wall_s || !before.header.state;
    if (is_new || isnan(state->samples_per_s))
        state->samples_per_s = rate_of(&before.header, &frame->header);
    if (before.view != frame->view)
        state->chosen = state->first = 0;
    state->frame = *frame;
    *frame = (struct pie_top_frame){0};
    free(state->trouble);
    state->trouble = NULL;
    pie_top_state_arrange(state);
    if (is_kept)
        find_again(state, &before.rows[row]);
    pie_top_frame_finish(&before);
}
