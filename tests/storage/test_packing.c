/* SPDX-License-Identifier: Apache-2.0 */
/* Packed rows: what goes in comes out to the bit, and bytes of anybody's do no harm. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "storage/file/packing.h"

enum { ROWS_MAX = 3000, TURNS = 300 };

static struct pie_packed_row rows[ROWS_MAX];
static unsigned char bytes[PIE_PACKING_HEAD_BYTES + PIE_PACKING_ROW_BYTES * ROWS_MAX];
static uint64_t state = 88172645463325252;

static uint64_t draw(void) {
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
}

/* As wide as chance will have it, often what takes no room. */
static int64_t draw_value(void) {
    switch (draw() % 4) {
    case 0:
        return 0;
    case 1:
        return 1;
    default:
        return (int64_t)(draw() >> draw() % 64);
    }
}

/* As expected, near that, 0, or anything. */
static double draw_squares(const struct pie_packing *packing, const struct pie_packed_row *row) {
    double weight = 0, any;
    int64_t samples = row->values[packing->samples];
    uint64_t bits = draw();

    for (unsigned i = 0; i < packing->weighed; i++)
        weight += (double)row->values[i];
    double expected = weight * weight / (samples > 1 ? (double)samples : 1);
    memcpy(&any, &bits, sizeof any);
    const double choices[] = {expected, (double)(int64_t)fmod(expected, 1e15), 0, any,
                              -0.0,     (double)(draw() >> draw() % 64)};
    return choices[draw() % (sizeof choices / sizeof *choices)];
}

/* Of one block, in the order of their keys. Returns how many. */
static size_t draw_rows(const struct pie_packing *packing, uint32_t first_part, uint32_t first_node) {
    uint32_t wide = 1 + (uint32_t)(draw() % 400);
    size_t count = 0;

    for (uint32_t key = (uint32_t)(draw() % wide); key < PIE_PACKING_BLOCK_ROWS && count < ROWS_MAX;
         key += 1 + (uint32_t)(draw() % wide)) {
        struct pie_packed_row *row = &rows[count++];
        *row = (struct pie_packed_row){.part = first_part + key / 16384, .node = first_node + key % 16384};
        for (unsigned i = 0; i < packing->value_count; i++)
            row->values[i] = draw_value();
        row->squares = draw_squares(packing, row);
    }
    return count;
}

static void check_round_trip(const struct pie_packing *packing, uint32_t first_part, uint32_t first_node) {
    size_t count = draw_rows(packing, first_part, first_node);
    int64_t block = (int64_t)first_part / 4 * 262144 + first_node / 16384;
    struct pie_unpacking unpacking;
    struct pie_packed_row row;
    size_t size = pie_packing_encode(packing, rows, count, bytes);

    assert_int_equal(pie_unpacking_begin(&unpacking, packing, block, bytes, size), 0);
    for (size_t i = 0; i < count; i++) {
        memset(&row, 0, sizeof row);
        assert_int_equal(pie_unpacking_next(&unpacking, &row), 1);
        assert_int_equal(row.part, rows[i].part);
        assert_int_equal(row.node, rows[i].node);
        assert_memory_equal(row.values, rows[i].values, packing->value_count * sizeof *row.values);
        assert_memory_equal(&row.squares, &rows[i].squares, sizeof row.squares);
    }
    assert_int_equal(pie_unpacking_next(&unpacking, &row), 0);
}

static void test_rows_come_out_as_they_went_in(void **unused) {
    for (int turn = 0; turn < TURNS; turn++)
        for (int64_t kind = 1; kind <= PIE_PACKING_KINDS; kind++)
            check_round_trip(pie_packing_of(kind), (uint32_t)draw() & ~3u, (uint32_t)draw() & ~16383u);
    check_round_trip(pie_packing_of(PIE_PACKING_SAMPLE), UINT32_MAX & ~3u, UINT32_MAX & ~16383u);
}

