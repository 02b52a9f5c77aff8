/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "storage/base/lookup.h"
#include "storage/file/sums.h"

/* The time of a run by line, or by function: what its processes' samples cost, added up by the names of their places.
 * A row's function, library and caller are those of its costliest part, of equal ones the last. Context: cli. */

/* A number of the file that may be NULL. */
struct pie_cost_number {
    int64_t value;
    bool is_known;
};

/* Texts are of one pool, so equal ones are one, and NULL where the file has none. */
struct pie_cost_row {
    const char *file, *function, *library, *user_file;
    struct pie_cost_number line, user_line; /* line: of a function, its first one */
    int64_t sums[PIE_COST_SUM_COUNT];       /* of a part without a clock, CPU time is 0 */
    bool has_cpu;                           /* a part had a clock */
    double squares;
    int64_t weight; /* of the costliest part: CPU time and waiting */
    int64_t nth;    /* of those with a file, the costliest is 1; 0: no file */
};

struct pie_cost_sums {
    bool by_function; /* rows of a function are one, else those of a line */
    struct pie_cost_row *rows;
    size_t count, capacity;
    struct pie_lookup by_place;
};

/* Adds what a place cost; nth and weight are not read. Returns 0, -ENOMEM, or -EOVERFLOW: a sum is too large. */
int pie_cost_sums_add(struct pie_cost_sums *costs, const struct pie_cost_row *part);
/* CPU time of a row that has any. */
int64_t pie_cost_cpu_ns(const struct pie_cost_row *row);
/* Sorts rows by their cost and numbers them. */
void pie_cost_sums_end(struct pie_cost_sums *costs);
void pie_cost_sums_finish(struct pie_cost_sums *costs);
