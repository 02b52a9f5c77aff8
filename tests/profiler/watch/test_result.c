/* SPDX-License-Identifier: Apache-2.0 */

/* The other question of stage 3: does the same place in the program get the same value from its next call? */

#include "tests/profiler/watch/scene.h"

#include "profiler/stacks/cct.h"
#include "profiler/watch/internal.h"

#include <math.h>

static struct pie_watch_slot *slot_of(unsigned index) {
    return &pie_watch_of(scene_thread)->slots[index];
}

/* The call returns a value of this hash. Returns the slot once a watch waits for the next result; half of them do
 * not. */
static unsigned await_result(uint64_t hash) {
    struct pie_access access = scene_access(scene_store, PIE_ACCESS_STORE, 8);
    ucontext_t back = scene_returned();

    scene_learn(&access, 1);
    scene.result_hash = hash;
    for (int i = 0; i < 100; i++) {
        unsigned index = scene_reach_return();
        scene_trap(index, &back);
        if (slot_of(index)->stage == PIE_WATCH_RESULT)
            return index;
        scene_pop();
        pie_watch_free_slot(scene_thread, index);
    }
    fail_msg("no result is watched");
    return 0;
}

static struct pie_watch_record expect_end(unsigned index, enum pie_watch_outcome outcome) {
    struct pie_watch_record reached = scene_pop(), ended = scene_pop();

    scene_no_record();
    assert_int_equal(reached.record, PIE_WATCH_RECORD_REACHED);
    assert_int_equal(ended.record, PIE_WATCH_RECORD_ENDED);
    assert_int_equal(ended.serial, reached.serial);
    assert_int_equal(ended.outcome, outcome);
    assert_int_equal(reached.kind, PIE_WATCH_STORE);
    assert_int_equal(reached.memory, PIE_WATCH_MEMORY_RETURNED);
    assert_int_equal(slot_of(index)->stage, PIE_WATCH_FREE);
    assert_false(slot_of(index)->is_armed);
    assert_int_equal(scene_last_order()->what, SCENE_DISARM);
    return ended;
}

static void test_same_value_again_is_redundant(void) {
    unsigned index = await_result(77);
    ucontext_t back = scene_returned();
    size_t arms = scene_arms();

    scene_trap(index, &back);
    assert_int_equal(scene_arms(), arms); /* the breakpoint stayed where it was */
    struct pie_watch_record ended = expect_end(index, PIE_WATCH_REDUNDANT);
    assert_int_equal(ended.value_before, 77);
    assert_int_equal(ended.value_after, 77);
    assert_int_equal(ended.rip, 0); /* no access to be looked up */
    assert_int_equal(pie_cct_key(ended.second_node), pie_cct_python_key(1, 5));
    assert_int_equal(pie_cct_key_address(pie_cct_key(ended.first_node)), (uintptr_t)scene_store);
}

static void test_another_value_is_a_change(void) {
    unsigned index = await_result(77);
    ucontext_t back = scene_returned();

    scene.result_hash = 78;
    for (int i = 0; i < 4; i++)
        scene_trap(index, &back);
    assert_int_equal(expect_end(index, PIE_WATCH_CHANGED).value_after, 78);
}

/* Two callers take turns at one place. */
static void test_the_value_after_next_counts_too(void) {
    unsigned index = await_result(77);
    ucontext_t back = scene_returned();

    scene.result_hash = 78;
    scene_trap(index, &back);
    scene.result_hash = 77;
    scene_trap(index, &back);
    expect_end(index, PIE_WATCH_REDUNDANT);
}

/* The next call returns nothing that can be compared. */
static void test_no_value_is_a_change(void) {
    unsigned index = await_result(77);
    ucontext_t back = scene_returned();

    scene.result_hash = 0;
    for (int i = 0; i < 4; i++)
        scene_trap(index, &back);
    expect_end(index, PIE_WATCH_CHANGED);
}

