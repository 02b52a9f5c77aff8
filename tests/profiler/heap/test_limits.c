/* SPDX-License-Identifier: Apache-2.0 */

/* The limits of a thread's counters, and the footprint that is noted when they are reached. No allocation is sampled
 * here, and Python is said to end, so that a crossing has no context. */

#include "profiler/base/clocks.h"
#include "profiler/base/region.h"
#include "profiler/heap/engine.h"
#include "profiler/thread/thread.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { THRESHOLD_BYTES = 1 << 20, PART_BYTES = THRESHOLD_BYTES / PIE_HEAP_DOMAINS, BLOCK_BYTES = 1328 };

static struct pie_thread *thread;
static int64_t live_bytes, most_bytes;

static bool ends(void) {
    return true;
}

static const struct pie_heap_settings settings = {
    .has_memory = true, .threshold_bytes = THRESHOLD_BYTES, .is_fixed = true, .is_finalizing = ends};

static int begin(void **state) {
    static struct pie_thread_part *const parts[] = {&pie_heap_part};

    pie_thread_parts_set(parts, 1);
    if (pie_region_init() < 0 || !(thread = pie_thread_begin(true, "main")))
        return -1;
    pie_heap_set(&settings);
    pie_heap_part.enter(thread);
    for (int i = 0; i < PIE_HEAP_DOMAINS; i++) {
        pie_heap_of(thread)->rates[i].next_bytes = UINT64_MAX;
        pie_heap_of(thread)->counts.counts[i].allocated_limit = 0;
    }
    return 0;
}

static void allocate(size_t bytes) {
    static int block;

    pie_heap_allocated(pie_heap_self, PIE_HEAP_NATIVE, &block, bytes, NULL);
    live_bytes += (int64_t)bytes;
    most_bytes = live_bytes > most_bytes ? live_bytes : most_bytes;
}

static void give_back(size_t bytes) {
    static int block;

    pie_heap_freeing(pie_heap_self, PIE_HEAP_NATIVE, &block, bytes);
    live_bytes -= (int64_t)bytes;
}

static int64_t noted_peak(void) {
    int64_t heap[PIE_HEAP_DOMAINS];

    return pie_heap_peak(heap);
}

/* Visits to the slow path, some pairs long, at 16 footprints from here on. */
static void check_visits(void) {
    const uint64_t pairs = 40000;

    for (int i = 0; i < 16; i++) {
        uint64_t before = pie_heap_of(thread)->quiet_visits;
        allocate(PART_BYTES / 16);
        for (uint64_t k = 0; k < pairs; k++) {
            allocate(BLOCK_BYTES);
            give_back(BLOCK_BYTES);
        }
        uint64_t visits = pie_heap_of(thread)->quiet_visits - before;
        assert_in_range(visits, 1, 2 * pairs * BLOCK_BYTES / (PART_BYTES / 2) + 4);
    }
}

/* Half a part away is the nearer of both limits, at least. */
static void test_pairs_seldom_reach_a_limit(void **state) {
    check_visits();             /* each footprint is a new peak */
    for (int i = 0; i < 8; i++) /* in pieces that are not sampled for their size */
        allocate(PART_BYTES / 2);
    give_back(4 * PART_BYTES);
    check_visits(); /* none is */
}

static void test_no_peak_is_missed_by_more_than_the_threshold(void **state) {
    uint32_t random = 1;

    for (int i = 0; i < 2000000; i++) {
        random = random * 1664525 + 1013904223;
        size_t bytes = (random >> 8) % 4096;
        if ((random >> 24) < (i / 20000 % 2 ? 124 : 140) || live_bytes < (int64_t)bytes)
            allocate(bytes);
        else
            give_back(bytes);
        assert_in_range(most_bytes - noted_peak(), 0, THRESHOLD_BYTES);
    }
    assert_true(most_bytes > 10 * THRESHOLD_BYTES);
}

/* Under a budget that was named, a peak soon after a crossing waits until it is two thresholds higher, or for 10 ms. */
static void test_a_peak_that_follows_another_waits(void **state) {
    static const struct pie_heap_settings frugal = {
        .has_memory = true, .is_frugal = true, .is_finalizing = ends};
    struct pie_heap_state *heap = pie_heap_of(thread);

    pie_heap_set(&frugal);
    int64_t wanted = most_bytes + 8 * THRESHOLD_BYTES;
    while (live_bytes < wanted) /* a first peak, which sets the threshold */
        allocate(PART_BYTES / 2);
    int64_t threshold = (int64_t)pie_heap_threshold(), first = noted_peak();
    heap->crossed_ns = pie_monotonic_ns() + 1000000000;
    heap->crossing_cost_ns = 1000000000;
    for (int i = 0; i < 7; i++) /* less than two thresholds */
        allocate((size_t)threshold / 4);
    assert_int_equal(noted_peak(), first);
    for (int i = 0; i < 3; i++)
        allocate((size_t)threshold / 4);
    assert_in_range(most_bytes - noted_peak(), 0, threshold);
    first = noted_peak();
    heap->crossed_ns = 0;
    allocate((size_t)threshold);
    assert_true(noted_peak() > first);
    assert_in_range(most_bytes - noted_peak(), 0, threshold);
    pie_heap_set(&settings);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pairs_seldom_reach_a_limit),
        cmocka_unit_test(test_no_peak_is_missed_by_more_than_the_threshold),
        cmocka_unit_test(test_a_peak_that_follows_another_waits),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, begin, NULL);
}
