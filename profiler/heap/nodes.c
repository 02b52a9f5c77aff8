/* SPDX-License-Identifier: Apache-2.0 */

/* "Alive at the peak" costs nothing at a peak: its number goes up by one, and a node that changes for the first time
 * after it writes down what it held until then. */

#include "profiler/heap/nodes.h"

#include "profiler/base/list.h"
#include "profiler/base/own_memory.h"

#include <string.h>

uint32_t pie_heap_size_of(uint64_t block_bytes) {
    uint32_t size = 0;

    while (size < PIE_SIZES - 1 && block_bytes > (uint64_t)PIE_SIZE_LEAST_BYTES << 2 * size)
        size++;
    return size;
}

struct pie_heap_node *pie_heap_nodes_get(struct pie_heap_nodes *nodes, struct pie_node_id id, uint32_t size,
                                         bool *ret_is_new) {
    uint64_t key = (uint64_t)size << 32 | id.value;
    uint32_t index = pie_u64map_get(&nodes->index_of, key);

    *ret_is_new = !index;
    if (index)
        return &nodes->nodes[index - 1];
    struct pie_heap_node *list = pie_list_grown(nodes->nodes, nodes->count, &nodes->room, sizeof *list);
    if (!list)
        return NULL;
    nodes->nodes = list;
    if (pie_u64map_put(&nodes->index_of, key, (uint32_t)nodes->count + 1) < 0)
        return NULL;
    struct pie_heap_node *node = &nodes->nodes[nodes->count++];
    *node = (struct pie_heap_node){.row = {.node = id, .size = size}, .epoch = nodes->epoch};
    return node;
}

static uint32_t index_of(const struct pie_heap_nodes *nodes, const struct pie_heap_node *node) {
    return (uint32_t)(node - nodes->nodes) + 1;
}

void pie_heap_node_touch(struct pie_heap_nodes *nodes, struct pie_heap_node *node) {
    if (node->is_dirty)
        return;
    node->is_dirty = true;
    node->next_dirty = nodes->dirty;
    nodes->dirty = index_of(nodes, node);
}

static void note_change(struct pie_heap_nodes *nodes, struct pie_heap_node *node) {
    pie_heap_node_touch(nodes, node);
    if (node->is_live_changed)
        return;
    node->is_live_changed = true;
    node->next_changed = nodes->changed;
    nodes->changed = index_of(nodes, node);
}

struct pie_heap_node *pie_heap_nodes_take_changed(struct pie_heap_nodes *nodes) {
    struct pie_heap_node *node = nodes->changed ? &nodes->nodes[nodes->changed - 1] : NULL;

    if (node) {
        nodes->changed = node->next_changed;
        node->is_live_changed = false;
    }
    return node;
}

bool pie_heap_node_take_allocated(struct pie_heap_node *node, struct pie_allocated_row *ret_row) {
    const struct pie_allocation_row *row = &node->row;
    struct pie_allocated_row now = {
        .node = row->node, .samples = row->samples, .sq_bytes2 = row->allocated_sq_bytes2};

    memcpy(now.bytes, row->allocated_bytes, sizeof now.bytes);
    *ret_row = now;
    ret_row->samples -= node->told.samples;
    ret_row->sq_bytes2 -= node->told.sq_bytes2;
    for (int i = 0; i < PIE_HEAP_DOMAINS; i++)
        ret_row->bytes[i] -= node->told.bytes[i];
    node->told = now;
    return ret_row->samples > 0;
}

void pie_heap_nodes_written(struct pie_heap_nodes *nodes) {
    while (nodes->dirty) {
        struct pie_heap_node *node = &nodes->nodes[nodes->dirty - 1];
        nodes->dirty = node->next_dirty;
        node->is_dirty = false;
        node->noted_live_bytes = node->row.live_bytes;
    }
}

/* Blocks that become larger bit by bit belong to an array that is copied in order to be extended. The larger steps are
 * those of a list, which grows by an eighth at least, so that it is seldom copied. */
static void compare_with_last(struct pie_heap_node *node, uint64_t block_bytes) {
    uint64_t last = node->last_block_bytes;

    if (last && block_bytes > last && block_bytes - last < last / 8)
        node->row.rises++;
    else if (last && block_bytes != last)
        node->row.falls++;
    node->last_block_bytes = block_bytes;
}

/* With the chance `share` a slice is counted, and stands for 1/share as much then: for the square S of what it stands
 * for, (1 - share) S is without bias (Horvitz and Thompson, "A Generalization of Sampling Without Replacement", 1952).
 * S grows from sample to sample. */
double pie_heap_node_square(struct pie_heap_node *node, uint64_t weight_bytes, double share, uint8_t slice) {
    double weight = (double)weight_bytes, before = slice == node->slice_number ? node->slice_bytes : 0;

    if (share >= 1)
        return weight * weight;
    node->slice_number = slice;
    node->slice_bytes = before + weight;
    return weight * weight + (1 - share) * (node->slice_bytes * node->slice_bytes - before * before);
}

