/* SPDX-License-Identifier: Apache-2.0 */

/* Several watches at one instruction. SIGTRAP is not queued: whatever an instruction hits, one signal comes, with one
 * cookie. The other slots have been hit as well and must not wait for a trap that was merged into this one. */

#include "tests/profiler/watch/scene.h"

#include <string.h>

static struct pie_access loads, stores;

static void learn(const struct pie_access *access) {
    scene_learn(access, 1);
}

static void learn_both(void) {
    loads = scene_access(scene_load, PIE_ACCESS_LOAD, 8);
    stores = scene_access(scene_store, PIE_ACCESS_STORE, 8);
}

/* A watch in stage 3 on `size` bytes at an offset of the scene's words. */
static unsigned watch(struct pie_access access, int32_t offset, unsigned size) {
    access.disp = offset;
    access.size_bytes = (uint16_t)size;
    learn(&access);
    unsigned index = scene_reach_data();
    scene_pop();
    return index;
}

static void expect_end_of(unsigned index, enum pie_watch_outcome outcome) {
    struct pie_watch_record record;
    struct pie_watch_ring *ring = &pie_watch_of(scene_thread)->ring;
    uint64_t tail = ring->tail;

    for (; tail < ring->head; tail++) {
        record = ring->records[tail % PIE_WATCH_RING_RECORDS];
        if (record.slot != index)
            continue;
        assert_int_equal(record.record, PIE_WATCH_RECORD_ENDED);
        assert_int_equal(record.outcome, outcome);
        assert_int_equal(pie_watch_of(scene_thread)->slots[index].stage, PIE_WATCH_FREE);
        return;
    }
    fail_msg("the watch of slot %u did not end", index);
}

static void test_one_store_hits_two_watches_of_one_word(void) {
    learn_both();
    unsigned a = watch(stores, 0, 8), b = watch(stores, 0, 8);
    ucontext_t again = scene_at(scene_both);

    assert_int_not_equal(a, b);
    scene_touch(a, &again);
    expect_end_of(a, PIE_WATCH_REDUNDANT);
    expect_end_of(b, PIE_WATCH_REDUNDANT);
    assert_int_equal(scene_pop().second_node.value, scene_pop().second_node.value);
}

static void test_one_store_changes_two_overlapping_words(void) {
    learn_both();
    unsigned a = watch(stores, 0, 8), b = watch(stores, 4, 4);
    ucontext_t again = scene_at(scene_both);

    scene.word[0] = UINT64_C(0x1122334455667788);
    scene_touch(b, &again);
    expect_end_of(a, PIE_WATCH_CHANGED);
    expect_end_of(b, PIE_WATCH_CHANGED);
}

/* A wide store: words beside each other, one signal. */
static void test_one_store_changes_two_neighbouring_words(void) {
    learn_both();
    unsigned a = watch(stores, 0, 8), b = watch(stores, 8, 8);
    ucontext_t again = scene_at(scene_both);

    scene.word[0] = scene.word[1] = 5;
    scene_touch(a, &again);
    expect_end_of(a, PIE_WATCH_CHANGED);
    expect_end_of(b, PIE_WATCH_CHANGED);
}

static void test_words_that_were_not_hit_stay_watched(void) {
    learn_both();
    unsigned a = watch(stores, 0, 8), b = watch(stores, 64, 8), c = watch(loads, 128, 8);
    ucontext_t again = scene_at(scene_both);

    scene_touch(a, &again);
    expect_end_of(a, PIE_WATCH_REDUNDANT);
    assert_int_equal(pie_watch_of(scene_thread)->slots[b].stage, PIE_WATCH_DATA);
    assert_int_equal(pie_watch_of(scene_thread)->slots[c].stage, PIE_WATCH_DATA);
}

static void test_one_load_hits_two_watches_of_one_word(void) {
    learn_both();
    unsigned a = watch(loads, 0, 8), b = watch(loads, 0, 8);
    ucontext_t again = scene_at(scene_store);

    scene_touch(a, &again);
    expect_end_of(a, PIE_WATCH_REDUNDANT);
    expect_end_of(b, PIE_WATCH_REDUNDANT);
}

/* A store hits what is watched for loads too, since x86 cannot watch loads alone. */
static void test_one_store_hits_a_load_and_a_store_watch(void) {
    learn_both();
    unsigned a = watch(stores, 0, 8), b = watch(loads, 0, 8);
    ucontext_t again = scene_at(scene_both);

    scene.word[0] = 5;
    scene_touch(a, &again);
    expect_end_of(a, PIE_WATCH_CHANGED);
    expect_end_of(b, PIE_WATCH_CHANGED);
}

/* Samples of one long call wait for the same return; it happens once. */
static void test_one_return_ends_stage_2_of_all(void) {
    learn_both();
    learn(&loads);
    unsigned a = scene_reach_return();
    loads.disp = 64;
    learn(&loads);
    unsigned b = scene_reach_return();
    ucontext_t back = scene_returned();

    assert_int_not_equal(a, b);
    scene_trap(a, &back);
    assert_int_equal(pie_watch_of(scene_thread)->slots[a].stage, PIE_WATCH_DATA);
    assert_int_equal(pie_watch_of(scene_thread)->slots[b].stage, PIE_WATCH_DATA);
    assert_int_equal(pie_counter_get(PIE_COUNTER_WATCH_REACHED), 2);
}

/* A call that returns deeper in is nobody's return. */
static void test_one_return_ends_stage_2_only_of_its_own_call(void) {
    learn_both();
    learn(&loads);
    unsigned outer = scene_reach_return(), inner = scene_reach_return();
    ucontext_t back = scene_returned();

    assert_int_not_equal(outer, inner);
    pie_watch_of(scene_thread)->slots[outer].return_sp += 256;
    scene_trap(inner, &back);
    assert_int_equal(pie_watch_of(scene_thread)->slots[inner].stage, PIE_WATCH_DATA);
    assert_int_equal(pie_watch_of(scene_thread)->slots[outer].stage, PIE_WATCH_RETURN);
}

/* Two samples chose one access before it was made. */
static void test_one_access_ends_stage_1_of_all(void) {
    learn_both();
    learn(&loads);
    int a = scene_sample(scene_call), b = scene_sample(scene_call);
    ucontext_t context = scene_at(scene_load);

    assert_true(a >= 0 && b >= 0 && a != b);
    scene_trap((unsigned)a, &context);
    assert_int_equal(pie_watch_of(scene_thread)->slots[a].stage, PIE_WATCH_RETURN);
    assert_int_equal(pie_watch_of(scene_thread)->slots[b].stage, PIE_WATCH_RETURN);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        SCENE(test_one_store_hits_two_watches_of_one_word),
        SCENE(test_one_store_changes_two_overlapping_words),
        SCENE(test_one_store_changes_two_neighbouring_words),
        SCENE(test_words_that_were_not_hit_stay_watched),
        SCENE(test_one_load_hits_two_watches_of_one_word),
        SCENE(test_one_store_hits_a_load_and_a_store_watch),
        SCENE(test_one_return_ends_stage_2_of_all),
        SCENE(test_one_return_ends_stage_2_only_of_its_own_call),
        SCENE(test_one_access_ends_stage_1_of_all),
    };
    return cmocka_run_group_tests_name("watch, several at once", tests, NULL, NULL);
}
