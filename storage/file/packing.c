/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/file/packing.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Behind the format, for each row: by how much its key is greater than the least that it may have; flags; the values
 * that have a flag; the sum of squares if it has one. Whole numbers are LEB128, without a byte more than needed
 * (https://dwarfstd.org/doc/DWARF5.pdf, section 7.6), those below 0 as if they were unsigned.
 *
 * The sum of the squares of n weights is at least the square of their sum divided by n, and just that where they are
 * equal: so that is what takes no room. Most rows stand for one sample. Else the difference takes half of what the
 * double would. */

typedef __int128 wide;

enum {
    PART_BITS = 2,
    NODE_BITS = 14,
    NODE_BLOCK_BITS = 18,
    FLAG_DIFFERENCE = 1, /* of the sum of squares follows; then come a flag for each value, and two more */
    FLAG_VALUE = 2,      /* of the first value */
    LEB_BYTES_MAX = 10,
};

/* Whole numbers below this are doubles, too. */
#define WHOLE_MAX (INT64_C(1) << 53)

static_assert(PIE_PACKING_HEAD_BYTES + PIE_PACKING_ROW_BYTES * PIE_PACKING_BLOCK_ROWS < 8 << 20,
              "a value that SQLite takes under our limits");

static const struct pie_packing packings[PIE_PACKING_KINDS] = {
    {.table = "sample",
     .columns = "process, slice_s, node, thread, samples, wait_samples, python_ns, native_ns, system_ns, "
                "wait_ns, runnable_ns, throttled_ns, cpu_sq_ns2",
     .types = "process INTEGER, slice_s INTEGER, node INTEGER, thread INTEGER, samples INTEGER, "
              "wait_samples INTEGER, python_ns INTEGER, native_ns INTEGER, system_ns INTEGER, "
              "wait_ns INTEGER, runnable_ns INTEGER, throttled_ns INTEGER, cpu_sq_ns2 REAL",
     .column_count = 13,
     .value_count = 8,
     .samples = 3,
     .weighed = 3,
     .sources = {PIE_PACKING_PROCESS, PIE_PACKING_SLICE, PIE_PACKING_NODE, PIE_PACKING_PART, 3, 6, 0, 1, 2, 5,
                 4, 7, PIE_PACKING_SQUARES}},
    {.table = "allocated",
     .columns = "process, slice_s, node, samples, python_bytes, native_bytes, sq_bytes2",
     .types = "process INTEGER, slice_s INTEGER, node INTEGER, samples INTEGER, python_bytes INTEGER, "
              "native_bytes INTEGER, sq_bytes2 REAL",
     .column_count = 7,
     .value_count = 3,
     .samples = 2,
     .weighed = 2,
     .sources = {PIE_PACKING_PROCESS, PIE_PACKING_SLICE, PIE_PACKING_NODE, 2, 0, 1, PIE_PACKING_SQUARES}},
    {.table = "copy",
     .columns = "process, slice_s, node, estimate, samples, bytes, sq_bytes2",
     .types = "process INTEGER, slice_s INTEGER, node INTEGER, estimate INTEGER, samples INTEGER, "
              "bytes INTEGER, sq_bytes2 REAL",
     .column_count = 7,
     .value_count = 2,
     .samples = 1,
     .weighed = 1,
     .sources = {PIE_PACKING_PROCESS, PIE_PACKING_SLICE, PIE_PACKING_NODE, PIE_PACKING_PART, 1, 0,
                 PIE_PACKING_SQUARES}},
};

const struct pie_packing *pie_packing_of(int64_t kind) {
    return kind >= 1 && kind <= PIE_PACKING_KINDS ? &packings[kind - 1] : NULL;
}

/* Of a row in its block. */
static uint32_t key_of(const struct pie_packed_row *row) {
    uint32_t part = row->part & ((1u << PART_BITS) - 1), node = row->node & ((1u << NODE_BITS) - 1);

    return part << NODE_BITS | node;
}

static int64_t value_when_absent(const struct pie_packing *packing, unsigned value) {
    return value == packing->samples;
}

/* What the sum of squares would be if all samples weighed the same; rounded down. Of weights beyond what they can be it
 * is 0. */
static wide expected_squares(const struct pie_packing *packing, const struct pie_packed_row *row) {
    int64_t samples = row->values[packing->samples];
    wide sum = 0;

    for (unsigned i = 0; i < packing->weighed; i++)
        sum += row->values[i];
    return sum < 0 || sum > WHOLE_MAX ? 0 : sum * sum / (samples > 1 ? samples : 1);
}

/* Also of a zero that is negative, or of what is no number. */
static bool is_same(double a, double b) {
    return memcmp(&a, &b, sizeof a) == 0;
}

static bool is_whole(double value) {
    return value >= 0 && value <= (double)WHOLE_MAX && is_same(value, (double)(int64_t)value);
}

/* The sum of squares is 0 though it is not expected to be; it is eight bytes. */
static unsigned zero_flag(const struct pie_packing *packing) {
    return FLAG_VALUE << packing->value_count;
}

static unsigned double_flag(const struct pie_packing *packing) {
    return FLAG_VALUE << (packing->value_count + 1);
}

/* --- Sorting --- */

static int by_key(const void *a, const void *b) {
    uint32_t first = key_of(a), second = key_of(b);

    return first < second ? -1 : first > second;
}

static int64_t add(int64_t a, int64_t b) {
    int64_t sum;

    return !__builtin_add_overflow(a, b, &sum) ? sum : a < 0 ? INT64_MIN : INT64_MAX;
}

static void add_row(const struct pie_packing *packing, struct pie_packed_row *to,
                    const struct pie_packed_row *row) {
    for (unsigned i = 0; i < packing->value_count; i++)
        to->values[i] = add(to->values[i], row->values[i]);
    to->squares += row->squares;
}

size_t pie_packing_sort(const struct pie_packing *packing, struct pie_packed_row *rows, size_t count) {
    size_t kept = 0, i = 1;

    while (i < count && by_key(&rows[i - 1], &rows[i]) < 0)
        i++;
    if (i >= count)
        return count;
    qsort(rows, count, sizeof *rows, by_key);
    for (i = 1; i < count; i++)
        if (by_key(&rows[kept], &rows[i]) == 0)
            add_row(packing, &rows[kept], &rows[i]);
        else
            rows[++kept] = rows[i];
    return kept + 1;
}

/* --- Packing --- */

static unsigned char *put(unsigned char *at, uint64_t value) {
    for (; value >= 0x80; value >>= 7)
        *at++ = (unsigned char)(value | 0x80);
    *at++ = (unsigned char)value;
    return at;
}

static unsigned flags_of(const struct pie_packing *packing, const struct pie_packed_row *row) {
    unsigned flags = 0;

    for (unsigned i = 0; i < packing->value_count; i++)
        if (row->values[i] != value_when_absent(packing, i))
            flags |= FLAG_VALUE << i;
    wide expected = expected_squares(packing, row);
    if (is_same(row->squares, (double)expected))
        return flags;
    if (is_same(row->squares, 0))
        return flags | zero_flag(packing);
    return flags | (expected < WHOLE_MAX && is_whole(row->squares) ? FLAG_DIFFERENCE : double_flag(packing));
}

/* 0, -1, 1, -2, … are 0, 1, 2, 3, … */
static unsigned char *put_difference(unsigned char *at, int64_t difference) {
    return put(at, difference < 0 ? ~((uint64_t)difference << 1) : (uint64_t)difference << 1);
}

static unsigned char *put_double(unsigned char *at, double value) {
    uint64_t bits;

    memcpy(&bits, &value, sizeof bits);
    for (unsigned i = 0; i < sizeof bits; i++)
        *at++ = (unsigned char)(bits >> 8 * i);
    return at;
}

size_t pie_packing_encode(const struct pie_packing *packing, const struct pie_packed_row *rows, size_t count,
                          unsigned char *bytes) {
    unsigned char *at = bytes;
    uint32_t next = 0;

    *at++ = PIE_PACKING_FORMAT;
    for (size_t nth = 0; nth < count; nth++) {
        const struct pie_packed_row *row = &rows[nth];
        unsigned flags = flags_of(packing, row);
        at = put(at, key_of(row) - next);
        at = put(at, flags);
        for (unsigned i = 0; i < packing->value_count; i++)
            if (flags & FLAG_VALUE << i)
                at = put(at, (uint64_t)row->values[i]);
        if (flags & FLAG_DIFFERENCE)
            at = put_difference(at, (int64_t)row->squares - (int64_t)expected_squares(packing, row));
        else if (flags & double_flag(packing))
            at = put_double(at, row->squares);
        next = key_of(row) + 1;
    }
    return (size_t)(at - bytes);
}

/* --- Unpacking --- */

int pie_unpacking_begin(struct pie_unpacking *unpacking, const struct pie_packing *packing, int64_t block,
                        const void *bytes, size_t size) {
    const unsigned char *at = bytes;
    uint64_t part_block = (uint64_t)block >> NODE_BLOCK_BITS;

    if (!packing || size < PIE_PACKING_HEAD_BYTES || *at != PIE_PACKING_FORMAT ||
        part_block > UINT32_MAX >> PART_BITS)
        return -EBADMSG;
    *unpacking = (struct pie_unpacking){
        .packing = packing,
        .at = at + PIE_PACKING_HEAD_BYTES,
        .end = at + size,
        .first_part = (uint32_t)part_block << PART_BITS,
        .first_node = ((uint32_t)block & ((1u << NODE_BLOCK_BITS) - 1)) << NODE_BITS,
    };
    return 0;
}

/* A number of at most `max`, which is written in as few bytes as there may be. */
static bool take(struct pie_unpacking *unpacking, uint64_t max, uint64_t *ret_value) {
    uint64_t value = 0;

    for (unsigned i = 0; i < LEB_BYTES_MAX && unpacking->at < unpacking->end; i++) {
        unsigned char byte = *unpacking->at++;
        if (i == LEB_BYTES_MAX - 1 && byte > 1)
            return false;
        value |= (uint64_t)(byte & 0x7f) << 7 * i;
        if (byte & 0x80)
            continue;
        *ret_value = value;
        return value <= max && (byte != 0 || i == 0);
    }
    return false;
}

static bool take_difference(struct pie_unpacking *unpacking, struct pie_packed_row *row) {
    wide expected = expected_squares(unpacking->packing, row);
    uint64_t folded;

    if (expected >= WHOLE_MAX || !take(unpacking, 2 * (uint64_t)WHOLE_MAX, &folded))
        return false;
    int64_t squares = (int64_t)expected + (folded & 1 ? ~(int64_t)(folded >> 1) : (int64_t)(folded >> 1));
    row->squares = (double)squares;
    return squares > 0 && squares <= WHOLE_MAX;
}

static bool take_double(struct pie_unpacking *unpacking, double *ret_value) {
    uint64_t bits = 0;

    if ((size_t)(unpacking->end - unpacking->at) < sizeof bits)
        return false;
    for (unsigned i = 0; i < sizeof bits; i++)
        bits |= (uint64_t)*unpacking->at++ << 8 * i;
    memcpy(ret_value, &bits, sizeof bits);
    return true;
}

static bool take_values(struct pie_unpacking *unpacking, unsigned flags, struct pie_packed_row *row) {
    const struct pie_packing *packing = unpacking->packing;

    for (unsigned i = 0; i < packing->value_count; i++) {
        uint64_t value = (uint64_t)value_when_absent(packing, i);
        if ((flags & FLAG_VALUE << i) && !take(unpacking, UINT64_MAX, &value))
            return false;
        row->values[i] = (int64_t)value;
    }
    if (flags & FLAG_DIFFERENCE)
        return take_difference(unpacking, row);
    if (flags & double_flag(packing))
        return take_double(unpacking, &row->squares);
    row->squares = flags & zero_flag(packing) ? 0 : (double)expected_squares(packing, row);
    return true;
}

/* At most one says about the squares that they are not as expected. */
static bool are_flags(const struct pie_packing *packing, uint64_t flags) {
    return __builtin_popcountll(flags & (FLAG_DIFFERENCE | zero_flag(packing) | double_flag(packing))) <= 1;
}

int pie_unpacking_next(struct pie_unpacking *unpacking, struct pie_packed_row *ret_row) {
    uint64_t distance, flags;
    const struct pie_packing *packing = unpacking->packing;

    if (unpacking->at == unpacking->end)
        return 0;
    if (unpacking->key == PIE_PACKING_BLOCK_ROWS ||
        !take(unpacking, PIE_PACKING_BLOCK_ROWS - 1 - unpacking->key, &distance) ||
        !take(unpacking, 2 * double_flag(packing) - 1, &flags) || !are_flags(packing, flags))
        return -EBADMSG;
    uint32_t key = unpacking->key + (uint32_t)distance;
    ret_row->part = unpacking->first_part + (key >> NODE_BITS);
    ret_row->node = unpacking->first_node + (key & ((1u << NODE_BITS) - 1));
    unpacking->key = key + 1;
    return take_values(unpacking, (unsigned)flags, ret_row) ? 1 : -EBADMSG;
}