static void test_half_of_the_watches_ask_for_results(void) {
    enum { N = 2000 };
    struct pie_access access = scene_access(scene_load, PIE_ACCESS_LOAD, 8);
    ucontext_t back = scene_returned();
    unsigned results = 0;

    scene_learn(&access, 1);
    scene.result_hash = 1;
    for (int i = 0; i < N; i++) {
        unsigned index = scene_reach_return();
        scene_trap(index, &back);
        results += slot_of(index)->stage == PIE_WATCH_RESULT;
        pie_watch_free_slot(scene_thread, index);
        scene_pop();
        scene.n_orders = 0;
    }
    const double seen[] = {results, N - results}, expected[] = {N / 2.0, N / 2.0};
    assert_true(scene_fits(seen, expected, 2));
}

static void test_where_there_is_no_value_memory_is_watched(void) {
    struct pie_access access = scene_access(scene_load, PIE_ACCESS_LOAD, 8);

    scene_learn(&access, 1);
    for (int i = 0; i < 100; i++)
        pie_watch_free_slot(scene_thread, scene_reach_data());
}

/* Calls of other places in the program return to the same instruction of the loop. */
static void test_results_of_other_places_are_not_compared(void) {
    unsigned index = await_result(77);
    ucontext_t back = scene_returned(), deeper = back;

    deeper.uc_mcontext.gregs[REG_RSP] -= 512;
    scene.instr = 6;
    scene_trap(index, &back);
    scene.instr = 5;
    scene_trap(index, &deeper);
    assert_int_equal(slot_of(index)->stage, PIE_WATCH_RESULT);
    assert_int_equal(pie_counter_get(PIE_COUNTER_WATCH_STRAY_TRAPS), 2);
    scene_trap(index, &back);
    expect_end(index, PIE_WATCH_REDUNDANT);
}

/* Other places return here time and again: the code unit of the place itself is watched until it is read. */
static unsigned await_the_site(void) {
    unsigned index = await_result(77);
    ucontext_t back = scene_returned();

    scene.instr = 6;
    for (int i = 0; i < 4; i++)
        scene_trap(index, &back);
    assert_int_equal(slot_of(index)->stage, PIE_WATCH_SITE);
    assert_int_equal(scene_last_order()->kind, PIE_DEBUG_LOAD_STORE);
    assert_int_equal(scene_last_order()->address, 5);
    assert_int_equal(scene_last_order()->length, 2);
    return index;
}

static void test_far_place_is_waited_for_at_its_code(void) {
    unsigned index = await_the_site();
    ucontext_t back = scene_returned(), reading = scene_at(scene_both);

    scene_trap(index, &reading);
    assert_int_equal(slot_of(index)->stage, PIE_WATCH_RESULT);
    assert_int_equal(scene_last_order()->kind, PIE_DEBUG_EXECUTE);
    assert_int_equal(scene_last_order()->address, back.uc_mcontext.gregs[REG_RIP]);
    scene.instr = 5;
    scene_trap(index, &back);
    expect_end(index, PIE_WATCH_REDUNDANT);
}

/* Once it is known to be far, no other place's return is waited out. */
static void test_far_place_stays_far(void) {
    unsigned index = await_the_site();
    ucontext_t back = scene_returned(), reading = scene_at(scene_both);

    scene.result_hash = 78;
    for (int i = 0; i < 3; i++) {
        scene_trap(index, &reading);
        scene.instr = 5;
        scene_trap(index, &back);
        assert_int_equal(slot_of(index)->stage, PIE_WATCH_SITE);
        assert_int_equal(pie_counter_get(PIE_COUNTER_WATCH_STRAY_TRAPS), 4);
    }
    scene_trap(index, &reading);
    scene_trap(index, &back);
    expect_end(index, PIE_WATCH_CHANGED);
}

