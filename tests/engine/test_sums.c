/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/aggregate.h"
#include "profiler/ring.h"
#include "profiler/sampler.h"
#include "profiler/sampler_perf.h"
#include "profiler/thread.h"
#include "profiler/u64map.h"

#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void test_split_keeps_the_sum(void **state) {
    uint64_t user, system;

    pie_sample_split((struct pie_ticks){1, 2}, 3000001, &user, &system);
    assert_int_equal(user + system, 3000001);
    assert_int_equal(system, 2000000);
    pie_sample_split((struct pie_ticks){0, 0}, 500, &user, &system);
    assert_int_equal(user, 500);
    assert_int_equal(system, 0);
    pie_sample_split((struct pie_ticks){0, 4000000000u}, UINT64_C(4000000000000000), &user, &system);
    assert_int_equal(system, UINT64_C(4000000000000000));
}

static void test_user_only_clock_takes_the_excess_for_kernel_time(void **state) {
    struct pie_thread *thread = calloc(1, sizeof *thread);

    atomic_store(&thread->period_ns, 1000000);
    assert_int_equal(pie_sampler_perf_user_count(thread, NULL, 1000000).kernel, 0);
    assert_int_equal(pie_sampler_perf_user_count(thread, NULL, 1490000).kernel, 0);
    assert_int_equal(pie_sampler_perf_user_count(thread, NULL, 1600000).kernel, 1);
    assert_int_equal(pie_sampler_perf_user_count(thread, NULL, 10000000).kernel, 9);
    assert_int_equal(pie_sampler_perf_user_count(thread, NULL, 10000000).user, 1);
    free(thread);
}

/* A ring as the kernel writes it. */
static struct perf_event_mmap_page *ring_page;

static void kernel_writes(uint16_t mode, unsigned n) {
    for (unsigned i = 0; i < n; i++) {
        struct perf_event_header header = {.type = PERF_RECORD_SAMPLE, .misc = mode, .size = 16};
        memcpy((char *)ring_page + ring_page->data_offset + ring_page->data_head % PIE_PERF_RING_BYTES,
               &header, sizeof header);
        ring_page->data_head += 16;
    }
}

static void test_ticks_of_a_perf_ring_are_counted_by_mode(void **state) {
    struct pie_thread *thread = calloc(1, sizeof *thread);
    struct pie_ticks ticks;

    ring_page = calloc(1, 8192);
    ring_page->data_offset = 4096;
    assert_int_equal(pie_sampler_perf_count(thread, NULL, 0).user, 0); /* no ring */
    atomic_store(&thread->clock_ring, ring_page);
    kernel_writes(PERF_RECORD_MISC_USER, 1);
    kernel_writes(PERF_RECORD_MISC_KERNEL, 5);
    ticks = pie_sampler_perf_count(thread, NULL, 0);
    assert_int_equal(ticks.user, 1);
    assert_int_equal(ticks.kernel, 5);
    ticks = pie_sampler_perf_count(thread, NULL, 0);
    assert_int_equal(ticks.user + ticks.kernel, 0);
    kernel_writes(PERF_RECORD_MISC_KERNEL, 1000); /* the ring holds 256: the others were overwritten */
    ticks = pie_sampler_perf_count(thread, NULL, 0);
    assert_int_equal(ticks.user, 0);
    assert_int_equal(ticks.kernel, 1000);
    free(ring_page);
    free(thread);
}

static void test_aggregate_adds_by_thread_and_node(void **state) {
    struct pie_aggregate aggregate = {0};

    for (uint32_t i = 0; i < 5000; i++) {
        struct pie_record record = {.node = i % 1000 + 1, .user_ns = 10, .system_ns = 3, .is_python = i % 2};
        assert_int_equal(pie_aggregate_add_sample(&aggregate, i % 4, &record), 0);
    }
    assert_int_equal(pie_aggregate_add_wait(&aggregate, 0, 1, 77), 0);
    assert_int_equal(aggregate.count, 1000); /* 4 divides 1000: each node is always hit by the same thread */
    uint64_t python = 0, native = 0, system = 0, wait = 0, samples = 0;
    double squares = 0;
    for (size_t i = 0; i < aggregate.count; i++) {
        python += aggregate.rows[i].python_ns;
        native += aggregate.rows[i].native_ns;
        system += aggregate.rows[i].system_ns;
        wait += aggregate.rows[i].wait_ns;
        samples += aggregate.rows[i].samples;
        squares += aggregate.rows[i].cpu_sq_ns2;
        assert_int_equal(aggregate.rows[i].samples, 5);
    }
    assert_int_equal(python, 25000);
    assert_int_equal(native, 25000);
    assert_int_equal(system, 15000);
    assert_int_equal(wait, 77);
    assert_int_equal(samples, 5000);
    assert_int_equal((long)squares, 5000 * 169);
    pie_aggregate_clear(&aggregate);
    assert_int_equal(aggregate.count, 0);
    struct pie_record again = {.node = 1, .user_ns = 1};
    assert_int_equal(pie_aggregate_add_sample(&aggregate, 0, &again), 0);
    assert_int_equal(aggregate.rows[0].samples, 1);
    pie_aggregate_finish(&aggregate);
}

static void test_map_finds_what_was_put(void **state) {
    struct pie_u64map map = {0};

    assert_int_equal(pie_u64map_get(&map, 5), 0);
    for (uint64_t i = 0; i < 50000; i++)
        assert_int_equal(pie_u64map_put(&map, i * i * 2654435761u, (uint32_t)i + 1), 0);
    for (uint64_t i = 0; i < 50000; i++)
        assert_int_equal(pie_u64map_get(&map, i * i * 2654435761u), i + 1);
    assert_int_equal(pie_u64map_get(&map, 3), 0);
    pie_u64map_finish(&map);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_split_keeps_the_sum),
        cmocka_unit_test(test_user_only_clock_takes_the_excess_for_kernel_time),
        cmocka_unit_test(test_ticks_of_a_perf_ring_are_counted_by_mode),
        cmocka_unit_test(test_aggregate_adds_by_thread_and_node),
        cmocka_unit_test(test_map_finds_what_was_put),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
