/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/watch/rows.h"

#include "profiler/base/hash.h"
#include "profiler/base/list.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

static uint64_t hash_of(const struct pie_watch_row *row) {
    uint64_t hash = (uint64_t)row->first_node.value << 32 | row->second_node.value;
    uint64_t words[PIE_WATCH_FRAMES_MAX / 8];

    memcpy(words, row->operations, sizeof words);
    hash = pie_hash_mix(hash, (uint64_t)row->kind << 40 | (uint64_t)row->outcome << 32 |
                                  (uint64_t)row->memory << 24 | (uint64_t)row->traits << 8 | row->length);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        hash = pie_hash_mix(hash, words[i]);
    return hash;
}

static bool is_alike(const struct pie_watch_row *a, const struct pie_watch_row *b) {
    return a->kind == b->kind && a->outcome == b->outcome && a->memory == b->memory &&
           a->traits == b->traits && a->length == b->length && a->first_node.value == b->first_node.value &&
           a->second_node.value == b->second_node.value &&
           memcmp(a->operations, b->operations, sizeof a->operations) == 0;
}

static int append(struct pie_watch_rows *rows, const struct pie_watch_row *one, uint64_t hash) {
    struct pie_watch_row *list = pie_list_grown(rows->rows, rows->count, &rows->room, sizeof *list);
    if (!list)
        return -ENOMEM;
    rows->rows = list;
    rows->rows[rows->count] = *one;
    return pie_u64map_put(&rows->index, hash, (uint32_t)++rows->count);
}

int pie_watch_rows_add(struct pie_watch_rows *rows, const struct pie_watch_row *one) {
    uint64_t hash = hash_of(one);
    uint32_t at;

    while ((at = pie_u64map_get(&rows->index, hash)) != 0) {
        struct pie_watch_row *row = &rows->rows[at - 1];
        if (!is_alike(row, one)) {
            hash = pie_hash_mix(hash, 1);
            continue;
        }
        row->watches += one->watches;
        row->bytes += one->bytes;
        row->array_bytes += one->array_bytes;
        row->round_ns += one->round_ns;
        row->weight_ns += one->weight_ns;
        row->weight_sq_ns2 += one->weight_sq_ns2;
        row->length_ns += one->length_ns;
        row->gap_ns += one->gap_ns;
        return 0;
    }
    return append(rows, one, hash);
}

void pie_watch_rows_clear(struct pie_watch_rows *rows) {
    pie_u64map_finish(&rows->index);
    rows->index = (struct pie_u64map){0};
    rows->count = 0;
}
