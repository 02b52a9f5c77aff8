/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "launcher/top/canvas.h"

/* The screen of a terminal, by ncurses. It is loaded when asked for, not linked, since every start of every profiled
 * program would load it too. Context: cli. */

/* Takes the terminal. Returns 0, or -errno and one line for people (heap): -ENOTTY no terminal, -ENODEV of an unknown
 * kind, -ENOSYS there is no ncurses. */
int pie_top_terminal_open(struct pie_top_canvas **ret_canvas, char **ret_message);
/* Gives it back as it was. */
void pie_top_terminal_close(void);

/* Asks for its size, and empties the canvas. */
void pie_top_terminal_begin(void);
/* Shows what was drawn since. */
void pie_top_terminal_show(void);

/* The next key (state.h), or PIE_TOP_KEY_NONE after this time or a change of its size. Less than 0: for ever. */
unsigned pie_top_terminal_key(double wait_s);

/* The signal that asks for the end, or 0. A terminal that is gone is SIGHUP. */
int pie_top_terminal_signal(void);
