/* SPDX-License-Identifier: Apache-2.0 */

/* What the instruction behind a trap makes of it, and when two floating-point values count as the same. */

#include "tests/profiler/watch/drain_scene.h"

#include "profiler/code/basic_block.h"
#include "profiler/code/decode.h"
#include "profiler/code/modules.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t serial;

/* The outcome that is stored of a watch that a trap ended. */
static unsigned outcome_of(enum pie_watch_kind kind, const struct pie_watch_record *how,
                           enum pie_watch_outcome seen, const char *behind) {
    struct pie_watch_record begin = drain_begin(++serial, kind, drain_context(2, 50, drain_loaded)), end;

    begin.size = how && how->size ? how->size : 8;
    end = drain_trap_of(&begin, seen, behind);
    if (how) {
        end.value_before = how->value_before;
        end.value_after = how->value_after;
        end.second_node = how->second_node.value ? how->second_node : end.second_node;
    }
    pie_watch_drain_clear(drain);
    drain_push(&begin);
    drain_push(&end);
    drain_now();
    const struct pie_watch_row *row = drain_row();
    bool is_resolved = row->outcome == PIE_WATCH_REDUNDANT || row->outcome == PIE_WATCH_CHANGED;
    assert_int_equal(row->second_node.value != 0, is_resolved);
    return row->outcome;
}

static unsigned plain(enum pie_watch_kind kind, enum pie_watch_outcome seen, const char *behind) {
    const struct pie_watch_record sevens = {.value_before = 7, .value_after = 7};

    return outcome_of(kind, &sevens, seen, behind);
}

/* --- The instruction --- */

static void test_loads_and_stores_resolve(void **state) {
    assert_int_equal(plain(PIE_WATCH_LOAD, PIE_WATCH_REDUNDANT, drain_loaded), PIE_WATCH_REDUNDANT);
    assert_int_equal(plain(PIE_WATCH_LOAD, PIE_WATCH_CHANGED, drain_loaded), PIE_WATCH_CHANGED);
    assert_int_equal(plain(PIE_WATCH_STORE, PIE_WATCH_REDUNDANT, drain_stored), PIE_WATCH_REDUNDANT);
    assert_int_equal(plain(PIE_WATCH_STORE, PIE_WATCH_CHANGED, drain_stored), PIE_WATCH_CHANGED);
    assert_int_equal(plain(PIE_WATCH_LOAD, PIE_WATCH_CHANGED, drain_both), PIE_WATCH_CHANGED);
}

/* Recycled memory is cleared before it is used, and often is clear already: no computation was wasted. */
static void test_clearing_what_is_clear_is_no_redundant_store(void **state) {
    assert_int_equal(outcome_of(PIE_WATCH_STORE, NULL, PIE_WATCH_REDUNDANT, drain_stored), PIE_WATCH_LOST);
    assert_int_equal(outcome_of(PIE_WATCH_LOAD, NULL, PIE_WATCH_REDUNDANT, drain_loaded),
                     PIE_WATCH_REDUNDANT);
}

static unsigned stored_again(uint64_t value, uint32_t size) {
    const struct pie_watch_record how = {.value_before = value, .value_after = value, .size = size};

    return outcome_of(PIE_WATCH_STORE, &how, PIE_WATCH_REDUNDANT, drain_stored);
}

/* A picture that is made white again. */
static void test_filling_what_is_filled_is_no_redundant_store(void **state) {
    assert_int_equal(stored_again(UINT64_C(0x00ffffff00ffffff), 8), PIE_WATCH_LOST);
    assert_int_equal(stored_again(UINT64_MAX, 8), PIE_WATCH_LOST);
    assert_int_equal(stored_again(0x20202020, 4), PIE_WATCH_LOST);
    assert_int_equal(stored_again(0x2020, 2), PIE_WATCH_LOST);
    assert_int_equal(stored_again(0, 1), PIE_WATCH_LOST);
    assert_int_equal(stored_again(0x20, 1), PIE_WATCH_REDUNDANT);
    assert_int_equal(stored_again(0x2021, 2), PIE_WATCH_REDUNDANT);
    assert_int_equal(stored_again(0x00ffffff, 4), PIE_WATCH_REDUNDANT);
    assert_int_equal(stored_again(UINT64_C(0x00ffffff00fffffe), 8), PIE_WATCH_REDUNDANT);
    assert_int_equal(stored_again(UINT64_C(0x3ff0000000000000), 8), PIE_WATCH_REDUNDANT); /* 1.0 */
}

