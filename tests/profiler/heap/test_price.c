/* SPDX-License-Identifier: Apache-2.0 */

/* What counting blocks costs, from samples of them: by kind, and by how long they lived. */

#include "profiler/heap/price.h"

#include "profiler/heap/engine.h"
#include "profiler/heap/pauses.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static const double SMALL_NS = 2.5, LARGE_NS = 10;
static const uint64_t AT_ONCE_NS = 1000, BATCH_NS = 10000, LONG_NS = 600000, HANDLED_NS = 27000;

/* Returns for how many of Python's small blocks the sample stands. */
static double sampled(struct pie_heap_blocks *blocks, enum pie_heap_domain domain, uint64_t bytes,
                      uint64_t of) {
    const struct pie_heap_record record = {
        .weight_bytes = bytes * of, .block_bytes = bytes, .domain = (uint8_t)domain};

    return pie_heap_blocks_add(blocks, &record);
}

static void test_blocks_that_stay_have_the_whole_price(void **state) {
    struct pie_heap_blocks blocks = {0};

    double small = sampled(&blocks, PIE_HEAP_PYTHON, 48, 1000);
    assert_true(small == 1000);
    pie_heap_blocks_ended(&blocks, small, LONG_NS, HANDLED_NS);
    assert_true(fabs(pie_heap_blocks_ns(&blocks) - 1000 * SMALL_NS) < 1e-6);
}

static void test_blocks_that_end_at_once_cost_less(void **state) {
    struct pie_heap_blocks blocks = {0};

    pie_heap_blocks_ended(&blocks, sampled(&blocks, PIE_HEAP_PYTHON, 32, 1000), HANDLED_NS + AT_ONCE_NS,
                          HANDLED_NS);
    double passing_ns = pie_heap_blocks_ns(&blocks);
    assert_true(passing_ns > 0 && passing_ns < 0.7 * 1000 * SMALL_NS);
    sampled(&blocks, PIE_HEAP_PYTHON, 32, 500); /* alive */
    assert_true(fabs(pie_heap_blocks_ns(&blocks) - passing_ns - 500 * SMALL_NS) < 1e-6);
}

/* The parts of a text or a list, which end together, wait in memory while others come. What the sample takes is no part
 * of that. */
static void test_blocks_of_a_batch_have_the_whole_price(void **state) {
    struct pie_heap_blocks blocks = {0};

    pie_heap_blocks_ended(&blocks, sampled(&blocks, PIE_HEAP_PYTHON, 64, 1000), HANDLED_NS + BATCH_NS,
                          HANDLED_NS);
    assert_true(fabs(pie_heap_blocks_ns(&blocks) - 1000 * SMALL_NS) < 1e-6);
}

static void test_larger_blocks_have_their_own_price(void **state) {
    struct pie_heap_blocks blocks = {0};

    assert_true(sampled(&blocks, PIE_HEAP_PYTHON, 600, 100) == 0);
    assert_true(fabs(pie_heap_blocks_ns(&blocks) - 100 * LARGE_NS) < 1e-6);
    assert_true(sampled(&blocks, PIE_HEAP_NATIVE, 600, 100) == 0);
    assert_true(blocks.of_malloc == 100);
}

/* Of four blocks one is counted; the others cost as much, as long as nobody has measured what they cost less. */
static void test_blocks_of_pauses_have_a_price(void **state) {
    struct pie_heap_blocks blocks = {0};
    const struct pie_heap_record record = {.weight_bytes = 48 * 1000,
                                           .block_bytes = 48,
                                           .domain = PIE_HEAP_PYTHON,
                                           .share = PIE_HEAP_SHARE_ONE / 4};

    assert_true(fabs(pie_heap_blocks_add(&blocks, &record) - 4000) < 1e-6);
    assert_true(fabs(pie_heap_blocks_ns(&blocks) - 4000 * SMALL_NS) < 1e-6);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blocks_that_stay_have_the_whole_price),
        cmocka_unit_test(test_blocks_that_end_at_once_cost_less),
        cmocka_unit_test(test_blocks_of_a_batch_have_the_whole_price),
        cmocka_unit_test(test_larger_blocks_have_their_own_price),
        cmocka_unit_test(test_blocks_of_pauses_have_a_price),
    };

    pie_heap_python_pairs_set(SMALL_NS, LARGE_NS);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
