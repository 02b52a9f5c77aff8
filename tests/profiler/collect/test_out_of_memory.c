/* SPDX-License-Identifier: Apache-2.0 */

/* What cannot be kept for want of memory is counted as that. The profiler's own allocator is this test's. */

#include "profiler/base/counters.h"
#include "profiler/base/own_memory.h"
#include "profiler/base/region.h"
#include "profiler/collect/engine.h"
#include "profiler/heap/copies.h"
#include "profiler/heap/drain.h"
#include "profiler/heap/engine.h"
#include "profiler/ports/facts.h"
#include "profiler/ports/pystack.h"
#include "profiler/stacks/cct.h"
#include "profiler/symbols/naming.h"
#include "profiler/thread/thread.h"
#include "tests/profiler/thread/scene.h"

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

uint64_t pie_own_mapped_bytes(void) {
    return 0;
}

static void test_a_copy_that_has_no_room_is_counted_as_such(void **state) {
    struct pie_heap_copies copies = {0};

    pie_heap_copies_add(&copies, (struct pie_node_id){1}, 100, true, false);
    is_short = true;
    for (uint32_t node = 1; node <= 300; node++)
        pie_heap_copies_add(&copies, (struct pie_node_id){node}, 100, true, false);
    is_short = false;
    assert_int_equal(copies.count, 64);
    assert_int_equal(copies.rows[0].samples, 2);
    assert_int_equal(pie_counter_get(PIE_COUNTER_OUT_OF_MEMORY), 300 - 64);
    assert_int_equal(pie_counter_get(PIE_COUNTER_HEAP_RING_FULL), 0);
    assert_int_equal(pie_counter_get(PIE_COUNTER_RING_FULL), 0);
    pie_heap_copies_finish(&copies);
}

static bool is_finalizing(void) {
    return false;
}

/* The block is in the table all the same, and its ticket may not be another's. */
static void test_an_allocation_that_has_no_room_keeps_its_ticket(void **state) {
    static const struct pie_pystack_ops ops = {.eval_loop = NULL};
    static const struct pie_heap_settings settings = {
        .ops = &ops, .has_memory = true, .is_finalizing = is_finalizing};
    static const struct pie_memory_facts facts = {.is_finalizing = is_finalizing};
    struct pie_thread *thread = thread_scene_new();
    struct pie_naming *naming;
    struct pie_heap_drain *drain;
    int block;

    assert_int_equal(pie_region_init(), 0);
    assert_int_equal(pie_cct_init(), 0);
    assert_int_equal(pie_heap_table_init(), 0);
    pie_heap_set(&settings);
    assert_int_equal(pie_naming_create(&ops, &naming), 0);
    assert_int_equal(pie_heap_drain_create(&ops, &facts, naming, &drain), 0);
    uint32_t ticket = pie_heap_table_reserve();
    struct pie_heap_record record = {
        .weight_bytes = 1, .ticket = (uint16_t)ticket, .event = PIE_HEAP_ALLOCATED};
    assert_true(pie_heap_ring_push(&pie_heap_of(thread)->ring, &record));
    assert_true(pie_heap_table_put(ticket, &block));
    is_short = true;
    pie_heap_drain_slot(drain, thread);
    is_short = false;
    for (int i = 0; i < 3; i++)
        pie_heap_drain_tick(drain);
    for (int i = 0; i < PIE_HEAP_TICKETS; i++)
        assert_int_not_equal(pie_heap_table_reserve(), ticket);
    free(thread);
    assert_int_equal(pie_heap_table_remove(&block), ticket);
    pie_heap_table_free(ticket, 1000);
    pie_heap_drain_tick(drain);
    assert_int_equal(pie_heap_table_reserve(), 0);
    for (int i = 0; i < PIE_HEAP_TICKETS / 8 && pie_heap_table_reserve() != ticket; i++)
        assert_in_range(i, 0, PIE_HEAP_TICKETS / 8 - 2);
    pie_heap_drain_destroy(drain);
    pie_naming_destroy(naming);
    pie_heap_set(NULL);
}

static void test_the_counter_has_the_right_name(void **state) {
    assert_string_equal(pie_counter_name(PIE_COUNTER_OUT_OF_MEMORY), "out_of_memory");
    assert_true(pie_counter_is_drop(PIE_COUNTER_OUT_OF_MEMORY));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_copy_that_has_no_room_is_counted_as_such),
        cmocka_unit_test(test_an_allocation_that_has_no_room_keeps_its_ticket),
        cmocka_unit_test(test_the_counter_has_the_right_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
