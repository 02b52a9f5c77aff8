/* SPDX-License-Identifier: Apache-2.0 */

/* Calls of Python functions: what is waited for, when it is given up, and what is evidence. */

#include "tests/profiler/watch/scene.h"

#include "profiler/stacks/cct.h"
#include "profiler/watch/internal.h"

enum { FUNCTION = 1, CALLER = 2, UNIT = 100 };

#define A_CALL {.content = 11, .state = 21, .result = 31, .is_telling = true, .is_new = true}
static const struct pie_call_digest CALL = A_CALL;

static struct pie_watch_slot *slot_of(unsigned index) {
    return &pie_watch_of(scene_thread)->slots[index];
}

/* A line of own code calls a function of this owner. */
static void call_function_of(enum pie_code_owner owner) {
    scene.call = CALL;
    scene.result_hash = CALL.result;
    scene.caller.code = CALLER;
    scene.caller.instr = UNIT + SCENE_UNIT_TO_WAIT;
    scene.caller.is_at_site = scene.caller.has_returned = true;
    scene.owners[CALLER] = PIE_CODE_OWNER_OWN;
    scene.owners[FUNCTION] = owner;
}

/* The slot; -1: no watch began. */
static int begin(void) {
    int index = -1;

    for (int i = 0; i < 1000 && index < 0; i++)
        index = scene_sample_outer(scene_after);
    return index;
}

static unsigned begin_watch(enum pie_code_owner owner) {
    call_function_of(owner);
    int index = begin();
    assert_true(index >= 0);
    assert_int_equal(slot_of((unsigned)index)->stage, PIE_WATCH_FIRST);
    return (unsigned)index;
}

/* Anything, and the loop that has just stored the result. */
static void trap(unsigned index) {
    ucontext_t context = scene_returned();

    scene_trap(index, &context);
}

/* The first call that is seen has been made. */
static unsigned await_next(enum pie_code_owner owner) {
    unsigned index = begin_watch(owner);

    trap(index);
    assert_int_equal(slot_of(index)->stage, PIE_WATCH_OUTER);
    trap(index);
    return index;
}

/* The next one as well. */
static struct pie_watch_record make_next(unsigned index) {
    struct pie_watch_record reached = scene_pop();

    assert_int_equal(slot_of(index)->stage, PIE_WATCH_SITE);
    trap(index);
    assert_int_equal(slot_of(index)->stage, PIE_WATCH_OUTER_NEXT);
    trap(index);
    assert_int_equal(reached.record, PIE_WATCH_RECORD_REACHED);
    return reached;
}

static struct pie_watch_record expect_end(unsigned index, enum pie_watch_outcome outcome) {
    struct pie_watch_record ended = scene_pop();

    scene_no_record();
    assert_int_equal(ended.record, PIE_WATCH_RECORD_ENDED);
    assert_int_equal(ended.outcome, outcome);
    assert_int_equal(slot_of(index)->stage, PIE_WATCH_FREE);
    assert_false(slot_of(index)->is_armed);
    return ended;
}

static void expect_armed(enum pie_debug_kind kind, uint64_t address, unsigned length) {
    const struct scene_order *order = scene_last_order();

    assert_int_equal(order->what, SCENE_ARM);
    assert_int_equal(order->kind, kind);
    assert_int_equal(order->address, address);
    assert_int_equal(order->length, length);
}

static void test_the_unit_and_the_result_are_waited_for_in_turn(void) {
    unsigned index = begin_watch(PIE_CODE_OWNER_LIBRARY);

    expect_armed(PIE_DEBUG_LOAD_STORE, UNIT, 2);
    trap(index);
    expect_armed(PIE_DEBUG_STORE, (uintptr_t)scene.word, 8);
    trap(index);
    expect_armed(PIE_DEBUG_LOAD_STORE, UNIT, 2);
    assert_int_equal(slot_of(index)->stage, PIE_WATCH_SITE);
    trap(index);
    expect_armed(PIE_DEBUG_STORE, (uintptr_t)scene.word, 8);
}

static void test_the_same_call_again_is_redundant(void) {
    unsigned index = await_next(PIE_CODE_OWNER_LIBRARY);
    struct pie_watch_record reached = make_next(index);
    struct pie_watch_record ended = expect_end(index, PIE_WATCH_REDUNDANT);

    assert_int_equal(reached.memory, PIE_WATCH_MEMORY_CALL);
    assert_int_equal(reached.arguments, CALL.content);
    assert_true(reached.has_arguments);
    assert_int_equal(reached.traits & (PIE_WATCH_OUTER_CALL | PIE_WATCH_OWN_CALL), PIE_WATCH_OUTER_CALL);
    assert_int_equal(pie_cct_key(reached.first_node), pie_cct_python_key(CALLER, UNIT + SCENE_UNIT_TO_WAIT));
    assert_int_equal(pie_cct_key(pie_watch_line_node(reached.second_node)), pie_cct_python_key(FUNCTION, 5));
    assert_true(ended.has_arguments);
}

