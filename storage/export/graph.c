/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/export/graph.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/base/hash.h"
#include "storage/base/message.h"
#include "storage/export/calltree_rows.h"

static uint64_t hash_ends(uint32_t caller, uint32_t callee) {
    return pie_hash_mix(0, (uint64_t)caller << 32 | callee);
}

static uint64_t hash_edge(const void *owner, uint32_t number) {
    const struct pie_graph *graph = owner;
    return hash_ends(graph->edges[number].caller, graph->edges[number].callee);
}

static bool is_edge(const void *owner, uint32_t number, const void *key) {
    const struct pie_graph *graph = owner;
    const struct pie_graph_edge *a = &graph->edges[number], *b = key;
    return a->caller == b->caller && a->callee == b->callee;
}

static const struct pie_lookup_by by_ends = {hash_edge, is_edge};

static int get_edge(struct pie_graph *graph, uint32_t caller, uint32_t callee, uint32_t *ret_edge) {
    const struct pie_graph_edge wanted = {.caller = caller, .callee = callee};
    *ret_edge = pie_lookup_get(&graph->by_ends, &by_ends, graph, hash_ends(caller, callee), &wanted);
    if (*ret_edge)
        return 0;
    if (graph->edge_count == UINT32_MAX)
        return -EOVERFLOW;
    struct pie_graph_edge *edges = pie_calltree_grow(graph->edges, graph->edge_count, sizeof *edges);
    if (!edges)
        return -ENOMEM;
    graph->edges = edges;
    size_t size = 2 * (size_t)graph->metric_count * sizeof *graph->edge_costs;
    int64_t *costs = pie_calltree_grow(graph->edge_costs, graph->edge_count, size);
    if (!costs)
        return -ENOMEM;
    graph->edge_costs = costs;
    memset((char *)costs + graph->edge_count * size, 0, size);
    edges[ *ret_edge = graph->edge_count++] = wanted;
    return pie_lookup_add(&graph->by_ends, &by_ends, graph, *ret_edge);
}

/* Where the costs of an edge are: self, then total. */
static int64_t *costs_of(const struct pie_graph *graph, uint32_t edge, int metric) {
    return &graph->edge_costs[2 * ((size_t)edge * (size_t)graph->metric_count + (size_t)metric)];
}

int64_t pie_graph_edge_self(const struct pie_graph *graph, uint32_t edge, int metric) {
    return costs_of(graph, edge, metric)[0];
}

int64_t pie_graph_edge_total(const struct pie_graph *graph, uint32_t edge, int metric) {
    return costs_of(graph, edge, metric)[1];
}

/* A step of the walk: a node with what it adds to, undone on the way back. */
struct step {
    uint32_t node, edge;
};

static const struct pie_calltree_frame *frame_of(const struct pie_graph *graph, uint32_t node) {
    return &graph->tree->frames[graph->tree->nodes[node].frame];
}

static int enter(struct pie_graph *graph, const struct pie_part *part, uint32_t node, uint32_t *ret_edge) {
    int metric = graph->metric;
    uint32_t frame = graph->tree->nodes[node].frame, whole = frame_of(graph, node)->whole;
    uint32_t parent = graph->tree->nodes[node].parent;
    pie_calltree_add(&graph->self[metric][frame], part->self[node]);
    if (graph->depths[frame]++ == 0)
        pie_calltree_add(&graph->total[metric][frame], part->total[node]);
    *ret_edge = 0;
    if (parent == 0 || frame_of(graph, parent)->whole == whole)
        return 0;
    int r = get_edge(graph, graph->tree->nodes[parent].frame, whole, ret_edge);
    if (r < 0)
        return r;
    int64_t *costs = costs_of(graph, *ret_edge, metric);
    pie_calltree_add(&costs[0], part->self[node]);
    if (graph->edges[*ret_edge].depth++ == 0)
        pie_calltree_add(&costs[1], part->total[node]);
    return 0;
}

static void leave(struct pie_graph *graph, const struct step *step) {
    graph->depths[graph->tree->nodes[step->node].frame]--;
    if (step->edge)
        graph->edges[step->edge].depth--;
}

/* Adds one metric. */
static int take_part(void *data, const struct pie_part *part) {
    struct pie_graph *graph = data;
    struct step *way = calloc(part->count, sizeof *way);
    size_t length = 0;
    int r = way ? 0 : -ENOMEM;
    for (uint32_t i = 0; i < part->count && r == 0; i++) {
        uint32_t node = part->nodes[i];
        while (length > 0 && way[length - 1].node != graph->tree->nodes[node].parent)
            leave(graph, &way[--length]);
        way[length].node = node;
        r = enter(graph, part, node, &way[length].edge);
        length++;
    }
    while (r == 0 && length > 0)
        leave(graph, &way[--length]);
    graph->sum[graph->metric] = part->total[0];
    free(way);
    return r;
}

