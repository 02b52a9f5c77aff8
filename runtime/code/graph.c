/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/code/graph.h"

#include <stddef.h>

/* An instruction is in a loop if control can come back to it: if it is in a cycle of the graph, that is in a strongly
 * connected component of more than itself, or goes to itself. The components are found by Tarjan's algorithm
 * ("Depth-first search and linear graph algorithms", 1972), with stacks of our own instead of recursion.
 *
 * It is not enough to look for what lies between a backward jump and its target: exception handlers stand at the end of
 * the code and jump back behind their try block, and what a loop breaks out to, returns or raises runs once. */

enum { EDGES = 3 };

struct search {
    struct pie_code_instruction *units;
    uint32_t n_units;
    uint32_t last_order; /* orders are from 1: 0 is "not visited" */
    uint32_t *path;      /* from the root to where the search stands */
    uint32_t *open;      /* visited, and the component is not known yet */
    uint32_t n_path, n_open;
};

static void enter(struct search *search, uint32_t at) {
    struct pie_code_instruction *unit = &search->units[at];

    unit->order = unit->low = ++search->last_order;
    unit->is_open = true;
    search->path[search->n_path++] = at;
    search->open[search->n_open++] = at;
}

static void lower(struct pie_code_instruction *unit, uint32_t order) {
    if (order < unit->low)
        unit->low = order;
}

static void close_component(struct search *search, uint32_t root) {
    bool is_alone = search->open[search->n_open - 1] == root;
    uint32_t at;

    do {
        at = search->open[--search->n_open];
        search->units[at].is_open = false;
        if (!is_alone)
            search->units[at].is_in_loop = true;
    } while (at != root);
}

static void take_edge(struct search *search, uint32_t at) {
    struct pie_code_instruction *unit = &search->units[at];
    uint32_t to = unit->next[unit->edges_taken++];

    if (to >= search->n_units || !search->units[to].is_instruction)
        return;
    if (to == at)
        unit->is_in_loop = true;
    if (!search->units[to].order)
        enter(search, to);
    else if (search->units[to].is_open)
        lower(unit, search->units[to].order);
}

static void leave(struct search *search, uint32_t at) {
    const struct pie_code_instruction *unit = &search->units[at];

    search->n_path--;
    if (search->n_path)
        lower(&search->units[search->path[search->n_path - 1]], unit->low);
    if (unit->low == unit->order)
        close_component(search, at);
}

void pie_code_graph_mark_loops(struct pie_code_instruction *units, uint32_t n_units, uint32_t *path,
                               uint32_t *open) {
    struct search search = {.units = units, .n_units = n_units, .path = path, .open = open};

    for (uint32_t root = 0; root < n_units; root++) {
        if (!units[root].is_instruction || units[root].order)
            continue;
        enter(&search, root);
        while (search.n_path) {
            uint32_t at = search.path[search.n_path - 1];

            if (units[at].edges_taken < EDGES)
                take_edge(&search, at);
            else
                leave(&search, at);
        }
    }
}