/* A handler may have looked at the unit. */
static void test_late_trap_of_the_code_says_nothing(void) {
    unsigned index = await_the_site();
    ucontext_t anywhere = scene_at(scene_load);

    scene_trap_with(scene_cookie(index), 1, &anywhere);
    assert_int_equal(slot_of(index)->stage, PIE_WATCH_SITE);
    assert_true(slot_of(index)->is_armed);
}

static void test_register_refused_for_the_code(void) {
    unsigned index = await_result(77);
    ucontext_t back = scene_returned();

    scene.instr = 6;
    scene.refuse = -28;
    for (int i = 0; i < 4; i++)
        scene_trap(index, &back);
    expect_end(index, PIE_WATCH_LOST);
}

/* The code is read, and other places return all the same. */
static void test_too_many_other_places_are_given_up(void) {
    unsigned index = await_result(77);
    ucontext_t back = scene_returned();
    int traps = 0;

    scene.instr = 6;
    while (slot_of(index)->stage != PIE_WATCH_FREE && traps++ < 1000)
        scene_trap(index, &back);
    assert_in_range(traps, 2, 256);
    expect_end(index, PIE_WATCH_LOST);
}

static void test_late_trap_ends_the_watch(void) {
    unsigned index = await_result(77);
    ucontext_t back = scene_returned();

    scene_trap_with(scene_cookie(index), 1, &back);
    expect_end(index, PIE_WATCH_LOST);
}

static void test_watch_of_a_result_may_give_way(void) {
    unsigned index = await_result(77);

    for (unsigned i = 0; i < PIE_DEBUG_REGISTERS; i++)
        if (i != index)
            slot_of(i)->stage = PIE_WATCH_RETURN; /* taken */
    while (pie_watch_choose_slot(scene_thread) != (int)index)
        continue;
    scene_pop();
    struct pie_watch_record ended = scene_pop();
    assert_int_equal(ended.outcome, PIE_WATCH_EVICTED);
    assert_int_equal(ended.slot, index);
    assert_int_equal(ended.memory, PIE_WATCH_MEMORY_RETURNED);
}

static void stop_watching(void) {
    pie_watch_set(NULL);
}

/* One slot waits for a result, another for its call's return, which is the same instruction; the profile ends while the
 * first is looked at. */
static void test_watching_ends_while_a_result_is_compared(void) {
    unsigned result = await_result(77), returning;
    ucontext_t back = scene_returned();

    scene_pop();
    returning = scene_reach_return();
    assert_int_not_equal(result, returning);
    scene.during_walk = stop_watching;
    scene_trap(returning, &back);
    pie_watch_set(&scene_settings);
    assert_int_equal(slot_of(result)->stage, PIE_WATCH_FREE);
}

/* A call whose arguments are found. */
#define A_CALL {.content = 11, .state = 21, .result = 31, .is_telling = true, .is_new = true}
static const struct pie_call_digest CALL = A_CALL;

/* --- A part of a result --- */

/* `different` words, again and again. */
static struct pie_value_words words_of(uint32_t different) {
    struct pie_value_words words = {.bytes = 2048, .step_bytes = 64, .count = PIE_VALUE_WORDS_MAX};

    for (uint32_t i = 0; i < words.count; i++)
        words.words[i] = 0x1000 + i % different;
    return words;
}

/* The next result differs, but for `same` words. */
static struct pie_watch_record end_with_words(uint32_t different, uint32_t same) {
    ucontext_t back = scene_returned();

    scene.words = words_of(different);
    unsigned index = await_result(77);
    scene.result_hash = 78;
    for (uint32_t i = same; i < PIE_VALUE_WORDS_MAX; i++)
        scene.words.words[i]++;
    for (int i = 0; i < 12 && slot_of(index)->stage != PIE_WATCH_FREE; i++)
        scene_trap(index, &back);
    return expect_end(index, PIE_WATCH_CHANGED);
}

