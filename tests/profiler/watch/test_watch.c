/* SPDX-License-Identifier: Apache-2.0 */

/* The three stages of one watch on fake debug registers: what is armed when, and what each trap leads to. */

#include "tests/profiler/watch/scene.h"

#include "profiler/base/clocks.h"
#include "profiler/base/home.h"
#include "profiler/stacks/cct.h"

#include <errno.h>
#include <string.h>

static void expect_order(size_t at, int what, unsigned index, enum pie_debug_kind kind, const void *address,
                         unsigned length) {
    assert_true(at < scene.n_orders);
    const struct scene_order *order = &scene.orders[at];
    assert_int_equal(order->what, what);
    assert_int_equal(order->index, index);
    if (what != SCENE_ARM)
        return;
    assert_int_equal(order->kind, kind);
    assert_int_equal(order->address, (uintptr_t)address);
    assert_int_equal(order->length, length);
}

static void learn_one(const char *label, unsigned flags) {
    struct pie_access access = scene_access(label, flags, 8);

    scene_learn(&access, 1);
}

static void expect_context(struct pie_cct_id node, uintptr_t native) {
    assert_int_equal(pie_cct_key_address(pie_cct_key(node)), native);
    assert_int_equal(pie_cct_key(pie_cct_parent(node)), pie_cct_python_key(1, 5));
}

/* --- The way through all stages --- */

static void test_load_is_watched_through_three_stages(void) {
    learn_one(scene_load, PIE_ACCESS_LOAD);
    assert_int_equal(scene_sample(scene_call), 0);
    expect_order(0, SCENE_ARM, 0, PIE_DEBUG_EXECUTE, scene_load, 1);

    ucontext_t context = scene_at(scene_load), back = scene_returned(), again = scene_at(scene_store);
    scene_trap(0, &context);
    expect_order(1, SCENE_ARM, 0, PIE_DEBUG_EXECUTE, (void *)(uintptr_t)back.uc_mcontext.gregs[REG_RIP], 1);
    scene_no_record();

    scene_trap(0, &back);
    expect_order(2, SCENE_ARM, 0, PIE_DEBUG_LOAD_STORE, scene.word, 8);
    struct pie_watch_record reached = scene_pop();
    assert_int_equal(reached.record, PIE_WATCH_RECORD_REACHED);

    scene_trap(0, &again); /* after the instruction at scene_load */
    expect_order(3, SCENE_DISARM, 0, 0, NULL, 0);
    struct pie_watch_record ended = scene_pop();
    assert_int_equal(ended.record, PIE_WATCH_RECORD_ENDED);
    assert_int_equal(ended.outcome, PIE_WATCH_REDUNDANT);
    assert_int_equal(pie_watch_of(scene_thread)->slots[0].stage, PIE_WATCH_FREE);
    scene_no_record();
    assert_int_equal(scene_arms(), 3);
    assert_int_equal(pie_counter_get(PIE_COUNTER_WATCH_REACHED), 1);
    assert_int_equal(pie_counter_get(PIE_COUNTER_WATCH_TRAPS), 3);
}

static void test_records_say_what_was_seen(void) {
    learn_one(scene_load, PIE_ACCESS_LOAD);
    unsigned index = scene_reach_data();
    struct pie_watch_record reached = scene_pop();
    ucontext_t again = scene_at(scene_store);
    again.uc_mcontext.gregs[REG_R9] = 99;
    scene_trap(index, &again);
    struct pie_watch_record ended = scene_pop();

    const struct pie_watch_record *both[] = {&reached, &ended};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(both[i]->address, (uintptr_t)scene.word);
        assert_int_equal(both[i]->size, 8);
        assert_int_equal(both[i]->access_ip, (uintptr_t)scene_load);
        assert_int_equal(both[i]->access_bytes, 8);
        assert_int_equal(both[i]->kind, PIE_WATCH_LOAD);
        assert_int_equal(both[i]->memory, PIE_WATCH_MEMORY_OTHER);
        assert_int_equal(both[i]->traits, 0);
        assert_int_equal(both[i]->slot, index);
        assert_int_equal(both[i]->serial, reached.serial);
        expect_context(both[i]->first_node, (uintptr_t)scene_load);
    }
    assert_int_equal(ended.rip, (uintptr_t)scene_store);
    assert_int_equal(ended.registers[PIE_ACCESS_RDI], (uintptr_t)scene.word);
    assert_int_equal(ended.registers[9], 99);
    assert_int_equal(ended.value_before, 1000);
    assert_int_equal(ended.value_after, 1000);
    expect_context(ended.second_node, (uintptr_t)scene_store - 1);
    assert_true(ended.time_ns >= reached.time_ns);
    assert_true(ended.gap_ns <= pie_monotonic_ns() - reached.time_ns + 1000000);
}

