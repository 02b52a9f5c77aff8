/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profiler/base/u64map.h"

/* Inclusive time in one process's calling context tree: of each function and line all that ran in it and below it, and
 * of each function who called it and what it called. Recursion counts once: a sample belongs once to each function and
 * line on its path. Where a function stands there more than once,
 *   its caller is that of the outermost of them, so a function's time is the sum of its callers' parts;
 *   its callee is that of the innermost, so it is the sum of its callees' parts and of its own code, too.
 * Only Python functions have callers and callees; native functions are callees where the interpreter called them.
 * Of a function of own code, the lines of own code that were at work below it, or in it, have their parts, too. A
 * library's function has those of the lines of own code that used it, themselves or through other library code.
 *
 * The file is not trusted. A parent that is not there is the end of a path, nodes that are their own ancestors are left
 * out, and sums stay at the greatest number. Context: cli. */

enum {
    PIE_CALL_SAMPLES,
    PIE_CALL_PYTHON_NS,
    PIE_CALL_NATIVE_NS,
    PIE_CALL_SYSTEM_NS,
    PIE_CALL_WAIT_NS,
    PIE_CALL_RUNNABLE_NS,
    PIE_CALL_THROTTLED_NS,
    PIE_CALL_READ_SUMS, /* of a node */
    PIE_CALL_SELF_NS =
        PIE_CALL_READ_SUMS, /* CPU time in the function or line itself, with native code below it */
    PIE_CALL_SUMS,
};

enum pie_call_kind {
    PIE_CALL_FUNCTION = 1,
    PIE_CALL_LINE = 2,   /* location */
    PIE_CALL_CALLER = 3, /* location: the line that called the function; 0: none did */
    PIE_CALL_CALLEE = 4, /* other: the function that was called; 0: the function's own code */
    PIE_CALL_BELOW =
        5, /* location: the innermost line of own code, of what ran in the own function or below */
    PIE_CALL_USED =
        6, /* location: the innermost line of own code, of what ran in or below the library's function for it */
};

/* Ids are those of the process; 0 where the kind has none. */
struct pie_call_sum {
    uint32_t kind, function, location, other;
    int64_t sums[PIE_CALL_SUMS];
};

struct pie_call_function {
    uint32_t id;
    bool is_own;
};

struct pie_call_location {
    uint32_t id, function; /* number of a Python function from 1 on */
};

struct pie_call_node {
    uint32_t id;
    uint32_t parent;                  /* its id, then its number; 0: none */
    uint32_t location;                /* number of a Python location from 1 on; 0: native code */
    uint32_t own;                     /* id of the innermost location of own code, 0: none */
    uint32_t entry;                   /* id of the native function that the interpreter called, 0: none */
    uint32_t child, sibling;          /* numbers */
    uint32_t python;                  /* number of the innermost Python node at or above it */
    int64_t sums[PIE_CALL_READ_SUMS]; /* with all below it, once that has been added up */
};

struct pie_call_sums {
    struct pie_call_function *functions; /* Python's, by ascending ids, as the others */
    size_t function_count;
    struct pie_call_location *locations; /* of Python functions */
    size_t location_count;
    struct pie_call_node *nodes; /* nodes[0] is above the roots */
    size_t node_count;
    struct pie_call_sum *rows;
    size_t row_count;
    struct pie_u64map by_key[PIE_CALL_USED + 1]; /* rows by kind and ids, number + 1 */
};

/* In this order: all Python functions, all locations, all nodes (each by ascending ids, others are left out), link,
 * all samples, end, after which only the rows stay. Each returns 0 or -ENOMEM. */
int pie_call_sums_add_function(struct pie_call_sums *calls, int64_t id, bool is_own);
int pie_call_sums_add_location(struct pie_call_sums *calls, int64_t id, int64_t function);
int pie_call_sums_add_node(struct pie_call_sums *calls, int64_t id, int64_t parent, int64_t location,
                           int64_t entry, int64_t own);
void pie_call_sums_link(struct pie_call_sums *calls);
int pie_call_sums_add_sample(struct pie_call_sums *calls, int64_t node,
                             const int64_t sums[PIE_CALL_READ_SUMS]);
int pie_call_sums_end(struct pie_call_sums *calls);
void pie_call_sums_finish(struct pie_call_sums *calls);