static int begin(struct pie_graph *graph, int count) {
    bool is_short = false;
    graph->edges = calloc(1, sizeof *graph->edges);
    graph->edge_costs = calloc(2 * (size_t)count, sizeof *graph->edge_costs);
    graph->edge_count = 1;
    graph->depths = calloc((size_t)graph->tree->frame_count + 1, sizeof *graph->depths);
    for (int i = 0; i < count; i++) {
        graph->self[i] = calloc((size_t)graph->tree->frame_count + 1, sizeof **graph->self);
        graph->total[i] = calloc((size_t)graph->tree->frame_count + 1, sizeof **graph->total);
        is_short = is_short || !graph->self[i] || !graph->total[i];
    }
    return graph->edges && graph->edge_costs && graph->depths && !is_short ? 0 : -ENOMEM;
}

int pie_graph_make(struct pie_reader *reader, const struct pie_calltree *tree, int64_t run,
                   const struct pie_metric *const *metrics, int count, struct pie_graph *ret_graph,
                   char **ret_message) {
    struct pie_graph graph = {.tree = tree, .metric_count = count};
    int r = begin(&graph, count);
    if (r < 0)
        (void)pie_message(r, ret_message, "out of memory");
    for (; graph.metric < count && r == 0; graph.metric++) {
        graph.metrics[graph.metric] = metrics[graph.metric];
        r = pie_parts_each(reader, tree, run, metrics[graph.metric], PIE_PART_ALL, &graph, take_part,
                           ret_message);
    }
    pie_lookup_finish(&graph.by_ends);
    free(graph.depths);
    graph.depths = NULL;
    *ret_graph = graph;
    if (r < 0)
        pie_graph_finish(ret_graph);
    return r;
}

void pie_graph_finish(struct pie_graph *graph) {
    for (int i = 0; i < PIE_GRAPH_METRICS_MAX; i++) {
        free(graph->self[i]);
        free(graph->total[i]);
    }
    free(graph->edges);
    free(graph->edge_costs);
    *graph = (struct pie_graph){0};
}

static int compare_frames(const void *a, const void *b, void *data) {
    const struct pie_graph *graph = data;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    if (graph->self[0][x] != graph->self[0][y])
        return graph->self[0][x] > graph->self[0][y] ? -1 : 1;
    if (graph->total[0][x] != graph->total[0][y])
        return graph->total[0][x] > graph->total[0][y] ? -1 : 1;
    return x < y ? -1 : 1;
}

static bool has_cost(const struct pie_graph *graph, uint32_t frame) {
    for (int i = 0; i < graph->metric_count; i++) {
        if (graph->total[i][frame] > 0)
            return true;
    }
    return false;
}

uint32_t *pie_graph_order(const struct pie_graph *graph, uint32_t *ret_count) {
    uint32_t *order = calloc((size_t)graph->tree->frame_count + 1, sizeof *order), count = 0;
    if (!order)
        return NULL;
    for (uint32_t frame = 0; frame < graph->tree->frame_count; frame++) {
        if (has_cost(graph, frame))
            order[count++] = frame;
    }
    qsort_r(order, count, sizeof *order, compare_frames, (void *)graph);
    *ret_count = count;
    return order;
}

static int compare_numbers(uint32_t x, uint32_t y) {
    return x < y ? -1 : x > y;
}

static int compare_callers(const void *a, const void *b, void *data) {
    const struct pie_graph_edge *edges = data;
    const struct pie_graph_edge *x = &edges[*(const uint32_t *)a], *y = &edges[*(const uint32_t *)b];
    int order = compare_numbers(x->caller, y->caller);
    return order ? order : compare_numbers(x->callee, y->callee);
}

static int compare_callees(const void *a, const void *b, void *data) {
    const struct pie_graph_edge *edges = data;
    const struct pie_graph_edge *x = &edges[*(const uint32_t *)a], *y = &edges[*(const uint32_t *)b];
    int order = compare_numbers(x->callee, y->callee);
    return order ? order : compare_numbers(x->caller, y->caller);
}

uint32_t *pie_graph_edges(const struct pie_graph *graph, bool is_by_callee) {
    uint32_t *order = calloc(graph->edge_count, sizeof *order);
    for (uint32_t i = 1; order && i < graph->edge_count; i++)
        order[i - 1] = i;
    if (order)
        qsort_r(order, graph->edge_count - 1, sizeof *order, is_by_callee ? compare_callees : compare_callers,
                graph->edges);
    return order;
}
