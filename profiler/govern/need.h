/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "profiler/base/u64map.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What few means of looking closely (watches) are spent on: lines of the program that cost much, of which little is
 * known yet, and where a look is cheap. A line is a key of the caller's. Reads no clock. Context: drain. */

struct pie_need_line {
    uint64_t cpu_ns, cost_ns; /* of the line; of the looks at it */
    uint64_t looks, answered,
        equal; /* how many looks; those that said something; … that it did the same again */
};

struct pie_need {
    struct pie_u64map index; /* key -> number in lines, from 1 */
    struct pie_need_line *lines;
    size_t count, room;
    uint64_t looks, cost_ns; /* of all lines */
    double most;             /* of all lines, when it was last looked for */
    unsigned passed;         /* additions since then */
};

enum pie_need_answer { PIE_NEED_NONE, PIE_NEED_OTHER, PIE_NEED_EQUAL };

/* The line took CPU time. */
void pie_need_spent(struct pie_need *need, uint64_t line, uint64_t cpu_ns);
/* A look at the line is over. */
void pie_need_looked(struct pie_need *need, uint64_t line, enum pie_need_answer answer, uint64_t cost_ns);

/* The line's need as a part of the greatest of all lines, 0 to 1; 1 if nothing is known of it. */
double pie_need_of(struct pie_need *need, uint64_t line);

/* All is forgotten, as at the beginning (all zero). */
void pie_need_finish(struct pie_need *need);
