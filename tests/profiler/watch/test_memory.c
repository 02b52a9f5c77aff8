/* SPDX-License-Identifier: Apache-2.0 */

/* Which word of an access is watched, and which memory is of interest at all (PieProf §4.2). */

#include "tests/profiler/watch/scene.h"

#include "profiler/base/clocks.h"

#include <stdlib.h>
#include <string.h>

static uint64_t registers[PIE_ACCESS_REGISTERS];

static bool choose(unsigned bytes, unsigned flags, uint64_t address, struct pie_watch_word *ret_word) {
    struct pie_access access = scene_access(scene_load, PIE_ACCESS_LOAD | flags, bytes);

    return pie_watch_choose_word(pie_watch_of(scene_thread), &access, registers, address, ret_word);
}

static void test_word_of_a_plain_operand(void) {
    static const struct {
        unsigned bytes;
        uint64_t address;
        uint64_t word;
        uint32_t size;
    } cases[] = {
        {1, 0x10003, 0x10003, 1},
        {2, 0x10002, 0x10002, 2},
        {4, 0x10004, 0x10004, 4},
        {8, 0x10008, 0x10008, 8},
        {8, 0x7fffffffeff0, 0x7fffffffeff0, 8},
    };
    struct pie_watch_word word;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_true(choose(cases[i].bytes, 0, cases[i].address, &word));
        assert_int_equal(word.address, cases[i].word);
        assert_int_equal(word.size, cases[i].size);
        assert_int_equal(word.bytes, cases[i].bytes);
    }
}

/* Whatever is asked for: a power of two, aligned to itself, inside the operand. */
static void test_word_lies_inside_the_operand(void) {
    struct pie_watch_word word;

    for (unsigned bytes = 1; bytes <= 64; bytes++)
        for (uint64_t address = 0x10000; address < 0x10040; address++)
            for (int i = 0; i < 8; i++) {
                assert_true(choose(bytes, 0, address, &word));
                assert_true(word.size == 1 || word.size == 2 || word.size == 4 || word.size == 8);
                assert_int_equal(word.address % word.size, 0);
                assert_true(word.address >= address);
                assert_true(word.address + word.size <= address + bytes);
                assert_int_equal(word.bytes, bytes);
                if (address % 8 == 0 && bytes % 8 == 0)
                    assert_int_equal(word.size, 8);
            }
}

static void test_there_is_no_word_outside_user_space(void) {
    struct pie_watch_word word;

    assert_false(choose(8, 0, 0, &word));
    assert_false(choose(8, 0, 0xfff, &word));
    assert_false(choose(8, 0, UINT64_C(0x7ffffffff000), &word));
    assert_false(choose(64, 0, UINT64_C(0x7fffffffefd0), &word));
    assert_false(choose(8, 0, UINT64_C(0xffff888000000000), &word));
    assert_false(choose(8, 0, UINT64_MAX - 3, &word));
}

/* Counts how often each word of [base, base + 8 * words) is chosen. */
static void expect_uniform(unsigned bytes, unsigned flags, uint64_t base, size_t words) {
    enum { WORDS_MAX = 64, TIMES = 400 };
    double seen[WORDS_MAX] = {0}, expected[WORDS_MAX];
    struct pie_watch_word word;

    for (size_t i = 0; i < words; i++)
        expected[i] = TIMES;
    for (size_t i = 0; i < TIMES * words; i++) {
        assert_true(choose(bytes, flags, base, &word));
        assert_int_equal(word.size, 8);
        assert_true((word.address - base) / 8 < words);
        seen[(word.address - base) / 8]++;
    }
    assert_true(scene_fits(seen, expected, words));
}

static void test_word_of_a_vector_is_chosen_uniformly(void) {
    expect_uniform(16, 0, 0x10000, 2);
    expect_uniform(32, 0, 0x10000, 4);
    expect_uniform(64, 0, 0x10000, 8);
}

static void test_word_of_a_string_is_chosen_uniformly(void) {
    registers[PIE_ACCESS_RCX] = 40;
    expect_uniform(8, PIE_ACCESS_REP, 0x10000, 40);
    registers[PIE_ACCESS_RCX] = 320;
    expect_uniform(1, PIE_ACCESS_REP, 0x10000, 40);
}

static void test_strings_of_no_and_of_absurd_length(void) {
    struct pie_watch_word word;

    registers[PIE_ACCESS_RCX] = 0;
    assert_false(choose(8, PIE_ACCESS_REP, 0x10000, &word));
    registers[PIE_ACCESS_RCX] = UINT64_MAX;
    assert_false(choose(8, PIE_ACCESS_REP, 0x10000, &word));
    registers[PIE_ACCESS_RCX] = UINT64_C(1) << 44;
    assert_false(choose(8, PIE_ACCESS_REP, 0x10000, &word));
    registers[PIE_ACCESS_RCX] = 1000;
    assert_true(choose(4, PIE_ACCESS_REP, 0x10000, &word));
    assert_int_equal(word.bytes, 4000);
}

