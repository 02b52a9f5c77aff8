/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "launcher/top/frame.h"

/* What pieprof top shows and how. Context: cli. */

enum { PIE_TOP_FILTER_BYTES = 128 };

/* The order of a view's rows. */
struct pie_top_order {
    int column;       /* by this one; the count of columns: by the text; -1: as the statement has them */
    bool is_reversed; /* the least first */
};

struct pie_top_canvas;

struct pie_top_state {
    struct pie_top_frame frame;
    struct pie_top_order orders[PIE_TOP_VIEWS];
    enum pie_top_view_id wanted;       /* the view to be read next */
    bool is_total;                     /* the second shape, where a view has one */
    char filter[PIE_TOP_FILTER_BYTES]; /* rows that have this text, whatever the case; "": all */
    bool is_typing;                    /* … is being typed */
    bool is_paused, is_help;
    char *trouble;        /* why it was not read again, heap, or NULL */
    double samples_per_s; /* of the last interval, or of the whole run; NaN: not known */

    size_t *shown; /* numbers of the frame's rows, in the order of the screen */
    size_t shown_count;
    size_t chosen, first; /* of these: the row of the cursor, the uppermost on the screen */
    size_t page;          /* rows that the screen has had room for */
};

/* How a row's figure is shown: "" where it is not known. */
enum { PIE_TOP_CELL_BYTES = 48 };
void pie_top_cell(const struct pie_top_column *column, const struct pie_top_row *row,
                  char text[PIE_TOP_CELL_BYTES]);
/* Of the figure itself; a part: of its whole. NaN: not known. */
double pie_top_figure(const struct pie_top_column *column, const struct pie_top_row *row);

const struct pie_top_column *pie_top_columns(const struct pie_top_state *state);

void pie_top_state_init(struct pie_top_state *state);
void pie_top_state_finish(struct pie_top_state *state);
/* Takes a new frame; the row of the cursor stays chosen where it is still there. */
void pie_top_state_take(struct pie_top_state *state, struct pie_top_frame *frame);
/* Finds the rows to show and their order anew, after a change of order or filter. */
void pie_top_state_arrange(struct pie_top_state *state);

/* --- Drawing --- */

/* All of a screen. */
void pie_top_draw(struct pie_top_canvas *canvas, struct pie_top_state *state,
                  const struct pie_top_source *source);
/* The head of the table at `line` and the rows below it, in `lines` lines altogether. */
void pie_top_draw_table(struct pie_top_canvas *canvas, struct pie_top_state *state, size_t line, size_t lines,
                        bool has_cursor);
/* Header, tabs and all rows that `lines` has room for, without a cursor. */
void pie_top_draw_once(struct pie_top_canvas *canvas, struct pie_top_state *state,
                       const struct pie_top_source *source);

/* --- Keys --- */

/* What a key asks of the loop. */
enum pie_top_next {
    PIE_TOP_GO_ON,
    PIE_TOP_READ, /* another view or period: read at once */
    PIE_TOP_QUIT,
};

/* key: a character (Unicode), or one of these. */
enum pie_top_key {
    PIE_TOP_KEY_NONE = 0x200000, /* behind all characters */
    PIE_TOP_KEY_UP,
    PIE_TOP_KEY_DOWN,
    PIE_TOP_KEY_PAGE_UP,
    PIE_TOP_KEY_PAGE_DOWN,
    PIE_TOP_KEY_HOME,
    PIE_TOP_KEY_END,
    PIE_TOP_KEY_LEFT,
    PIE_TOP_KEY_RIGHT,
    PIE_TOP_KEY_BACKSPACE,
    PIE_TOP_KEY_BACK_TAB,
    PIE_TOP_KEY_F1, /* to F10 */
    PIE_TOP_KEY_F10 = PIE_TOP_KEY_F1 + 9,
};

/* A line for each key, from `line` on. Returns the line behind them. */
size_t pie_top_keys_draw(struct pie_top_canvas *canvas, size_t line);

enum pie_top_next pie_top_key(struct pie_top_state *state, struct pie_top_source *source, unsigned key);