static void test_other_arguments_are_a_change(void) {
    unsigned index = await_next(PIE_CODE_OWNER_LIBRARY);

    scene.call.content++;
    make_next(index);
    assert_int_equal(slot_of(index)->stage, PIE_WATCH_SITE); /* there may be two callers that take turns */
    trap(index);
    trap(index);
    expect_end(index, PIE_WATCH_CHANGED);
}

/* It returns an array of which most was there before. An own function's may be the next state of what it works on. */
static void test_a_part_of_a_result_is_the_same(void) {
    static const enum pie_code_owner owners[] = {PIE_CODE_OWNER_LIBRARY, PIE_CODE_OWNER_OWN};

    for (size_t i = 0; i < 2; i++) {
        scene.words = (struct pie_value_words){.bytes = 2048, .step_bytes = 64, .count = PIE_VALUE_WORDS_MAX};
        for (uint64_t word = 0; word < PIE_VALUE_WORDS_MAX; word++)
            scene.words.words[word] = 0x1000 + word;
        unsigned index = await_next(owners[i]);
        scene.call.content++;
        scene.words.words[0]++;
        make_next(index);
        if (owners[i] == PIE_CODE_OWNER_LIBRARY) {
            assert_int_equal(expect_end(index, PIE_WATCH_CHANGED).traits & PIE_WATCH_PARTLY,
                             PIE_WATCH_PARTLY);
        } else {
            trap(index);
            trap(index);
            assert_int_equal(expect_end(index, PIE_WATCH_CHANGED).traits & PIE_WATCH_PARTLY, 0);
        }
    }
}

static void test_own_functions_are_told_apart(void) {
    unsigned index = await_next(PIE_CODE_OWNER_OWN);

    assert_int_equal(make_next(index).traits & PIE_WATCH_OWN_CALL, PIE_WATCH_OWN_CALL);
    expect_end(index, PIE_WATCH_REDUNDANT);
}

/* What is stored where the result would be is none. */
static void test_a_call_that_raises_ends_the_watch(void) {
    unsigned index = begin_watch(PIE_CODE_OWNER_LIBRARY);

    trap(index);
    scene.caller.has_returned = false;
    trap(index);
    expect_end(index, PIE_WATCH_LOST);
    scene.caller.has_returned = true;
    index = await_next(PIE_CODE_OWNER_LIBRARY);
    scene.caller.has_returned = false;
    make_next(index);
    expect_end(index, PIE_WATCH_LOST);
}

static void test_others_may_touch_the_unit(void) {
    unsigned index = begin_watch(PIE_CODE_OWNER_LIBRARY);

    scene.caller.is_at_site = false;
    for (int i = 0; i < 24; i++) {
        trap(index);
        assert_int_equal(slot_of(index)->stage, PIE_WATCH_FIRST);
        assert_true(slot_of(index)->is_armed);
    }
    trap(index);
    expect_end(index, PIE_WATCH_LOST);
}

/* Of code that lies where the slot's lay, or a place that calls a function of another owner by now. */
static void test_another_call_at_the_unit_is_none(void) {
    unsigned index = begin_watch(PIE_CODE_OWNER_LIBRARY);

    scene.caller.code = 3;
    trap(index);
    assert_int_equal(slot_of(index)->stage, PIE_WATCH_FIRST);
    scene.caller.code = CALLER;
    scene.owners[FUNCTION] = PIE_CODE_OWNER_OWN;
    trap(index);
    assert_int_equal(slot_of(index)->stage, PIE_WATCH_FIRST);
}

static void test_late_traps(void) {
    unsigned index = begin_watch(PIE_CODE_OWNER_LIBRARY);
    ucontext_t anywhere = scene_at(scene_load);

    scene_trap_with(scene_cookie(index), 1, &anywhere); /* a handler looked at the unit */
    assert_int_equal(slot_of(index)->stage, PIE_WATCH_FIRST);
    assert_true(slot_of(index)->is_armed);
    trap(index);
    scene_trap_with(scene_cookie(index), 1, &anywhere); /* the result is gone by now */
    assert_int_equal(slot_of(index)->stage, PIE_WATCH_FREE);
    index = await_next(PIE_CODE_OWNER_LIBRARY);
    scene_pop();
    trap(index);
    scene_trap_with(scene_cookie(index), 1, &anywhere);
    expect_end(index, PIE_WATCH_LOST);
}

