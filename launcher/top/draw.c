/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launcher/text/text.h"
#include "launcher/top/canvas.h"
#include "launcher/top/state.h"

/* Below these a screen has fewer parts: the rows are what it is for. */
enum {
    LINES_FOR_MORE = 20,
    LINES_FOR_DETAILS = 16,
    LINES_FOR_FIGURES = 10,
    LINES_FOR_TABS = 7,
    LINES_FOR_KEYS = 5,
    COLUMNS_FOR_STATE = 40,
    LINES_MIN = 4,
    COLUMNS_MIN = 20,
    BAR_MAX = 40
};

/* --- The run --- */

/* "running  7.00 s"; on a narrow screen only the time. */
static enum pie_top_look print_state(const struct pie_top_canvas *canvas, const struct pie_top_state *state,
                                     char *text, size_t size) {
    const struct pie_top_header *header = &state->frame.header;
    const char *word = state->is_paused ? "PAUSED" : canvas->columns < COLUMNS_FOR_STATE ? "" : header->state;
    char elapsed[PIE_TEXT_SECONDS_SIZE];
    pie_text_elapsed(header->wall_s, 2, elapsed);
    snprintf(text, size, "%.100s%s%s", word ? word : "", word && *word ? "  " : "", elapsed);
    if (state->is_paused)
        return PIE_TOP_WARM;
    return header->is_running ? PIE_TOP_GOOD : PIE_TOP_PLAIN;
}

static void draw_title(struct pie_top_canvas *canvas, const struct pie_top_state *state,
                       const struct pie_top_source *source) {
    const char *command = state->frame.header.command;
    char right[192], *left;
    enum pie_top_look look = print_state(canvas, state, right, sizeof right);
    size_t width = pie_text_width(right), room = canvas->columns;
    char *path = command ? NULL : pie_text_printable(source->path);
    int size = asprintf(&left, "pieprof top  %s", command ? command : path ? path : "");
    free(path);
    if (size < 0)
        return;
    pie_top_put(canvas, 0, 0, room > width + 2 ? room - width - 2 : 0, PIE_TOP_BOLD, left);
    pie_top_put(canvas, 0, room > width ? room - width : 0, width, look, right);
    free(left);
}

struct part {
    const char *name, *letter;
    enum pie_top_look look;
    double s;
};

/* Figures of a file may be anything. */
static double part_of(double s) {
    return s > 0 && isfinite(s) ? s : 0;
}

/* A bar of the CPU time's parts; without colours it has letters. */
static void draw_bar(struct pie_top_canvas *canvas, const struct part *parts, size_t count, size_t line,
                     size_t at, size_t width) {
    double all_s = 0, before_s = 0;
    for (size_t i = 0; i < count; i++)
        all_s += parts[i].s;
    pie_top_put(canvas, line, at, 1, PIE_TOP_BOLD, "[");
    for (size_t i = 0; i < count && all_s > 0; i++) {
        size_t from = (size_t)lround((double)width * before_s / all_s);
        before_s += parts[i].s;
        size_t to = (size_t)lround((double)width * before_s / all_s);
        for (size_t x = from; x < to; x++)
            pie_top_put(canvas, line, at + 1 + x, 1, parts[i].look,
                        canvas->is_colourful ? "|" : parts[i].letter);
    }
    pie_top_put(canvas, line, at + 1 + width, 1, PIE_TOP_BOLD, "]");
}

static void draw_cpu(struct pie_top_canvas *canvas, const struct pie_top_header *header, size_t line) {
    const struct part parts[] = {{"Python", "p", PIE_TOP_PYTHON, part_of(header->python_s)},
                                 {"native", "n", PIE_TOP_NATIVE, part_of(header->native_s)},
                                 {"system", "s", PIE_TOP_SYSTEM, part_of(header->system_s)}};
    if (isnan(header->cpu_s)) {
        pie_top_print(canvas, line, 0, PIE_TOP_PLAIN, "CPU time was not measured");
        return;
    }
    size_t at = pie_top_print(canvas, line, 0, PIE_TOP_PLAIN, "%.2f s CPU", header->cpu_s);
    for (size_t i = 0; i < 3 && header->cpu_s > 0; i++) {
        at = pie_top_print(canvas, line, at, PIE_TOP_PLAIN, "  %s ", parts[i].name);
        at = pie_top_print(canvas, line, at, parts[i].look, "%.0f %%", 100 * parts[i].s / header->cpu_s);
    }
    size_t room = canvas->columns > at + 4 ? canvas->columns - at - 4 : 0;
    if (room >= 10 && header->cpu_s > 0)
        draw_bar(canvas, parts, 3, line, at + 2, room < BAR_MAX ? room : BAR_MAX);
}