/* The load watch was hit by a store of the same value: whether the value is loaded again is not known. */
static void test_store_of_the_same_value_ends_a_load_watch(void **state) {
    assert_int_equal(plain(PIE_WATCH_LOAD, PIE_WATCH_REDUNDANT, drain_stored), PIE_WATCH_LOST);
    assert_int_equal(plain(PIE_WATCH_LOAD, PIE_WATCH_CHANGED, drain_stored), PIE_WATCH_CHANGED);
}

static void test_reference_count_is_no_access(void **state) {
    assert_int_equal(plain(PIE_WATCH_LOAD, PIE_WATCH_CHANGED, drain_counted), PIE_WATCH_LOST);
    assert_int_equal(plain(PIE_WATCH_STORE, PIE_WATCH_CHANGED, drain_counted), PIE_WATCH_LOST);
    assert_int_equal(plain(PIE_WATCH_STORE, PIE_WATCH_REDUNDANT, drain_counted), PIE_WATCH_LOST);
}

static void test_trap_that_cannot_be_explained_is_lost_and_counted(void **state) {
    assert_int_equal(plain(PIE_WATCH_LOAD, PIE_WATCH_REDUNDANT, drain_loaded + 1), PIE_WATCH_LOST);
    assert_int_equal(plain(PIE_WATCH_LOAD, PIE_WATCH_REDUNDANT, (const char *)0x1234), PIE_WATCH_LOST);
    assert_int_equal(plain(PIE_WATCH_LOAD, PIE_WATCH_REDUNDANT, drain_end), PIE_WATCH_LOST);
    assert_int_equal(pie_counter_get(PIE_COUNTER_WATCH_TRAP_UNKNOWN), 3);
}

static void test_allocator_releases(void **state) {
    struct pie_watch_record how = {.second_node = drain_context(3, 90, (const char *)malloc + 1)};

    assert_int_equal(outcome_of(PIE_WATCH_LOAD, &how, PIE_WATCH_CHANGED, drain_loaded), PIE_WATCH_RELEASED);
    assert_int_equal(outcome_of(PIE_WATCH_STORE, &how, PIE_WATCH_REDUNDANT, drain_stored),
                     PIE_WATCH_RELEASED);
}

/* --- Floating point --- */

static unsigned doubles(double before, double after) {
    struct pie_watch_record how = {.size = 8};

    memcpy(&how.value_before, &before, 8);
    memcpy(&how.value_after, &after, 8);
    return outcome_of(PIE_WATCH_LOAD, &how,
                      how.value_before == how.value_after ? PIE_WATCH_REDUNDANT : PIE_WATCH_CHANGED,
                      drain_loaded);
}

static unsigned floats(float before, float after) {
    struct pie_watch_record how = {.size = 4};

    memcpy(&how.value_before, &before, 4);
    memcpy(&how.value_after, &after, 4);
    return outcome_of(PIE_WATCH_LOAD, &how,
                      how.value_before == how.value_after ? PIE_WATCH_REDUNDANT : PIE_WATCH_CHANGED,
                      drain_float_loaded);
}

static unsigned integers(uint32_t size, uint64_t before, uint64_t after) {
    struct pie_watch_record how = {.size = size, .value_before = before, .value_after = after};

    return outcome_of(PIE_WATCH_LOAD, &how, before == after ? PIE_WATCH_REDUNDANT : PIE_WATCH_CHANGED,
                      drain_loaded);
}

static double nan_with(uint64_t payload) {
    uint64_t bits = UINT64_C(0x7ff8000000000000) | payload;
    double nan;

    memcpy(&nan, &bits, 8);
    return nan;
}

static void test_without_tolerance_bits_decide(void **state) {
    assert_int_equal(doubles(1.0, 1.0), PIE_WATCH_REDUNDANT);
    assert_int_equal(doubles(1.0, 1.0 + DBL_EPSILON), PIE_WATCH_CHANGED);
    assert_int_equal(doubles(0.0, -0.0), PIE_WATCH_CHANGED);
    assert_int_equal(doubles(nan_with(0), nan_with(0)), PIE_WATCH_REDUNDANT);
    assert_int_equal(floats(1.0f, 1.0f + FLT_EPSILON), PIE_WATCH_CHANGED);
}