/* A call that takes long, or is not made again, holds no register. */
static void test_each_wait_is_given_up(void) {
    ucontext_t anywhere = scene_at(scene_load);

    for (int traps = 0; traps < 4; traps++) {
        unsigned index = begin_watch(PIE_CODE_OWNER_LIBRARY);
        for (int i = 0; i < traps; i++)
            trap(index);
        pie_watch_charge_sample(scene_thread, &anywhere, 0);
        assert_int_not_equal(slot_of(index)->stage, PIE_WATCH_FREE);
        scene_thread->cpu_last_ns += 201000000;
        pie_watch_charge_sample(scene_thread, &anywhere, 0);
        assert_int_equal(slot_of(index)->stage, PIE_WATCH_FREE);
        assert_int_equal(scene_last_order()->what, SCENE_DISARM);
        if (traps >= 2)
            scene_pop();
        scene_pop();
        scene_thread->cpu_last_ns += 7000000000; /* it is not left alone any more */
    }
}

/* Most outer functions of a program take as long as the program. */
static void test_a_place_where_a_wait_came_to_nothing_is_left_alone(void) {
    ucontext_t anywhere = scene_at(scene_load);

    begin_watch(PIE_CODE_OWNER_LIBRARY);
    scene_thread->cpu_last_ns += 201000000;
    pie_watch_charge_sample(scene_thread, &anywhere, 0);
    for (int i = 0; i < 5; i++) /* a second at least each */
        assert_int_equal(begin(), -1);
    scene_thread->cpu_last_ns += 1500000000;
    assert_true(begin() >= 0);
}

/* Where native code is at work, other watches may begin. */
static void test_one_in_64_samples_of_native_code(void) {
    enum { N = 16000 };
    unsigned begun = 0;

    call_function_of(PIE_CODE_OWNER_OWN);
    for (int i = 0; i < N; i++) {
        int index = scene_sample_outer(scene_after);
        scene.n_orders = 0;
        begun += index >= 0;
        if (index >= 0)
            pie_watch_free_slot(scene_thread, (unsigned)index);
    }
    const double seen[] = {begun, N - begun}, expected[] = {N / 64.0, N * 63 / 64.0};
    assert_true(scene_fits(seen, expected, 2));
}

static void test_refused_registers(void) {
    call_function_of(PIE_CODE_OWNER_LIBRARY);
    scene.refuse = -28;
    for (int i = 0; i < 100; i++)
        scene_sample_outer(scene_after);
    for (unsigned i = 0; i < PIE_DEBUG_REGISTERS; i++)
        assert_int_equal(slot_of(i)->stage, PIE_WATCH_FREE);
    scene.refuse = 0;
    pie_watch_of(scene_thread)->retry_ns = 0;
    unsigned index = begin_watch(PIE_CODE_OWNER_LIBRARY);
    scene.refuse = -28;
    trap(index);
    assert_int_equal(slot_of(index)->stage, PIE_WATCH_FREE);
}

/* Is such a call compared? */
static bool is_compared(enum pie_code_owner owner, struct pie_call_digest call) {
    pie_watch_fruit_forget();
    unsigned index = begin_watch(owner);
    bool is_compared;

    scene.call = call;
    trap(index);
    trap(index);
    is_compared = slot_of(index)->stage == PIE_WATCH_SITE;
    if (is_compared)
        assert_int_equal(scene_pop().has_arguments, call.traits == 0);
    else
        assert_int_equal(slot_of(index)->stage, PIE_WATCH_FREE);
    pie_watch_free_slot(scene_thread, index);
    scene_no_record();
    return is_compared;
}

static void test_what_is_evidence(void) {
    struct pie_call_digest opaque = CALL, small = CALL, unread = CALL, kept = CALL;

    opaque.traits = PIE_DIGEST_OPAQUE;
    small.is_new = false;
    unread.result = 0;
    kept = (struct pie_call_digest){.content = 11, .state = 21, .kept = 99};
    assert_true(is_compared(PIE_CODE_OWNER_LIBRARY, CALL));
    assert_true(is_compared(PIE_CODE_OWNER_LIBRARY, opaque));
    assert_true(is_compared(PIE_CODE_OWNER_LIBRARY, small));
    assert_true(is_compared(PIE_CODE_OWNER_LIBRARY, unread));
    assert_true(is_compared(PIE_CODE_OWNER_LIBRARY, kept));
    small.traits = unread.traits = kept.traits = PIE_DIGEST_OPAQUE;
    unread.is_telling = false; /* as the arguments' reader says then */
    assert_false(is_compared(PIE_CODE_OWNER_LIBRARY, small));
    assert_false(is_compared(PIE_CODE_OWNER_LIBRARY, unread));
    assert_false(is_compared(PIE_CODE_OWNER_LIBRARY, kept));
}

