/* SPDX-License-Identifier: Apache-2.0 */

/* What else can happen to a watch: calls that return elsewhere or not at all, the interpreter's own accesses, late and
 * stale traps, refused registers, several watches at one instruction, the end of the profile. Always something is
 * counted, and no register stays armed for nothing. */

#include "tests/profiler/watch/scene.h"

#include "profiler/base/clocks.h"
#include "profiler/base/home.h"
#include "profiler/watch/sampler.h"

#include <errno.h>
#include <string.h>

static void learn_one(const char *label, unsigned flags) {
    struct pie_access access = scene_access(label, flags, 8);

    scene_learn(&access, 1);
}

static void expect_free(unsigned index) {
    assert_int_equal(pie_watch_of(scene_thread)->slots[index].stage, PIE_WATCH_FREE);
    assert_int_equal(scene_last_order()->what, SCENE_DISARM);
    assert_int_equal(scene_last_order()->index, index);
}

static void expect_end(enum pie_watch_outcome outcome) {
    struct pie_watch_record ended = scene_pop();

    assert_int_equal(ended.record, PIE_WATCH_RECORD_ENDED);
    assert_int_equal(ended.outcome, outcome);
}

/* --- Calls that return elsewhere --- */

static ucontext_t returned_deeper(void) {
    ucontext_t context = scene_returned();

    context.uc_mcontext.gregs[REG_RSP] -= 512;
    return context;
}

static void test_recursion_is_not_the_return(void) {
    learn_one(scene_load, PIE_ACCESS_LOAD);
    unsigned index = scene_reach_return();
    ucontext_t deeper = returned_deeper(), back = scene_returned();
    size_t orders = scene.n_orders;

    for (int i = 0; i < 3; i++)
        scene_trap(index, &deeper);
    assert_int_equal(scene.n_orders, orders); /* the breakpoint stays */
    assert_int_equal(pie_counter_get(PIE_COUNTER_WATCH_STRAY_TRAPS), 3);
    scene_trap(index, &back);
    assert_int_equal(pie_watch_of(scene_thread)->slots[index].stage, PIE_WATCH_DATA);
    assert_int_equal(pie_counter_get(PIE_COUNTER_WATCH_REACHED), 1);
}

static void test_deep_recursion_is_given_up(void) {
    learn_one(scene_load, PIE_ACCESS_LOAD);
    unsigned index = scene_reach_return();
    ucontext_t deeper = returned_deeper();
    int traps = 0;

    while (pie_watch_of(scene_thread)->slots[index].stage == PIE_WATCH_RETURN && traps++ < 1000)
        scene_trap(index, &deeper);
    assert_in_range(traps, 2, 64);
    expect_free(index);
    assert_int_equal(pie_counter_get(PIE_COUNTER_WATCH_CALL_LEFT), 1);
    scene_no_record();
}

/* longjmp() or an exception leaves the call; the loop's next call returns to the same place, higher up. */
static void test_call_that_was_left_is_given_up(void) {
    learn_one(scene_load, PIE_ACCESS_LOAD);
    unsigned index = scene_reach_return();
    ucontext_t higher = scene_returned();

    higher.uc_mcontext.gregs[REG_RSP] += 64;
    scene_trap(index, &higher);
    expect_free(index);
    assert_int_equal(pie_counter_get(PIE_COUNTER_WATCH_CALL_LEFT), 1);
    scene_no_record();
}

static void test_access_outside_a_native_call_is_not_watched(void) {
    learn_one(scene_load, PIE_ACCESS_LOAD);
    int index = scene_sample(scene_call);
    ucontext_t context = scene_at(scene_load);

    pie_home_add((uintptr_t)scene_call, (uintptr_t)scene_end);
    scene_trap((unsigned)index, &context);
    expect_free((unsigned)index);
    assert_int_equal(pie_counter_get(PIE_COUNTER_WATCH_NOT_NATIVE), 1);
}

static void test_access_to_uninteresting_memory_is_not_watched(void) {
    learn_one(scene_load, PIE_ACCESS_LOAD);
    scene.frames_low = (uintptr_t)scene.word;
    scene.frames_high = (uintptr_t)(scene.word + 1);
    int index = scene_sample(scene_call);
    ucontext_t context = scene_at(scene_load);

    scene_trap((unsigned)index, &context);
    expect_free((unsigned)index);
    assert_int_equal(pie_counter_get(PIE_COUNTER_WATCH_ACCESS_IGNORED), 1);
}

