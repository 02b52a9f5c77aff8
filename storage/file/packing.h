/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Rows of a finished slice as bytes, in a third of the room that SQLite takes for them; docs/file.md says how they are
 * laid out. Rows of three tables are packed. Each has a node, a thread or the like (its part), whole numbers and one
 * sum of squares. Context: drain, cli. */

enum pie_packing_kind { PIE_PACKING_SAMPLE = 1, PIE_PACKING_ALLOCATED, PIE_PACKING_COPY };

enum {
    PIE_PACKING_KINDS = 3,
    PIE_PACKING_FORMAT = 1, /* the first byte */
    PIE_PACKING_VALUES_MAX = 8,
    /* A block has rows of four neighbouring parts and 16384 neighbouring nodes, so that no more than a value may have
     * become of it in SQLite under our limits (guard.c). */
    PIE_PACKING_BLOCK_ROWS = 65536,
    PIE_PACKING_HEAD_BYTES = 1,
    PIE_PACKING_ROW_BYTES = 3 + 2 + 10 * (PIE_PACKING_VALUES_MAX + 1), /* at most */
    PIE_PACKING_COLUMNS_MAX = 16,
};

/* The blocks of a table, for statements: of a row, by its part and its node. */
#define PIE_PACKING_BLOCK(part, node) part " / 4 * 262144 + " node " / 16384"

/* Where a column of the table has its value from, if it is not the n-th of the packed values. */
enum pie_packing_source {
    PIE_PACKING_PROCESS = -1,
    PIE_PACKING_SLICE = -2,
    PIE_PACKING_PART = -3,
    PIE_PACKING_NODE = -4,
    PIE_PACKING_SQUARES = -5,
};

/* What is particular to a table. */
struct pie_packing {
    const char *table;
    const char *columns, *types; /* all, in the table's order; the same with their types */
    unsigned column_count, value_count;
    unsigned samples; /* which value counts samples: 1 takes no room. In place of others, it is 0 */
    unsigned weighed; /* values at the beginning whose sum is what the sum of squares is of */
    signed char sources[PIE_PACKING_COLUMNS_MAX];
};

/* NULL: there is no such kind. */
const struct pie_packing *pie_packing_of(int64_t kind);

struct pie_packed_row {
    uint32_t part; /* thread of a sample, estimate of a copy, 0 of what was allocated */
    uint32_t node;
    int64_t values[PIE_PACKING_VALUES_MAX];
    double squares;
};

/* Sorts rows of one block; those of the same part and node are added up. Returns how many are left. */
size_t pie_packing_sort(const struct pie_packing *packing, struct pie_packed_row *rows, size_t count);

/* Rows that were sorted; bytes: room for PIE_PACKING_HEAD_BYTES + PIE_PACKING_ROW_BYTES * count. Returns how many it
 * took. */
size_t pie_packing_encode(const struct pie_packing *packing, const struct pie_packed_row *rows, size_t count,
                          unsigned char *bytes);

struct pie_unpacking {
    const struct pie_packing *packing;
    const unsigned char *at, *end;
    uint32_t first_part, first_node; /* of the block */
    uint32_t key;                    /* the least that the next row may have */
};

/* bytes: the caller's, kept until the last row. Both return -EBADMSG where they are not what pie_packing_encode()
 * makes; next() returns 1 and a row, or 0 behind the last one. */
int pie_unpacking_begin(struct pie_unpacking *unpacking, const struct pie_packing *packing, int64_t block,
                        const void *bytes, size_t size);
int pie_unpacking_next(struct pie_unpacking *unpacking, struct pie_packed_row *ret_row);
