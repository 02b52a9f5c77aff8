/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "profiler/base/u64map.h"
#include "profiler/ports/sink.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Sums of sampled copies by stored node since the last write. Context: drain. */
struct pie_heap_copies {
    struct pie_u64map index_of; /* (node, estimate) -> index + 1 */
    struct pie_copy_row *rows;
    size_t count, room;
    struct pie_u64map index_of_end; /* (node, outcome) -> index + 1 */
    struct pie_copy_end_row *ends;
    size_t n_ends, ends_room;
};

void pie_heap_copies_add(struct pie_heap_copies *copies, struct pie_node_id node, uint64_t bytes,
                         bool is_exact, bool is_shift);
/* Adds one row of ends to that of the same key. */
void pie_heap_copies_add_end(struct pie_heap_copies *copies, const struct pie_copy_end_row *one);
int pie_heap_copies_write(const struct pie_heap_copies *copies, struct pie_sink *sink);
void pie_heap_copies_clear(struct pie_heap_copies *copies);
void pie_heap_copies_finish(struct pie_heap_copies *copies);
