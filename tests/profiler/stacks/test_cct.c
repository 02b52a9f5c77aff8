/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/base/region.h"
#include "profiler/stacks/cct.h"

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

#define assert_same_node(a, b) assert_int_equal((a).value, (b).value)

static void test_same_path_is_same_node(void **state) {
    struct pie_cct_id a = pie_cct_child(pie_cct_root(), 10), b = pie_cct_child(a, 20),
                      c = pie_cct_child(a, 5);

    assert_int_not_equal(b.value, c.value);
    assert_same_node(pie_cct_child(pie_cct_root(), 10), a);
    assert_same_node(pie_cct_child(a, 20), b);
    assert_same_node(pie_cct_child(a, 5), c);
    assert_same_node(pie_cct_parent(c), a);
    assert_int_equal(pie_cct_key(c), 5);
    assert_true(pie_cct_is_root(pie_cct_parent(a)));
}

/* The same key under two parents is two contexts. */
static void test_context_is_the_whole_path(void **state) {
    struct pie_cct_id a = pie_cct_child(pie_cct_root(), 1), b = pie_cct_child(pie_cct_root(), 2);

    assert_int_not_equal(pie_cct_child(a, 3).value, pie_cct_child(b, 3).value);
}

static void test_many_children_at_every_depth(void **state) {
    enum { WIDE = 3000 };
    static struct pie_cct_id ids[WIDE];
    struct pie_cct_id parent = pie_cct_root();

    for (int depth = 0; depth < 25; depth++) {
        for (uint64_t i = 0; i < WIDE; i++) {
            ids[i] = pie_cct_child(parent, (i * 7919) % WIDE + 1);
            assert_int_not_equal(ids[i].value, 0);
        }
        for (uint64_t i = 0; i < WIDE; i++)
            assert_same_node(pie_cct_child(parent, (i * 7919) % WIDE + 1), ids[i]);
        parent = ids[depth];
    }
}

enum { THREADS = 4, KEYS = 20000 };

static void *insert_all(void *argument) {
    struct pie_cct_id *ids = argument;

    for (uint64_t i = 0; i < KEYS; i++) {
        uint64_t key = (i * 48271) % KEYS + 1; /* every thread in the same order: they collide all the time */
        ids[key - 1] = pie_cct_child(pie_cct_root(), key);
    }
    return NULL;
}

static void test_threads_agree_on_every_node(void **state) {
    static struct pie_cct_id ids[THREADS][KEYS];
    pthread_t threads[THREADS];

    for (int t = 0; t < THREADS; t++)
        assert_int_equal(pthread_create(&threads[t], NULL, insert_all, ids[t]), 0);
    for (int t = 0; t < THREADS; t++)
        pthread_join(threads[t], NULL);
    for (int i = 0; i < KEYS; i++) {
        assert_int_not_equal(ids[0][i].value, 0);
        for (int t = 1; t < THREADS; t++)
            assert_same_node(ids[t][i], ids[0][i]);
        assert_int_equal(pie_cct_key(ids[0][i]), i + 1);
    }
}

/* Search must not be linear in the number of siblings anywhere: that would take minutes here. */
#ifdef __SANITIZE_THREAD__
enum { N = 50000 };
#else
enum { N = 1000000 };
#endif

static void test_a_million_children_deep_down(void **state) {
    enum { DEPTH = 60 };
    struct pie_cct_id parent = pie_cct_root(), first = {0};

    for (uint32_t depth = 1; depth < DEPTH; depth++)
        parent = pie_cct_child(parent, pie_cct_python_key(1, depth));
    for (uint32_t i = 0; i < N; i++) {
        struct pie_cct_id id = pie_cct_child(parent, pie_cct_python_key(i + 1, 3));
        assert_same_node(pie_cct_parent(id), parent);
        if (i == 0)
            first = id;
    }
    assert_same_node(pie_cct_child(parent, pie_cct_python_key(1, 3)), first);
    /* a node each, and nothing beside it */
    assert_int_equal(pie_region_used(PIE_ARENA_CCT), 8 + (2 + DEPTH - 1 + N) * 32);
}

static void test_full_arena_has_one_node_for_the_rest_and_keeps_the_tree(void **state) {
    const struct pie_cct_id full = {PIE_CCT_FULL_ID};
    struct pie_cct_id a = pie_cct_child(pie_cct_root(), 1);

    while (pie_region_alloc(PIE_ARENA_CCT, (size_t)1 << 20))
        continue;
    while (pie_region_alloc(PIE_ARENA_CCT, 8))
        continue;
    assert_same_node(pie_cct_child(a, 99), full);
    assert_same_node(pie_cct_child(full, 7), full);
    assert_same_node(pie_cct_child(pie_cct_root(), 1), a);
    assert_int_equal(pie_cct_key_code(pie_cct_key(full)), PIE_CCT_CODE_FULL);
    assert_true(pie_cct_is_root(pie_cct_parent(full)));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_keys_keep_what_they_are_made_of),
        cmocka_unit_test_setup(test_same_path_is_same_node, new_tree),
        cmocka_unit_test_setup(test_context_is_the_whole_path, new_tree),
        cmocka_unit_test_setup(test_many_children_at_every_depth, new_tree),
        cmocka_unit_test_setup(test_threads_agree_on_every_node, new_tree),
        cmocka_unit_test_setup(test_a_million_children_deep_down, new_tree),
        cmocka_unit_test_setup(test_full_arena_has_one_node_for_the_rest_and_keeps_the_tree, new_tree),
    };
    if (pie_region_init() < 0)
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