static void test_string_is_watched_through_the_stages(void) {
    struct pie_access access = scene_access(scene_store, PIE_ACCESS_STORE | PIE_ACCESS_REP, 8);
    ucontext_t context = scene_at(scene_store), back = scene_returned();

    scene_learn(&access, 1);
    context.uc_mcontext.gregs[REG_RCX] = 64;
    int index = scene_sample(scene_call);
    scene_trap((unsigned)index, &context);
    scene_trap((unsigned)index, &back);
    struct pie_watch_record reached = scene_pop();
    assert_int_equal(reached.access_bytes, 512);
    assert_int_equal(reached.size, 8);
    assert_in_range(reached.address, (uintptr_t)scene.word, (uintptr_t)(scene.word + 63));
    assert_int_equal(reached.traits, PIE_WATCH_IN_LOOP);
}

/* --- The array that a call got --- */

static struct pie_watch_record reach_in_array(const char *label, unsigned flags, unsigned *ret_index) {
    struct pie_access access = scene_access(label, flags, 8);

    scene_learn(&access, 1);
    scene.array_bytes = 512;
    *ret_index = scene_reach_data();
    return scene_pop();
}

static void test_array_that_the_call_got_is_noted_with_the_time_of_a_round(void) {
    unsigned index;
    struct pie_watch_record reached = reach_in_array(scene_load, PIE_ACCESS_LOAD | PIE_ACCESS_LOOP, &index);
    ucontext_t again = scene_at(scene_both);

    assert_int_equal(reached.traits, PIE_WATCH_IN_LOOP | PIE_WATCH_OF_ARGUMENT);
    assert_int_equal(reached.array_bytes, 512);
    assert_int_equal(reached.round_ns, 0);
    uint64_t start_ns = pie_thread_cpu_ns();
    while (pie_thread_cpu_ns() - start_ns < 5000000) {
    }
    scene_trap(index, &again);
    struct pie_watch_record ended = scene_pop();
    assert_int_equal(ended.outcome, PIE_WATCH_REDUNDANT);
    assert_in_range(ended.round_ns, 4000000, 50000000);
}

/* One that reads a word reads no array, and a store is no reading. */
static void test_array_is_that_of_loads_in_loops_only(void) {
    unsigned index;
    struct pie_watch_record single = reach_in_array(scene_load, PIE_ACCESS_LOAD, &index);

    assert_int_equal(single.traits, 0);
    assert_int_equal(single.array_bytes, 0);
    ucontext_t again = scene_at(scene_both);
    scene_trap(index, &again);
    assert_int_equal(scene_pop().round_ns, 0);
    struct pie_watch_record store = reach_in_array(scene_store, PIE_ACCESS_STORE | PIE_ACCESS_LOOP, &index);
    assert_int_equal(store.traits, PIE_WATCH_IN_LOOP);
    assert_int_equal(store.array_bytes, 0);
}

/* --- What is of interest --- */

static bool is_interesting_at(enum pie_watch_kind kind, uint64_t address) {
    struct pie_access access = scene_access(scene_load, kind, 8);

    registers[PIE_ACCESS_RDI] = address;
    return pie_watch_is_interesting(scene_settings.ops, &access, registers, kind, address, 0x7ff000000000,
                                    0x7ff000010000);
}

static bool is_interesting(const void *address) {
    bool load = is_interesting_at(PIE_WATCH_LOAD, (uintptr_t)address);

    assert_int_equal(is_interesting_at(PIE_WATCH_STORE, (uintptr_t)address), load);
    return load;
}

static void test_the_heap_is_of_interest(void) {
    assert_true(is_interesting(scene.word));
}

static void test_the_stack_in_use_is_not(void) {
    assert_false(is_interesting((void *)0x7ff000000000));
    assert_false(is_interesting((void *)0x7ff00000fff8));
    assert_false(is_interesting((void *)(0x7ff000000000 - 128))); /* the red zone */
    assert_true(is_interesting((void *)0x7ff000010000));
    assert_true(is_interesting((void *)(0x7ff000000000 - 65536))); /* another thread's */
}

static void test_frames_of_python_are_not(void) {
    scene.frames_low = (uintptr_t)(scene.word + 8);
    scene.frames_high = (uintptr_t)(scene.word + 16);
    assert_false(is_interesting(scene.word + 8));
    assert_true(is_interesting(scene.word + 16));
}

static void test_headers_of_objects_are_not(void) {
    scene.objects[0].address = (uintptr_t)(scene.word + 8);
    scene.objects[0].kind = PIE_OBJECT_PLAIN;
    assert_false(is_interesting(scene.word + 8)); /* reference count */
    assert_false(is_interesting(scene.word + 9)); /* type */
    assert_true(is_interesting(scene.word + 10));
}

