/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "storage/base/lookup.h"
#include "storage/page/page_costs.h"
#include "storage/page/page_nodes.h"

/* Costs by slice of time, thread and node, as many cells as a page may have: where there are more, those of a node are
 * added to those of the next node above. Context: cli. */

struct pie_page_cell {
    uint32_t slice;
    int32_t thread; /* -1: not known */
    int64_t process;
    uint32_t node;
    int64_t values[PIE_PAGE_METRICS];
};

struct pie_page_cells {
    const struct pie_page_nodes *nodes;
    uint32_t nodes_max; /* the first ones of the nodes have cells */
    bool has_no_threads, has_no_processes;
    uint32_t cells_max;
    struct pie_page_cell *cells;
    uint32_t count, room;
    struct pie_lookup by_key;
};

/* The cells of no cost at all. */
void pie_page_cells_init(struct pie_page_cells *cells, const struct pie_page_nodes *nodes,
                         uint32_t cells_max);
void pie_page_cells_finish(struct pie_page_cells *cells);

/* Adds the costs of a cell. Returns 0 or -ENOMEM. */
int pie_page_cells_add(struct pie_page_cells *cells, const struct pie_page_cell *cell);

/* Makes fewer cells: with half the nodes, and once it is only the root, without threads, then without processes,
 * now and for what is added. Returns 0 or -ENOMEM. */
int pie_page_cells_coarsen(struct pie_page_cells *cells);
