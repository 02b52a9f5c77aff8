/* SPDX-License-Identifier: Apache-2.0 */

/* Words of copies: what their asker hears, and that they hold one register at most. */

#include "tests/profiler/watch/scene.h"

#include "profiler/thread/part.h"

#include <errno.h>

static const uint64_t LONG_NS = 1000000000;
static _Atomic uint64_t word, other;

static enum pie_watch_copy_state state_of(const _Atomic uint64_t *asked) {
    return (enum pie_watch_copy_state)(*asked & 3);
}

static bool ask(_Atomic uint64_t *asked, uint32_t serial, uint64_t longest_ns) {
    pie_watch_of(scene_thread)->credit_ns = 1000000;
    return pie_watch_copy(scene_thread, (uintptr_t)scene.word, asked, serial, longest_ns);
}

static int slot_of_copy(void) {
    int found = -1, count = 0;

    for (int i = 0; i < PIE_DEBUG_REGISTERS; i++)
        if (pie_watch_of(scene_thread)->slots[i].stage == PIE_WATCH_COPY) {
            found = i;
            count++;
        }
    assert_in_range(count, 0, 1);
    return found;
}

static void test_a_write_is_told(void) {
    ucontext_t context = scene_at(scene_after);

    assert_true(ask(&word, 7, LONG_NS));
    assert_int_equal(word, 7 * 4 + PIE_WATCH_COPY_KEPT);
    assert_int_equal(scene_last_order()->what, SCENE_ARM);
    assert_int_equal(scene_last_order()->kind, PIE_DEBUG_STORE);
    assert_int_equal(scene_last_order()->address, (uintptr_t)scene.word);
    assert_int_equal(scene_last_order()->length, 8);
    scene_trap((unsigned)slot_of_copy(), &context);
    assert_int_equal(word, 7 * 4 + PIE_WATCH_COPY_WRITTEN);
    assert_int_equal(slot_of_copy(), -1);
    assert_int_equal(scene_last_order()->what, SCENE_DISARM);
    scene_no_record();
}

static void test_a_late_trap_is_a_write_all_the_same(void) {
    ucontext_t context = scene_at(scene_after);

    assert_true(ask(&word, 1, LONG_NS));
    scene_trap_with(scene_cookie((unsigned)slot_of_copy()), 1, &context);
    assert_int_equal(state_of(&word), PIE_WATCH_COPY_WRITTEN);
    assert_int_equal(slot_of_copy(), -1);
}

static void test_who_asks_no_more_has_no_register(void) {
    assert_true(ask(&word, 1, LONG_NS));
    pie_watch_copy_over(scene_thread, &other); /* another one's */
    assert_int_not_equal(slot_of_copy(), -1);
    pie_watch_copy_over(scene_thread, &word);
    assert_int_equal(slot_of_copy(), -1);
    assert_int_equal(scene_last_order()->what, SCENE_DISARM);
}

/* A word that nobody writes gives way to a newer one, sometimes. */
static void test_a_thread_watches_one_word(void) {
    int tries = 0;

    assert_true(ask(&word, 1, LONG_NS));
    while (!ask(&other, 2, LONG_NS))
        assert_in_range(tries++, 0, 2000);
    slot_of_copy();
    assert_int_equal(state_of(&word), PIE_WATCH_COPY_LOST);
    assert_int_equal(state_of(&other), PIE_WATCH_COPY_KEPT);
}

/* The block was freed on another thread, which cannot disarm this one's register. */
static void test_a_word_that_was_used_anew_gives_way_at_once(void) {
    ucontext_t context = scene_at(scene_after);

    assert_true(ask(&word, 1, LONG_NS));
    word = 9 * 4 + PIE_WATCH_COPY_KEPT;
    assert_true(ask(&other, 2, LONG_NS));
    scene_trap((unsigned)slot_of_copy(), &context);
    assert_int_equal(word, 9 * 4 + PIE_WATCH_COPY_KEPT);
    assert_int_equal(state_of(&other), PIE_WATCH_COPY_WRITTEN);
}

static void test_other_watches_take_its_register(void) {
    struct pie_access access = scene_access(scene_load, PIE_ACCESS_LOAD, 8);
    int samples = 0;

    scene_learn(&access, 1);
    assert_true(ask(&word, 1, LONG_NS));
    while (slot_of_copy() >= 0) {
        assert_in_range(samples++, 0, 2000);
        scene_sample(scene_call);
    }
    assert_int_equal(state_of(&word), PIE_WATCH_COPY_LOST);
}

static void test_a_word_is_not_watched_for_ever(void) {
    ucontext_t context = scene_at(scene_after);

    assert_true(ask(&word, 1, 1000));
    pie_watch_charge_sample(scene_thread, &context, 0);
    assert_int_not_equal(slot_of_copy(), -1);
    scene_thread->cpu_last_ns += 2000;
    pie_watch_charge_sample(scene_thread, &context, 0);
    assert_int_equal(slot_of_copy(), -1);
    assert_int_equal(state_of(&word), PIE_WATCH_COPY_LOST);
}

static void test_what_is_refused_is_not_watched(void) {
    scene.refuse = -ENOSPC;
    assert_false(ask(&word, 1, LONG_NS));
    assert_int_equal(slot_of_copy(), -1);
    scene.refuse = 0;
    pie_watch_of(scene_thread)->retry_ns = 0;
    pie_watch_of(scene_thread)->credit_ns = -1000000;
    pie_watch_of(scene_thread)->credit_program_ns = UINT64_MAX;
    assert_false(pie_watch_copy(scene_thread, (uintptr_t)scene.word, &word, 1, LONG_NS));
    pie_watch_set(NULL);
    assert_false(pie_watch_is_on());
    assert_false(ask(&word, 1, LONG_NS));
}

static void test_the_end_of_the_thread_is_told(void) {
    assert_true(ask(&word, 1, LONG_NS));
    pie_watch_part.end(scene_thread);
    assert_int_equal(state_of(&word), PIE_WATCH_COPY_LOST);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        SCENE(test_a_write_is_told),
        SCENE(test_a_late_trap_is_a_write_all_the_same),
        SCENE(test_who_asks_no_more_has_no_register),
        SCENE(test_a_thread_watches_one_word),
        SCENE(test_a_word_that_was_used_anew_gives_way_at_once),
        SCENE(test_other_watches_take_its_register),
        SCENE(test_a_word_is_not_watched_for_ever),
        SCENE(test_what_is_refused_is_not_watched),
        SCENE(test_the_end_of_the_thread_is_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
