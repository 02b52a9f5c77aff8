/* SPDX-License-Identifier: Apache-2.0 */

/* Two halves of the calling context tree that take turns, while threads make nodes. Code is a number here: the code of
 * a half has that half's bit. */

#include "profiler/base/own_memory.h"
#include "profiler/base/region.h"
#include "profiler/collect/collectors.h"
#include "profiler/collect/turn.h"
#include "profiler/ports/pystack.h"
#include "profiler/stacks/call_path.h"
#include "profiler/stacks/cct.h"
#include "profiler/thread/thread.h"
#include "profiler/time/thread.h"
#include "profiler/watch/watch.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { BUDGET = 4096 };

static uint32_t intern_again(uint32_t code_id) {
    return (code_id & ~PIE_CCT_CODE_HALF_BIT) | (pie_half_own() ? PIE_CCT_CODE_HALF_BIT : 0);
}

static const struct pie_pystack_ops ops = {.intern_again = intern_again};
static struct pie_turn turn;
static struct pie_thread *thread;

static int set_up(void **state) {
    thread = NULL;
    turn = (struct pie_turn){.ops = &ops, .budget_bytes = BUDGET};
    if (pie_region_reset() < 0 || pie_cct_init() < 0)
        return -1;
    pie_threads_reset();
    thread = pie_thread_begin(true, "main");
    return !thread;
}

static int tear_down(void **state) {
    pie_thread_end();
    pie_free(turn.was_outside);
    return 0;
}

static uint64_t python(uint32_t code) {
    return pie_cct_python_key(intern_again(code), 7);
}

static void fill(size_t bytes) {
    for (uint64_t key = 1; bytes > 0; key++, bytes -= bytes < 32 ? bytes : 32)
        pie_cct_child(pie_cct_root(), key);
}

/* A turn that nothing holds up. */
static void pass(void) {
    turn.ended_ns = 0;
    assert_true(pie_turn_tick(&turn));
    pie_turn_drained(&turn);
}

static void test_small_trees_do_not_turn(void **state) {
    fill(BUDGET / 2);
    assert_false(pie_turn_tick(&turn));
    assert_int_equal(pie_half_current(), 0);
    assert_int_equal(turn.stage, PIE_TURN_RESTING);
    turn.is_wanted = true; /* for another reason */
    assert_true(pie_turn_tick(&turn));
    assert_int_equal(pie_half_current(), 1);
}

static void test_without_a_budget_nothing_turns(void **state) {
    turn.budget_bytes = 0;
    turn.is_wanted = true;
    fill(BUDGET);
    assert_false(pie_turn_tick(&turn));
}

static void test_what_threads_remember_moves(void **state) {
    fill(BUDGET);
    struct pie_cct_id outer = pie_cct_child(pie_cct_root(), python(3)), node = pie_cct_child(outer, 0x1234);
    pie_time_of(thread)->last_node = node;
    pie_watch_of(thread)->slots[2].first_node = outer;
    pie_watch_of(thread)->slots[1].touch.second_node = (struct pie_cct_id){PIE_CCT_FULL_ID};
    pass();
    assert_int_not_equal(pie_time_of(thread)->last_node.value, node.value);
    assert_int_equal(pie_cct_half(pie_time_of(thread)->last_node), 1);
    assert_int_equal(pie_cct_key(pie_time_of(thread)->last_node), 0x1234);
    assert_int_equal(pie_cct_parent(pie_time_of(thread)->last_node).value,
                     pie_watch_of(thread)->slots[2].first_node.value);
    uint64_t key = pie_cct_key(pie_watch_of(thread)->slots[2].first_node);
    assert_int_equal(pie_cct_key_code(key), 3 | PIE_CCT_CODE_HALF_BIT);
    assert_int_equal(pie_cct_key_offset(key), 7);
    assert_true(pie_cct_is_root(pie_cct_parent(pie_watch_of(thread)->slots[2].first_node)));
    assert_int_equal(pie_watch_of(thread)->slots[1].touch.second_node.value,
                     PIE_CCT_FULL_ID | PIE_CCT_HALF_BIT);
    assert_int_equal(pie_turn_moved(&turn, node).value, pie_time_of(thread)->last_node.value);
    assert_int_equal(pie_turn_moved(&turn, pie_time_of(thread)->last_node).value,
                     pie_time_of(thread)->last_node.value);
    assert_int_equal(pie_cct_key(node), 0x1234); /* until the end */
    pie_turn_end(&turn);
    assert_int_equal(pie_region_used(PIE_ARENA_CCT), 0);
    assert_int_equal(turn.stage, PIE_TURN_RESTING);
}