/* --- The interpreter's own accesses --- */

static void test_the_interpreter_may_touch_a_few_times(void) {
    enum { TOLERATED = 4 };

    learn_one(scene_load, PIE_ACCESS_LOAD);
    unsigned index = scene_reach_data();
    ucontext_t touch = scene_at(scene_store);
    scene_pop();
    pie_home_add((uintptr_t)scene_call, (uintptr_t)scene_end);
    for (int i = 0; i < TOLERATED; i++) {
        scene_trap(index, &touch);
        assert_int_equal(pie_watch_of(scene_thread)->slots[index].stage, PIE_WATCH_DATA);
        assert_int_equal(scene_last_order()->what, SCENE_ARM);
        assert_int_equal(scene_last_order()->kind, PIE_DEBUG_LOAD_STORE);
        assert_int_equal(scene_last_order()->address, (uintptr_t)scene.word);
    }
    scene_no_record();
    scene_trap(index, &touch);
    expect_free(index);
    expect_end(PIE_WATCH_LOST);
    assert_int_equal(pie_counter_get(PIE_COUNTER_WATCH_STRAY_TRAPS), TOLERATED + 1);
}

static void test_a_touch_of_the_interpreter_does_not_hide_the_next_call(void) {
    learn_one(scene_store, PIE_ACCESS_STORE);
    unsigned index = scene_reach_data();
    ucontext_t touch = scene_at(scene_both);
    scene_pop();
    pie_home_add((uintptr_t)scene_call, (uintptr_t)scene_end);
    scene_trap(index, &touch);
    assert_int_equal(scene_last_order()->kind, PIE_DEBUG_STORE);
    pie_home_clear();
    scene_touch(index, &touch);
    expect_end(PIE_WATCH_REDUNDANT);
}

static void test_change_by_the_interpreter_ends_the_watch(void) {
    learn_one(scene_load, PIE_ACCESS_LOAD);
    unsigned index = scene_reach_data();
    ucontext_t touch = scene_at(scene_both);
    scene_pop();
    pie_home_add((uintptr_t)scene_call, (uintptr_t)scene_end);
    scene.word[0]++;
    scene_trap(index, &touch);
    expect_free(index);
    expect_end(PIE_WATCH_LOST);
}

/* --- Traps that say nothing --- */

static void test_late_trap_ends_the_watch_in_any_stage(void) {
    const uint32_t async = 1;
    ucontext_t anywhere = scene_at(scene_load);

    learn_one(scene_load, PIE_ACCESS_LOAD);
    unsigned index = (unsigned)scene_sample(scene_call);
    scene_trap_with(scene_cookie(index), async, &anywhere);
    expect_free(index);
    index = scene_reach_return();
    scene_trap_with(scene_cookie(index), async, &anywhere);
    expect_free(index);
    scene_no_record();
    index = scene_reach_data();
    scene_trap_with(scene_cookie(index), async, &anywhere);
    expect_free(index);
    scene_pop();
    expect_end(PIE_WATCH_LOST);
    assert_int_equal(pie_counter_get(PIE_COUNTER_WATCH_LATE_TRAPS), 3);
}

static void test_stale_trap_changes_nothing(void) {
    learn_one(scene_load, PIE_ACCESS_LOAD);
    unsigned index = scene_reach_data();
    uint64_t stale = scene_cookie(index);
    ucontext_t again = scene_at(scene_store);
    scene_trap(index, &again);
    scene_pop();
    scene_pop();

    size_t arms = scene_arms();
    scene_trap_with(stale, 0, &again); /* the watch is over, the slot free */
    assert_int_equal(scene_arms(), arms);
    assert_int_equal(pie_watch_of(scene_thread)->slots[index].stage, PIE_WATCH_FREE);
    assert_int_equal(scene_reach_data(), index);
    scene_pop();
    size_t orders = scene.n_orders;
    scene_trap_with(stale, 0, &again);
    assert_int_equal(scene.n_orders, orders);
    assert_int_equal(pie_watch_of(scene_thread)->slots[index].stage, PIE_WATCH_DATA);
    scene_no_record();
    assert_int_equal(pie_counter_get(PIE_COUNTER_WATCH_STRAY_TRAPS), 2);
}

