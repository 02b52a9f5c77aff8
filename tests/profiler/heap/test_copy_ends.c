/* SPDX-License-Identifier: Apache-2.0 */

/* Followed copies, on fake debug registers: each outcome, and what is none. */

#include "tests/profiler/watch/scene.h"

#include "profiler/heap/copy_ends.h"

#include <stdlib.h>
#include <string.h>

enum { BYTES = 40000, BLOCK = 40016 };

static char *source, *copy;

static uint64_t draw(void) {
    static uint64_t drawn = 12345;

    drawn = drawn * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return drawn >> 24;
}

/* A copy of BYTES at an offset of its block. */
static uint32_t follow_at(size_t offset) {
    memcpy(copy + offset, source, BYTES);
    pie_watch_of(scene_thread)->credit_ns = 1000000;
    uint32_t ticket = pie_copy_ends_begin(scene_thread, copy + offset, source, BYTES, draw());
    assert_int_not_equal(ticket, 0);
    pie_copy_ends_start(ticket);
    return ticket;
}

static void free_copy(size_t block_bytes) {
    pie_copy_ends_freeing(scene_thread, copy, block_bytes);
}

static void set_up(void) {
    pie_copy_ends_forget();
    free(source);
    free(copy);
    source = malloc(4 * BLOCK);
    copy = calloc(2, BLOCK);
    assert_true(source && copy);
    for (size_t i = 0; i < 4 * BLOCK; i++)
        source[i] = (char)(i * 7 + 1);
}

static unsigned slot_of_copy(void) {
    for (unsigned i = 0; i < PIE_DEBUG_REGISTERS; i++)
        if (pie_watch_of(scene_thread)->slots[i].stage == PIE_WATCH_COPY)
            return i;
    fail();
    return 0;
}

static void expect_idle(void) {
    for (unsigned i = 0; i < PIE_DEBUG_REGISTERS; i++)
        assert_int_equal(pie_watch_of(scene_thread)->slots[i].stage, PIE_WATCH_FREE);
    assert_false(pie_copy_ends_may_hold(SIZE_MAX / 2));
}

static void test_what_nobody_writes_is_needless(void) {
    set_up();
    assert_false(pie_copy_ends_may_hold(BLOCK));
    uint32_t ticket = follow_at(0);
    assert_true(pie_copy_ends_may_hold(BLOCK));
    assert_false(pie_copy_ends_may_hold(PIE_COPY_ENDS_MIN_BYTES - 1));
    assert_int_equal(pie_copy_ends_take(ticket), PIE_COPY_NO_OUTCOME);
    pie_copy_ends_freeing(scene_thread, copy + BLOCK, BLOCK); /* another block */
    assert_int_equal(pie_copy_ends_take(ticket), PIE_COPY_NO_OUTCOME);
    free_copy(BLOCK);
    assert_int_equal(pie_copy_ends_take(ticket), PIE_COPY_NEEDLESS);
    assert_int_equal(pie_copy_ends_take(ticket), PIE_COPY_NO_OUTCOME); /* it is free again */
    expect_idle();
}

/* One byte anywhere, of the source or of the copy. */
static void test_a_byte_that_differs_is_a_write(void) {
    static const size_t places[] = {0, 1, 20000, BYTES - 9, BYTES - 1};

    for (size_t i = 0; i < 2 * sizeof places / sizeof *places; i++) {
        set_up();
        uint32_t ticket = follow_at(0);
        (i % 2 ? copy : source)[places[i / 2]]++;
        free_copy(BLOCK);
        assert_int_equal(pie_copy_ends_take(ticket), PIE_COPY_WRITTEN);
        expect_idle();
    }
}

/* Large data are compared in parts, the first and the last among them. */
static void test_large_data_are_compared_in_parts(void) {
    enum { LARGE = 64 << 20 };
    static const size_t places[] = {3, LARGE - 5};
    char *from = malloc(LARGE), *to = malloc(LARGE);
    assert_true(from && to);

    for (int i = 0; i < 3; i++) {
        memset(from, 1, LARGE);
        memset(to, 1, LARGE);
        pie_copy_ends_forget();
        pie_watch_of(scene_thread)->credit_ns = 1000000;
        uint32_t ticket = pie_copy_ends_begin(scene_thread, to, from, LARGE, draw());
        pie_copy_ends_start(ticket);
        if (i < 2)
            to[places[i]] = 2;
        pie_copy_ends_freeing(scene_thread, to, LARGE);
        assert_int_equal(pie_copy_ends_take(ticket), i < 2 ? PIE_COPY_WRITTEN : PIE_COPY_NEEDLESS);
    }
    free(from);
    free(to);
}

static void test_a_write_of_the_same_values_is_seen_by_the_register(void) {
    ucontext_t context = scene_at(scene_after);

    set_up();
    uint32_t ticket = follow_at(0);
    scene_trap(slot_of_copy(), &context);
    free_copy(BLOCK);
    assert_int_equal(pie_copy_ends_take(ticket), PIE_COPY_REWRITTEN);
}

static void test_without_a_register_it_is_not_sure(void) {
    set_up();
    uint32_t ticket = follow_at(0);
    pie_watch_rest(scene_thread);
    free_copy(BLOCK);
    assert_int_equal(pie_copy_ends_take(ticket), PIE_COPY_UNSURE);
    expect_idle();
}

