/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "profiler/base/u64map.h"
#include "profiler/ports/sink.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What contexts have allocated and hold, by stored node and size of block: blocks of one size may stay while those of
 * another come and go, on the same line. Times: CLOCK_MONOTONIC. Context: drain. */

enum { PIE_HEAP_AGES = 24, PIE_HEAP_AGE_MIN_NS = 100000000 }; /* up to 19 days */

struct pie_heap_node {
    struct pie_allocation_row
        row; /* node, size, samples, what was allocated, at the peak, integral, leak score */
    uint64_t live_bytes[PIE_HEAP_DOMAINS];
    double live_sq_bytes2; /* of what is alive: squared weights of estimates */
    uint64_t changed_ns;   /* live_bytes since then */
    uint32_t epoch;        /* of the peak that row.peak_bytes is of */
    bool is_import;        /* allocated by an import or by no Python code: no leak */
    bool is_dirty;         /* row differs from what was written: it is in that list */
    bool is_live_changed;  /* live_bytes differ from what was noted for the curve: it is in that list */
    bool is_asked;         /* who holds it was asked */
    uint32_t next_dirty, next_changed; /* index + 1 of the next in the list; 0: it is the last */
    uint64_t noted_live_bytes;         /* at the last write */
    uint64_t last_block_bytes;         /* of the last sample; 0: there was none */
    double slice_bytes;                /* what samples of slice_number stand for (pauses.h) */
    uint8_t slice_number;
    struct pie_allocated_row told; /* of what was allocated: at the last write */
    /* Sampled allocations that were freed, by age: class n is PIE_HEAP_AGE_MIN_NS << n to twice that. Full, a class
     * stays. */
    uint16_t freed_at_age[PIE_HEAP_AGES];
};

/* Lists of those that have changed: thousands of contexts stand still while one is at work. */
struct pie_heap_nodes {
    struct pie_u64map index_of; /* size class << 32 | stored node -> index + 1 */
    struct pie_heap_node *nodes;
    size_t count, room;
    uint32_t epoch;          /* counts peaks of the process */
    uint32_t dirty, changed; /* index + 1 of the first; 0: none */
};

/* The size class of a block, below PIE_SIZES. */
uint32_t pie_heap_size_of(uint64_t block_bytes);

/* The state of a node and size class, made if need be; NULL without memory. The pointer holds until the next call. */
struct pie_heap_node *pie_heap_nodes_get(struct pie_heap_nodes *nodes, struct pie_node_id id, uint32_t size,
                                         bool *ret_is_new);

/* What a sample adds to the variance of the node's sum: the square of its weight, and where only a share of all slices
 * is counted, that slices differ. Samples of one slice were drawn together. */
double pie_heap_node_square(struct pie_heap_node *node, uint64_t weight_bytes, double share, uint8_t slice);

/* One sampled allocation, or what it stands for goes (is_gone). sq_bytes2: what it adds to the variance, 0: it is
 * exact. */
void pie_heap_node_allocated(struct pie_heap_nodes *nodes, struct pie_heap_node *node, int domain,
                             uint64_t block_bytes, uint64_t weight_bytes, double sq_bytes2, int64_t real_ns);
void pie_heap_node_live(struct pie_heap_nodes *nodes, struct pie_heap_node *node, int domain,
                        uint64_t weight_bytes, double sq_bytes2, bool is_gone, uint64_t now_ns);

uint64_t pie_heap_node_live_bytes(const struct pie_heap_node *node);
/* A block of the node was freed at that age. */
void pie_heap_node_freed(struct pie_heap_node *node, uint64_t age_ns);
/* Allocations that lived for at least age_ns, or nearly so, and were freed then. */
uint32_t pie_heap_node_freed_from(const struct pie_heap_node *node, uint64_t age_ns);

/* The row is to be written. */
void pie_heap_node_touch(struct pie_heap_nodes *nodes, struct pie_heap_node *node);
/* One whose live bytes have changed since it was last returned here, NULL: none. */
struct pie_heap_node *pie_heap_nodes_take_changed(struct pie_heap_nodes *nodes);
/* What the node allocated since it was last asked. False: nothing. */
bool pie_heap_node_take_allocated(struct pie_heap_node *node, struct pie_allocated_row *ret_row);
/* All rows that were to be written have been. */
void pie_heap_nodes_written(struct pie_heap_nodes *nodes);

/* Does this node have memory that is alive or was at the peak? Its row may change without it being met again. */
bool pie_heap_nodes_hold(const struct pie_heap_nodes *nodes, struct pie_node_id id);

/* Keeps those that hold something or of which keeps() is true. None may wait to be written or noted, else nothing is
 * done. ret_index: where each is now, by where it was; index + 1, 0: forgotten. False: nothing was done. */
bool pie_heap_nodes_forget(struct pie_heap_nodes *nodes, bool (*keeps)(void *data, struct pie_node_id id),
                           void *data, uint32_t **ret_index);

/* Brings the row up to date at now_ns. */
void pie_heap_node_update(struct pie_heap_nodes *nodes, struct pie_heap_node *node, uint64_t now_ns);
void pie_heap_nodes_finish(struct pie_heap_nodes *nodes);
