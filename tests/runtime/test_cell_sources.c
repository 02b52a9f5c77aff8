/* SPDX-License-Identifier: Apache-2.0 */

/* Texts of code that has no file: the one that was compiled last under a name is found, at a cost that does not grow with
 * the others. */
#include <stdint.h>

static uint64_t looks;
#define PIE_CELL_LOOK() (looks++)
#include "profiler/counters.h"
#include "runtime/cell_sources.c" /* NOLINT(bugprone-suspicious-include) */

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

enum { MANY = 50000 };

/* Of the engine; without it the hook does nothing. */
bool pie_engine_is_running(void) {
    return false;
}

void pie_counter_add(enum pie_counter counter, uint64_t n) {}

static void keep_text(const char *name, const char *text) {
    keep(name, strlen(name), text, strlen(text));
}

static void expect_text(const char *name, const char *text) {
    size_t size = 0;
    const char *found = pie_cell_sources_find(name, &size);
    assert_non_null(found);
    assert_string_equal(found, text);
    assert_int_equal(size, strlen(text));
}

static void test_the_last_text_of_a_name_is_found(void **state) {
    size_t size;
    assert_null(pie_cell_sources_find("<cell>", &size));
    keep_text("<cell>", "a = 1");
    keep_text("<other>", "c = 3");
    keep_text("<cell>", "b = 22");
    expect_text("<cell>", "b = 22");
    expect_text("<other>", "c = 3");
    assert_null(pie_cell_sources_find("<cel>", &size));
    assert_null(pie_cell_sources_find("<cell>>", &size));
}

static void test_the_same_text_takes_its_room_once(void **state) {
    keep_text("<template>", "x = 1");
    uint32_t before = used;
    keep_text("<template>", "x = 1");
    assert_int_equal(used, before);
    keep_text("<template>", "x = 2");
    assert_true(used > before);
    expect_text("<template>", "x = 2");
}

static void test_many_are_found_at_the_cost_of_a_few(void **state) {
    char name[32], text[32];
    uint64_t most = 0;
    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof name, "<gen %d>", i);
        snprintf(text, sizeof text, "x = %d", i);
        keep_text(name, text);
    }
    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof name, "<gen %d>", i);
        snprintf(text, sizeof text, "x = %d", i);
        looks = 0;
        expect_text(name, text);
        most = looks > most ? looks : most;
    }
    assert_in_range(most, 1, 40); /* three in the mean; one behind the other they were 25000 */
}

static void test_a_full_arena_keeps_what_it_has(void **state) {
    static char text[TEXT_BYTES_MAX];
    size_t size;
    memset(text, 'x', sizeof text - 1);
    for (int i = 0; i < ARENA_BYTES / TEXT_BYTES_MAX; i++) {
        text[0] = (char)('a' + i);
        keep_text(i == 0 ? "<large>" : "<others>", text);
    }
    text[0] = 'a';
    keep_text("<late>", text);
    assert_null(pie_cell_sources_find("<late>", &size));
    expect_text("<large>", text);
    expect_text("<gen 0>", "x = 0");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_last_text_of_a_name_is_found),
        cmocka_unit_test(test_the_same_text_takes_its_room_once),
        cmocka_unit_test(test_many_are_found_at_the_cost_of_a_few),
        cmocka_unit_test(test_a_full_arena_keeps_what_it_has),
    };
    pie_cell_sources_install();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
