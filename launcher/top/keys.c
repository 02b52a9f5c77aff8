/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>
#include <wctype.h>

#include "launcher/command/command.h"
#include "launcher/top/canvas.h"
#include "launcher/top/state.h"

static const double LAST_S = 10;

enum { KEY_ESCAPE = 27, KEY_DELETE = 127, KEY_CONTROL_H = 8, KEY_CONTROL_U = 21 };

/* --- The filter --- */

static size_t write_utf8(unsigned character, char *text) {
    if (character < 0x80)
        return text[0] = (char)character, 1;
    if (character < 0x800) {
        text[0] = (char)(0xc0 | character >> 6);
        text[1] = (char)(0x80 | (character & 0x3f));
        return 2;
    }
    if (character < 0x10000) {
        text[0] = (char)(0xe0 | character >> 12);
        text[1] = (char)(0x80 | (character >> 6 & 0x3f));
        text[2] = (char)(0x80 | (character & 0x3f));
        return 3;
    }
    text[0] = (char)(0xf0 | character >> 18);
    text[1] = (char)(0x80 | (character >> 12 & 0x3f));
    text[2] = (char)(0x80 | (character >> 6 & 0x3f));
    text[3] = (char)(0x80 | (character & 0x3f));
    return 4;
}

static void type(struct pie_top_state *state, unsigned key) {
    size_t size = strlen(state->filter);
    char text[4];
    size_t more = write_utf8(key, text);
    if (size + more < sizeof state->filter) {
        memcpy(state->filter + size, text, more);
        state->filter[size + more] = 0;
    }
}

static void erase_last(struct pie_top_state *state) {
    size_t size = strlen(state->filter);
    while (size > 0 && ((unsigned char)state->filter[--size] & 0xc0) == 0x80)
        ;
    state->filter[size] = 0;
}

static void key_of_filter(struct pie_top_state *state, unsigned key) {
    if (key == '\n' || key == '\r')
        state->is_typing = false;
    else if (key == KEY_ESCAPE)
        state->is_typing = false, state->filter[0] = 0;
    else if (key == PIE_TOP_KEY_BACKSPACE || key == KEY_DELETE || key == KEY_CONTROL_H)
        erase_last(state);
    else if (key == KEY_CONTROL_U)
        state->filter[0] = 0;
    else if (key >= ' ' && key < PIE_TOP_KEY_NONE && iswprint((wint_t)key))
        type(state, key);
    state->chosen = state->first = 0;
    pie_top_state_arrange(state);
}

/* --- The cursor --- */

static void move(struct pie_top_state *state, long by) {
    long chosen = (long)state->chosen + by, last = (long)state->shown_count - 1;
    state->chosen = chosen < 0 || last < 0 ? 0 : (size_t)(chosen > last ? last : chosen);
}

static bool key_moves(struct pie_top_state *state, unsigned key) {
    long page = (long)state->page, all = (long)state->shown_count;
    const struct {
        unsigned key;
        long by;
    } moves[] = {{PIE_TOP_KEY_UP, -1},         {'k', -1},
                 {PIE_TOP_KEY_DOWN, 1},        {'j', 1},
                 {PIE_TOP_KEY_PAGE_UP, -page}, {PIE_TOP_KEY_PAGE_DOWN, page},
                 {PIE_TOP_KEY_HOME, -all},     {'g', -all},
                 {PIE_TOP_KEY_END, all},       {'G', all}};
    for (size_t i = 0; i < sizeof moves / sizeof *moves; i++)
        if (moves[i].key == key)
            return move(state, moves[i].by), true;
    return false;
}

/* --- The order --- */

static void order_by(struct pie_top_state *state, int column) {
    struct pie_top_order *order = &state->orders[state->frame.view];
    int count = (int)pie_top_column_count(pie_top_columns(state));
    *order = (struct pie_top_order){.column = column < 0 ? count : column > count ? 0 : column};
    state->chosen = state->first = 0;
    pie_top_state_arrange(state);
}

/* The first column of a kind with this word in its title. */
static void order_by_title(struct pie_top_state *state, const char *words) {
    const struct pie_top_column *columns = pie_top_columns(state);
    size_t count = pie_top_column_count(columns);
    for (size_t i = 0; i < count; i++)
        if (strstr(words, columns[i].title)) {
            order_by(state, (int)i);
            return;
        }
}

