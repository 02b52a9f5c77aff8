/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "profiler/ports/ids.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pie_heap_nodes;
struct pie_retention_ops;
struct pie_sink;

/* Leak scores (Scalene §3.4) by stored node, and who holds what looks like a leak. Context: drain. */

/* A tracked block, by ticket. */
struct pie_heap_block {
    bool is_known; /* a thread has told of it */
    uint8_t domain;
    uint16_t handled_16ns; /* of the time since then, what the sample took */
    uint32_t node_index;   /* index + 1 in pie_heap_nodes; 0: none */
    float small_blocks;    /* how many of Python's small ones it stands for (price.h) */
    float sq_bytes2;       /* what its weight adds to the variance; 0: it is exact */
    uint64_t weight_bytes;
    uint64_t since_ns; /* CLOCK_MONOTONIC */
};

enum { PIE_RETENTION_PATH_BYTES = 512, PIE_RETENTION_ANSWERS_MAX = 8 };

struct pie_heap_leaks {
    const struct pie_retention_ops *retention;
    uint64_t started_ns;
    bool is_waiting;       /* for an answer */
    uint32_t waiting_size; /* of the blocks that were asked about */
    /* Answers to be written. */
    size_t n_answers;
    struct pie_heap_answer {
        struct pie_node_id node;
        uint32_t size;
        char text[PIE_RETENTION_PATH_BYTES];
    } answers[PIE_RETENTION_ANSWERS_MAX];
};

void pie_heap_leaks_init(struct pie_heap_leaks *leaks, const struct pie_retention_ops *retention,
                         uint64_t started_ns);
/* Counts allocations that lived for a tenth of the run, and those of them that were freed; and when those that were not
 * were made. blocks: by ticket; tickets: one beyond the last that was ever a block's. */
void pie_heap_leaks_decide(const struct pie_heap_leaks *leaks, struct pie_heap_nodes *nodes,
                           const struct pie_heap_block *blocks, uint32_t tickets, uint64_t now_ns);
/* Asks who holds the objects of the context that looks most like a leak and was not asked about, if time allows. */
void pie_heap_leaks_ask(struct pie_heap_leaks *leaks, struct pie_heap_nodes *nodes,
                        const struct pie_heap_block *blocks, uint32_t tickets, uint64_t now_ns);
int pie_heap_leaks_write(const struct pie_heap_leaks *leaks, struct pie_sink *sink);
void pie_heap_leaks_clear(struct pie_heap_leaks *leaks);
/* 1 - (frees + 1) / (mallocs - frees + 2): the chance that the next one is not freed, by Laplace's rule of
 * succession. */
double pie_heap_leak_score(uint32_t mallocs, uint32_t frees);
