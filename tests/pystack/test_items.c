/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runtime/code/items.h"

enum { MANY = 300 };

static struct pie_items_sketch sketch_of(const uintptr_t *words, uint64_t slots, uint32_t slot_words) {
    struct pie_items items = {(uintptr_t)words, slots, slot_words};
    struct pie_items_sketch sketch = {0};

    for (int i = 0; i < 100; i++) /* on a busy machine one may take too long */
        if (pie_items_sketch_take(&items, &sketch))
            return sketch;
    fail();
    return sketch;
}

static void fill(uintptr_t *words, size_t count) {
    for (size_t i = 0; i < count; i++)
        words[i] = 0x7f0000001000 + 16 * (i * 7919 % count);
}

static void assert_alike(struct pie_items_sketch a, struct pie_items_sketch b) {
    assert_int_equal(a.least, b.least);
    assert_int_equal(a.sum, b.sum);
}

static void test_the_order_is_no_matter(void **state) {
    uintptr_t words[MANY], reversed[MANY];

    fill(words, MANY);
    for (size_t i = 0; i < MANY; i++)
        reversed[i] = words[MANY - 1 - i];
    assert_alike(sketch_of(words, MANY, 1), sketch_of(reversed, MANY, 1));
}

/* The new one's hash is greater than most. */
static void test_another_item_changes_the_sum_and_seldom_the_least(void **state) {
    uintptr_t words[MANY];
    int changed = 0;

    fill(words, MANY);
    struct pie_items_sketch before = sketch_of(words, MANY, 1);
    for (size_t i = 0; i < MANY; i++) {
        uintptr_t kept = words[i];
        words[i] = 0x550000000000;
        struct pie_items_sketch now = sketch_of(words, MANY, 1);
        assert_int_not_equal(now.sum, before.sum);
        changed += now.least != before.least;
        words[i] = kept;
    }
    assert_int_equal(changed, 1);
}

static void test_slots_of_a_set(void **state) {
    uintptr_t words[MANY], slots[4 * MANY] = {0};

    fill(words, MANY);
    for (size_t i = 0; i < MANY; i++) { /* every second slot is empty; hashes are behind the keys */
        slots[4 * i + 2] = words[i];
        slots[4 * i + 1] = slots[4 * i + 3] = i;
    }
    assert_alike(sketch_of(words, MANY, 1), sketch_of(slots, 2 * MANY, 2));
}

static void test_of_more_than_the_most_the_first_count(void **state) {
    static uintptr_t words[PIE_ITEMS_MAX + 1];

    fill(words, PIE_ITEMS_MAX);
    struct pie_items_sketch first = sketch_of(words, PIE_ITEMS_MAX, 1);
    words[PIE_ITEMS_MAX] = 8;
    assert_alike(first, sketch_of(words, PIE_ITEMS_MAX + 1, 1));
    assert_alike(first, sketch_of(words, UINT64_MAX, 1));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_order_is_no_matter),
        cmocka_unit_test(test_another_item_changes_the_sum_and_seldom_the_least),
        cmocka_unit_test(test_slots_of_a_set),
        cmocka_unit_test(test_of_more_than_the_most_the_first_count),
    };

    return cmocka_run_group_tests_name("items", tests, NULL, NULL);
}