void pie_heap_node_allocated(struct pie_heap_nodes *nodes, struct pie_heap_node *node, int domain,
                             uint64_t block_bytes, uint64_t weight_bytes, double sq_bytes2, int64_t real_ns) {
    compare_with_last(node, block_bytes);
    node->row.blocks += (double)weight_bytes / (double)(block_bytes ? block_bytes : 1);
    node->row.samples++;
    node->row.allocated_bytes[domain] += weight_bytes;
    node->row.allocated_sq_bytes2 += sq_bytes2;
    if (!node->row.first_ns)
        node->row.first_ns = real_ns;
    pie_heap_node_touch(nodes, node);
}

uint64_t pie_heap_node_live_bytes(const struct pie_heap_node *node) {
    return node->live_bytes[PIE_HEAP_NATIVE] + node->live_bytes[PIE_HEAP_PYTHON];
}

static void add_time(struct pie_heap_node *node, uint64_t now_ns) {
    if (now_ns > node->changed_ns) {
        node->row.live_bytes_s +=
            (double)pie_heap_node_live_bytes(node) * (double)(now_ns - node->changed_ns) / 1e9;
        node->changed_ns = now_ns;
    }
}

static void remember_peak(struct pie_heap_nodes *nodes, struct pie_heap_node *node) {
    if (node->epoch == nodes->epoch)
        return;
    node->epoch = nodes->epoch;
    if (memcmp(node->row.peak_bytes, node->live_bytes, sizeof node->live_bytes) == 0)
        return;
    memcpy(node->row.peak_bytes, node->live_bytes, sizeof node->live_bytes);
    node->row.peak_sq_bytes2 = node->live_sq_bytes2;
    pie_heap_node_touch(nodes, node);
}

void pie_heap_node_live(struct pie_heap_nodes *nodes, struct pie_heap_node *node, int domain,
                        uint64_t weight_bytes, double sq_bytes2, bool is_gone, uint64_t now_ns) {
    remember_peak(nodes, node);
    add_time(node, now_ns);
    if (is_gone) {
        node->live_bytes[domain] -= weight_bytes;
        node->live_sq_bytes2 -= sq_bytes2;
    } else {
        node->live_bytes[domain] += weight_bytes;
        node->live_sq_bytes2 += sq_bytes2;
    }
    note_change(nodes, node);
}

void pie_heap_node_freed(struct pie_heap_node *node, uint64_t age_ns) {
    uint64_t ages = age_ns / PIE_HEAP_AGE_MIN_NS;

    if (ages == 0)
        return;
    int class = 63 - __builtin_clzll(ages);
    class = class < PIE_HEAP_AGES ? class : PIE_HEAP_AGES - 1;
    node->freed_at_age[class] += node->freed_at_age[class] < UINT16_MAX;
}

/* The class in which age_ns lies is counted: rather too many than too few, they are what speaks against a leak. */
uint32_t pie_heap_node_freed_from(const struct pie_heap_node *node, uint64_t age_ns) {
    uint32_t frees = 0;

    for (int class = 0; class < PIE_HEAP_AGES; class ++)
        if ((uint64_t)PIE_HEAP_AGE_MIN_NS << (class + 1) > age_ns || class == PIE_HEAP_AGES - 1)
            frees += node->freed_at_age[class];
    return frees;
}

void pie_heap_node_update(struct pie_heap_nodes *nodes, struct pie_heap_node *node, uint64_t now_ns) {
    remember_peak(nodes, node);
    add_time(node, now_ns);
    node->row.live_bytes = pie_heap_node_live_bytes(node);
    node->row.live_sq_bytes2 = node->live_sq_bytes2 > 0 ? node->live_sq_bytes2 : 0; /* rounding */
}

static bool holds(const struct pie_heap_node *node) {
    uint64_t peak_bytes = 0;

    for (int i = 0; i < PIE_HEAP_DOMAINS; i++)
        peak_bytes += node->row.peak_bytes[i];
    return node->is_dirty || peak_bytes > 0 || pie_heap_node_live_bytes(node) > 0;
}

bool pie_heap_nodes_hold(const struct pie_heap_nodes *nodes, struct pie_node_id id) {
    for (uint64_t size = 0; size < PIE_SIZES; size++) {
        uint32_t index = pie_u64map_get(&nodes->index_of, size << 32 | id.value);
        if (index && holds(&nodes->nodes[index - 1]))
            return true;
    }
    return false;
}

static uint32_t moved_index(void *index, uint64_t key, uint32_t before) {
    return ((const uint32_t *)index)[before];
}

bool pie_heap_nodes_forget(struct pie_heap_nodes *nodes, bool (*keeps)(void *data, struct pie_node_id id),
                           void *data, uint32_t **ret_index) {
    uint32_t *index = nodes->dirty || nodes->changed ? NULL : pie_calloc(nodes->count + 1, sizeof *index);
    size_t kept = 0;

    if (!index)
        return false;
    for (size_t i = 0; i < nodes->count; i++) {
        struct pie_heap_node *node = &nodes->nodes[i];
        if (!holds(node) && !keeps(data, node->row.node))
            continue;
        nodes->nodes[kept] = *node;
        index[i + 1] = (uint32_t)++kept;
    }
    nodes->count = kept;
    pie_u64map_filter(&nodes->index_of, moved_index, index);
    *ret_index = index;
    return true;
}

void pie_heap_nodes_finish(struct pie_heap_nodes *nodes) {
    pie_u64map_finish(&nodes->index_of);
    pie_free(nodes->nodes);
    *nodes = (struct pie_heap_nodes){0};
}