static void test_only_marked_traps_are_ours(void) {
    uint64_t cookie = (UINT64_C(0x70696577) << 32) | 4;
    siginfo_t info;

    memset(&info, 0, sizeof info);
    info.si_signo = SIGTRAP;
    info.si_code = 6;
    memcpy((char *)&info + 24, &cookie, sizeof cookie);
    assert_true(pie_watch_is_ours(&info));
    info.si_code = TRAP_BRKPT;
    assert_false(pie_watch_is_ours(&info));
    info.si_code = SI_TKILL;
    assert_false(pie_watch_is_ours(&info));
    info.si_code = 6;
    info.si_signo = SIGUSR1;
    assert_false(pie_watch_is_ours(&info));
    info.si_signo = SIGTRAP;
    cookie ^= UINT64_C(1) << 40; /* a breakpoint of the program's own */
    memcpy((char *)&info + 24, &cookie, sizeof cookie);
    assert_false(pie_watch_is_ours(&info));
}

/* --- Refused registers --- */

static void expect_rest_after_refusal(uint64_t refusals) {
    size_t orders = scene.n_orders;
    uint64_t now_ns = pie_monotonic_ns();

    assert_int_equal(pie_counter_get(PIE_COUNTER_WATCH_NO_REGISTER), refusals);
    scene.refuse = 0;
    assert_in_range(pie_watch_of(scene_thread)->retry_ns, now_ns + 900000000, now_ns + 1000000000);
    for (int i = 0; i < 10; i++)
        assert_int_equal(scene_sample(scene_call), -1);
    assert_int_equal(scene.n_orders, orders);
    assert_int_equal(pie_counter_get(PIE_COUNTER_WATCH_NO_REGISTER), refusals + 10);
    pie_watch_of(scene_thread)->retry_ns = now_ns; /* a second later */
    int index = scene_sample(scene_call);
    assert_true(index >= 0);
    assert_int_equal(pie_watch_of(scene_thread)->slots[index].stage, PIE_WATCH_ACCESS);
    pie_watch_free_slot(scene_thread, (unsigned)index);
}

static void test_register_refused_at_stage_1(void) {
    learn_one(scene_load, PIE_ACCESS_LOAD);
    scene.refuse = -ENOSPC;
    scene_sample(scene_call);
    assert_int_equal(pie_watch_of(scene_thread)->slots[0].stage, PIE_WATCH_FREE);
    expect_rest_after_refusal(1);
}

static void test_register_refused_at_stage_2(void) {
    learn_one(scene_load, PIE_ACCESS_LOAD);
    unsigned index = (unsigned)scene_sample(scene_call);
    ucontext_t context = scene_at(scene_load);
    scene.refuse = -EMFILE;
    scene_trap(index, &context);
    expect_free(index);
    expect_rest_after_refusal(1);
}

static void test_register_refused_at_stage_3(void) {
    learn_one(scene_load, PIE_ACCESS_LOAD);
    unsigned index = scene_reach_return();
    ucontext_t back = scene_returned();
    scene.refuse = -ENOSPC;
    scene_trap(index, &back);
    expect_free(index);
    scene_no_record();
    assert_int_equal(pie_counter_get(PIE_COUNTER_WATCH_REACHED), 0);
    expect_rest_after_refusal(1);
}

/* Not the register was refused but the address, or it takes a moment: the next sample may try. */
static void test_other_refusals_need_no_rest(void) {
    static const int errors[] = {-EINVAL, -EAGAIN};

    learn_one(scene_load, PIE_ACCESS_LOAD);
    for (unsigned i = 0; i < 2; i++) {
        scene.refuse = errors[i];
        scene_sample(scene_call);
        assert_int_equal(pie_counter_get(PIE_COUNTER_WATCH_NO_REGISTER), i + 1);
        scene.refuse = 0;
        int index = scene_sample(scene_call);
        assert_true(index >= 0);
        assert_int_equal(pie_watch_of(scene_thread)->slots[index].stage, PIE_WATCH_ACCESS);
        pie_watch_free_slot(scene_thread, (unsigned)index);
    }
}

static void test_register_refused_after_a_touch_ends_the_watch(void) {
    learn_one(scene_load, PIE_ACCESS_LOAD);
    unsigned index = scene_reach_data();
    ucontext_t touch = scene_at(scene_store);
    scene_pop();
    pie_home_add((uintptr_t)scene_call, (uintptr_t)scene_end);
    scene.refuse = -ENOSPC;
    scene_trap(index, &touch);
    pie_home_clear();
    expect_free(index);
    expect_end(PIE_WATCH_LOST);
    expect_rest_after_refusal(1);
}

