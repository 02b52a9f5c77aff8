/* SPDX-License-Identifier: Apache-2.0 */

/* Slices of time in which small blocks are counted or not, on a clock of the test and an allocator that is made up. */

#include "profiler/heap/pauses.h"

#include "profiler/base/region.h"
#include "profiler/heap/engine.h"
#include "profiler/heap/pause_words.h"
#include "profiler/thread/filtered.h"
#include "profiler/thread/thread.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { ZONE_BYTES = 4096, GROUPS = 200, GROUP_SLICES = 16 };

static char zone[ZONE_BYTES];
static uint64_t in_use;
static bool may_pause = true, can_set = true, ends;
static int asked;

static bool can_pause(void) {
    return may_pause;
}

static bool set_paused(bool is_paused) {
    if (can_set)
        pie_heap_is_paused = is_paused;
    return can_set;
}

static uint64_t in_use_bytes(void) {
    asked++;
    return in_use;
}

/* While it measures, a hook sees a request of the collection thread. */
static double measured_part(void) {
    pie_heap_pauses_grown();
    pie_heap_pauses_act();
    return 0.25;
}

static bool is_finalizing(void) {
    return ends;
}

static int begin(void **state) {
    static const struct pie_heap_settings settings = {.has_memory = true, .is_finalizing = is_finalizing};
    static struct pie_thread_part *const parts[] = {&pie_heap_part};
    static const struct pie_heap_pause_ops ops = {can_pause, set_paused, in_use_bytes, measured_part};

    pie_thread_parts_set(parts, 1);
    if (pie_region_init() < 0 || !pie_thread_begin(true, "main"))
        return -1;
    pie_heap_set(&settings);
    pie_heap_pauses_install((uintptr_t)zone, ZONE_BYTES, &ops);
    return 0;
}

static int afresh(void **state) {
    may_pause = can_set = true;
    ends = false;
    in_use = 5000;
    pie_heap_pauses_forget();
    pie_heap_pauses_act();
    pie_heap_is_paused = false;
    asked = 0;
    return 0;
}

static void request(bool pauses, double share) {
    uint32_t word =
        PIE_HEAP_REQUEST_IS | 3 << PIE_HEAP_REQUEST_SLICE | (uint32_t)(share * PIE_HEAP_SHARE_ONE);

    atomic_store(&pie_heap_request, word | (pauses ? PIE_HEAP_REQUEST_PAUSES : 0));
}

static void take(bool pauses, double share) {
    request(pauses, share);
    pie_heap_pauses_act();
}

static uint16_t share_of(const void *block) {
    uint16_t share = 0;
    uint8_t slice = 0;

    pie_heap_pauses_share(block, &share, &slice);
    assert_int_equal(slice, share ? 3 : 0);
    return share;
}

static void test_each_slice_has_its_share_as_a_chance(void **state) {
    struct pie_heap_slices slices = {.share = 0.3, .random = 88172645463325252};
    uint64_t now_ns = 1000000000, last_ns = now_ns;
    int counted = 0, of_place[GROUP_SLICES] = {0};

    for (int group = 0; group < GROUPS; group++) {
        int here = 0;
        for (int i = 0; i < GROUP_SLICES; i++) {
            pie_heap_slices_tick(&slices, now_ns, false);
            bool is_counted = !(atomic_exchange(&pie_heap_request, 0) & PIE_HEAP_REQUEST_PAUSES);
            here += is_counted;
            of_place[i] += is_counted;
            assert_in_range(slices.end_ns - now_ns, 25000000, 75000000);
            pie_heap_slices_tick(&slices, slices.end_ns - 1, false); /* not yet */
            assert_int_equal(atomic_load(&pie_heap_request), 0);
            last_ns = now_ns;
            now_ns = slices.end_ns;
        }
        assert_in_range(here, 4, 5); /* 16 times 0.3 is 4.8 */
        counted += here;
    }
    assert_true(fabs(counted / (double)(GROUPS * GROUP_SLICES) - 0.3) < 0.01);
    for (int i = 0; i < GROUP_SLICES; i++) /* five standard deviations */
        assert_true(fabs(of_place[i] / (double)GROUPS - 0.3) < 0.17);
    assert_true(last_ns > 1000000000 + UINT64_C(40000000) * GROUPS * GROUP_SLICES);
}