static void test_tolerance_is_relative_to_the_larger(void **state) {
    assert_int_equal(doubles(1.0, 1.0 + 0.9e-6), PIE_WATCH_REDUNDANT);
    assert_int_equal(doubles(1.0, 1.0 + 1.2e-6), PIE_WATCH_CHANGED);
    assert_int_equal(doubles(-3e9, -3e9 * (1 + 0.9e-6)), PIE_WATCH_REDUNDANT);
    assert_int_equal(doubles(1e-9, 1.0001e-9), PIE_WATCH_CHANGED);
    assert_int_equal(doubles(1.0, -1.0), PIE_WATCH_CHANGED);
    assert_int_equal(doubles(0.0, 1e-12), PIE_WATCH_CHANGED); /* nothing is near zero but zero */
    assert_int_equal(floats(1.0f, 1.0f + 4 * FLT_EPSILON), PIE_WATCH_REDUNDANT);
    assert_int_equal(floats(1.0f, 1.00001f), PIE_WATCH_CHANGED);
}

static void test_zeros_of_both_signs_are_near(void **state) {
    assert_int_equal(doubles(0.0, -0.0), PIE_WATCH_REDUNDANT);
    assert_int_equal(floats(-0.0f, 0.0f), PIE_WATCH_REDUNDANT);
}

static void test_nan_and_infinity_are_compared_bit_by_bit(void **state) {
    assert_int_equal(doubles(nan_with(1), nan_with(1)), PIE_WATCH_REDUNDANT);
    assert_int_equal(doubles(nan_with(1), nan_with(2)), PIE_WATCH_CHANGED);
    assert_int_equal(doubles(1.0, nan_with(0)), PIE_WATCH_CHANGED);
    assert_int_equal(doubles(INFINITY, INFINITY), PIE_WATCH_REDUNDANT);
    assert_int_equal(doubles(INFINITY, -INFINITY), PIE_WATCH_CHANGED);
    assert_int_equal(doubles(DBL_MAX, INFINITY), PIE_WATCH_CHANGED);
    assert_int_equal(floats(INFINITY, FLT_MAX), PIE_WATCH_CHANGED);
}

/* Small integers and addresses, seen as floating point, lie near each other; they are different all the same. */
static void test_integers_are_compared_bit_by_bit(void **state) {
    assert_int_equal(integers(8, 5, 6), PIE_WATCH_CHANGED);
    assert_int_equal(integers(8, 0, 1), PIE_WATCH_CHANGED);
    assert_int_equal(integers(8, UINT64_MAX, UINT64_MAX - 1), PIE_WATCH_CHANGED);
    assert_int_equal(integers(8, 0x7f1234567890, 0x7f1234567898), PIE_WATCH_CHANGED);
    assert_int_equal(integers(4, 1000000, 1000001), PIE_WATCH_CHANGED);
    assert_int_equal(integers(4, UINT32_MAX, UINT32_MAX - 1), PIE_WATCH_CHANGED);
    assert_int_equal(integers(2, 0x3c00, 0x3c01), PIE_WATCH_CHANGED);
    assert_int_equal(integers(1, 200, 201), PIE_WATCH_CHANGED);
    assert_int_equal(integers(8, 77, 77), PIE_WATCH_REDUNDANT);
}

/* --- Blocks --- */

static void test_requested_blocks_are_decoded(void **state) {
    assert_null(pie_basic_block_find((uintptr_t)drain_stored, pie_code_module_at((uintptr_t)drain_stored)));
    assert_true(
        pie_watch_requests_push(&pie_watch_of(drain_thread)->requests, &(uint64_t){(uintptr_t)drain_stored}));
    drain_now();
    const struct pie_basic_block *block =
        pie_basic_block_find((uintptr_t)drain_stored, pie_code_module_at((uintptr_t)drain_stored));
    assert_non_null(block);
    assert_true(block->count >= 3); /* not the count, not the return */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        DRAIN(test_loads_and_stores_resolve),
        DRAIN(test_clearing_what_is_clear_is_no_redundant_store),
        DRAIN(test_filling_what_is_filled_is_no_redundant_store),
        DRAIN(test_store_of_the_same_value_ends_a_load_watch),
        DRAIN(test_reference_count_is_no_access),
        DRAIN(test_trap_that_cannot_be_explained_is_lost_and_counted),
        DRAIN(test_allocator_releases),
        DRAIN(test_requested_blocks_are_decoded),
        DRAIN(test_without_tolerance_bits_decide),
        DRAIN_CLOSE(test_tolerance_is_relative_to_the_larger, 1e-6),
        DRAIN_CLOSE(test_zeros_of_both_signs_are_near, 1e-6),
        DRAIN_CLOSE(test_nan_and_infinity_are_compared_bit_by_bit, 1e-6),
        DRAIN_CLOSE(test_integers_are_compared_bit_by_bit, 1e-6),
    };
    if (!pie_decode_is_available()) {
        printf("1..0 # SKIP this build has no decoder\n");
        return 0;
    }
    return cmocka_run_group_tests_name("outcomes of watches", tests, NULL, NULL);
}
