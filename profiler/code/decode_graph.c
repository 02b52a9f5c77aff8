/* SPDX-License-Identifier: Apache-2.0 */

/* Tarjan's strongly connected components (R. Tarjan, "Depth-first search and linear graph algorithms", 1972), with a
 * stack of its own in place of recursion. A branch backwards alone says little: compilers move unlikely code behind the
 * rest of a function, and it jumps back from there without there being any loop. */

#include "profiler/code/decode_graph.h"

#include "profiler/base/own_memory.h"

#include <errno.h>

enum { GONE = UINT32_MAX }; /* order of a node whose component is known */

struct walk {
    uint64_t *bits;
    uint32_t *to;    /* ends of all edges, in the order of their beginnings */
    uint32_t *first; /* of each node in `to`; one more at the end */
    uint32_t *next;  /* edge to follow */
    uint32_t *order; /* of discovery, from 1; 0: not seen */
    uint32_t *low;   /* earliest node of the component that is reached from here */
    uint32_t *path, *pending;
    uint32_t n_path, n_pending, clock;
};

static void mark(struct walk *w, uint32_t node) {
    w->bits[node / 64] |= UINT64_C(1) << node % 64;
}

static void discover(struct walk *w, uint32_t node) {
    w->order[node] = w->low[node] = ++w->clock;
    w->path[w->n_path++] = node;
    w->pending[w->n_pending++] = node;
}

/* node is the first of a component, which is complete. A component of one node is a cycle only if it has an edge to
 * itself. */
static void close_component(struct walk *w, uint32_t node) {
    uint32_t member, size = 0;

    do {
        member = w->pending[--w->n_pending];
        w->order[member] = GONE;
        if (member != node || size > 0)
            mark(w, member);
        size++;
    } while (member != node);
}

static void step(struct walk *w) {
    uint32_t node = w->path[w->n_path - 1];

    if (w->next[node] < w->first[node + 1]) {
        uint32_t to = w->to[w->next[node]++];
        if (to == node)
            mark(w, node);
        else if (w->order[to] == 0)
            discover(w, to);
        else if (w->order[to] < w->low[node])
            w->low[node] = w->order[to];
        return;
    }
    w->n_path--;
    uint32_t low = w->low[node];
    if (low == w->order[node])
        close_component(w, node);
    else if (w->low[w->path[w->n_path - 1]] > low)
        w->low[w->path[w->n_path - 1]] = low;
}

static void find_cycles(struct walk *w, size_t n_nodes) {
    for (uint32_t root = 0; root < n_nodes; root++) {
        if (w->order[root] != 0)
            continue;
        discover(w, root);
        while (w->n_path)
            step(w);
    }
}

/* Counting sort. */
static void order_edges(struct walk *w, size_t n_nodes, const struct pie_decode_edge *edges, size_t n_edges) {
    for (size_t i = 0; i < n_edges; i++)
        w->first[edges[i].from + 1]++;
    for (size_t i = 0; i < n_nodes; i++) {
        w->first[i + 1] += w->first[i];
        w->next[i] = w->first[i];
    }
    for (size_t i = 0; i < n_edges; i++)
        w->to[w->next[edges[i].from]++] = edges[i].to;
    for (size_t i = 0; i < n_nodes; i++)
        w->next[i] = w->first[i];
}

int pie_decode_graph_cycles(size_t n_nodes, const struct pie_decode_edge *edges, size_t n_edges,
                            uint64_t *ret_bits) {
    size_t n = n_nodes + 1;
    uint32_t *space = pie_calloc(6 * n + n_edges, sizeof *space);

    if (!space)
        return -ENOMEM;
    struct walk w = {.bits = ret_bits,
                     .first = space,
                     .next = space + n,
                     .order = space + 2 * n,
                     .low = space + 3 * n,
                     .path = space + 4 * n,
                     .pending = space + 5 * n,
                     .to = space + 6 * n};
    order_edges(&w, n_nodes, edges, n_edges);
    find_cycles(&w, n_nodes);
    pie_free(space);
    return 0;
}