static size_t draw_rss(struct pie_top_canvas *canvas, const struct pie_top_header *header, size_t line,
                       size_t at) {
    char text[PIE_TEXT_BYTES_SIZE];
    if (isnan(header->rss_bytes))
        return at;
    pie_text_bytes(header->rss_bytes, text);
    return pie_top_print(canvas, line, at, PIE_TOP_PLAIN, "  %s %s", header->is_running ? "RSS" : "peak RSS",
                         text);
}

static void draw_figures(struct pie_top_canvas *canvas, const struct pie_top_state *state, size_t line) {
    const struct pie_top_header *header = &state->frame.header;
    size_t at = pie_top_print(canvas, line, 0, PIE_TOP_PLAIN, "%.0f samples", header->samples);
    if (!isnan(state->samples_per_s))
        at = pie_top_print(canvas, line, at, PIE_TOP_DIM, " (%.0f/s)", state->samples_per_s);
    at = draw_rss(canvas, header, line, at);
    if (!isnan(header->overhead_share))
        at = pie_top_print(canvas, line, at, PIE_TOP_PLAIN, "  overhead %.1f %%",
                           100 * header->overhead_share);
    at = pie_top_print(canvas, line, at, PIE_TOP_PLAIN, "  threads %.0f", header->threads);
    if (header->processes > 1)
        at = pie_top_print(canvas, line, at, PIE_TOP_PLAIN, "  processes %.0f", header->processes);
}

static void draw_more(struct pie_top_canvas *canvas, const struct pie_top_header *header, size_t line) {
    char peak[PIE_TEXT_BYTES_SIZE];
    size_t at = 0;
    if (header->waiting)
        at = pie_top_print(canvas, line, 0, PIE_TOP_PLAIN, "main thread %s", header->waiting);
    if (isnan(header->peak_bytes))
        return;
    pie_text_bytes(header->peak_bytes, peak);
    pie_top_print(canvas, line, at, PIE_TOP_PLAIN, "%sheap peak %s", at ? "  " : "", peak);
}

/* --- Tabs, details, the last line --- */

static void draw_tabs(struct pie_top_canvas *canvas, const struct pie_top_state *state,
                      const struct pie_top_source *source, size_t line, bool has_keys) {
    const struct pie_top_view *view = pie_top_view(state->frame.view);
    size_t at = 0;
    char right[PIE_TOP_FILTER_BYTES + 96] = "", *end = right;
    if (view->shapes > 1)
        end += sprintf(end, "%s", state->is_total ? "total time" : "own time");
    if (source->last_s > 0)
        end += sprintf(end, "  last %.0f s", source->last_s);
    if (*state->filter)
        end += sprintf(end, "  \"%s\"", state->filter);
    if (state->shown_count != state->frame.count)
        sprintf(end, "  %zu of %zu rows", state->shown_count, state->frame.count);
    else
        sprintf(end, "  %zu row%s", state->frame.count, state->frame.count == 1 ? "" : "s");
    for (int id = 0; id < PIE_TOP_VIEWS; id++) {
        bool is_it = id == (int)state->frame.view;
        if (!has_keys && !is_it)
            continue;
        at = pie_top_print(canvas, line, at, is_it ? PIE_TOP_BAR : PIE_TOP_PLAIN, " %s ",
                           pie_top_view(id)->name);
    }
    const char *note = state->trouble ? state->trouble : right;
    size_t width = pie_text_width(note), room = canvas->columns > at + 1 ? canvas->columns - at - 1 : 0;
    width = width < room ? width : room;
    pie_top_put(canvas, line, canvas->columns - width, width, state->trouble ? PIE_TOP_HOT : PIE_TOP_DIM,
                note);
}

