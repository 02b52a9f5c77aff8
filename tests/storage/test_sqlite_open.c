/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/file/sqlite_open.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static int open_empty(void **state) {
    sqlite3 *db = NULL;

    assert_int_equal(pie_sqlite_open(":memory:", &db, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
    *state = db;
    return 0;
}

static int close_it(void **state) {
    return sqlite3_close(*state);
}

static bool holds(const unsigned char *block, size_t size, unsigned char value) {
    for (size_t i = 0; i < size; i++)
        if (block[i] != value)
            return false;
    return true;
}

enum { BLOCKS = 300, STEPS = 15000 };

/* Sizes about every border between two classes, small and large. */
static int draw_size(unsigned *seed) {
    int shift = rand_r(seed) % 18, near = rand_r(seed) % 41 - 20;
    int size = (1 << shift) + (rand_r(seed) % 4) * (1 << shift) / 4 + near;

    return size > 0 ? size : 1;
}

/* Blocks that come, grow, shrink and go keep what is written into them, and so never overlap. */
static void churn(unsigned seed) {
    static __thread struct {
        unsigned char *bytes;
        int size;
        unsigned char value;
    } blocks[BLOCKS];

    memset(blocks, 0, sizeof blocks);
    for (unsigned step = 0; step < STEPS; step++) {
        unsigned i = (unsigned)rand_r(&seed) % BLOCKS;
        int size = draw_size(&seed), kept = blocks[i].size < size ? blocks[i].size : size;
        assert_true(holds(blocks[i].bytes, (size_t)blocks[i].size, blocks[i].value));
        if (rand_r(&seed) % 3 == 0) {
            sqlite3_free(blocks[i].bytes);
            blocks[i].bytes = NULL;
            blocks[i].size = 0;
            continue;
        }
        blocks[i].bytes = sqlite3_realloc(blocks[i].bytes, size);
        assert_non_null(blocks[i].bytes);
        assert_int_equal((uintptr_t)blocks[i].bytes % 8, 0);
        assert_true(sqlite3_msize(blocks[i].bytes) >= (sqlite3_uint64)size);
        assert_true(holds(blocks[i].bytes, (size_t)kept, blocks[i].value));
        blocks[i].size = size;
        blocks[i].value = (unsigned char)step;
        memset(blocks[i].bytes, blocks[i].value, (size_t)size);
    }
    for (unsigned i = 0; i < BLOCKS; i++)
        sqlite3_free(blocks[i].bytes);
}

static void test_blocks_keep_their_content(void **state) {
    for (unsigned seed = 1; seed <= 5; seed++)
        churn(seed);
}

static void *churn_in_thread(void *data) {
    churn((unsigned)(uintptr_t)data);
    return NULL;
}

static void test_threads_do_not_share_blocks(void **state) {
    pthread_t threads[4];

    for (uintptr_t i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, churn_in_thread, (void *)(i + 10)), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
}

static void *take_back(void *data) {
    void **blocks = data;

    for (int i = 0; i < BLOCKS; i++)
        sqlite3_free(blocks[i]);
    for (int i = 0; i < BLOCKS; i++) {
        blocks[i] = sqlite3_malloc(1000);
        memset(blocks[i], i, 1000);
    }
    return NULL;
}

/* The summary closes nothing that the collection thread opened, but nothing forbids it. */
static void test_one_thread_frees_what_another_asked_for(void **state) {
    void *blocks[BLOCKS];
    pthread_t thread;

    for (int i = 0; i < BLOCKS; i++)
        assert_non_null(blocks[i] = sqlite3_malloc(draw_size(&(unsigned){(unsigned)i})));
    assert_int_equal(pthread_create(&thread, NULL, take_back, blocks), 0);
    pthread_join(thread, NULL);
    for (int i = 0; i < BLOCKS; i++) {
        assert_true(holds(blocks[i], 1000, (unsigned char)i));
        sqlite3_free(blocks[i]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_blocks_keep_their_content, open_empty, close_it),
        cmocka_unit_test_setup_teardown(test_threads_do_not_share_blocks, open_empty, close_it),
        cmocka_unit_test_setup_teardown(test_one_thread_frees_what_another_asked_for, open_empty, close_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