/* What a row of one sample at 1 kHz takes: its node, flags and three bytes of time. */
static void test_one_sample_takes_five_bytes(void **unused) {
    const struct pie_packed_row row = {
        .part = 1, .node = 7, .values = {1000123, 0, 0, 1}, .squares = 1000123.0 * 1000123.0};
    const unsigned char expected[] = {1, 0x87, 0x80, 0x01, 0x02, 0xbb, 0x85, 0x3d};

    assert_int_equal(pie_packing_encode(pie_packing_of(PIE_PACKING_SAMPLE), &row, 1, bytes), sizeof expected);
    assert_memory_equal(bytes, expected, sizeof expected);
}

/* Four of the same weight; four that are not: 2 * (1^2 + 3^2) is 4 more than 8^2 / 4; what is no whole number. */
static void test_squares_take_what_they_are_off_by(void **unused) {
    struct pie_packed_row row = {.node = 1, .values = {8, 0, 0, 4}, .squares = 16};
    const unsigned char even[] = {1, 1, 0x12, 8, 4}, uneven[] = {1, 1, 0x13, 8, 4, 8},
                        less[] = {1, 1, 0x13, 8, 4, 1},
                        broken[] = {1, 1, 0x92, 0x08, 8, 4, 0, 0, 0, 0, 0, 0x80, 0x30, 0x40};
    const struct pie_packing *packing = pie_packing_of(PIE_PACKING_SAMPLE);

    assert_int_equal(pie_packing_encode(packing, &row, 1, bytes), sizeof even);
    assert_memory_equal(bytes, even, sizeof even);
    row.squares = 20;
    assert_int_equal(pie_packing_encode(packing, &row, 1, bytes), sizeof uneven);
    assert_memory_equal(bytes, uneven, sizeof uneven);
    row.squares = 15;
    assert_int_equal(pie_packing_encode(packing, &row, 1, bytes), sizeof less);
    assert_memory_equal(bytes, less, sizeof less);
    row.squares = 16.5;
    assert_int_equal(pie_packing_encode(packing, &row, 1, bytes), sizeof broken);
    assert_memory_equal(bytes, broken, sizeof broken);
}

static void test_rows_of_one_key_are_added_up(void **unused) {
    const struct pie_packing *packing = pie_packing_of(PIE_PACKING_COPY);
    struct pie_packed_row unsorted[] = {{.part = 2, .node = 5, .values = {1, 1}, .squares = 1},
                                        {.part = 1, .node = 9, .values = {10, 1}, .squares = 100},
                                        {.part = 2, .node = 5, .values = {INT64_MAX, 3}, .squares = 0.5},
                                        {.part = 1, .node = 8, .values = {-3, 1}, .squares = 9}};

    assert_int_equal(pie_packing_sort(packing, unsorted, 4), 3);
    assert_int_equal(unsorted[0].node, 8);
    assert_int_equal(unsorted[0].values[0], -3);
    assert_int_equal(unsorted[1].node, 9);
    assert_int_equal(unsorted[2].part, 2);
    assert_int_equal(unsorted[2].values[0], INT64_MAX); /* no more fits */
    assert_int_equal(unsorted[2].values[1], 4);
    assert_true(unsorted[2].squares == 1.5);
    assert_int_equal(pie_packing_sort(packing, unsorted, 0), 0);
}

/* Reads all of it from memory that ends where the bytes do. Returns what came at the end. */
static int read_all(const struct pie_packing *packing, const void *text, size_t size, size_t *ret_count) {
    unsigned char *copy = malloc(size + 1);
    struct pie_unpacking unpacking;
    struct pie_packed_row row;

    assert_non_null(copy);
    memcpy(copy, text, size);
    unsigned char *exact = realloc(copy, size ? size : 1);
    int r = pie_unpacking_begin(&unpacking, packing, 0, exact, size);
    for (*ret_count = 0; r == 0 && (r = pie_unpacking_next(&unpacking, &row)) == 1; r = 0)
        ++*ret_count;
    free(exact);
    return r;
}

