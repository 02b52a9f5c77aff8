/* SPDX-License-Identifier: Apache-2.0 */
#include "launcher/top/canvas.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "launcher/text/text.h"

size_t pie_top_put(struct pie_top_canvas *canvas, size_t line, size_t column, size_t width,
                   enum pie_top_look look, const char *text) {
    if (line >= canvas->lines || column >= canvas->columns)
        return 0;
    size_t room = canvas->columns - column;
    width = width < room ? width : room;
    char *fitted = pie_text_cut_end(text, width), *filled = NULL;
    size_t used = fitted ? pie_text_width(fitted) : 0;
    if (fitted && asprintf(&filled, "%s%*s", fitted, (int)(width - used), "") >= 0)
        canvas->put(canvas, line, column, look, filled);
    free(filled);
    free(fitted);
    return used;
}

void pie_top_put_right(struct pie_top_canvas *canvas, size_t line, size_t column, size_t width,
                       enum pie_top_look look, const char *text) {
    size_t used = pie_text_width(text), blanks = used < width ? width - used : 0;
    char *filled;
    if (asprintf(&filled, "%*s%s", (int)blanks, "", text) < 0)
        return;
    pie_top_put(canvas, line, column, width, look, filled);
    free(filled);
}

size_t pie_top_print(struct pie_top_canvas *canvas, size_t line, size_t column, enum pie_top_look look,
                     const char *format, ...) {
    va_list args;
    char *text;
    va_start(args, format);
    int size = vasprintf(&text, format, args);
    va_end(args);
    if (size < 0 || column >= canvas->columns) {
        if (size >= 0)
            free(text);
        return column;
    }
    size_t room = canvas->columns - column, width = pie_text_width(text);
    size_t used = pie_top_put(canvas, line, column, width < room ? width : room, look, text);
    free(text);
    return column + used;
}

/* --- Text --- */

struct page {
    struct pie_top_canvas canvas;
    char **lines; /* heap; each ends where the last text was put */
};

/* Text comes from left to right, or over blanks that fill a line to its end. */
static void put(struct pie_top_canvas *canvas, size_t line, size_t column, enum pie_top_look look,
                const char *text) {
    char **held = &((struct page *)canvas)->lines[line];
    size_t width = *held ? pie_text_width(*held) : 0;
    char *before = *held && width > column ? strdup(*held) : NULL, *joined;
    if (before) {
        size_t size = strlen(before), over = width - column;
        before[size > over ? size - over : 0] = 0;
        width = pie_text_width(before);
    }
    const char *first = before ? before : *held ? *held : "";
    if (asprintf(&joined, "%s%*s%s", first, (int)(column > width ? column - width : 0), "", text) >= 0) {
        free(*held);
        *held = joined;
    }
    free(before);
}

struct pie_top_canvas *pie_top_page_create(size_t lines, size_t columns) {
    struct page *page = calloc(1, sizeof *page);
    char **held = page ? calloc(lines, sizeof *held) : NULL;
    if (!held) {
        free(page);
        return NULL;
    }
    *page = (struct page){.canvas = {.lines = lines, .columns = columns, .put = put}, .lines = held};
    return &page->canvas;
}

static void write_line(const char *line, FILE *out) {
    size_t size = line ? strlen(line) : 0;
    while (size > 0 && line[size - 1] == ' ')
        size--;
    fprintf(out, "%.*s\n", (int)size, line ? line : "");
}

void pie_top_page_write(struct pie_top_canvas *canvas, FILE *out) {
    struct page *page = (struct page *)canvas;
    size_t last = canvas->lines;
    while (last > 0 && !page->lines[last - 1])
        last--;
    for (size_t i = 0; i < last; i++)
        write_line(page->lines[i], out);
    for (size_t i = 0; i < canvas->lines; i++)
        free(page->lines[i]);
    free(page->lines);
    free(page);
}