static void test_changed_value_is_reported(void) {
    learn_one(scene_load, PIE_ACCESS_LOAD);
    unsigned index = scene_reach_data();
    scene_pop();
    scene.word[0] = 7;
    ucontext_t again = scene_at(scene_both);
    scene_trap(index, &again);
    struct pie_watch_record ended = scene_pop();
    assert_int_equal(ended.outcome, PIE_WATCH_CHANGED);
    assert_int_equal(ended.value_before, 1000);
    assert_int_equal(ended.value_after, 7);
}

/* The value that counts is the one that the call leaves behind. */
static void test_store_is_compared_with_what_the_call_left(void) {
    learn_one(scene_store, PIE_ACCESS_STORE);
    unsigned index = scene_reach_return();
    ucontext_t back = scene_returned(), again = scene_at(scene_both);

    scene.word[0] = 7;
    scene_trap(index, &back);
    assert_int_equal(scene_last_order()->kind, PIE_DEBUG_STORE);
    scene_touch(index, &again);
    scene_pop();
    struct pie_watch_record ended = scene_pop();
    assert_int_equal(ended.kind, PIE_WATCH_STORE);
    assert_int_equal(ended.outcome, PIE_WATCH_REDUNDANT);
    assert_int_equal(ended.value_before, 7);
}

/* … and so it is with the next call: what it writes first does not count, what it leaves does. */
static void test_store_is_compared_when_the_next_call_is_over(void) {
    learn_one(scene_store, PIE_ACCESS_STORE);
    unsigned index = scene_reach_data();
    ucontext_t back = scene_returned(), again = scene_at(scene_both), deeper = back;
    const struct pie_watch_slot *slot = &pie_watch_of(scene_thread)->slots[index];

    scene_pop();
    scene.word[0] = 7;
    scene_trap(index, &again);
    assert_int_equal(slot->stage, PIE_WATCH_NEXT_RETURN);
    assert_int_equal(scene_last_order()->kind, PIE_DEBUG_EXECUTE);
    assert_int_equal(scene_last_order()->address, back.uc_mcontext.gregs[REG_RIP]);
    deeper.uc_mcontext.gregs[REG_RSP] -= 512;
    scene_trap(index, &deeper);
    scene_no_record();
    scene.word[0] = 1000;
    scene_trap(index, &back);
    struct pie_watch_record ended = scene_pop();
    assert_int_equal(ended.outcome, PIE_WATCH_REDUNDANT);
    assert_int_equal(ended.value_after, 1000);
    assert_int_equal(ended.rip, (uintptr_t)scene_both);
    expect_context(ended.second_node, (uintptr_t)scene_both - 1);
    assert_int_equal(slot->stage, PIE_WATCH_FREE);
    scene_no_record();
}

static unsigned await_the_next_return(uint64_t value) {
    learn_one(scene_store, PIE_ACCESS_STORE);
    unsigned index = scene_reach_data();
    ucontext_t again = scene_at(scene_both);

    scene.word[0] = value;
    scene_pop();
    scene_trap(index, &again);
    assert_int_equal(pie_watch_of(scene_thread)->slots[index].stage, PIE_WATCH_NEXT_RETURN);
    return index;
}

/* A call that is left by an exception, or whose register is needed: what the store itself wrote counts. */
static void test_store_of_a_call_that_does_not_return_counts_as_it_is(void) {
    unsigned index = await_the_next_return(7);
    ucontext_t outer = scene_returned();
    struct pie_watch_record record;

    outer.uc_mcontext.gregs[REG_RSP] += 512;
    scene_trap(index, &outer);
    record = scene_pop();
    assert_int_equal(record.outcome, PIE_WATCH_CHANGED);
    assert_int_equal(record.value_after, 7);

    index = await_the_next_return(7);
    for (unsigned i = 0; i < PIE_DEBUG_REGISTERS; i++)
        if (i != index)
            pie_watch_of(scene_thread)->slots[i].stage = PIE_WATCH_RETURN; /* taken */
    for (int i = 0; i < 1000; i++)
        pie_watch_choose_slot(scene_thread);
    assert_int_equal(pie_watch_of(scene_thread)->slots[index].stage,
                     PIE_WATCH_NEXT_RETURN); /* it will come */
    pie_watch_of(scene_thread)->slots[index].began_ns -= 1100000000;
    pie_watch_of(scene_thread)->slots[index].seen = 0;
    while (pie_watch_of(scene_thread)->slots[index].stage == PIE_WATCH_NEXT_RETURN)
        pie_watch_choose_slot(scene_thread);
    record = scene_pop();
    assert_int_equal(record.outcome, PIE_WATCH_REDUNDANT);
    assert_int_equal(record.second_node.value != 0, 1);
}

