/* SPDX-License-Identifier: Apache-2.0 */

#include "profiler/base/string_pool.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static void test_equal_texts_are_one(void **state) {
    struct pie_string_pool *pool;
    assert_int_equal(pie_string_pool_create(&pool), 0);
    char text[] = "list_resize";
    const char *first = pie_string_pool_put(pool, text);
    assert_string_equal(first, "list_resize");
    assert_ptr_not_equal(first, text);
    assert_ptr_equal(pie_string_pool_put(pool, "list_resize"), first);
    text[0] = 'L';
    assert_string_equal(first, "list_resize");
    assert_ptr_not_equal(pie_string_pool_put(pool, text), first);
    assert_null(pie_string_pool_put(pool, NULL));
    assert_string_equal(pie_string_pool_put(pool, ""), "");
    pie_string_pool_destroy(pool);
    pie_string_pool_destroy(NULL);
}

static void test_many_and_long_texts_stay(void **state) {
    enum { COUNT = 20000, LONG = 100000 };
    struct pie_string_pool *pool;
    assert_int_equal(pie_string_pool_create(&pool), 0);
    const char **kept = malloc(COUNT * sizeof(*kept));
    char *long_text = malloc(LONG + 1);
    memset(long_text, 'x', LONG);
    long_text[LONG] = '\0';
    char text[32];
    size_t bytes = LONG + 1;
    for (int i = 0; i < COUNT; i++) {
        bytes += (size_t)snprintf(text, sizeof(text), "function_%d", i * 7) + 1;
        kept[i] = pie_string_pool_put(pool, text);
        if (i == COUNT / 2)
            assert_string_equal(pie_string_pool_put(pool, long_text), long_text);
    }
    for (int i = 0; i < COUNT; i++) {
        snprintf(text, sizeof(text), "function_%d", i * 7);
        assert_string_equal(kept[i], text);
        assert_ptr_equal(pie_string_pool_put(pool, text), kept[i]);
    }
    assert_int_equal(pie_string_pool_size_bytes(pool), bytes);
    free(long_text);
    free(kept);
    pie_string_pool_destroy(pool);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_equal_texts_are_one),
        cmocka_unit_test(test_many_and_long_texts_stay),
    };
    return cmocka_run_group_tests_name("string_pool", tests, NULL, NULL);
}
