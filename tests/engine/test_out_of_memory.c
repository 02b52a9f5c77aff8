/* SPDX-License-Identifier: Apache-2.0 */

/* What cannot be kept for want of memory is counted as that. The profiler's own allocator is this test's. */

#include "profiler/counters.h"
#include "profiler/heap_copies.h"
#include "profiler/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static bool is_short;

void *pie_malloc(size_t size) {
    return is_short ? NULL : malloc(size);
}

void *pie_calloc(size_t count, size_t size) {
    return is_short ? NULL : calloc(count, size);
}

void *pie_realloc(void *block, size_t size) {
    return is_short ? NULL : realloc(block, size);
}

void pie_free(void *block) {
    free(block);
}

void pie_populate(void *memory, size_t size) {}

static void test_a_copy_that_has_no_room_is_counted_as_such(void **state) {
    struct pie_heap_copies copies = {0};

    pie_heap_copies_add(&copies, 1, 100, true);
    is_short = true;
    for (uint32_t node = 1; node <= 300; node++)
        pie_heap_copies_add(&copies, node, 100, true);
    is_short = false;
    assert_int_equal(copies.count, 64);
    assert_int_equal(copies.rows[0].samples, 2);
    assert_int_equal(pie_counter_get(PIE_COUNTER_OUT_OF_MEMORY), 300 - 64);
    assert_int_equal(pie_counter_get(PIE_COUNTER_HEAP_RING_FULL), 0);
    assert_int_equal(pie_counter_get(PIE_COUNTER_RING_FULL), 0);
    pie_heap_copies_finish(&copies);
}

static void test_the_counter_has_the_right_name(void **state) {
    assert_string_equal(pie_counter_name(PIE_COUNTER_OUT_OF_MEMORY), "out_of_memory");
    assert_true(pie_counter_is_drop(PIE_COUNTER_OUT_OF_MEMORY));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_copy_that_has_no_room_is_counted_as_such),
        cmocka_unit_test(test_the_counter_has_the_right_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
