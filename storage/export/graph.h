/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "storage/base/lookup.h"
#include "storage/export/part.h"

/* The call tree as a graph: what each function, or each line of one, costs itself and with all that it calls, and who
 * calls whom. A cost counts once where a function or a call lies within itself (recursion). Context: cli. */

enum { PIE_GRAPH_METRICS_MAX = 16 };

struct pie_graph_edge {
    uint32_t caller; /* frame */
    uint32_t callee; /* frame of a whole function */
    uint32_t depth;  /* how often it is on the way while the tree is walked */
};

struct pie_graph {
    const struct pie_calltree *tree;
    const struct pie_metric *metrics[PIE_GRAPH_METRICS_MAX];
    int metric_count, metric;              /* all, and the one that is added */
    int64_t *self[PIE_GRAPH_METRICS_MAX];  /* by frame */
    int64_t *total[PIE_GRAPH_METRICS_MAX]; /* by frame */
    int64_t sum[PIE_GRAPH_METRICS_MAX];    /* of the run */
    struct pie_graph_edge *edges;          /* from [1] on; calls of a function by itself are left out */
    uint32_t edge_count;                   /* with [0] */
    int64_t *edge_costs;                   /* by edge: of each metric self and total, for this caller */
    struct pie_lookup by_ends;
    uint32_t *depths; /* by frame, while the tree is walked */
};

/* Returns 0, or -errno and a message. The tree has to live as long as the graph. */
int pie_graph_make(struct pie_reader *reader, const struct pie_calltree *tree, int64_t run,
                   const struct pie_metric *const *metrics, int count, struct pie_graph *ret_graph,
                   char **ret_message);
void pie_graph_finish(struct pie_graph *graph);

/* What the callee costs itself, and with all that it calls, for this caller. */
int64_t pie_graph_edge_self(const struct pie_graph *graph, uint32_t edge, int metric);
int64_t pie_graph_edge_total(const struct pie_graph *graph, uint32_t edge, int metric);

/* Frames with any cost, those with the greatest cost of metric [0] first: heap, or NULL. */
uint32_t *pie_graph_order(const struct pie_graph *graph, uint32_t *ret_count);
/* The edges, those of a caller, or of a callee, together and in the order of frames: heap, or NULL. There are
 * edge_count - 1. */
uint32_t *pie_graph_edges(const struct pie_graph *graph, bool is_by_callee);