static void test_all_is_counted_where_there_is_room_and_at_the_end(void **state) {
    struct pie_heap_slices slices = {.share = 0.1, .random = 1};

    pie_heap_slices_tick(&slices, 1000, false);
    assert_int_not_equal(atomic_exchange(&pie_heap_request, 0), 0);
    pie_heap_slices_tick(&slices, 2000, true);
    assert_int_equal(atomic_exchange(&pie_heap_request, 0), PIE_HEAP_REQUEST_ALL);
    slices = (struct pie_heap_slices){.share = 1, .random = 1};
    pie_heap_slices_tick(&slices, 3000, false);
    assert_int_equal(atomic_load(&pie_heap_request), 0);
}

static void test_what_is_held_is_known_after_a_pause(void **state) {
    take(true, 0.25);
    assert_true(pie_heap_is_paused);
    assert_int_equal(pie_heap_pauses_moved_bytes(), 0);
    in_use = 7000;
    take(true, 0.25); /* another slice of it */
    assert_int_equal(pie_heap_pauses_moved_bytes(), 2000);
    in_use = 4000;
    take(false, 0.25);
    assert_false(pie_heap_is_paused);
    assert_int_equal(pie_heap_pauses_moved_bytes(), -1000);
    in_use = 9000; /* counted by the hooks */
    take(false, 0.25);
    assert_int_equal(asked, 3);
    take(true, 0.25);
    assert_int_equal(pie_heap_pauses_moved_bytes(), -1000);
}

static void test_samples_of_small_blocks_stand_for_more(void **state) {
    assert_int_equal(share_of(zone + 16), 0);
    take(false, 0.25);
    assert_int_equal(share_of(zone + 16), PIE_HEAP_SHARE_ONE / 4);
    assert_int_equal(share_of(zone + ZONE_BYTES), 0);
    assert_int_equal(share_of(&in_use), 0);
}

static void test_growth_ends_a_pause(void **state) {
    pie_heap_pauses_grown(); /* all is counted already */
    assert_false(pie_heap_has_request());
    take(true, 0.25);
    pie_heap_pauses_grown();
    pie_heap_pauses_act();
    assert_false(pie_heap_is_paused);
    assert_int_equal(share_of(zone), 0);
    take(false, 0.25);
    pie_heap_pauses_grown(); /* whether it paused or not, samples stand for themselves from here on */
    pie_heap_pauses_act();
    assert_int_equal(share_of(zone), 0);
}

/* Whatever is asked for. */
static void test_the_end_of_the_program_ends_a_pause(void **state) {
    take(true, 0.25);
    in_use = 4000;
    ends = true;
    pie_heap_pauses_act();
    assert_false(pie_heap_is_paused);
    assert_int_equal(pie_heap_pauses_moved_bytes(), -1000);
}

/* The calls that set a pause could end it. */
static void test_a_thread_under_a_filter_leaves_requests_to_others(void **state) {
    request(true, 0.25);
    pie_filtered_set(true);
    pie_heap_pauses_act();
    pie_filtered_set(false);
    assert_false(pie_heap_is_paused);
    assert_true(pie_heap_has_request());
    pie_heap_pauses_act();
    assert_true(pie_heap_is_paused);
}

static void test_without_a_profile_nothing_changes(void **state) {
    const struct pie_heap_settings *settings = pie_heap_settings();

    take(true, 0.25);
    pie_heap_set(NULL);
    take(false, 0.25);
    assert_true(pie_heap_is_paused);
    pie_heap_set(settings);
    pie_heap_pauses_act();
    assert_false(pie_heap_is_paused);
}

