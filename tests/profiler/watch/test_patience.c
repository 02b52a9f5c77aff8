/* SPDX-License-Identifier: Apache-2.0 */

/* How many of a place's next results are compared (watch/interest_sigsafe.c). */

#include "profiler/watch/internal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 12, WAITS = 4000 };
static const uint64_t SITE = 0x1234567, OTHER = 0x7654321;

static struct pie_watch_thread watch;

static int begin(void **state) {
    memset(&watch, 0, sizeof watch);
    watch.random = 0x9e3779b97f4a7c15;
    pie_watch_patience_forget();
    return 0;
}

/* A wait at a place whose result comes again after `after` others; 0: never. */
static uint32_t wait_once(uint64_t site, uint32_t after) {
    uint32_t most = pie_watch_patience(&watch, site, MOST);
    bool is_equal = after > 0 && after <= most;

    pie_watch_waited(site, is_equal ? after : most, is_equal);
    return is_equal ? after : most;
}

static void test_nothing_is_known_at_first(void **state) {
    for (int i = 0; i < 3; i++)
        assert_int_equal(wait_once(SITE, 0), MOST);
}

/* Two tries, and each eighth time all. */
static void test_what_always_changes_is_given_up_soon(void **state) {
    uint32_t tries = 0;

    for (int i = 0; i < WAITS; i++)
        tries += wait_once(SITE, 0);
    assert_in_range(tries, WAITS * (2 * 7 + MOST) / 8 * 9 / 10, WAITS * (2 * 7 + MOST) / 8 * 11 / 10);
}

static void test_places_are_apart(void **state) {
    for (int i = 0; i < 10; i++)
        wait_once(SITE, 0);
    assert_int_equal(wait_once(OTHER, 0), MOST);
}

/* Four callers take turns, and each third call returns something new: all that are equal are found. */
static void test_callers_that_take_turns_are_waited_for(void **state) {
    unsigned found = 0, equal = 0;

    for (int i = 0; i < WAITS; i++) {
        bool is_new = i % 3 == 0;
        equal += !is_new;
        found += wait_once(SITE, is_new ? 0 : 4) == 4;
    }
    assert_int_equal(found, equal);
    assert_int_not_equal(equal, 0);
}

/* They begin to after a long time: the next full wait finds it, and from then on all do. */
static void test_a_change_of_habit_is_noticed(void **state) {
    unsigned found = 0;

    for (int i = 0; i < WAITS; i++)
        wait_once(SITE, 0);
    for (int i = 0; i < 100; i++)
        found += wait_once(SITE, 4) == 4;
    assert_in_range(found, 60, 100);
}

/* A number of which there are four tries at most. */
static void test_no_more_than_most(void **state) {
    for (int i = 0; i < 10; i++) {
        wait_once(SITE, 3);
        wait_once(SITE, 0);
    }
    assert_int_equal(pie_watch_patience(&watch, SITE, 4), 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_nothing_is_known_at_first, begin),
        cmocka_unit_test_setup(test_what_always_changes_is_given_up_soon, begin),
        cmocka_unit_test_setup(test_places_are_apart, begin),
        cmocka_unit_test_setup(test_callers_that_take_turns_are_waited_for, begin),
        cmocka_unit_test_setup(test_a_change_of_habit_is_noticed, begin),
        cmocka_unit_test_setup(test_no_more_than_most, begin),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
