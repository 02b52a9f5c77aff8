/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "profiler/base/region.h"
#include "profiler/heap/engine.h"

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

/* First of all tests, with the first table of the process. */
static void test_the_first_table_leaves_the_filter_untouched(void **state) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uintptr_t begin = ((uintptr_t)pie_heap_filter + page - 1) / page * page;
    size_t pages = ((uintptr_t)pie_heap_filter + sizeof pie_heap_filter - begin) / page;
    unsigned char resident[sizeof pie_heap_filter / 4096 + 1];

    assert_int_equal(mincore((void *)begin, pages * page, resident), 0);
    for (size_t i = 0; i < pages; i++)
        assert_int_equal(resident[i] & 1, 0);
}

static const void *where(uint32_t ticket) {
    static const void *blocks[PIE_HEAP_TICKETS];
    pie_heap_table_blocks(blocks);
    return blocks[ticket];
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
    assert_ptr_equal(where(ticket), block(1));
    assert_int_equal(pie_heap_table_remove(block(2)), 0);
    assert_int_equal(pie_heap_table_remove(block(1)), ticket);
    assert_int_equal(pie_heap_table_remove(block(1)), 0);
    assert_false(pie_heap_may_be_tracked(block(1)));
    assert_null(where(ticket));
}

/* How many tickets' ends were not told of yet. */
static int ended(void) {
    int count = 0;

    for (size_t word = 0; word < PIE_HEAP_TICKET_WORDS; word++)
        count += __builtin_popcountll(pie_heap_table_take_ended(word));
    return count;
}