/* A handler that began before keeps its half; it holds the turn up until it is over, twice. */
static void test_a_handler_delays_it(void **state) {
    fill(BUDGET);
    pie_thread_enter(thread, PIE_INSIDE_HANDLER);
    assert_false(pie_turn_tick(&turn));
    assert_int_equal(turn.stage, PIE_TURN_LEAVING);
    assert_false(pie_turn_tick(&turn));
    pie_thread_leave(thread);
    pie_thread_enter(thread, PIE_INSIDE_HOOK);
    assert_int_equal(pie_half_own(), 1);
    assert_false(pie_turn_tick(&turn)); /* it never saw it outside */
    pie_thread_leave(thread);
    assert_true(pie_turn_tick(&turn));
    assert_int_equal(turn.stage, PIE_TURN_DRAINING);
    assert_true(pie_turn_tick(&turn)); /* a ring could not be emptied */
}

/* The path that a thread inserted last is of the old half. */
static void test_a_path_is_inserted_anew(void **state) {
    const uint64_t path[] = {0x20, 0x10};
    struct pie_cct_id before = pie_call_path_insert(thread, path, 2);
    fill(BUDGET);
    pass();
    pie_turn_end(&turn);
    pie_thread_enter(thread, PIE_INSIDE_HANDLER);
    struct pie_cct_id after = pie_call_path_insert(thread, path, 2);
    pie_thread_leave(thread);
    assert_int_not_equal(before.value, after.value);
    assert_int_equal(pie_cct_half(after), 1);
    assert_int_equal(pie_cct_key(after), 0x20);
    assert_int_equal(pie_cct_key(pie_cct_parent(after)), 0x10);
}

static void test_memory_stays_the_same(void **state) {
    for (int nth = 0; nth < 100; nth++) {
        fill(BUDGET + 320);
        assert_in_range(pie_region_used(PIE_ARENA_CCT) + pie_region_used(PIE_ARENA_CCT_OTHER), BUDGET,
                        2 * BUDGET);
        pass();
        pie_turn_end(&turn);
        assert_int_equal(pie_half_current(), (nth + 1) % 2);
    }
}

/* --- Threads --- */

enum { THREADS = 4, TURNS = 200 };
static _Atomic bool is_over;
static _Atomic uint64_t wrong, made;

static void *make_nodes(void *number) {
    struct pie_thread *own = pie_thread_begin(false, "worker");
    uint64_t key = (uint64_t)(uintptr_t)number << 32;

    while (own && !is_over) {
        pie_thread_enter(own, PIE_INSIDE_HANDLER);
        struct pie_cct_id node = pie_cct_root();
        for (uint64_t depth = 0; depth < 5; depth++)
            node = pie_cct_child(node, key + depth);
        for (uint64_t depth = 5; depth-- > 0; node = pie_cct_parent(node))
            wrong += pie_cct_key(node) != key + depth && !pie_cct_is_full(node);
        wrong += !pie_cct_is_root(node);
        __atomic_store_n(&pie_time_of(own)->last_node.value, pie_cct_child(pie_cct_root(), key).value,
                         __ATOMIC_RELAXED);
        pie_thread_leave(own);
        key += 5;
        made++;
        sched_yield();
    }
    pie_thread_end();
    return NULL;
}

static void test_threads_never_lose_what_they_make(void **state) {
    pthread_t threads[THREADS];

    is_over = false;
    for (uintptr_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, make_nodes, (void *)(i + 1)), 0);
    for (int nth = 0; nth < TURNS;) {
        turn.ended_ns = 0;
        if (!pie_turn_tick(&turn)) {
            sched_yield();
            continue;
        }
        pie_turn_drained(&turn);
        pie_turn_end(&turn);
        nth++;
    }
    is_over = true;
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(wrong, 0);
    assert_true(made > TURNS);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_small_trees_do_not_turn, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_without_a_budget_nothing_turns, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_what_threads_remember_moves, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_handler_delays_it, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_path_is_inserted_anew, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_memory_stays_the_same, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_threads_never_lose_what_they_make, set_up, tear_down),
    };

    pie_collectors_lay_out_threads();
    if (pie_region_init() < 0)
        return 1;
    return cmocka_run_group_tests_name("turn", tests, NULL, NULL);
}
