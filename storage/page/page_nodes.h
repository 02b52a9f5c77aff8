/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "storage/page/page_costs.h"

struct pie_calltree;

/* The nodes of a call tree that a page has: the most important ones, and below them one for each node of which
 * something was cut. Context: cli. */

enum { PIE_PAGE_NO_NODE = UINT32_MAX };

struct pie_page_node {
    uint32_t parent; /* of the page's nodes, less than its own index */
    uint32_t node;   /* of the call tree; PIE_PAGE_NO_NODE: of what was cut */
    uint32_t hidden; /* how many nodes were cut */
    int64_t values[PIE_PAGE_METRICS];
};

struct pie_page_nodes {
    struct pie_page_node *nodes; /* the chosen ones, then those of what was cut */
    uint32_t count, chosen;
    uint32_t
        *nodes_of; /* by node of the call tree: which of these has its costs; PIE_PAGE_NO_NODE: it has none */
};

/* Nodes with costs, the most important ones first (heap). The root is the first one. Returns NULL without memory. */
uint32_t *pie_page_nodes_order(const double *weights, uint32_t count, uint32_t *ret_count);

/* Takes the first `chosen` of them. Returns 0 or -ENOMEM. */
int pie_page_nodes_choose(const struct pie_calltree *tree, const struct pie_page_costs *costs,
                          const double *weights, const uint32_t *order, uint32_t chosen,
                          struct pie_page_nodes *ret_nodes);
void pie_page_nodes_finish(struct pie_page_nodes *nodes);
