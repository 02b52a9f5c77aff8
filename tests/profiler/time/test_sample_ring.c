/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/time/sample_ring.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static void test_gives_back_in_order_what_was_pushed(void **state) {
    struct pie_ring *ring = calloc(1, sizeof *ring);
    struct pie_record record = {0}, got;

    assert_false(pie_ring_pop(ring, &got));
    for (uint32_t i = 0; i < 3 * PIE_RING_RECORDS / 2; i += 3) {
        for (uint32_t k = 0; k < 3; k++) {
            record.node.value = i + k;
            assert_true(pie_ring_push(ring, &record));
        }
        for (uint32_t k = 0; k < 3; k++) {
            assert_true(pie_ring_pop(ring, &got));
            assert_int_equal(got.node.value, i + k);
        }
    }
    assert_false(pie_ring_pop(ring, &got));
    free(ring);
}

static void test_refuses_when_full_and_takes_again_after_a_pop(void **state) {
    struct pie_ring *ring = calloc(1, sizeof *ring);
    struct pie_record record = {.node = {7}}, got;

    for (int i = 0; i < PIE_RING_RECORDS; i++)
        assert_true(pie_ring_push(ring, &record));
    assert_false(pie_ring_push(ring, &record));
    assert_true(pie_ring_pop(ring, &got));
    assert_true(pie_ring_push(ring, &record));
    assert_false(pie_ring_push(ring, &record));
    free(ring);
}

enum { MANY = 400000 };

static void *push_many(void *argument) {
    struct pie_ring *ring = argument;

    for (uint32_t i = 1; i <= MANY; i++) {
        struct pie_record record = {.time_ns = i, .user_ns = i * 3u, .system_ns = i * 5u, .node = {i}};
        while (!pie_ring_push(ring, &record))
            sched_yield();
    }
    return NULL;
}

static void test_loses_and_tears_nothing_between_two_threads(void **state) {
    struct pie_ring *ring = calloc(1, sizeof *ring);
    struct pie_record got;
    pthread_t writer;

    assert_int_equal(pthread_create(&writer, NULL, push_many, ring), 0);
    for (uint32_t i = 1; i <= MANY; i++) {
        while (!pie_ring_pop(ring, &got))
            sched_yield();
        assert_int_equal(got.node.value, i);
        assert_int_equal(got.time_ns, i);
        assert_int_equal(got.user_ns, i * 3u);
        assert_int_equal(got.system_ns, i * 5u);
    }
    pthread_join(writer, NULL);
    free(ring);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gives_back_in_order_what_was_pushed),
        cmocka_unit_test(test_refuses_when_full_and_takes_again_after_a_pop),
        cmocka_unit_test(test_loses_and_tears_nothing_between_two_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