/* Fields of types never change: loads of them are always the same. Stores to them are something else. */
static void test_loads_through_types_are_not(void) {
    const enum pie_object_kind kinds[] = {PIE_OBJECT_TYPE, PIE_OBJECT_DTYPE, PIE_OBJECT_PLAIN,
                                          PIE_OBJECT_ARRAY};
    struct pie_access access = scene_access(scene_load, PIE_ACCESS_LOAD, 8);
    uint64_t address = (uintptr_t)(scene.word + 5);

    access.disp = 40;
    registers[PIE_ACCESS_RDI] = (uintptr_t)scene.word;
    scene.objects[0].address = (uintptr_t)scene.word;
    for (int i = 0; i < 4; i++) {
        scene.objects[0].kind = kinds[i];
        assert_int_equal(
            pie_watch_is_interesting(scene_settings.ops, &access, registers, PIE_WATCH_LOAD, address, 0, 0),
            i >= 2);
        assert_true(
            pie_watch_is_interesting(scene_settings.ops, &access, registers, PIE_WATCH_STORE, address, 0, 0));
    }
}

static void test_constants_are_not_but_variables_of_programs_may_be_stored(void) {
    static uint64_t variable = 1;

    assert_false(is_interesting_at(PIE_WATCH_LOAD, (uintptr_t)&variable));
    assert_false(is_interesting_at(PIE_WATCH_LOAD, (uintptr_t)"a constant"));
    assert_true(is_interesting_at(PIE_WATCH_STORE, (uintptr_t)&variable));
}

/* --- An access of no interest gives way to another of its block --- */

/* Accesses at the three labels; the one at scene_load goes to Python's frames. */
static void learn_three(void) {
    struct pie_access accesses[] = {scene_access(scene_load, PIE_ACCESS_LOAD, 8),
                                    scene_access(scene_store, PIE_ACCESS_STORE, 8),
                                    scene_access(scene_both, PIE_ACCESS_STORE, 8)};

    accesses[1].disp = 64;
    accesses[2].disp = 128;
    scene.frames_low = (uintptr_t)scene.word;
    scene.frames_high = (uintptr_t)(scene.word + 8);
    scene_learn(accesses, 3);
}

static void test_access_of_no_interest_is_drawn_again(void) {
    enum { N = 2000 };
    double seen[2] = {0}, expected[2] = {N / 2.0, N / 2.0};

    learn_three();
    for (int i = 0; i < N; i++) {
        unsigned index = (unsigned)scene_sample(scene_call);
        struct pie_watch_slot *slot = &pie_watch_of(scene_thread)->slots[index];
        while (slot->stage == PIE_WATCH_ACCESS) {
            ucontext_t context = scene_at((const char *)(uintptr_t)slot->access.ip);
            scene_trap(index, &context);
        }
        if (slot->stage == PIE_WATCH_RETURN)
            seen[slot->access.ip == (uintptr_t)scene_both]++;
        pie_watch_free_slot(scene_thread, index);
        scene.n_orders = 0;
    }
    uint64_t ignored = pie_counter_get(PIE_COUNTER_WATCH_ACCESS_IGNORED);
    assert_int_equal((uint64_t)(seen[0] + seen[1]) + ignored, N);
    assert_in_range(ignored, 0, N / 20);
    expected[0] = expected[1] = (double)(N - ignored) / 2;
    assert_true(scene_fits(seen, expected, 2));
}

/* At the sample RDI still leads elsewhere, so only the trap shows that nothing in the block is of interest. */
static void test_block_of_no_interest_costs_few_traps(void) {
    learn_three();
    scene.frames_high = 0;
    int index = scene_sample(scene_call);
    unsigned traps = 0;

    scene.frames_high = (uintptr_t)(scene.word + 64);
    while (pie_watch_of(scene_thread)->slots[index].stage == PIE_WATCH_ACCESS && traps++ < 100) {
        ucontext_t context =
            scene_at((const char *)(uintptr_t)pie_watch_of(scene_thread)->slots[index].access.ip);
        scene_trap((unsigned)index, &context);
    }
    assert_in_range(traps, 1, 5);
    assert_int_equal(pie_watch_of(scene_thread)->slots[index].stage, PIE_WATCH_FREE);
    assert_int_equal(pie_counter_get(PIE_COUNTER_WATCH_ACCESS_IGNORED), 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        SCENE(test_word_of_a_plain_operand),
        SCENE(test_word_lies_inside_the_operand),
        SCENE(test_there_is_no_word_outside_user_space),
        SCENE(test_word_of_a_vector_is_chosen_uniformly),
        SCENE(test_word_of_a_string_is_chosen_uniformly),
        SCENE(test_strings_of_no_and_of_absurd_length),
        SCENE(test_string_is_watched_through_the_stages),
        SCENE(test_array_that_the_call_got_is_noted_with_the_time_of_a_round),
        SCENE(test_array_is_that_of_loads_in_loops_only),
        SCENE(test_the_heap_is_of_interest),
        SCENE(test_the_stack_in_use_is_not),
        SCENE(test_frames_of_python_are_not),
        SCENE(test_headers_of_objects_are_not),
        SCENE(test_loads_through_types_are_not),
        SCENE(test_constants_are_not_but_variables_of_programs_may_be_stored),
        SCENE(test_access_of_no_interest_is_drawn_again),
        SCENE(test_block_of_no_interest_costs_few_traps),
    };
    return cmocka_run_group_tests_name("watch, memory", tests, NULL, NULL);
}
