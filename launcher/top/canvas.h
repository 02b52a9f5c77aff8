/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Where a screen is drawn: a terminal (terminal.h), or lines of text. Context: cli. */

enum pie_top_look {
    PIE_TOP_PLAIN,
    PIE_TOP_BOLD,
    PIE_TOP_DIM,
    PIE_TOP_BAR,    /* the head of the table, the tab of the view */
    PIE_TOP_CHOSEN, /* the row of the cursor */
    PIE_TOP_HOT,    /* costs much */
    PIE_TOP_WARM,
    PIE_TOP_GOOD,
    PIE_TOP_PYTHON,
    PIE_TOP_NATIVE,
    PIE_TOP_SYSTEM,
    PIE_TOP_LOOKS,
};

struct pie_top_canvas {
    size_t lines, columns;
    bool is_colourful;
    /* Text of which all fits, printable. */
    void (*put)(struct pie_top_canvas *canvas, size_t line, size_t column, enum pie_top_look look,
                const char *text);
};

/* Puts text into `width` columns at most, cut with "…" or filled up with blanks; nothing lies outside of the canvas.
 * Returns the columns that the text took without blanks. */
size_t pie_top_put(struct pie_top_canvas *canvas, size_t line, size_t column, size_t width,
                   enum pie_top_look look, const char *text);
/* The same of a text to the right. */
void pie_top_put_right(struct pie_top_canvas *canvas, size_t line, size_t column, size_t width,
                       enum pie_top_look look, const char *text);
/* The rest of the line after what was put, from `column` on: returns where the text ended. */
size_t pie_top_print(struct pie_top_canvas *canvas, size_t line, size_t column, enum pie_top_look look,
                     const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Lines of text without looks. Returns NULL without memory. */
struct pie_top_canvas *pie_top_page_create(size_t lines, size_t columns);
/* Writes the lines without the blanks at their ends, and without the empty ones behind the last, and frees the page. */
void pie_top_page_write(struct pie_top_canvas *canvas, FILE *out);
