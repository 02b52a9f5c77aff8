/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/heap/copies.h"

#include "profiler/base/counters.h"
#include "profiler/base/list.h"
#include "profiler/base/own_memory.h"

static struct pie_copy_row *row_of(struct pie_heap_copies *copies, struct pie_node_id node,
                                   uint8_t estimate) {
    uint64_t key = (uint64_t)node.value << 8 | estimate;
    uint32_t index = pie_u64map_get(&copies->index_of, key);

    if (index)
        return &copies->rows[index - 1];
    struct pie_copy_row *list = pie_list_grown(copies->rows, copies->count, &copies->room, sizeof *list);
    if (!list)
        return NULL;
    copies->rows = list;
    if (pie_u64map_put(&copies->index_of, key, (uint32_t)copies->count + 1) < 0)
        return NULL;
    copies->rows[copies->count] = (struct pie_copy_row){.node = node, .estimate = estimate};
    return &copies->rows[copies->count++];
}

void pie_heap_copies_add(struct pie_heap_copies *copies, struct pie_node_id node, uint64_t bytes,
                         bool is_exact, bool is_shift) {
    int estimate = (is_exact ? PIE_COPY_COUNTED : PIE_COPY_SAMPLED) | (is_shift ? PIE_COPY_SHIFT : 0);
    struct pie_copy_row *row = node.value ? row_of(copies, node, (uint8_t)estimate) : NULL;

    if (!row) {
        pie_counter_add(PIE_COUNTER_OUT_OF_MEMORY, 1);
        return;
    }
    row->samples++;
    row->bytes += bytes;
    if (!is_exact)
        row->sq_bytes2 += (double)bytes * (double)bytes;
}

static struct pie_copy_end_row *end_of(struct pie_heap_copies *copies, const struct pie_copy_end_row *one) {
    uint64_t key = (uint64_t)one->node.value << 8 | one->outcome;
    uint32_t index = pie_u64map_get(&copies->index_of_end, key);

    if (index)
        return &copies->ends[index - 1];
    struct pie_copy_end_row *list =
        pie_list_grown(copies->ends, copies->n_ends, &copies->ends_room, sizeof *list);
    if (!list)
        return NULL;
    copies->ends = list;
    if (pie_u64map_put(&copies->index_of_end, key, (uint32_t)copies->n_ends + 1) < 0)
        return NULL;
    copies->ends[copies->n_ends] = (struct pie_copy_end_row){.node = one->node, .outcome = one->outcome};
    return &copies->ends[copies->n_ends++];
}

void pie_heap_copies_add_end(struct pie_heap_copies *copies, const struct pie_copy_end_row *one) {
    struct pie_copy_end_row *row = one->node.value ? end_of(copies, one) : NULL;

    if (!row) {
        pie_counter_add(PIE_COUNTER_OUT_OF_MEMORY, 1);
        return;
    }
    row->copies += one->copies;
    row->bytes += one->bytes;
}

int pie_heap_copies_write(const struct pie_heap_copies *copies, struct pie_sink *sink) {
    int r = 0;

    for (size_t i = 0; r == 0 && i < copies->count; i++)
        r = sink->ops->put_copy(sink, &copies->rows[i]);
    for (size_t i = 0; r == 0 && i < copies->n_ends; i++)
        r = sink->ops->put_copy_end(sink, &copies->ends[i]);
    return r;
}

void pie_heap_copies_clear(struct pie_heap_copies *copies) {
    copies->count = copies->n_ends = 0;
    pie_u64map_finish(&copies->index_of);
    pie_u64map_finish(&copies->index_of_end);
}

void pie_heap_copies_finish(struct pie_heap_copies *copies) {
    pie_u64map_finish(&copies->index_of);
    pie_u64map_finish(&copies->index_of_end);
    pie_free(copies->rows);
    pie_free(copies->ends);
    *copies = (struct pie_heap_copies){0};
}