static void test_register_refused_for_the_next_return(void) {
    learn_one(scene_store, PIE_ACCESS_STORE);
    unsigned index = scene_reach_data();
    ucontext_t again = scene_at(scene_both);

    scene_pop();
    scene.refuse = -ENOSPC;
    scene_trap(index, &again);
    assert_int_equal(scene_pop().outcome, PIE_WATCH_REDUNDANT);
    assert_int_equal(pie_watch_of(scene_thread)->slots[index].stage, PIE_WATCH_FREE);
}

static void test_load_of_what_the_call_changed_is_dropped(void) {
    learn_one(scene_load, PIE_ACCESS_LOAD);
    unsigned index = scene_reach_return();
    ucontext_t back = scene_returned();

    scene.word[0] = 7;
    scene_trap(index, &back);
    assert_int_equal(pie_counter_get(PIE_COUNTER_WATCH_CHANGED_IN_CALL), 1);
    assert_int_equal(pie_watch_of(scene_thread)->slots[index].stage, PIE_WATCH_FREE);
    assert_int_equal(scene_last_order()->what, SCENE_DISARM);
    scene_no_record();
}

/* Registers are exact at the sample itself: no trap is needed for stage 1. */
static void test_sample_at_the_access_skips_stage_1(void) {
    learn_one(scene_load, PIE_ACCESS_LOAD);
    assert_int_equal(scene_sample(scene_load), 0);
    assert_int_equal(pie_watch_of(scene_thread)->slots[0].stage, PIE_WATCH_RETURN);
    assert_int_equal(scene_arms(), 1);
}

static void test_read_modify_write_is_watched_as_either(void) {
    enum { N = 2000 };
    unsigned loads = 0;

    learn_one(scene_both, PIE_ACCESS_LOAD | PIE_ACCESS_STORE);
    ucontext_t again = scene_at(scene_after);
    for (int i = 0; i < N; i++) {
        unsigned index = scene_reach_data();
        loads += pie_watch_of(scene_thread)->slots[index].kind == PIE_WATCH_LOAD;
        scene_touch(index, &again);
        scene_pop();
        scene_pop();
        scene.n_orders = 0;
    }
    const double seen[] = {loads, N - loads}, expected[] = {N / 2.0, N / 2.0};
    assert_true(scene_fits(seen, expected, 2));
}

static void test_accesses_of_a_block_are_chosen_alike(void) {
    enum { N = 6000, ACCESSES = 6 };
    struct pie_access accesses[ACCESSES];
    double seen[ACCESSES] = {0}, expected[ACCESSES];

    for (int i = 0; i < ACCESSES; i++) {
        accesses[i] = scene_access(scene_load, PIE_ACCESS_LOAD, 8);
        accesses[i].disp = 8 * i;
        expected[i] = N / (double)ACCESSES;
    }
    scene_learn(accesses, ACCESSES);
    for (int i = 0; i < N; i++) {
        int index = scene_sample(scene_load);
        assert_true(index >= 0);
        seen[(pie_watch_of(scene_thread)->slots[index].address - (uintptr_t)scene.word) / 8]++;
        pie_watch_free_slot(scene_thread, (unsigned)index);
        scene.n_orders = 0;
    }
    assert_true(scene_fits(seen, expected, ACCESSES));
}

/* --- Kinds of memory, traits --- */

static void test_field_of_an_object_is_reported(void) {
    learn_one(scene_store, PIE_ACCESS_STORE);
    scene.objects[0].address = (uintptr_t)scene.word;
    scene.objects[0].kind = PIE_OBJECT_PLAIN;
    struct pie_access access = scene_access(scene_store, PIE_ACCESS_STORE, 8);
    access.disp = 24; /* behind the header */
    scene_learn(&access, 1);
    scene_reach_data();
    assert_int_equal(scene_pop().memory, PIE_WATCH_MEMORY_OBJECT);
}