static void test_half_of_the_words_are_the_same(void) {
    assert_int_equal(end_with_words(32, 16).traits & PIE_WATCH_PARTLY, PIE_WATCH_PARTLY);
    assert_int_equal(end_with_words(32, 15).traits & PIE_WATCH_PARTLY, 0);
}

/* As those of labels, which are the same by chance. */
static void test_a_few_different_words_are_no_part(void) {
    assert_int_equal(end_with_words(7, 16).traits & PIE_WATCH_PARTLY, 0);
}

/* As those of cells of a grid, which things seldom leave: 14 different words among 28 that are the same. */
static void test_words_that_recur_are_no_part(void) {
    assert_int_equal(end_with_words(14, 28).traits & PIE_WATCH_PARTLY, 0);
    assert_int_equal(end_with_words(21, 28).traits & PIE_WATCH_PARTLY, PIE_WATCH_PARTLY);
}

/* --- Within a tolerance --- */

/* The same place gets two numbers that differ by this part of themselves. */
static enum pie_watch_outcome outcome_of_a_difference(double tolerance, double part) {
    ucontext_t back = scene_returned();

    scene_settings.fp_tolerance = tolerance;
    scene.floats = (struct pie_value_floats){.rest = 1, .count = 1, .sums = {-4}, .sizes = {4}};
    unsigned index = await_result(77);
    scene.floats.sums[0] *= 1 + part;
    scene.floats.sizes[0] *= 1 + part;
    scene.result_hash = 78;
    for (int i = 0; i < 4 && slot_of(index)->stage != PIE_WATCH_FREE; i++)
        scene_trap(index, &back);
    scene_pop();
    return scene_pop().outcome;
}

static void test_results_within_the_tolerance_are_equal(void) {
    assert_int_equal(outcome_of_a_difference(1e-9, 0.9e-9), PIE_WATCH_REDUNDANT);
    assert_int_equal(outcome_of_a_difference(1e-9, 1.1e-9), PIE_WATCH_CHANGED);
    assert_int_equal(outcome_of_a_difference(0, 1e-15), PIE_WATCH_CHANGED);
}

/* They may be near the first call's, or not: a digest does not show that. */
static void test_arguments_of_near_results_are_not_known(void) {
    ucontext_t back = scene_returned();

    scene.call = CALL;
    scene_settings.fp_tolerance = 1e-9;
    scene.floats = (struct pie_value_floats){.rest = 1, .count = 1, .sums = {4}, .sizes = {4}};
    unsigned index = await_result(77);
    scene.result_hash = 78;
    scene.call.content++;
    scene_trap(index, &back);
    assert_int_equal(expect_end(index, PIE_WATCH_REDUNDANT).traits, 0);
}

/* Beside the numbers all must be the same. */
static void test_the_tolerance_is_for_numbers_only(void) {
    static const struct pie_value_floats number = {.rest = 1, .count = 1, .sums = {4}, .sizes = {4}};
    struct pie_value_floats other = number;

    assert_true(pie_watch_is_close(&number, &other, 0.5));
    other.rest = 2;
    assert_false(pie_watch_is_close(&number, &other, 0.5));
    other = number;
    other.count = 2;
    assert_false(pie_watch_is_close(&number, &other, 0.5));
    other = number;
    other.sums[31] = other.sizes[31] = 1;
    assert_false(pie_watch_is_close(&number, &other, 0.5));
    other = number;
    other.sums[0] = other.sizes[0] = NAN;
    assert_false(pie_watch_is_close(&number, &other, 0.5));
}

/* --- Arguments --- */

/* Nothing of the result can be compared: a watch of the call waits for the next one. */
static unsigned await_call(void) {
    scene.call = CALL;
    unsigned index = await_result(0);

    assert_int_equal(slot_of(index)->memory, PIE_WATCH_MEMORY_CALL);
    return index;
}