/* All of the chosen row's texts: its place with the whole path, and what there is beside it. */
static void draw_details(struct pie_top_canvas *canvas, const struct pie_top_state *state, size_t line) {
    if (state->shown_count == 0)
        return;
    const struct pie_top_row *row = &state->frame.rows[state->shown[state->chosen]];
    const char *colon = row->place ? strrchr(row->place, ':') : NULL;
    const char *path = row->path ? pie_text_short_path(row->path) : "";
    char *text = NULL;
    if (asprintf(&text, "%s%s%s%s", path, row->path && colon ? colon : "", row->path ? "  " : "",
                 row->name ? row->name : "") < 0)
        return;
    char *end = pie_text_cut_start(text, canvas->columns);
    pie_top_put(canvas, line, 0, canvas->columns, PIE_TOP_BOLD, end ? end : "");
    free(end);
    free(text);
    if (row->more)
        pie_top_put(canvas, line + 1, 0, canvas->columns, PIE_TOP_PLAIN, row->more);
}

/* As other programs have it: the key, then its meaning on the bar's colour. */
static void draw_keys(struct pie_top_canvas *canvas, const struct pie_top_state *state, size_t line) {
    const char *const keys[][2] = {
        {"q", "Quit"},      {"h", "Help"},      {"Tab", "View"},
        {"<>", "Order"},    {"/", "Filter"},    {"p", state->is_paused ? "Go on" : "Pause"},
        {"o", "Own/total"}, {"i", "Last 10 s"}, {"r", "Reverse"}};
    size_t at = 0;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        size_t width = strlen(keys[i][0]) + strlen(keys[i][1]) + 2;
        if (at + width > canvas->columns)
            return;
        at = pie_top_print(canvas, line, at, PIE_TOP_BOLD, "%s", keys[i][0]);
        at = pie_top_print(canvas, line, at, PIE_TOP_BAR, "%s", keys[i][1]);
        at += 1;
    }
}

static void draw_last_line(struct pie_top_canvas *canvas, const struct pie_top_state *state, size_t line) {
    if (state->is_typing)
        pie_top_print(canvas, line, 0, PIE_TOP_BOLD, "Filter: %s_", state->filter);
    else
        draw_keys(canvas, state, line);
}

/* --- Help --- */

static void draw_help(struct pie_top_canvas *canvas) {
    static const char *const notes[] = {
        "OWN: the code of the row alone. TOT: with all that it called.",
        "PY, NAT, SYS: Python, native code and the kernel, as shares of its CPU time.",
        "Dim rows are libraries. A triangle marks the order. Any key goes back.",
    };
    pie_top_put(canvas, 0, 0, canvas->columns, PIE_TOP_BOLD, "pieprof top: keys");
    size_t line = pie_top_keys_draw(canvas, 2) + 1;
    for (size_t i = 0; i < sizeof notes / sizeof *notes; i++)
        pie_top_put(canvas, line + i, 2, canvas->columns - 2, PIE_TOP_DIM, notes[i]);
}

/* --- The screen --- */

static size_t draw_run(struct pie_top_canvas *canvas, const struct pie_top_state *state,
                       const struct pie_top_source *source) {
    draw_title(canvas, state, source);
    if (canvas->lines < LINES_FOR_FIGURES)
        return 1;
    draw_cpu(canvas, &state->frame.header, 1);
    draw_figures(canvas, state, 2);
    if (canvas->lines < LINES_FOR_MORE)
        return 3;
    draw_more(canvas, &state->frame.header, 3);
    return 4;
}

void pie_top_draw(struct pie_top_canvas *canvas, struct pie_top_state *state,
                  const struct pie_top_source *source) {
    if (canvas->lines < LINES_MIN || canvas->columns < COLUMNS_MIN) {
        pie_top_put(canvas, 0, 0, canvas->columns, PIE_TOP_PLAIN, "too small; q quits");
        return;
    }
    if (state->is_help) {
        draw_help(canvas);
        return;
    }
    size_t line = draw_run(canvas, state, source);
    size_t details = canvas->lines >= LINES_FOR_DETAILS ? 2 : 0;
    bool has_last = canvas->lines >= LINES_FOR_KEYS || state->is_typing;
    if (canvas->lines >= LINES_FOR_TABS)
        draw_tabs(canvas, state, source, line++, true);
    pie_top_draw_table(canvas, state, line, canvas->lines - line - details - has_last, true);
    if (details)
        draw_details(canvas, state, canvas->lines - 3);
    if (has_last)
        draw_last_line(canvas, state, canvas->lines - 1);
}

void pie_top_draw_once(struct pie_top_canvas *canvas, struct pie_top_state *state,
                       const struct pie_top_source *source) {
    size_t line = draw_run(canvas, state, source);
    draw_tabs(canvas, state, source, line++, false);
    pie_top_draw_table(canvas, state, line, canvas->lines - line, false);
}