static void test_truncated_bytes_are_found_out(void **unused) {
    const struct pie_packing *packing = pie_packing_of(PIE_PACKING_SAMPLE);
    size_t count, whole = draw_rows(packing, 0, 0), size = pie_packing_encode(packing, rows, whole, bytes);

    whole = whole > 50 ? 50 : whole;
    size = pie_packing_encode(packing, rows, whole, bytes);
    for (size_t cut = 0; cut < size; cut++) {
        int r = read_all(packing, bytes, cut, &count);
        assert_true(r == -EBADMSG || (r == 0 && count < whole)); /* between two rows it is a whole one */
        assert_true(cut > 0 || r == -EBADMSG);
    }
    assert_int_equal(read_all(packing, bytes, size, &count), 0);
    assert_int_equal(count, whole);
}

#define EXPECT_DAMAGED(...)                                                                                  \
    do {                                                                                                     \
        const unsigned char text[] = {__VA_ARGS__};                                                          \
        size_t came;                                                                                         \
        assert_int_equal(read_all(pie_packing_of(PIE_PACKING_SAMPLE), text, sizeof text, &came), -EBADMSG);  \
    } while (0)

static void test_bytes_that_nobody_packs_are_damage(void **unused) {
    struct pie_unpacking unpacking;
    size_t count;

    EXPECT_DAMAGED(2, 0, 0);                                  /* another format */
    EXPECT_DAMAGED(1, 0x80, 0x80, 0x04, 0);                   /* a key that no block has */
    EXPECT_DAMAGED(1, 0xff, 0xff, 3, 0, 0, 0);                /* a row behind the last key */
    EXPECT_DAMAGED(1, 0, 0x80, 0x10);                         /* a flag that there is not */
    EXPECT_DAMAGED(1, 0, 0x81, 0x04, 0, 0, 0, 0, 0, 0, 0, 0); /* squares that are given and 0 */
    EXPECT_DAMAGED(1, 0, 0x02, 0x80, 0x00);                   /* a byte more than needed */
    EXPECT_DAMAGED(1, 0, 0x02, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02); /* 65 bits */
    EXPECT_DAMAGED(1, 0, 0x02, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01);
    EXPECT_DAMAGED(1, 0, 0x80, 0x08, 1, 2, 3, 4, 5, 6, 7);                            /* half a double */
    EXPECT_DAMAGED(1, 0, 0x01, 3);                                                    /* squares below 0 */
    EXPECT_DAMAGED(1, 0, 0x01, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f); /* beyond all */
    EXPECT_DAMAGED(1, 0, 0x81, 0x08, 1, 0, 0, 0, 0, 0, 0, 0, 0);                      /* given in two ways */
    assert_int_equal(read_all(pie_packing_of(PIE_PACKING_COPY), "\1", 1, &count), 0);
    assert_int_equal(pie_unpacking_begin(&unpacking, pie_packing_of(PIE_PACKING_COPY), -1, "\1", 1),
                     -EBADMSG);
    assert_int_equal(pie_unpacking_begin(&unpacking, pie_packing_of(7), 0, "\1", 1), -EBADMSG);
    assert_null(pie_packing_of(0));
    assert_null(pie_packing_of(INT64_MIN));
}

/* Chance finds no way to read outside, or for ever: no more rows come than there are keys. */
static void test_noise_does_no_harm(void **unused) {
    unsigned char noise[200];

    for (int turn = 0; turn < 100000; turn++) {
        size_t size = draw() % sizeof noise, count;
        for (size_t i = 0; i < size; i++)
            noise[i] = (unsigned char)(draw() % 3 ? draw() % 4 : draw());
        if (size > 0)
            noise[0] = PIE_PACKING_FORMAT;
        int r = read_all(pie_packing_of(1 + turn % PIE_PACKING_KINDS), noise, size, &count);
        assert_true(r == 0 || r == -EBADMSG);
        assert_true(count <= size / 2);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_come_out_as_they_went_in),
        cmocka_unit_test(test_one_sample_takes_five_bytes),
        cmocka_unit_test(test_squares_take_what_they_are_off_by),
        cmocka_unit_test(test_rows_of_one_key_are_added_up),
        cmocka_unit_test(test_truncated_bytes_are_found_out),
        cmocka_unit_test(test_bytes_that_nobody_packs_are_damage),
        cmocka_unit_test(test_noise_does_no_harm),
    };
    return cmocka_run_group_tests_name("packing", tests, NULL, NULL);
}
