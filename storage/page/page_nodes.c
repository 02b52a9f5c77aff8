/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/page/page_nodes.h"

#include <errno.h>
#include <stdlib.h>

#include "storage/export/calltree.h"

struct place {
    double weight;
    uint32_t node;
};

/* Of equal ones the parent comes first: its index is less. */
static int compare_places(const void *a, const void *b) {
    const struct place *x = a, *y = b;
    if (x->weight != y->weight)
        return x->weight > y->weight ? -1 : 1;
    return x->node < y->node ? -1 : 1;
}

uint32_t *pie_page_nodes_order(const double *weights, uint32_t count, uint32_t *ret_count) {
    struct place *places = calloc(count, sizeof *places);
    uint32_t *order = calloc(count, sizeof *order), used = 0;
    for (uint32_t i = 0; places && order && i < count; i++)
        if (i == 0 || weights[i] > 0)
            places[used++] = (struct place){.weight = weights[i], .node = i};
    if (places && order && used > 1)
        qsort(places + 1, used - 1, sizeof *places, compare_places); /* nothing is above the root */
    for (uint32_t i = 0; places && order && i < used; i++)
        order[i] = places[i].node;
    *ret_count = used;
    if (!places) {
        free(order);
        order = NULL;
    }
    free(places);
    return order;
}

/* Each of the chosen ones may have a node for what was cut below it. */
static int make_room(struct pie_page_nodes *nodes, uint32_t tree_count, uint32_t chosen) {
    *nodes = (struct pie_page_nodes){
        .nodes = calloc((size_t)chosen * 2, sizeof *nodes->nodes),
        .nodes_of = malloc((size_t)tree_count * sizeof *nodes->nodes_of),
    };
    return nodes->nodes && nodes->nodes_of ? 0 : -ENOMEM;
}

static void place_chosen(const struct pie_calltree *tree, const uint32_t *order, uint32_t chosen,
                         struct pie_page_nodes *nodes) {
    for (uint32_t i = 0; i < tree->node_count; i++)
        nodes->nodes_of[i] = PIE_PAGE_NO_NODE;
    for (uint32_t i = 0; i < chosen; i++) {
        nodes->nodes_of[order[i]] = i;
        nodes->nodes[i] = (struct pie_page_node){
            .parent = i > 0 ? nodes->nodes_of[tree->nodes[order[i]].parent] : 0,
            .node = order[i],
        };
    }
    nodes->count = nodes->chosen = chosen;
}

/* rests: by chosen node, that of what was cut below it; 0: none yet. */
static void place_cut(const struct pie_calltree *tree, const double *weights, uint32_t *rests,
                      struct pie_page_nodes *nodes) {
    for (uint32_t i = 1; i < tree->node_count; i++) {
        if (weights[i] <= 0 || nodes->nodes_of[i] != PIE_PAGE_NO_NODE)
            continue;
        uint32_t above = nodes->nodes_of[tree->nodes[i].parent];
        if (above < nodes->chosen && rests[above] == 0) {
            rests[above] = nodes->count;
            nodes->nodes[nodes->count++] = (struct pie_page_node){.parent = above, .node = PIE_PAGE_NO_NODE};
        }
        nodes->nodes_of[i] = above < nodes->chosen ? rests[above] : above;
        nodes->nodes[nodes->nodes_of[i]].hidden++;
    }
}

static void add_costs(const struct pie_page_costs *costs, struct pie_page_nodes *nodes) {
    for (int metric = 0; metric < PIE_PAGE_METRICS; metric++)
        for (uint32_t i = 0; costs->values[metric] && i < costs->node_count; i++)
            if (nodes->nodes_of[i] != PIE_PAGE_NO_NODE)
                pie_calltree_add(&nodes->nodes[nodes->nodes_of[i]].values[metric], costs->values[metric][i]);
}

int pie_page_nodes_choose(const struct pie_calltree *tree, const struct pie_page_costs *costs,
                          const double *weights, const uint32_t *order, uint32_t chosen,
                          struct pie_page_nodes *ret_nodes) {
    struct pie_page_nodes nodes;
    uint32_t *rests = calloc(chosen, sizeof *rests);
    int r = make_room(&nodes, tree->node_count, chosen);
    if (r == 0 && rests) {
        place_chosen(tree, order, chosen, &nodes);
        place_cut(tree, weights, rests, &nodes);
        add_costs(costs, &nodes);
        *ret_nodes = nodes;
    } else {
        pie_page_nodes_finish(&nodes);
        r = -ENOMEM;
    }
    free(rests);
    return r;
}

void pie_page_nodes_finish(struct pie_page_nodes *nodes) {
    free(nodes->nodes);
    free(nodes->nodes_of);
    *nodes = (struct pie_page_nodes){0};
}
