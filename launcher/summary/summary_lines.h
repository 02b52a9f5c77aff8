/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "launcher/text/style.h"

/* The costliest lines of the user's own code, each with its source. A column in which every line has nothing is left
 * out; so are lines of a few samples. Context: cli, launcher (at exit). */

struct pie_cursor;

enum { PIE_SUMMARY_LINES_MAX = 8 };

struct pie_summary_line {
    double cpu_s, share, parts[3], wait_s; /* parts: of the CPU time in Python, native code and the kernel */
    char *place, *source, *library;        /* printable; heap or NULL */
};

struct pie_summary_lines {
    FILE *out;
    size_t columns;
    struct pie_style style;
    struct pie_summary_line lines[PIE_SUMMARY_LINES_MAX];
    size_t count;
};

/* Takes :run and :limit. */
extern const char pie_summary_lines_sql[];

/* Of a row of that statement; more than PIE_SUMMARY_LINES_MAX are left out. */
void pie_summary_lines_add(struct pie_summary_lines *lines, struct pie_cursor *row);

/* Prints and frees them. */
void pie_summary_lines_print(struct pie_summary_lines *lines);
