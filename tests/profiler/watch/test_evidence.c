/* SPDX-License-Identifier: Apache-2.0 */

/* Which equal values are a coincidence. */

#include "profiler/watch/evidence.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static struct pie_watch_evidence evidence;

static int tear_down(void **state) {
    pie_watch_evidence_finish(&evidence);
    return 0;
}

static enum pie_watch_evidence_kind equal(uint64_t place, uint64_t value) {
    return pie_watch_evidence_of(&evidence, place, value, pie_watch_variety_of(value));
}

static void test_values_count_once_at_each_place(void **state) {
    for (uint64_t place = 1; place <= 1000; place++) {
        assert_int_equal(equal(place, 7), PIE_WATCH_EVIDENCE_NEW);
        assert_int_equal(equal(place, 7), PIE_WATCH_EVIDENCE_NONE);
    }
}

/* One value can only be counted as one, however often it comes; eight may be a few less. */
static void test_no_more_are_counted_than_there_are(void **state) {
    for (uint64_t n = 1; n <= 8; n++) {
        uint64_t variety = 0;
        for (uint64_t i = 0; i < 1000; i++)
            variety |= pie_watch_variety_of(i % n * 1000003);
        assert_in_range(__builtin_popcountll(variety), 1, n);
        assert_true(n == 8 || !pie_watch_is_varied(variety));
    }
    uint64_t variety = 0;
    for (uint64_t i = 0; i < 32; i++)
        variety |= pie_watch_variety_of(i * i);
    assert_true(pie_watch_is_varied(variety));
}

/* A share of the place's calls returns 5, all others something else. Returns what 5 is worth. */
static enum pie_watch_evidence_kind worth_of(unsigned percent) {
    static uint64_t place;

    srandom(7);
    place++;
    for (uint64_t i = 0; i < 1000; i++)
        pie_watch_evidence_returned(&evidence, place, (unsigned)random() % 100 < percent ? 5 : 100 + i);
    return equal(place, 5);
}

static void test_a_majority_is_common(void **state) {
    assert_int_equal(worth_of(100), PIE_WATCH_EVIDENCE_COMMON);
    assert_int_equal(worth_of(80), PIE_WATCH_EVIDENCE_COMMON);
    assert_int_equal(worth_of(30), PIE_WATCH_EVIDENCE_NEW);
    assert_int_equal(worth_of(1), PIE_WATCH_EVIDENCE_NEW);
}

static void test_one_call_is_no_majority(void **state) {
    pie_watch_evidence_returned(&evidence, 1, 5);
    assert_int_equal(equal(1, 5), PIE_WATCH_EVIDENCE_NEW);
    for (uint64_t i = 0; i < 100; i++) {
        pie_watch_evidence_returned(&evidence, 2, i);
        assert_int_not_equal(equal(2, i), PIE_WATCH_EVIDENCE_COMMON);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_values_count_once_at_each_place, tear_down),
        cmocka_unit_test_teardown(test_no_more_are_counted_than_there_are, tear_down),
        cmocka_unit_test_teardown(test_a_majority_is_common, tear_down),
        cmocka_unit_test_teardown(test_one_call_is_no_majority, tear_down),
    };
    return cmocka_run_group_tests_name("watch, evidence", tests, NULL, NULL);
}
