/* SPDX-License-Identifier: Apache-2.0 */

/* "Alive at the peak" costs nothing at a peak: its number goes up by one, and a node that changes for the first time after
 * it writes down what it held until then. */

#include "profiler/heap_nodes.h"

#include "profiler/memory.h"

#include <string.h>

struct pie_heap_node *pie_heap_nodes_get(struct pie_heap_nodes *nodes, uint32_t stored_node,
                                         bool *ret_is_new) {
    uint32_t index = pie_u64map_get(&nodes->index_of, stored_node);

    *ret_is_new = !index;
    if (index)
        return &nodes->nodes[index - 1];
    if (nodes->count == nodes->room) {
        size_t room = nodes->room ? nodes->room * 2 : 256;
        struct pie_heap_node *grown = pie_realloc(nodes->nodes, room * sizeof *grown);
        if (!grown)
            return NULL;
        nodes->nodes = grown;
        nodes->room = room;
    }
    if (pie_u64map_put(&nodes->index_of, stored_node, (uint32_t)nodes->count + 1) < 0)
        return NULL;
    struct pie_heap_node *node = &nodes->nodes[nodes->count++];
    *node = (struct pie_heap_node){.row = {.node = stored_node}, .epoch = nodes->epoch};
    return node;
}

void pie_heap_node_allocated(struct pie_heap_node *node, int domain, uint64_t weight_bytes, bool is_exact,
                             int64_t real_ns) {
    node->row.samples++;
    node->row.allocated_bytes[domain] += weight_bytes;
    if (!is_exact)
        node->row.allocated_sq_bytes2 += (double)weight_bytes * (double)weight_bytes;
    if (!node->row.first_ns)
        node->row.first_ns = real_ns;
    node->is_dirty = true;
}

static uint64_t live(const struct pie_heap_node *node) {
    return node->live_bytes[PIE_HEAP_NATIVE] + node->live_bytes[PIE_HEAP_PYTHON];
}

static void add_time(struct pie_heap_node *node, uint64_t now_ns) {
    if (now_ns > node->changed_ns) {
        node->row.live_bytes_s += (double)live(node) * (double)(now_ns - node->changed_ns) / 1e9;
        node->changed_ns = now_ns;
    }
}

static void remember_peak(const struct pie_heap_nodes *nodes, struct pie_heap_node *node) {
    if (node->epoch == nodes->epoch)
        return;
    memcpy(node->row.peak_bytes, node->live_bytes, sizeof node->live_bytes);
    node->row.peak_sq_bytes2 = node->live_sq_bytes2;
    node->epoch = nodes->epoch;
    node->is_dirty = true;
}

void pie_heap_node_live(struct pie_heap_nodes *nodes, struct pie_heap_node *node, int domain,
                        uint64_t weight_bytes, bool is_exact, bool is_gone, uint64_t now_ns) {
    double square = is_exact ? 0 : (double)weight_bytes * (double)weight_bytes;

    remember_peak(nodes, node);
    add_time(node, now_ns);
    if (is_gone) {
        node->live_bytes[domain] -= weight_bytes;
        node->live_sq_bytes2 -= square;
    } else {
        node->live_bytes[domain] += weight_bytes;
        node->live_sq_bytes2 += square;
    }
    node->is_dirty = node->is_live_changed = true;
}

void pie_heap_node_settle(const struct pie_heap_nodes *nodes, struct pie_heap_node *node, uint64_t now_ns) {
    remember_peak(nodes, node);
    add_time(node, now_ns);
    node->row.live_bytes = live(node);
}

void pie_heap_nodes_finish(struct pie_heap_nodes *nodes) {
    pie_u64map_finish(&nodes->index_of);
    pie_free(nodes->nodes);
    *nodes = (struct pie_heap_nodes){0};
}