static struct pie_watch_record expect_call_end(unsigned index, enum pie_watch_outcome outcome) {
    struct pie_watch_record reached = scene_pop(), ended = scene_pop();

    scene_no_record();
    assert_int_equal(reached.memory, PIE_WATCH_MEMORY_CALL);
    assert_int_equal(reached.arguments, CALL.content);
    assert_int_equal(ended.outcome, outcome);
    assert_int_equal(slot_of(index)->stage, PIE_WATCH_FREE);
    return ended;
}

static void test_the_same_call_again_is_redundant(void) {
    unsigned index = await_call();
    ucontext_t back = scene_returned();

    scene_trap(index, &back);
    assert_int_equal(expect_call_end(index, PIE_WATCH_REDUNDANT).traits & PIE_WATCH_ARGUMENTS,
                     PIE_WATCH_ARGUMENTS);
}

static void test_other_arguments_are_a_change(void) {
    unsigned index = await_call();
    ucontext_t back = scene_returned();

    for (uint64_t i = 0; i < 4; i++) {
        scene.call.content = 100 + i;
        scene_trap(index, &back);
    }
    expect_call_end(index, PIE_WATCH_CHANGED);
}

/* The object that it is called on, or the result, is in another state: it may be another call, or the same. */
static void test_another_state_says_nothing(void) {
    ucontext_t back = scene_returned();

    for (int part = 0; part < 2; part++) {
        unsigned index = await_call();
        for (uint64_t i = 0; i < 4; i++) {
            *(part ? &scene.call.state : &scene.call.result) += 1;
            scene_trap(index, &back);
        }
        expect_call_end(index, PIE_WATCH_LOST);
    }
}

static void test_arguments_that_are_not_found_say_nothing(void) {
    unsigned index = await_call();
    ucontext_t back = scene_returned();

    scene.call.content = 0;
    for (int i = 0; i < 4; i++)
        scene_trap(index, &back);
    expect_call_end(index, PIE_WATCH_LOST);
}

/* A file's line, say: which one it is depends on the state of the file. */
static void test_text_beside_a_state_is_compared_by_the_whole_call(void) {
    scene.call = CALL;
    scene.call.traits = PIE_DIGEST_OPAQUE;
    scene.is_read_out = true;
    unsigned index = await_result(77);
    ucontext_t back = scene_returned();

    assert_int_equal(slot_of(index)->memory, PIE_WATCH_MEMORY_CALL);
    for (int i = 0; i < 4; i++) {
        scene.call.state++;
        scene_trap(index, &back);
    }
    expect_call_end(index, PIE_WATCH_LOST);
}

static void test_text_is_compared_by_itself_otherwise(void) {
    static const struct pie_call_digest calls[] = {A_CALL, {.content = 0}};
    ucontext_t back = scene_returned();

    scene.is_read_out = true;
    for (int i = 0; i < 2; i++) {
        scene.call = calls[i];
        unsigned index = await_result(77);
        scene_trap(index, &back);
        expect_end(index, PIE_WATCH_REDUNDANT);
    }
}

static void test_two_callers_of_one_place_take_turns(void) {
    unsigned index = await_call();
    ucontext_t back = scene_returned();

    scene.call.content = 12;
    scene_trap(index, &back);
    scene.call.content = CALL.content;
    scene_trap(index, &back);
    expect_call_end(index, PIE_WATCH_REDUNDANT);
}

static void test_a_call_that_does_not_tell_is_not_waited_for(void) {
    struct pie_access access = scene_access(scene_load, PIE_ACCESS_LOAD, 8);

    scene.call = CALL;
    scene.call.is_telling = false;
    scene_learn(&access, 1);
    for (int i = 0; i < 100; i++)
        pie_watch_free_slot(scene_thread, scene_reach_data());
}

