/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "profiler/heap_engine.h"
#include "profiler/region.h"

static char memory[1 << 20];

static const void *block(size_t i) {
    return memory + 16 * i;
}

static int set_up(void **state) {
    return pie_region_init();
}

static int fresh(void **state) {
    return pie_region_reset() == 0 ? pie_heap_table_init() : -1;
}

static enum pie_heap_fate fate(uint32_t ticket) {
    uint64_t freed_ns;
    return pie_heap_table_fate(ticket, &freed_ns);
}

static void test_a_block_is_found_once(void **state) {
    uint32_t ticket = pie_heap_table_reserve();
    assert_int_not_equal(ticket, 0);
    assert_false(pie_heap_may_be_tracked(block(1)));
    assert_true(pie_heap_table_put(ticket, block(1)));
    assert_true(pie_heap_may_be_tracked(block(1)));
    assert_ptr_equal(pie_heap_table_block(ticket), block(1));
    assert_int_equal(pie_heap_table_remove(block(2)), 0);
    assert_int_equal(pie_heap_table_remove(block(1)), ticket);
    assert_int_equal(pie_heap_table_remove(block(1)), 0);
    assert_false(pie_heap_may_be_tracked(block(1)));
    assert_null(pie_heap_table_block(ticket));
}

static void test_a_ticket_tells_what_became_of_its_block(void **state) {
    uint32_t freed = pie_heap_table_reserve(), lost = pie_heap_table_reserve(),
             alive = pie_heap_table_reserve();
    uint64_t before = pie_heap_table_version(), freed_ns = 0;
    pie_heap_table_put(alive, block(3));
    assert_int_equal(pie_heap_table_version(), before);
    pie_heap_table_free(freed, 123456);
    pie_heap_table_lose(lost);
    assert_int_equal(pie_heap_table_version(), before + 2);
    assert_int_equal(pie_heap_table_fate(freed, &freed_ns), PIE_HEAP_FREED);
    assert_int_equal(freed_ns, 123456);
    assert_int_equal(fate(lost), PIE_HEAP_LOST);
    assert_int_equal(fate(alive), PIE_HEAP_ALIVE);
    pie_heap_table_recycle(freed);
    assert_int_equal(fate(freed), PIE_HEAP_ALIVE); /* nothing to tell */
}

static void test_tickets_are_reserved_once_and_run_out(void **state) {
    static bool taken[PIE_HEAP_TICKETS];
    memset(taken, 0, sizeof taken);
    size_t count = 0;
    for (uint32_t ticket; (ticket = pie_heap_table_reserve()) != 0; count++) {
        assert_in_range(ticket, 1, PIE_HEAP_TICKETS - 1);
        assert_false(taken[ticket]);
        taken[ticket] = true;
    }
    assert_int_equal(count, PIE_HEAP_TICKETS - 1);
    pie_heap_table_free(77, 5000);
    for (int i = 0; i < PIE_HEAP_TICKETS; i++)
        assert_int_equal(pie_heap_table_reserve(), 0); /* not before its end was heard of */
    pie_heap_table_recycle(77);
    uint32_t again = 0;
    for (int i = 0; i < PIE_HEAP_TICKETS && !again; i++)
        again = pie_heap_table_reserve();
    assert_int_equal(again, 77);
}

/* As bucket_of() in heap_table_sigsafe.c. */
static uint32_t bucket_of(const void *address) {
    return (uint32_t)(((uintptr_t)address >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 53);
}

/* Addresses of one bucket: the eighth is the last that fits. */
static void test_a_full_bucket_refuses(void **state) {
    size_t found = 0;
    for (size_t i = 0; i < sizeof memory / 16; i++) {
        if (bucket_of(block(i)) != bucket_of(block(0)))
            continue;
        uint32_t ticket = pie_heap_table_reserve();
        assert_int_equal(pie_heap_table_put(ticket, block(i)), found < 8);
        if (found == 8) {
            assert_int_equal(fate(ticket), PIE_HEAP_LOST);
            return;
        }
        found++;
    }
    fail_msg("only %zu addresses of one bucket", found);
}

static void test_a_dropped_block_is_not_tracked(void **state) {
    uint32_t first = pie_heap_table_reserve(), second = pie_heap_table_reserve();
    pie_heap_table_put(first, block(5));
    assert_false(pie_heap_table_drop(second, block(5))); /* another's */
    assert_ptr_equal(pie_heap_table_block(first), block(5));
    assert_true(pie_heap_table_drop(first, block(5)));
    assert_int_equal(pie_heap_table_remove(block(5)), 0);
}

/* Two threads that track and free blocks of their own while a third takes what became of them. */
enum { ROUNDS = 200000 };
static _Atomic uint64_t put_count, refused;

static void *churn(void *argument) {
    size_t base = (size_t)argument;
    for (size_t i = 0; i < ROUNDS; i++) {
        const void *mine = block(base + i % 1000);
        uint32_t ticket = pie_heap_table_reserve();
        if (!ticket)
            continue;
        if (!pie_heap_table_put(ticket, mine)) {
            refused++;
            continue;
        }
        put_count++;
        uint32_t got = pie_heap_table_remove(mine);
        if (got != ticket)
            return "a block was not found";
        pie_heap_table_free(got, i + 10);
    }
    return NULL;
}

static uint64_t take_all(void) {
    uint64_t count = 0;
    for (uint32_t ticket = 1; ticket < PIE_HEAP_TICKETS; ticket++) {
        enum pie_heap_fate what = fate(ticket);
        if (what == PIE_HEAP_ALIVE)
            continue;
        count += what == PIE_HEAP_FREED;
        pie_heap_table_recycle(ticket);
    }
    return count;
}

static void test_threads_do_not_lose_blocks(void **state) {
    pthread_t threads[2];
    void *problem;
    uint64_t freed = 0;
    put_count = 0;
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, churn, (void *)(i * 2000)), 0);
    for (int i = 0; i < 200; i++)
        freed += take_all();
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], &problem);
        if (problem)
            fail_msg("%s", (const char *)problem);
    }
    freed += take_all();
    assert_true(put_count > 1000);
    assert_int_equal(freed, put_count);
    for (size_t i = 0; i < 4000; i++)
        assert_false(pie_heap_may_be_tracked(block(i)));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_a_block_is_found_once, fresh),
        cmocka_unit_test_setup(test_a_ticket_tells_what_became_of_its_block, fresh),
        cmocka_unit_test_setup(test_tickets_are_reserved_once_and_run_out, fresh),
        cmocka_unit_test_setup(test_a_full_bucket_refuses, fresh),
        cmocka_unit_test_setup(test_a_dropped_block_is_not_tracked, fresh),
        cmocka_unit_test_setup(test_threads_do_not_lose_blocks, fresh),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
