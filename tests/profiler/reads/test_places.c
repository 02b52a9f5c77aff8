/* SPDX-License-Identifier: Apache-2.0 */

/* What the samples of a place show: the same value again, one that rises, or another one; and whether a longer one
 * takes longer. */

#include "profiler/reads/places.h"
#include "profiler/symbols/naming.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { LINE = 7, OTHER_LINE = 8, MS = 1000000 };

static struct pie_reads_places *places;
static uint32_t kept_node;

/* In place of naming's. */
bool pie_naming_keeps_node(const struct pie_naming *naming, struct pie_node_id node) {
    return node.value == kept_node;
}

static int set_up(void **state) {
    return pie_reads_places_create(NULL, &places);
}

static int tear_down(void **state) {
    pie_reads_places_destroy(places);
    return 0;
}

static void add_read(uint32_t line, struct pie_call_read read) {
    struct pie_reads_record record = {.read = read, .cpu_ns = MS};

    pie_reads_places_add(places, (struct pie_node_id){line}, &record);
}

/* An argument of that length, of a sequence that begins with `first`. */
static struct pie_call_read argument(uint64_t words, uint64_t first, uint64_t rest) {
    unsigned octave = 63 - (unsigned)__builtin_clzll(words);

    return (struct pie_call_read){.object = 1,
                                  .size = words * 8,
                                  .beginning = first * 100 + octave,
                                  .beginning_up = first * 100 + octave - 1,
                                  .rest = rest,
                                  .kind = PIE_READ_ARGUMENT,
                                  .octave = (uint8_t)octave};
}

static struct pie_call_read search(uint64_t object, uint64_t items) {
    struct pie_call_read read = argument(items, object, 0);

    read.object = object;
    read.size = items;
    read.kind = PIE_READ_SEARCH;
    return read;
}

static struct pie_reading_row only_row(void) {
    struct pie_reading_row row, other;
    size_t at = 0;

    assert_true(pie_reads_places_next(places, &at, &row));
    assert_false(pie_reads_places_next(places, &at, &other));
    return row;
}

static void expect(uint64_t same, uint64_t rises, uint64_t others) {
    struct pie_reading_row row = only_row();

    assert_int_equal(row.same, same);
    assert_int_equal(row.rises, rises);
    assert_int_equal(row.others, others);
}

static void test_sums(void **state) {
    add_read(LINE, argument(100, 1, 1));
    add_read(LINE, argument(300, 1, 1));
    struct pie_reading_row row = only_row();
    assert_int_equal(row.node.value, LINE);
    assert_int_equal(row.kind, PIE_READ_ARGUMENT);
    assert_int_equal(row.samples, 2);
    assert_int_equal(row.cpu_ns, 2 * MS);
    assert_true(row.cpu_sq_ns2 == 2.0 * MS * MS);
    assert_int_equal(row.sum_size, 3200);
    assert_int_equal(row.max_size, 2400);
}

static void test_the_same_a_longer_and_another_argument(void **state) {
    add_read(LINE, argument(100, 1, 1));
    add_read(LINE, argument(100, 1, 1));
    expect(1, 0, 0);
    add_read(LINE, argument(110, 1, 1));
    add_read(LINE, argument(200, 1, 1)); /* the next octave */
    expect(1, 2, 0);
    add_read(LINE, argument(210, 2, 1));  /* it begins otherwise */
    add_read(LINE, argument(220, 2, 2));  /* another one of the other arguments */
    add_read(LINE, argument(150, 2, 2));  /* shorter */
    add_read(LINE, argument(1000, 2, 2)); /* too much longer to be known as the same */
    expect(1, 2, 4);
}

static void test_a_search_of_the_same_list_and_of_another(void **state) {
    add_read(LINE, search(1, 100));
    add_read(LINE, search(1, 100));
    add_read(LINE, search(1, 101));
    add_read(LINE, search(1, 99)); /* some were removed */
    expect(2, 1, 0);
    add_read(LINE, search(2, 99));
    struct pie_call_read made = search(2, 99);
    made.is_temporary = true;
    add_read(LINE, made); /* at the same address by chance */
    expect(2, 1, 2);
}