/* Of long arguments a part was looked at. Such a call is compared with the next ones, and said to be one of these. */
static void test_a_call_that_nearly_tells_is_marked(void) {
    ucontext_t back = scene_returned();

    scene.call = CALL;
    scene.call.is_telling = false;
    scene.call.is_likely = true;
    scene.call.traits = PIE_DIGEST_SAMPLED;
    unsigned index = await_result(0);
    scene_trap(index, &back);
    struct pie_watch_record ended = expect_call_end(index, PIE_WATCH_REDUNDANT);
    assert_int_equal(ended.traits, PIE_WATCH_ARGUMENTS | PIE_WATCH_SAMPLED);
    assert_false(ended.has_arguments);
}

/* The same result: find() returns -1 whatever it looks for. */
static void test_the_same_result_by_other_arguments(void) {
    scene.call = CALL;
    unsigned index = await_result(77);
    ucontext_t back = scene_returned();

    scene.call.content = 12;
    scene_trap(index, &back);
    struct pie_watch_record ended = expect_end(index, PIE_WATCH_REDUNDANT);
    assert_int_equal(ended.traits, PIE_WATCH_ARGUMENTS | PIE_WATCH_OTHER_ARGUMENTS);
}

static void test_the_same_result_by_the_same_arguments(void) {
    scene.call = CALL;
    unsigned index = await_result(77);
    ucontext_t back = scene_returned();

    scene_trap(index, &back);
    assert_int_equal(expect_end(index, PIE_WATCH_REDUNDANT).traits, PIE_WATCH_ARGUMENTS);
}

static void test_the_same_result_by_arguments_that_are_not_found(void) {
    scene.call = CALL;
    unsigned index = await_result(77);
    ucontext_t back = scene_returned();

    scene.call.content = 0;
    scene_trap(index, &back);
    assert_int_equal(expect_end(index, PIE_WATCH_REDUNDANT).traits, 0);
}

/* Are the arguments the same, as far as can be seen? */
static bool has_same_arguments(uint64_t content, uint64_t state, uint8_t traits) {
    scene.call = CALL;
    scene.call.traits = traits;
    unsigned index = await_result(77);
    ucontext_t back = scene_returned();

    scene.call.content = content;
    scene.call.state = state;
    scene_trap(index, &back);
    struct pie_watch_record reached = scene_pop(), ended = scene_pop();
    assert_int_equal(reached.has_arguments, traits == 0);
    return ended.has_arguments;
}

static void test_same_arguments_are_told(void) {
    assert_true(has_same_arguments(CALL.content, CALL.state, 0));
    assert_true(has_same_arguments(CALL.content, CALL.state, PIE_DIGEST_OPAQUE));
    assert_false(has_same_arguments(CALL.content + 1, CALL.state, 0));
    assert_false(has_same_arguments(CALL.content, CALL.state + 1, PIE_DIGEST_OPAQUE));
    assert_false(has_same_arguments(CALL.content, CALL.state, PIE_DIGEST_SAMPLED));
}

/* --- Functions of the interpreter's own --- */

static int begin_own_call(void) {
    int index = -1;

    for (int i = 0; i < 1000 && index < 0; i++)
        index = scene_sample_call(scene_after);
    assert_true(index >= 0);
    assert_int_equal(slot_of((unsigned)index)->stage, PIE_WATCH_RETURN);
    return index;
}

static void test_own_function_is_watched_by_its_calls(void) {
    ucontext_t back = scene_returned();

    scene.call = CALL;
    unsigned index = (unsigned)begin_own_call();
    scene_trap(index, &back);
    assert_int_equal(slot_of(index)->stage, PIE_WATCH_RESULT);
    scene_trap(index, &back);
    struct pie_watch_record ended = expect_call_end(index, PIE_WATCH_REDUNDANT);
    assert_int_equal(ended.size, 0);
    assert_int_equal(ended.kind, PIE_WATCH_STORE);
}

