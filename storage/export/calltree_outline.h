/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "storage/export/calltree.h"

/* The nodes of a call tree that are printed, in the order in which people read them: each before its children, these
 * before its next sibling. Only for them are costs kept apart by kind. Context: cli. */

struct pie_calltree_cost {
    int64_t python_ns, native_ns, system_ns, wait_ns, runnable_ns, throttled_ns, samples;
};

struct pie_calltree_outline_row {
    uint32_t node; /* of the tree */
    uint32_t depth;
    uint32_t above; /* row, less than its own */
    uint32_t rest;  /* row of all that is deeper than the printed nodes; 0: none */
    uint32_t count; /* of such a row: nodes in it that would be printed; 0: of a node */
    bool is_rest;
    struct pie_calltree_cost self, total;
};

struct pie_calltree_outline {
    struct pie_calltree_outline_row *rows; /* rows[0] is the whole and not printed */
    uint32_t count;
    uint32_t *rows_of; /* by node of the tree: the row that its costs belong to */
    const struct pie_calltree *tree;
};

/* Left out: nodes below PIE_CALLTREE_PRUNE of the run's CPU time and of its waiting time, and what is below them. What
 * is deeper than depth_max is one row. Returns 0, or -errno and a message. */
int pie_calltree_outline_make(struct pie_reader *reader, int64_t run, const struct pie_calltree *tree,
                              uint32_t depth_max, struct pie_calltree_outline *ret_outline,
                              char **ret_message);
/* Adds up, as pie_calltree_add() does. */
void pie_calltree_add_cost(struct pie_calltree_cost *sum, const struct pie_calltree_cost *cost);
int64_t pie_calltree_cpu_ns(const struct pie_calltree_cost *cost);
void pie_calltree_outline_finish(struct pie_calltree_outline *outline);