static void test_data_of_an_array_is_reported(void) {
    uint64_t array = 0;

    learn_one(scene_load, PIE_ACCESS_LOAD);
    scene.objects[0].address = (uintptr_t)&array;
    scene.objects[0].kind = PIE_OBJECT_ARRAY;
    scene.objects[0].low = (uintptr_t)scene.word;
    scene.objects[0].high = (uintptr_t)(scene.word + 8);
    assert_int_equal(scene_sample(scene_call), 0);
    ucontext_t context = scene_at(scene_load), back = scene_returned();
    context.uc_mcontext.gregs[REG_R12] = (greg_t)(uintptr_t)&array;
    scene_trap(0, &context);
    scene_trap(0, &back);
    assert_int_equal(scene_pop().memory, PIE_WATCH_MEMORY_ARRAY);
}

static void test_memory_of_the_result_is_reported(void) {
    learn_one(scene_store, PIE_ACCESS_STORE);
    scene.objects[0].address = (uintptr_t)(scene.word - 4);
    scene.objects[0].kind = PIE_OBJECT_PLAIN;
    unsigned index = scene_reach_return();
    ucontext_t back = scene_returned();
    back.uc_mcontext.gregs[REG_RAX] = (greg_t)(uintptr_t)(scene.word - 4);
    scene_trap(index, &back);
    assert_int_equal(scene_pop().memory, PIE_WATCH_MEMORY_RESULT);
}

static void test_access_in_a_loop_has_the_trait(void) {
    learn_one(scene_load, PIE_ACCESS_LOAD | PIE_ACCESS_LOOP);
    scene_reach_data();
    assert_int_equal(scene_pop().traits, PIE_WATCH_IN_LOOP);
}

/* What is left of the call at the access, less the price of the trap that is in it. */
static void test_length_of_the_call_is_measured(void) {
    learn_one(scene_load, PIE_ACCESS_LOAD);
    unsigned index = scene_reach_return();
    uint64_t began_ns = pie_watch_of(scene_thread)->slots[index].began_ns;
    ucontext_t back = scene_returned();
    while (pie_monotonic_ns() < began_ns + 3000000)
        continue;
    scene_trap(index, &back);
    struct pie_watch_record reached = scene_pop();
    assert_true(reached.length_ns >= 3000000 - scene_settings.trap_price_ns);
    assert_true(reached.length_ns <= reached.time_ns - began_ns - scene_settings.trap_price_ns);

    scene_settings.trap_price_ns = UINT64_C(1) << 60; /* more than there was */
    scene_reach_data();
    assert_int_equal(scene_pop().length_ns, 0);
}

/* --- Which slot gives way --- */

enum { TIMES = 6000, SAMPLES = 80, BINS = 8 };

/* The rule of watch_slots_sigsafe.c: a slot that saw k samples gives way with this probability when it is asked. */
static double share_that_gives_way(unsigned index, unsigned k) {
    const unsigned patience[PIE_DEBUG_REGISTERS] = {8, 32, 128, 1 << 30};

    return k < patience[index] ? 1.0 / (k + 1) : 1.0 / patience[index];
}

/* … and is asked if none before it gave way; the order begins anywhere. */
static double share_that_is_replaced(unsigned index, unsigned k) {
    double share = 0;

    for (unsigned first = 0; first < PIE_DEBUG_REGISTERS; first++) {
        double asked = 1;
        for (unsigned i = first % PIE_DEBUG_REGISTERS; i != index; i = (i + 1) % PIE_DEBUG_REGISTERS)
            asked *= 1 - share_that_gives_way(i, k);
        share += asked * share_that_gives_way(index, k) / PIE_DEBUG_REGISTERS;
    }
    return share;
}

/* Samples 1, 2, 3, 4 … 5, 6 … 10, 11 … 25, 26 … 80, and those that stay. */
static unsigned bin_of(unsigned k) {
    return k <= 3 ? k - 1 : k <= 5 ? 3 : k <= 10 ? 4 : k <= 25 ? 5 : k <= SAMPLES ? 6 : 7;
}