static bool key_orders(struct pie_top_state *state, unsigned key) {
    struct pie_top_order *order = &state->orders[state->frame.view];
    int count = (int)pie_top_column_count(pie_top_columns(state));
    if (key == '<' || key == ',' || key == PIE_TOP_KEY_LEFT)
        order_by(state, order->column - 1);
    else if (key == '>' || key == '.' || key == PIE_TOP_KEY_RIGHT || key == PIE_TOP_KEY_F1 + 5)
        order_by(state, order->column + 1);
    else if (key >= '1' && key <= '9' && (int)(key - '1') < count)
        order_by(state, (int)(key - '1'));
    else if (key == 'P' || key == 'O')
        order_by_title(state, "OWN s, CPU s, WASTED s");
    else if (key == 'T')
        order_by_title(state, "TOT s, ALIVE s, AGAIN s");
    else if (key == 'M' || key == 'A')
        order_by_title(state, "ALLOC, LEAKED");
    else if (key == 'r' || key == 'R' || key == 'I')
        order->is_reversed = !order->is_reversed, pie_top_state_arrange(state);
    else
        return false;
    return true;
}

/* --- Views --- */

/* The order of the other shape is its own unless the user has chosen one. */
static void turn_shape(struct pie_top_state *state) {
    const struct pie_top_view *view = pie_top_view(state->frame.view);
    if (view->shapes < 2)
        return;
    int before = view->sort[state->is_total];
    state->is_total = !state->is_total;
    for (int id = 0; id < PIE_TOP_VIEWS; id++)
        if (pie_top_view(id)->shapes > 1 && state->orders[id].column == before)
            state->orders[id].column = pie_top_view(id)->sort[state->is_total];
    pie_top_state_arrange(state);
}

/* The view that a key asks for, or -1. */
static int view_of(const struct pie_top_state *state, unsigned key) {
    int now = (int)state->frame.view;
    if (key == '\t')
        return (now + 1) % PIE_TOP_VIEWS;
    if (key == PIE_TOP_KEY_BACK_TAB)
        return (now + PIE_TOP_VIEWS - 1) % PIE_TOP_VIEWS;
    for (int id = 0; id < PIE_TOP_VIEWS; id++)
        if (key == (unsigned char)pie_top_view(id)->key)
            return id;
    return -1;
}

static void clear_filter(struct pie_top_state *state) {
    state->filter[0] = 0;
    pie_top_state_arrange(state);
}

enum pie_top_next pie_top_key(struct pie_top_state *state, struct pie_top_source *source, unsigned key) {
    int view;
    if (state->is_help) {
        state->is_help = false;
        return key == 'q' || key == PIE_TOP_KEY_F10 ? PIE_TOP_QUIT : PIE_TOP_GO_ON;
    }
    if (state->is_typing)
        return key_of_filter(state, key), PIE_TOP_GO_ON;
    if (key == 'q' || key == 'Q' || key == PIE_TOP_KEY_F10)
        return PIE_TOP_QUIT;
    if (key_moves(state, key) || key_orders(state, key))
        return PIE_TOP_GO_ON;
    if ((view = view_of(state, key)) >= 0) {
        state->wanted = (enum pie_top_view_id)view;
        return PIE_TOP_READ;
    }
    if (key == 'i') {
        source->last_s = source->last_s > 0 ? 0 : LAST_S;
        return PIE_TOP_READ;
    }
    if (key == 'h' || key == '?' || key == PIE_TOP_KEY_F1)
        state->is_help = true;
    else if (key == '/' || key == '\\' || key == PIE_TOP_KEY_F1 + 3)
        state->is_typing = true;
    else if (key == 'p' || key == ' ')
        state->is_paused = !state->is_paused;
    else if (key == 'o')
        turn_shape(state);
    else if (key == KEY_ESCAPE)
        clear_filter(state);
    return PIE_TOP_GO_ON;
}

/* --- The list of keys, for people --- */

static const struct {
    const char *keys, *meaning;
} list[] = {
    {"f l t m w", "functions, lines, threads, memory, findings (what is wasted)"},
    {"Tab, Shift-Tab", "the next view, the one before"},
    {"Up Down k j", "move the cursor; PgUp, PgDn, Home, End, g, G"},
    {"< > F6", "order by the column before, after; 1 to 9: by that one"},
    {"P T M", "order by own CPU time, by total time, by memory; also O T A"},
    {"r", "reverse the order"},
    {"o", "own time, or total time, of functions and lines"},
    {"i", "the last 10 seconds, or the whole run"},
    {"/ F4", "show the rows with a text: Enter keeps it, Esc shows all"},
    {"p Space", "pause, go on"},
    {"h ? F1", "these keys"},
    {"q F10", "quit"},
};

void pie_cmd_top_print_keys(FILE *out) {
    fputs("\nKeys:\n", out);
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        fprintf(out, "  %-26s %s\n", list[i].keys, list[i].meaning);
}

size_t pie_top_keys_draw(struct pie_top_canvas *canvas, size_t line) {
    for (size_t i = 0; i < sizeof list / sizeof *list; i++, line++) {
        pie_top_put(canvas, line, 2, 15, PIE_TOP_BOLD, list[i].keys);
        if (canvas->columns > 18)
            pie_top_put(canvas, line, 18, canvas->columns - 18, PIE_TOP_PLAIN, list[i].meaning);
    }
    return line;
}