/* As where a second interpreter begins. */
static void test_a_pause_ends_where_there_may_be_none_any_more(void **state) {
    take(true, 0.25);
    may_pause = false;
    in_use = 6000;
    take(true, 0.25);
    assert_false(pie_heap_is_paused);
    assert_int_equal(pie_heap_pauses_moved_bytes(), 1000);
    assert_int_equal(share_of(zone), 0);
}

static void test_where_it_cannot_pause_all_is_counted(void **state) {
    may_pause = false;
    take(true, 0.25);
    assert_false(pie_heap_is_paused);
    take(false, 0.25);
    assert_int_equal(share_of(zone), 0);
    may_pause = true;
    can_set = false;
    take(true, 0.25);
    assert_false(pie_heap_is_paused);
    assert_int_equal(share_of(zone), 0);
    assert_int_equal(pie_heap_pauses_ns(UINT64_MAX), 0);
}

static void test_a_forked_child_counts_from_nothing(void **state) {
    take(true, 0.25);
    in_use = 6000;
    take(true, 0.25);
    pie_heap_pauses_forget();
    assert_int_equal(pie_heap_pauses_moved_bytes(), 0);
    in_use = 50000;
    pie_heap_pauses_act();
    assert_false(pie_heap_is_paused);
    assert_int_equal(pie_heap_pauses_moved_bytes(), 0);
    take(true, 0.25);
    in_use = 50100;
    take(false, 0.25);
    assert_int_equal(pie_heap_pauses_moved_bytes(), 100);
}

static void test_the_price_is_measured_once(void **state) {
    take(true, 0.25);
    assert_true(fabs(pie_heap_pauses_price_part() - 0.25) < 0.002);
}

static void test_the_note_says_how_much_was_counted(void **state) {
    struct pie_heap_slices slices = {.share = 0.5, .random = 1, .begun_ns = 0};
    char text[384];

    assert_null(pie_heap_slices_note(&slices, 1, 2, text, sizeof text));
    take(true, 0.25);
    uint64_t paused_ns = pie_heap_pauses_ns(UINT64_MAX / 2), since_ns = UINT64_MAX / 2 - paused_ns;
    slices.begun_ns = since_ns - 3000000000;
    const char *note =
        pie_heap_slices_note(&slices, slices.begun_ns - 7000000000, since_ns + 1000000000, text, sizeof text);
    assert_non_null(note);
    assert_non_null(strstr(note, "in 75 % of the time after 7 s"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_each_slice_has_its_share_as_a_chance, afresh),
        cmocka_unit_test_setup(test_all_is_counted_where_there_is_room_and_at_the_end, afresh),
        cmocka_unit_test_setup(test_what_is_held_is_known_after_a_pause, afresh),
        cmocka_unit_test_setup(test_samples_of_small_blocks_stand_for_more, afresh),
        cmocka_unit_test_setup(test_growth_ends_a_pause, afresh),
        cmocka_unit_test_setup(test_the_end_of_the_program_ends_a_pause, afresh),
        cmocka_unit_test_setup(test_a_thread_under_a_filter_leaves_requests_to_others, afresh),
        cmocka_unit_test_setup(test_without_a_profile_nothing_changes, afresh),
        cmocka_unit_test_setup(test_a_pause_ends_where_there_may_be_none_any_more, afresh),
        cmocka_unit_test_setup(test_where_it_cannot_pause_all_is_counted, afresh),
        cmocka_unit_test_setup(test_a_forked_child_counts_from_nothing, afresh),
        cmocka_unit_test_setup(test_the_price_is_measured_once, afresh),
        cmocka_unit_test_setup(test_the_note_says_how_much_was_counted, afresh),
    };

    return cmocka_run_group_tests(tests, begin, NULL);
}