/* Plays one history of four watches that nobody touches; notes at which sample each was replaced. */
static void play_history(double seen[PIE_DEBUG_REGISTERS][BINS]) {
    unsigned replaced[PIE_DEBUG_REGISTERS] = {0};
    struct pie_watch_record record;

    for (unsigned i = 0; i < PIE_DEBUG_REGISTERS; i++)
        pie_watch_of(scene_thread)->slots[i] = (struct pie_watch_slot){.stage = PIE_WATCH_DATA};
    for (unsigned k = 1; k <= SAMPLES; k++) {
        int chosen = pie_watch_choose_slot(scene_thread);
        if (chosen >= 0 && !replaced[chosen])
            replaced[chosen] = k;
        while (pie_watch_ring_pop(&pie_watch_of(scene_thread)->ring, &record))
            assert_int_equal(record.outcome, PIE_WATCH_EVICTED);
    }
    for (unsigned i = 0; i < PIE_DEBUG_REGISTERS; i++)
        seen[i][bin_of(replaced[i] ? replaced[i] : SAMPLES + 1)]++;
}

static void test_survival_of_each_slot_follows_its_rule(void) {
    double seen[PIE_DEBUG_REGISTERS][BINS] = {{0}};

    for (int i = 0; i < TIMES; i++)
        play_history(seen);
    for (unsigned i = 0; i < PIE_DEBUG_REGISTERS; i++) {
        double expected[BINS] = {0}, left = TIMES;
        for (unsigned k = 1; k <= SAMPLES; k++) {
            expected[bin_of(k)] += left * share_that_is_replaced(i, k);
            left -= left * share_that_is_replaced(i, k);
        }
        expected[BINS - 1] = left;
        size_t bins = left < 5 ? BINS - 1 : BINS; /* too few for chi-square */
        assert_true(scene_fits(seen[i], expected, bins));
    }
}

/* A slot that is free is always taken, and a trap starts its reservoir afresh, but not those of others. */
static void test_trap_resets_only_its_own_reservoir(void) {
    struct pie_watch_slot *slots = pie_watch_of(scene_thread)->slots;
    struct pie_watch_record record;
    ucontext_t again = scene_at(scene_store);
    unsigned index = 0;

    for (int i = 0; i < PIE_DEBUG_REGISTERS; i++) {
        struct pie_access access = scene_access(scene_load, PIE_ACCESS_LOAD, 8);
        access.disp = 64 * i; /* words far apart: a trap is of one of them */
        scene_learn(&access, 1);
        index = scene_reach_data();
    }
    for (int i = 0; i < 20; i++)
        pie_watch_choose_slot(scene_thread);
    while (pie_watch_ring_pop(&pie_watch_of(scene_thread)->ring, &record))
        continue;
    scene_trap(index, &again);
    for (unsigned i = 0; i < PIE_DEBUG_REGISTERS; i++)
        assert_int_equal(slots[i].seen, i == index ? 0 : 20);
    assert_int_equal(pie_watch_choose_slot(scene_thread), index);
    assert_int_equal(slots[(index + 1) % PIE_DEBUG_REGISTERS].seen, 20);
}

/* An execute breakpoint on code that is not reached gives the slot back after a while. */
static void test_access_that_is_not_reached_times_out(void) {
    learn_one(scene_load, PIE_ACCESS_LOAD);
    for (int i = 0; i < PIE_DEBUG_REGISTERS; i++)
        assert_int_equal(scene_sample(scene_call), i);
    pie_watch_of(scene_thread)->slots[2].began_ns -= 60000000;
    assert_int_equal(scene_sample(scene_call), 2);
    assert_int_equal(pie_counter_get(PIE_COUNTER_WATCH_NOT_REACHED), 1);
    scene_no_record();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        SCENE(test_load_is_watched_through_three_stages),
        SCENE(test_records_say_what_was_seen),
        SCENE(test_changed_value_is_reported),
        SCENE(test_store_is_compared_with_what_the_call_left),
        SCENE(test_store_is_compared_when_the_next_call_is_over),
        SCENE(test_store_of_a_call_that_does_not_return_counts_as_it_is),
        SCENE(test_register_refused_for_the_next_return),
        SCENE(test_load_of_what_the_call_changed_is_dropped),
        SCENE(test_sample_at_the_access_skips_stage_1),
        SCENE(test_read_modify_write_is_watched_as_either),
        SCENE(test_accesses_of_a_block_are_chosen_alike),
        SCENE(test_field_of_an_object_is_reported),
        SCENE(test_data_of_an_array_is_reported),
        SCENE(test_memory_of_the_result_is_reported),
        SCENE(test_access_in_a_loop_has_the_trait),
        SCENE(test_length_of_the_call_is_measured),
        SCENE(test_survival_of_each_slot_follows_its_rule),
        SCENE(test_trap_resets_only_its_own_reservoir),
        SCENE(test_access_that_is_not_reached_times_out),
    };
    return cmocka_run_group_tests_name("watch", tests, NULL, NULL);
}
