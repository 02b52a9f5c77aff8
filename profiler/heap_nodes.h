/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "profiler/sink.h"
#include "profiler/u64map.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What contexts have allocated and hold, by stored node. Times: CLOCK_MONOTONIC. Context: drain. */

struct pie_heap_node {
    struct pie_allocation_row row; /* node, samples, what was allocated, at the peak, integral, leak score */
    uint64_t live_bytes[PIE_HEAP_DOMAINS];
    double live_sq_bytes2;     /* of what is alive: squared weights of estimates */
    uint64_t changed_ns;       /* live_bytes since then */
    uint32_t epoch;            /* of the peak that row.peak_bytes tells of */
    bool is_import;            /* allocated by an import or by no Python code: no leak */
    bool is_dirty;             /* row differs from what was written */
    bool is_live_changed;      /* live_bytes differ from what was noted for the curve */
    bool is_asked;             /* who holds it was asked */
    uint64_t noted_live_bytes; /* at the last write */
    uint32_t noted_mallocs;
};

struct pie_heap_nodes {
    struct pie_u64map index_of; /* stored node -> index + 1 */
    struct pie_heap_node *nodes;
    size_t count, room;
    uint32_t epoch; /* counts peaks of the process */
};

/* The node's state, made if need be; NULL without memory. The pointer holds until the next call. */
struct pie_heap_node *pie_heap_nodes_get(struct pie_heap_nodes *nodes, uint32_t stored_node,
                                         bool *ret_is_new);

/* One sampled allocation, or what it stands for goes (is_gone). */
void pie_heap_node_allocated(struct pie_heap_node *node, int domain, uint64_t weight_bytes, bool is_exact,
                             int64_t real_ns);
void pie_heap_node_live(struct pie_heap_nodes *nodes, struct pie_heap_node *node, int domain,
                        uint64_t weight_bytes, bool is_exact, bool is_gone, uint64_t now_ns);

/* Brings the row up to date at now_ns. */
void pie_heap_node_settle(const struct pie_heap_nodes *nodes, struct pie_heap_node *node, uint64_t now_ns);
void pie_heap_nodes_finish(struct pie_heap_nodes *nodes);
