/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* The lines of own code at which the main thread spends its CPU time, with all that they lead to: which of them are
 * worth counting? Context: drain. */

enum { PIE_WINDOW_LINES_MAX = 256, PIE_WINDOW_FILE_BYTES = 512, PIE_WINDOW_FUNCTION_BYTES = 96 };

/* Where a sample met own code. Of lines that lead to others (callers), each function has its own; function_line is 0
 * otherwise. line 0: the function as a whole, which is never counted. */
struct pie_window_place {
    const char *file, *function; /* function: "" where function_line is 0 */
    int32_t line, function_line;
    bool is_in_loop; /* of its function */
};

struct pie_window_line {
    char file[PIE_WINDOW_FILE_BYTES], function[PIE_WINDOW_FUNCTION_BYTES];
    int32_t line, function_line;
    int number; /* of struct pie_window_ops, once it is counted; -1: not yet; -2: not any more */
    uint64_t cpu_ns, loop_ns; /* loop_ns: of it, in a loop of its function */
    uint64_t late_ns;         /* of it, of late */
    uint64_t sample;          /* the last one that met it */
    unsigned windows;         /* that have counted it, while it was hot */
};

struct pie_window_lines {
    struct pie_window_line lines[PIE_WINDOW_LINES_MAX];
    unsigned count;
    uint64_t cpu_ns, late_ns; /* of the thread, in all and of late */
    uint64_t samples, sample_ns;
};

/* A sample of the thread begins. */
void pie_window_lines_sample(struct pie_window_lines *lines, uint64_t cpu_ns);
/* … and it met this place, however often. Where there is no room, the coldest line makes room. */
void pie_window_lines_add(struct pie_window_lines *lines, const struct pie_window_place *place);

/* A line that has a good share of the time and is not counted yet. NULL: there is none. */
struct pie_window_line *pie_window_lines_next(struct pie_window_lines *lines);
/* What is known of a place, or NULL. */
const struct pie_window_line *pie_window_lines_find(const struct pie_window_lines *lines, const char *file,
                                                    int32_t line, int32_t function_line);
/* Is the line in a loop of its function, most of the time? NULL: no. */
bool pie_window_line_is_in_loop(const struct pie_window_line *line);
/* Is any counted line of such a share, also of late? Whose turn is it: the function of the line that had the fewest
 * windows so far. Lines in loops come first. */
bool pie_window_lines_turn(const struct pie_window_lines *lines, int32_t *ret_function_line);
/* A window counts the lines of this function. */
void pie_window_lines_opened(struct pie_window_lines *lines, int32_t function_line);
