/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* The lines of own code at which the main thread spends its CPU time, with all that they lead to: which of them are
 * worth counting? Context: drain. */

enum { PIE_WINDOW_LINES_MAX = 256, PIE_WINDOW_FILE_BYTES = 512 };

struct pie_window_line {
    char file[PIE_WINDOW_FILE_BYTES];
    int32_t line;
    int number; /* of struct pie_window_ops, once it is counted; -1: not yet; -2: not any more */
    uint64_t cpu_ns, loop_ns; /* loop_ns: of it, in a loop of its function */
};

struct pie_window_lines {
    struct pie_window_line lines[PIE_WINDOW_LINES_MAX];
    unsigned count;
    uint64_t cpu_ns; /* of the thread, in all */
};

/* Time of a line; file NULL: of none. Where there is no room, the coldest line makes room. */
void pie_window_lines_add(struct pie_window_lines *lines, const char *file, int32_t line, uint64_t cpu_ns,
                          bool is_in_loop);

/* A line that has a good share of the time and is not counted yet. NULL: there is none. */
struct pie_window_line *pie_window_lines_next(struct pie_window_lines *lines);
/* Is the line in a loop of its function, most of the time? */
bool pie_window_lines_is_in_loop(struct pie_window_lines *lines, const char *file, int32_t line);
/* Is any counted line of such a share? */
bool pie_window_lines_are_hot(const struct pie_window_lines *lines);