/* There is no memory to watch instead. */
static void test_own_function_whose_call_does_not_tell(void) {
    ucontext_t back = scene_returned();
    unsigned index = (unsigned)begin_own_call();

    scene_trap(index, &back);
    assert_int_equal(slot_of(index)->stage, PIE_WATCH_FREE);
    scene_no_record();
    assert_int_equal(pie_counter_get(PIE_COUNTER_WATCH_ACCESS_IGNORED), 1);
}

/* len() is not worth it. */
static void test_own_function_that_returns_a_small_number(void) {
    ucontext_t back = scene_returned();

    scene.call = CALL;
    scene.call.is_new = false;
    unsigned index = (unsigned)begin_own_call();
    scene_trap(index, &back);
    assert_int_equal(slot_of(index)->stage, PIE_WATCH_FREE);
    scene_no_record();
}

/* A place that is not come to again holds no data breakpoint for long. */
static void test_own_function_far_away_is_given_up(void) {
    ucontext_t back = scene_returned();

    scene.call = CALL;
    unsigned index = (unsigned)begin_own_call();
    scene_trap(index, &back);
    scene.instr = 6;
    for (int i = 0; i < 4; i++)
        scene_trap(index, &back);
    assert_int_equal(slot_of(index)->stage, PIE_WATCH_SITE);
    pie_watch_charge_sample(scene_thread, &back, 0);
    assert_int_equal(slot_of(index)->stage, PIE_WATCH_SITE);
    scene_thread->cpu_last_ns += 30000000;
    pie_watch_charge_sample(scene_thread, &back, 0);
    expect_call_end(index, PIE_WATCH_LOST);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        SCENE(test_same_value_again_is_redundant),
        SCENE(test_another_value_is_a_change),
        SCENE(test_the_value_after_next_counts_too),
        SCENE(test_no_value_is_a_change),
        SCENE(test_half_of_the_watches_ask_for_results),
        SCENE(test_where_there_is_no_value_memory_is_watched),
        SCENE(test_results_of_other_places_are_not_compared),
        SCENE(test_far_place_is_waited_for_at_its_code),
        SCENE(test_far_place_stays_far),
        SCENE(test_late_trap_of_the_code_says_nothing),
        SCENE(test_register_refused_for_the_code),
        SCENE(test_too_many_other_places_are_given_up),
        SCENE(test_late_trap_ends_the_watch),
        SCENE(test_watch_of_a_result_may_give_way),
        SCENE(test_watching_ends_while_a_result_is_compared),
        SCENE(test_half_of_the_words_are_the_same),
        SCENE(test_a_few_different_words_are_no_part),
        SCENE(test_words_that_recur_are_no_part),
        SCENE(test_results_within_the_tolerance_are_equal),
        SCENE(test_arguments_of_near_results_are_not_known),
        SCENE(test_the_tolerance_is_for_numbers_only),
        SCENE(test_the_same_call_again_is_redundant),
        SCENE(test_other_arguments_are_a_change),
        SCENE(test_another_state_says_nothing),
        SCENE(test_arguments_that_are_not_found_say_nothing),
        SCENE(test_text_beside_a_state_is_compared_by_the_whole_call),
        SCENE(test_text_is_compared_by_itself_otherwise),
        SCENE(test_two_callers_of_one_place_take_turns),
        SCENE(test_a_call_that_does_not_tell_is_not_waited_for),
        SCENE(test_a_call_that_nearly_tells_is_marked),
        SCENE(test_the_same_result_by_other_arguments),
        SCENE(test_the_same_result_by_the_same_arguments),
        SCENE(test_the_same_result_by_arguments_that_are_not_found),
        SCENE(test_same_arguments_are_told),
        SCENE(test_own_function_is_watched_by_its_calls),
        SCENE(test_own_function_whose_call_does_not_tell),
        SCENE(test_own_function_that_returns_a_small_number),
        SCENE(test_own_function_far_away_is_given_up),
    };
    return cmocka_run_group_tests_name("watch, results", tests, NULL, NULL);
}