static void search_in_turn(uint64_t lists, unsigned rounds) {
    for (unsigned round = 0; round < rounds; round++)
        for (uint64_t list = 1; list <= lists; list++)
            add_read(LINE, search(list, 100 * list + (list == 2) * round));
}

static void test_lists_that_are_searched_in_turn(void **state) {
    search_in_turn(3, 5);
    expect(2 * 4, 4, 2); /* the second list grows */
}

static void test_the_length_of_another_list_is_no_rise(void **state) {
    for (unsigned round = 0; round < 5; round++) {
        add_read(LINE, search(1, 10 + round));
        add_read(LINE, search(2, 1000));
    }
    expect(4, 4, 1);
    struct pie_reading_row row = only_row();
    assert_int_equal(row.lower_ns + row.upper_ns, 0);
}

static void test_too_many_lists_in_turn(void **state) {
    search_in_turn(5, 5);
    expect(0, 0, 24);
}

/* The place sees one value rise by a word at a time, in calls that take so long. */
static void rise(uint64_t first, uint64_t last, bool by_length) {
    for (uint64_t words = first; words <= last; words++) {
        struct pie_reads_record record = {.read = argument(words, 1, 1),
                                          .cpu_ns = by_length ? words * 1000 : MS};
        pie_reads_places_add(places, (struct pie_node_id){LINE}, &record);
    }
}

static void expect_upper_part(double part) {
    struct pie_reading_row row = only_row();
    double found = (double)row.upper_ns / (double)(row.lower_ns + row.upper_ns);

    assert_true(found > part - 0.04 && found < part + 0.04);
}

static void test_calls_that_take_as_long_as_the_value_is(void **state) {
    rise(10, 1000, true);
    expect_upper_part(0.75);
    rise(10, 800, true);
    expect_upper_part(0.75);
    expect(0, 990 + 790, 1);
}

static void test_calls_to_which_the_length_is_of_no_matter(void **state) {
    rise(10, 1000, false);
    expect_upper_part(0.5);
}

static void test_a_small_rise_says_nothing_of_that(void **state) {
    rise(300, 1000, true);
    assert_int_equal(only_row().lower_ns + only_row().upper_ns, 0);
}

static void test_only_what_has_changed_is_written(void **state) {
    struct pie_reading_row row;
    size_t at = 0;

    add_read(LINE, argument(100, 1, 1));
    assert_true(pie_reads_places_hold(places, (struct pie_node_id){LINE}));
    assert_false(pie_reads_places_hold(places, (struct pie_node_id){OTHER_LINE}));
    pie_reads_places_clear(places);
    assert_false(pie_reads_places_next(places, &at, &row));
    assert_false(pie_reads_places_hold(places, (struct pie_node_id){LINE}));
    add_read(OTHER_LINE, argument(100, 1, 1));
    assert_int_equal(only_row().node.value, OTHER_LINE);
    add_read(LINE, argument(100, 1, 1));
    at = 0;
    assert_true(pie_reads_places_next(places, &at, &row));
    assert_int_equal(row.samples, 2); /* a total */
}

static void test_forgotten_nodes_begin_anew(void **state) {
    struct pie_reading_row row;
    size_t at = 0;

    rise(10, 100, true);
    add_read(OTHER_LINE, argument(100, 1, 1));
    kept_node = OTHER_LINE;
    pie_reads_places_forget(places);
    assert_int_equal(only_row().node.value, OTHER_LINE);
    add_read(LINE, argument(100, 1, 1));
    while (pie_reads_places_next(places, &at, &row))
        assert_int_equal(row.samples, 1);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_sums),
        TEST(test_the_same_a_longer_and_another_argument),
        TEST(test_a_search_of_the_same_list_and_of_another),
        TEST(test_lists_that_are_searched_in_turn),
        TEST(test_the_length_of_another_list_is_no_rise),
        TEST(test_too_many_lists_in_turn),
        TEST(test_calls_that_take_as_long_as_the_value_is),
        TEST(test_calls_to_which_the_length_is_of_no_matter),
        TEST(test_a_small_rise_says_nothing_of_that),
        TEST(test_only_what_has_changed_is_written),
        TEST(test_forgotten_nodes_begin_anew),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
