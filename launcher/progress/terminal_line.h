/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

/* The last row of the terminal that standard error is. The rows above are made its scrolling region, so the program's
 * output, and that of its children, never meets this row: https://vt100.net/docs/vt510-rm/DECSTBM.html. Nothing blocks,
 * and a terminal that is someone else's for the moment is left alone. */

/* Is standard error a terminal that has such a row? Remembers which one. Context: launcher (before Python starts). */
bool pie_terminal_line_find(void);

/* Writes the row. ASCII. Context: drain. */
void pie_terminal_line_show(const char *text);

/* Empties the row, and gives it back; idempotent. Context: launcher, drain. */
void pie_terminal_line_end(void);