/* --- Ring, end of the profile --- */

static void test_full_ring_is_counted(void) {
    const struct pie_watch_record filler = {0};

    learn_one(scene_load, PIE_ACCESS_LOAD);
    while (pie_watch_ring_push(&pie_watch_of(scene_thread)->ring, &filler))
        continue;
    unsigned index = scene_reach_data();
    ucontext_t again = scene_at(scene_store);
    assert_int_equal(pie_counter_get(PIE_COUNTER_WATCH_RING_FULL), 1);
    scene_trap(index, &again);
    assert_int_equal(pie_counter_get(PIE_COUNTER_WATCH_RING_FULL), 2);
    expect_free(index);
    for (int i = 0; i < PIE_WATCH_RING_RECORDS; i++)
        scene_pop();
    scene_no_record();
}

static void test_nothing_happens_when_watching_is_off(void) {
    ucontext_t context = scene_at(scene_load), back = scene_returned();

    learn_one(scene_load, PIE_ACCESS_LOAD);
    unsigned armed = (unsigned)scene_sample(scene_call), returning = scene_reach_return();
    size_t arms = scene_arms();
    uint64_t traps = pie_counter_get(PIE_COUNTER_WATCH_TRAPS);
    pie_watch_set(NULL);
    assert_int_equal(scene_sample(scene_call), -1);
    scene_trap(armed, &context);
    assert_int_equal(scene_last_order()->what, SCENE_DISARM); /* at its next trap */
    assert_int_equal(scene_last_order()->index, armed);
    scene_trap(returning, &back);
    assert_int_equal(scene_last_order()->what, SCENE_DISARM);
    assert_int_equal(scene_last_order()->index, returning);
    assert_int_equal(scene_arms(), arms);
    assert_int_equal(pie_counter_get(PIE_COUNTER_WATCH_TRAPS), traps);
    assert_int_equal(pie_counter_get(PIE_COUNTER_WATCH_REACHED), 0);
    scene_no_record();
    pie_watch_set(&scene_settings);
}

static void stop_watching(void) {
    pie_watch_set(NULL);
}

/* The collection thread may end the profile at any instant of a handler. */
static void test_watching_ends_in_the_middle_of_a_trap(void) {
    ucontext_t context = scene_at(scene_load), back = scene_returned(), again = scene_at(scene_store);

    learn_one(scene_load, PIE_ACCESS_LOAD);
    unsigned reached = (unsigned)scene_sample(scene_call);
    learn_one(scene_both, PIE_ACCESS_LOAD);
    unsigned data = scene_reach_data();
    scene_pop();
    scene.during_walk = stop_watching;
    scene_trap(reached, &context);
    assert_int_not_equal(pie_watch_of(scene_thread)->slots[reached].stage, PIE_WATCH_DATA);
    pie_watch_set(&scene_settings);
    scene_trap(data, &again);
    expect_end(PIE_WATCH_REDUNDANT);
    scene_trap_with(scene_cookie(data), 0, &back);
    pie_watch_set(&scene_settings);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        SCENE(test_recursion_is_not_the_return),
        SCENE(test_deep_recursion_is_given_up),
        SCENE(test_call_that_was_left_is_given_up),
        SCENE(test_access_outside_a_native_call_is_not_watched),
        SCENE(test_access_to_uninteresting_memory_is_not_watched),
        SCENE(test_the_interpreter_may_touch_a_few_times),
        SCENE(test_a_touch_of_the_interpreter_does_not_hide_the_next_call),
        SCENE(test_change_by_the_interpreter_ends_the_watch),
        SCENE(test_late_trap_ends_the_watch_in_any_stage),
        SCENE(test_stale_trap_changes_nothing),
        SCENE(test_only_marked_traps_are_ours),
        SCENE(test_register_refused_at_stage_1),
        SCENE(test_register_refused_at_stage_2),
        SCENE(test_register_refused_at_stage_3),
        SCENE(test_other_refusals_need_no_rest),
        SCENE(test_register_refused_after_a_touch_ends_the_watch),
        SCENE(test_full_ring_is_counted),
        SCENE(test_nothing_happens_when_watching_is_off),
        SCENE(test_watching_ends_in_the_middle_of_a_trap),
    };
    return cmocka_run_group_tests_name("watch, oddities", tests, NULL, NULL);
}
