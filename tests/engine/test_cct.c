/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/cct.h"
#include "profiler/region.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static int new_tree(void **state) {
    return pie_region_reset() < 0 || pie_cct_init() < 0;
}

static void test_keys_keep_what_they_are_made_of(void **state) {
    uint64_t python = pie_cct_python_key(0x7ffffffe, 0xfffffffe), native = pie_cct_native_key(0x7fffdeadbeef);

    assert_true(pie_cct_key_is_python(python));
    assert_int_equal(pie_cct_key_code(python), 0x7ffffffe);
    assert_int_equal(pie_cct_key_offset(python), 0xfffffffe);
    assert_false(pie_cct_key_is_python(native));
    assert_int_equal(native, 0x7fffdeadbeef);
}

static void test_same_path_is_same_node(void **state) {
    uint32_t a = pie_cct_child(PIE_CCT_ROOT_ID, 10), b = pie_cct_child(a, 20), c = pie_cct_child(a, 5);

    assert_int_not_equal(b, c);
    assert_int_equal(pie_cct_child(PIE_CCT_ROOT_ID, 10), a);
    assert_int_equal(pie_cct_child(a, 20), b);
    assert_int_equal(pie_cct_child(a, 5), c);
    assert_int_equal(pie_cct_parent(c), a);
    assert_int_equal(pie_cct_key(c), 5);
    assert_int_equal(pie_cct_parent(a), PIE_CCT_ROOT_ID);
}

/* The same key under two parents is two contexts. */
static void test_context_is_the_whole_path(void **state) {
    uint32_t a = pie_cct_child(PIE_CCT_ROOT_ID, 1), b = pie_cct_child(PIE_CCT_ROOT_ID, 2);

    assert_int_not_equal(pie_cct_child(a, 3), pie_cct_child(b, 3));
}

static void test_many_children_at_every_depth(void **state) {
    enum { N = 3000 };
    static uint32_t ids[N];
    uint32_t parent = PIE_CCT_ROOT_ID;

    for (int depth = 0; depth < 25; depth++) {
        for (uint64_t i = 0; i < N; i++) {
            ids[i] = pie_cct_child(parent, (i * 7919) % N + 1);
            assert_int_not_equal(ids[i], 0);
        }
        for (uint64_t i = 0; i < N; i++)
            assert_int_equal(pie_cct_child(parent, (i * 7919) % N + 1), ids[i]);
        parent = ids[depth];
    }
}

enum { THREADS = 4, KEYS = 20000 };

static void *insert_all(void *argument) {
    uint32_t *ids = argument;

    for (uint64_t i = 0; i < KEYS; i++) {
        uint64_t key = (i * 48271) % KEYS + 1; /* every thread in the same order: they collide all the time */
        ids[key - 1] = pie_cct_child(PIE_CCT_ROOT_ID, key);
    }
    return NULL;
}

static void test_threads_agree_on_every_node(void **state) {
    static uint32_t ids[THREADS][KEYS];
    pthread_t threads[THREADS];

    for (int t = 0; t < THREADS; t++)
        assert_int_equal(pthread_create(&threads[t], NULL, insert_all, ids[t]), 0);
    for (int t = 0; t < THREADS; t++)
        pthread_join(threads[t], NULL);
    for (int i = 0; i < KEYS; i++) {
        assert_int_not_equal(ids[0][i], 0);
        for (int t = 1; t < THREADS; t++)
            assert_int_equal(ids[t][i], ids[0][i]);
        assert_int_equal(pie_cct_key(ids[0][i]), i + 1);
    }
}

static void test_full_arena_gives_no_node_and_keeps_the_tree(void **state) {
    uint32_t a = pie_cct_child(PIE_CCT_ROOT_ID, 1);

    while (pie_region_alloc(PIE_ARENA_CCT, (size_t)1 << 20))
        continue;
    while (pie_region_alloc(PIE_ARENA_CCT, 8))
        continue;
    assert_int_equal(pie_cct_child(a, 99), 0);
    assert_int_equal(pie_cct_child(PIE_CCT_ROOT_ID, 1), a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_keys_keep_what_they_are_made_of),
        cmocka_unit_test_setup(test_same_path_is_same_node, new_tree),
        cmocka_unit_test_setup(test_context_is_the_whole_path, new_tree),
        cmocka_unit_test_setup(test_many_children_at_every_depth, new_tree),
        cmocka_unit_test_setup(test_threads_agree_on_every_node, new_tree),
        cmocka_unit_test_setup(test_full_arena_gives_no_node_and_keeps_the_tree, new_tree),
    };
    if (pie_region_init() < 0)
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