static void test_what_is_evidence_of_own_functions(void) {
    struct pie_call_digest small = CALL, unread = CALL;

    small.is_new = false;
    unread.result = 0;
    assert_true(is_compared(PIE_CODE_OWNER_OWN, CALL));
    assert_false(is_compared(PIE_CODE_OWNER_OWN, small));
    assert_false(is_compared(PIE_CODE_OWNER_OWN, unread));
    assert_false(
        is_compared(PIE_CODE_OWNER_OWN, (struct pie_call_digest){.content = 11, .state = 21, .kept = 99}));
}

/* It goes by more than its arguments, so these prove nothing. */
static void test_an_own_function_that_acts(void) {
    scene.caller.acts = true;
    assert_true(make_next(await_next(PIE_CODE_OWNER_LIBRARY)).has_arguments);
    scene_pop();
    unsigned index = await_next(PIE_CODE_OWNER_OWN);
    assert_false(make_next(index).has_arguments);
    assert_false(expect_end(index, PIE_WATCH_REDUNDANT).has_arguments);
}

static void test_calls_of_nobody(void) {
    call_function_of(PIE_CODE_OWNER_OWN);
    scene.owners[CALLER] = PIE_CODE_OWNER_UNKNOWN;
    assert_int_equal(begin(), -1);
    scene.owners[CALLER] = PIE_CODE_OWNER_LIBRARY;
    assert_int_equal(begin(), -1);
    scene.caller.code = 0;
    assert_int_equal(begin(), -1);
}

/* Where the loop makes a call by a function that empties the stack, that one is returned to with the arguments in
 * place. */
static void test_the_arguments_are_there_where_the_call_returns_to(void) {
    static const struct pie_code_range takers[] = {{0x1000, 0x1100}, {0x3000, 0x3040}, {0, 0}};
    static const struct {
        uintptr_t caller; /* an address in the function that the loop called */
        size_t above;     /* frames above the loop's */
        bool is_taker;
    } cases[] = {
        {0x1001, 3, true},  {0x1100, 3, true}, {0x1000, 3, false}, {0x1101, 3, false}, {0x3020, 3, true},
        {0x2000, 3, false}, {0x1050, 2, true}, {0x1050, 1, false}, /* it is at work itself */
    };
    const struct pie_pystack_ops with = {.takers = takers}, without = {.takers = NULL};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pie_native_frame native[4] = {{.ip = 0x1010}, {.ip = 0x1010}, {.ip = 0x1010}, {.ip = 0x9000}};
        struct pie_call_path taken = {.native = native, .native_count = 4};
        const struct pie_native_frame *loop = &native[cases[i].above];
        native[cases[i].above - 1].ip = cases[i].caller;
        assert_ptr_equal(pie_watch_return_of(&with, &taken, loop), loop - cases[i].is_taker);
        assert_ptr_equal(pie_watch_return_of(&without, &taken, loop), loop);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        SCENE(test_the_arguments_are_there_where_the_call_returns_to),
        SCENE(test_the_unit_and_the_result_are_waited_for_in_turn),
        SCENE(test_the_same_call_again_is_redundant),
        SCENE(test_other_arguments_are_a_change),
        SCENE(test_a_part_of_a_result_is_the_same),
        SCENE(test_own_functions_are_told_apart),
        SCENE(test_a_call_that_raises_ends_the_watch),
        SCENE(test_others_may_touch_the_unit),
        SCENE(test_another_call_at_the_unit_is_none),
        SCENE(test_late_traps),
        SCENE(test_each_wait_is_given_up),
        SCENE(test_a_place_where_a_wait_came_to_nothing_is_left_alone),
        SCENE(test_one_in_64_samples_of_native_code),
        SCENE(test_refused_registers),
        SCENE(test_what_is_evidence),
        SCENE(test_what_is_evidence_of_own_functions),
        SCENE(test_an_own_function_that_acts),
        SCENE(test_calls_of_nobody),
    };
    return cmocka_run_group_tests_name("watch, Python calls", tests, NULL, NULL);
}