static void test_either_side_is_watched(void) {
    int of_source = 0;

    for (int i = 0; i < 400; i++) {
        set_up();
        uint32_t ticket = follow_at(0);
        uint64_t address = scene_last_order()->address;
        bool is_source = address - (uintptr_t)source <= BYTES - 8;
        assert_true(is_source || address - (uintptr_t)copy <= BYTES - 8);
        of_source += is_source;
        pie_copy_ends_give_up(scene_thread, ticket);
    }
    assert_in_range(of_source, 140, 260);
}

/* --- What is no view --- */

static void test_a_part_of_a_block_is_no_view(void) {
    set_up();
    uint32_t ticket = follow_at(0);
    free_copy(2 * BLOCK);
    assert_int_equal(pie_copy_ends_take(ticket), PIE_COPY_PART);
    ticket = follow_at(16); /* something is before it, that is no header */
    free_copy(BLOCK + 16);
    assert_int_equal(pie_copy_ends_take(ticket), PIE_COPY_PART);
}

/* numpy.append() */
static void test_what_is_written_behind_is_a_part_too(void) {
    set_up();
    uint32_t ticket = follow_at(0);
    copy[BYTES + 4] = 5;
    free_copy(BLOCK);
    assert_int_equal(pie_copy_ends_take(ticket), PIE_COPY_PART);
    copy[BYTES] = 5;
    ticket = follow_at(0);
    copy[BYTES] = 0; /* a bytearray's */
    free_copy(BLOCK);
    assert_int_equal(pie_copy_ends_take(ticket), PIE_COPY_NEEDLESS);
}

/* bytes begin with a header that says how long they are. */
static void test_an_object_says_its_length(void) {
    set_up();
    for (uint64_t length = BYTES - 1; length <= BYTES; length++) {
        memcpy(copy + 16, &length, sizeof length);
        uint32_t ticket = follow_at(32);
        free_copy(BLOCK + 32);
        assert_int_equal(pie_copy_ends_take(ticket), length == BYTES ? PIE_COPY_NEEDLESS : PIE_COPY_PART);
    }
}

/* --- The source goes first --- */

static void test_a_source_that_goes_first_decides_when_the_copy_goes(void) {
    set_up();
    uint32_t ticket = follow_at(0);
    pie_copy_ends_freeing(scene_thread, source, BLOCK);
    assert_int_equal(pie_copy_ends_take(ticket), PIE_COPY_NO_OUTCOME);
    memset(source, 0, BLOCK); /* it is another block's by now */
    memset(copy, 3, BYTES);
    free_copy(BLOCK);
    assert_int_equal(pie_copy_ends_take(ticket), PIE_COPY_NEEDLESS);
    ticket = follow_at(0);
    copy[7]++;
    pie_copy_ends_freeing(scene_thread, source, BLOCK);
    assert_int_equal(pie_copy_ends_take(ticket), PIE_COPY_WRITTEN);
    expect_idle();
}

static void test_to_let_a_larger_source_go_takes_a_copy(void) {
    set_up();
    uint32_t ticket = follow_at(0);
    pie_copy_ends_freeing(scene_thread, source, 4 * BLOCK);
    assert_int_equal(pie_copy_ends_take(ticket), PIE_COPY_PART);
    expect_idle();
}

static void test_what_is_resized_is_written(void) {
    set_up();
    uint32_t ticket = follow_at(0);
    pie_copy_ends_resizing(scene_thread, source, BLOCK);
    assert_int_equal(pie_copy_ends_take(ticket), PIE_COPY_WRITTEN);
    expect_idle();
}

/* --- Many --- */

static void test_of_too_many_one_is_left_open(void) {
    uint32_t tickets[PIE_COPY_ENDS];
    int open = 0;

    set_up();
    for (int i = 0; i < PIE_COPY_ENDS; i++)
        tickets[i] = follow_at(0);
    assert_int_equal(pie_copy_ends_begin(scene_thread, copy, source, BYTES, 3), 0);
    for (int i = 0; i < PIE_COPY_ENDS; i++)
        open += pie_copy_ends_take(tickets[i]) == PIE_COPY_OPEN;
    assert_int_equal(open, 1);
    assert_int_not_equal(follow_at(0), 0);
    free_copy(BLOCK);
    expect_idle();
}

static void test_small_copies_and_moves_are_not_followed(void) {
    set_up();
    assert_false(pie_copy_ends_can_follow(copy, source, PIE_COPY_ENDS_MIN_BYTES - 1));
    assert_true(pie_copy_ends_can_follow(copy, source, PIE_COPY_ENDS_MIN_BYTES));
    assert_false(pie_copy_ends_can_follow(copy + 8, copy, BYTES));
    assert_false(pie_copy_ends_can_follow(copy, copy + 8, BYTES));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        SCENE(test_what_nobody_writes_is_needless),
        SCENE(test_a_byte_that_differs_is_a_write),
        SCENE(test_large_data_are_compared_in_parts),
        SCENE(test_a_write_of_the_same_values_is_seen_by_the_register),
        SCENE(test_without_a_register_it_is_not_sure),
        SCENE(test_either_side_is_watched),
        SCENE(test_a_part_of_a_block_is_no_view),
        SCENE(test_what_is_written_behind_is_a_part_too),
        SCENE(test_an_object_says_its_length),
        SCENE(test_a_source_that_goes_first_decides_when_the_copy_goes),
        SCENE(test_to_let_a_larger_source_go_takes_a_copy),
        SCENE(test_what_is_resized_is_written),
        SCENE(test_of_too_many_one_is_left_open),
        SCENE(test_small_copies_and_moves_are_not_followed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