static void test_a_ticket_tells_what_became_of_its_block(void **state) {
    uint32_t freed = pie_heap_table_reserve(), lost = pie_heap_table_reserve(),
             alive = pie_heap_table_reserve();
    uint64_t freed_ns = 0;
    pie_heap_table_put(alive, block(3));
    assert_int_equal(ended(), 0);
    pie_heap_table_free(freed, 123456);
    pie_heap_table_lose(lost);
    assert_int_equal(ended(), 2);
    assert_int_equal(ended(), 0);
    pie_heap_table_tell_again(lost);
    assert_int_equal(pie_heap_table_take_ended(lost / 64), UINT64_C(1) << lost % 64);
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

/* Addresses of one bucket: the eighth is the last that fits. */
static void test_a_full_bucket_refuses(void **state) {
    size_t found = 0;
    for (size_t i = 0; i < sizeof memory / 16; i++) {
        if (pie_heap_table_bucket(block(i)) != pie_heap_table_bucket(block(0)))
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
    assert_ptr_equal(where(first), block(5));
    assert_true(pie_heap_table_drop(first, block(5)));
    assert_int_equal(pie_heap_table_remove(block(5)), 0);
}

/* A block that has grown was sampled twice: both tickets go with it, wherever it goes, and end together. */
static void test_a_block_that_has_grown_has_two_tickets(void **state) {
    uint32_t first = pie_heap_table_reserve(), second = pie_heap_table_reserve();
    assert_true(pie_heap_table_put(first, block(8)));
    uint32_t token = pie_heap_table_remove(block(8));
    assert_int_equal(token, first);
    assert_true(pie_heap_table_move(token, block(9)));
    assert_true(pie_heap_table_put(second, block(9)));
    assert_ptr_equal(where(first), block(9));
    assert_ptr_equal(where(second), block(9));
    token = pie_heap_table_remove(block(9));
    assert_int_equal(token, second);
    assert_false(pie_heap_may_be_tracked(block(9)));
    assert_true(pie_heap_table_move(token, block(10)));
    assert_int_equal(pie_heap_table_remove(block(9)), 0);
    pie_heap_table_free(pie_heap_table_remove(block(10)), 77);
    assert_int_equal(fate(first), PIE_HEAP_FREED);
    assert_int_equal(fate(second), PIE_HEAP_FREED);
    assert_false(pie_heap_may_be_tracked(block(10)));
}

static void test_the_last_ticket_of_a_block_can_be_dropped(void **state) {
    uint32_t first = pie_heap_table_reserve(), second = pie_heap_table_reserve();
    pie_heap_table_put(first, block(8));
    pie_heap_table_put(second, block(8));
    assert_false(pie_heap_table_is_last(first, block(8)));
    assert_false(pie_heap_table_drop(first, block(8)));
    assert_true(pie_heap_table_is_last(second, block(8)));
    assert_true(pie_heap_table_drop(second, block(8)));
    assert_null(where(second));
    assert_true(pie_heap_may_be_tracked(block(8)));
    assert_int_equal(pie_heap_table_remove(block(8)), first);
    assert_false(pie_heap_may_be_tracked(block(8)));
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

static void test_an_address_beyond_user_space_is_not_tracked(void **state) {
    const void *far = (const void *)(uintptr_t)(UINT64_C(1) << PIE_HEAP_ADDRESS_BITS | 0x1000);
    uint32_t ticket = pie_heap_table_reserve();
    assert_false(pie_heap_table_put(ticket, far));
    assert_int_equal(fate(ticket), PIE_HEAP_LOST);
    assert_false(pie_heap_may_be_tracked(far));
}

/* One address that is freed and sampled again and again under new tickets, while the collection thread drops the ticket
 * that it believes to be there: sooner or later all of that happens between its two looks. Each ticket ends once, and
 * what is dropped is what was asked for. */
enum { TAKEOVERS_MAX = 4000000, DROPS_WANTED = 2000, PAUSE_MAX = 256 };
static _Atomic uint32_t offered; /* a ticket that may be dropped; 0: none */
static _Atomic bool is_over;
static _Atomic uint8_t dropped[PIE_HEAP_TICKETS]; /* by ticket, of its present life */

static void *drop_what_is_offered(void *unused) {
    while (!is_over) {
        uint32_t ticket = offered;
        if (ticket && pie_heap_table_drop(ticket, block(7)))
            dropped[ticket]++;
    }
    return NULL;
}

static void test_a_drop_never_takes_the_next_block_of_the_address(void **state) {
    pthread_t dropper;
    size_t drops = 0, frees = 0;
    is_over = false;
    offered = 0;
    assert_int_equal(pthread_create(&dropper, NULL, drop_what_is_offered, NULL), 0);
    for (size_t i = 0; i < TAKEOVERS_MAX && drops < DROPS_WANTED; i++) {
        uint32_t ticket =
            1 + (uint32_t)(i % (PIE_HEAP_TICKETS - 1)); /* each lives on its own for 8190 turns */
        assert_true(pie_heap_table_put(ticket, block(7)));
        offered = ticket;
        for (volatile size_t pause = i * 7919 % PAUSE_MAX; pause > 0;) /* until somewhere between its looks */
            pause--;
        uint32_t got = pie_heap_table_remove(block(7));
        if (got == 0) { /* then it was dropped, or is being just now */
            for (int wait = 0; !dropped[ticket] && wait < 100000000; wait++)
                continue;
            assert_int_equal(dropped[ticket], 1);
            dropped[ticket] = 0;
            drops++;
        } else {
            assert_int_equal(got, ticket);
            frees++;
        }
    }
    is_over = true;
    pthread_join(dropper, NULL);
    print_message("# %zu drops, %zu frees\n", drops, frees);
    for (uint32_t ticket = 1; ticket < PIE_HEAP_TICKETS; ticket++)
        assert_int_equal(dropped[ticket], 0);
    assert_false(pie_heap_may_be_tracked(block(7)));
    assert_in_range(drops, 1, SIZE_MAX);
    assert_in_range(frees, 1, SIZE_MAX);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_the_first_table_leaves_the_filter_untouched, fresh),
        cmocka_unit_test_setup(test_a_block_is_found_once, fresh),
        cmocka_unit_test_setup(test_a_ticket_tells_what_became_of_its_block, fresh),
        cmocka_unit_test_setup(test_tickets_are_reserved_once_and_run_out, fresh),
        cmocka_unit_test_setup(test_a_full_bucket_refuses, fresh),
        cmocka_unit_test_setup(test_a_dropped_block_is_not_tracked, fresh),
        cmocka_unit_test_setup(test_a_block_that_has_grown_has_two_tickets, fresh),
        cmocka_unit_test_setup(test_the_last_ticket_of_a_block_can_be_dropped, fresh),
        cmocka_unit_test_setup(test_threads_do_not_lose_blocks, fresh),
        cmocka_unit_test_setup(test_an_address_beyond_user_space_is_not_tracked, fresh),
        cmocka_unit_test_setup(test_a_drop_never_takes_the_next_block_of_the_address, fresh),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
