/* SPDX-License-Identifier: Apache-2.0 */

/* The table of counted ranges: a call's cost does not grow with the ranges that live, and any order of whole and
 * partial unmaps leaves the same ranges as a plain array of pages. */
#include <stdint.h>

static _Thread_local uint64_t looks;
#define PIE_MAPPING_LOOK() (looks++)
#include "runtime/memory/mapping_table_sigsafe.c" /* NOLINT(bugprone-suspicious-include) */

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { PAGE = 4096, MANY = 60000, TWO_BUCKETS = 2 * BUCKET_WORDS };

/* The most words that one call may look at, from the shape of the tree. */
enum {
    MAX_ADD = LEVELS * 3 * TWO_BUCKETS,                  /* not found, the free ones counted, one taken */
    MAX_EXACT = LEVELS * TWO_BUCKETS,                    /* found on each level */
    MAX_SEARCH = TWO_BUCKETS + 2 * LEVELS * TWO_BUCKETS, /* not an exact one; up and down the tree */
    MAX_PARTIAL = 2 * MAX_SEARCH + MAX_EXACT + MAX_ADD,  /* found, moved, and none before it found */
};

static uint64_t random_state = 1;

static uint64_t next_random(uint64_t below) {
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (random_state >> 33) % below;
}

static uint64_t nonzero(bucket *table, size_t buckets) {
    uint64_t n = 0;

    for (size_t i = 0; i < buckets * BUCKET_WORDS; i++)
        n += atomic_load(&table[i / BUCKET_WORDS][i % BUCKET_WORDS]) != 0;
    return n;
}

static void assert_empty(void) {
    assert_int_equal(nonzero(ranges, RANGE_BUCKETS), 0);
    assert_int_equal(nonzero(nodes, NODE_BUCKETS), 0);
    assert_int_equal(atomic_load(&live), 0);
}

static void assert_cost(uint64_t most, const char *what) {
    if (looks > most)
        fail_msg("%s looked at %llu words, not at most %llu", what, (unsigned long long)looks,
                 (unsigned long long)most);
    looks = 0;
}

static void cut_one(uintptr_t start, size_t bytes, size_t expected, uint64_t most, const char *what) {
    struct pie_mapping_cut cuts[PIE_MAPPING_CUTS];

    looks = 0;
    assert_int_equal(pie_mapping_table_cut(start, bytes, cuts), expected);
    assert_cost(most, what);
}

/* Ranges of three pages (or one, where they touch), so far apart. */
static void check_costs(uintptr_t base, size_t stride_pages) {
    size_t stride = stride_pages * PAGE, bytes = (stride_pages > 4 ? 3 : 1) * (size_t)PAGE;

    for (size_t i = 0; i < MANY; i++) {
        looks = 0;
        assert_true(pie_mapping_table_add(base + i * stride, bytes));
        assert_cost(MAX_ADD, "adding");
    }
    for (size_t i = 0; i < MANY; i += 7) {
        uintptr_t start = base + i * stride;
        if (stride > bytes)
            cut_one(start + bytes, PAGE, 0, MAX_SEARCH, "unmapping pages that are not counted");
        if (bytes > PAGE) {
            cut_one(start, PAGE, 1, MAX_PARTIAL, "unmapping the head");
            cut_one(start + 2 * PAGE, PAGE, 1, MAX_PARTIAL, "unmapping the tail");
            cut_one(start + PAGE, PAGE, 1, MAX_EXACT, "unmapping the whole rest");
        }
    }
    for (size_t i = 0; i < MANY; i++)
        if (i % 7 || bytes == PAGE)
            cut_one(base + i * stride, bytes, 1, MAX_EXACT, "unmapping a whole range");
    cut_one(0, SIZE_MAX, 0, MAX_SEARCH, "unmapping all of an empty table");
    assert_empty();
}

static void test_cost_does_not_grow(void **state) {
    static const size_t strides[] = {1, 2, 16, 17, 5, 300, 4096, 70000, 262144};

    for (size_t i = 0; i < sizeof(strides) / sizeof(*strides); i++)
        check_costs((uintptr_t)1 << 36, strides[i]);
    assert_int_equal(pie_mapping_table_refused(), 0);
}

enum { MODEL_PAGES = 3000, MODEL_STEPS = 60000, NOBODY = -1 };

/* Which range each page belongs to, by the page that it starts at. */
struct model {
    uintptr_t base;
    int owner[MODEL_PAGES];
};

static int range_pages(const struct model *model, int start) {
    int pages = 0;

    while (start + pages < MODEL_PAGES && model->owner[start + pages] == start)
        pages++;
    return pages;
}

static void model_add(struct model *model, int start, int pages) {
    for (int i = start; i < start + pages; i++)
        if (model->owner[i] != NOBODY)
            return;
    for (int i = start; i < start + pages; i++)
        model->owner[i] = start;
    assert_true(pie_mapping_table_add(model->base + (size_t)start * PAGE, (size_t)pages * PAGE));
}

/* One cut that the table reports, against the array; the pages after it go on as a range of their own. */
static void model_cut(struct model *model, const struct pie_mapping_cut *cut, int first, int end) {
    int start = (int)((cut->start - model->base) / PAGE), pages = range_pages(model, start);
    int from = start > first ? start : first, to = start + pages < end ? start + pages : end;

    assert_true(cut->start >= model->base && start < MODEL_PAGES && from < to);
    assert_int_equal(cut->bytes, (size_t)pages * PAGE);
    assert_int_equal(cut->cut_start, model->base + (size_t)from * PAGE);
    assert_int_equal(cut->cut_bytes, (size_t)(to - from) * PAGE);
    for (int i = start + pages - 1; i >= from; i--)
        model->owner[i] = i < to ? NOBODY : to;
}

static void model_unmap(struct model *model, int first, int end) {
    struct pie_mapping_cut cuts[PIE_MAPPING_CUTS];
    size_t n;

    do {
        n = pie_mapping_table_cut(model->base + (size_t)first * PAGE, (size_t)(end - first) * PAGE, cuts);
        for (size_t i = 0; i < n; i++)
            model_cut(model, &cuts[i], first, end);
    } while (n == PIE_MAPPING_CUTS);
    for (int i = first; i < end; i++)
        assert_int_equal(model->owner[i], NOBODY);
}

static void model_step(struct model *model, int most_pages) {
    int start = (int)next_random(MODEL_PAGES), pages = 1 + (int)next_random((uint64_t)most_pages);
    int end = start + pages < MODEL_PAGES ? start + pages : MODEL_PAGES;

    if (next_random(2)) {
        model_add(model, start, end - start);
    } else if (next_random(3) && model->owner[start] != NOBODY) {
        int whole = model->owner[start], whole_pages = range_pages(model, whole);
        if (next_random(2))
            model_unmap(model, whole, whole + whole_pages);
        else if (pie_mapping_table_take(model->base + (size_t)whole * PAGE, (size_t)whole_pages * PAGE))
            memset(&model->owner[whole], 0xff, (size_t)whole_pages * sizeof(int));
        else
            fail_msg("a range that lives cannot be taken");
    } else {
        model_unmap(model, start, end);
    }
}

static void test_against_a_model(void **state) {
    /* Across the borders of granules of several levels, and at both ends of what can be expressed. */
    static const uintptr_t bases[] = {0, ((uintptr_t)1 << 44) - MODEL_PAGES / 2 * PAGE,
                                      ((uintptr_t)1 << 28) - MODEL_PAGES / 3 * PAGE,
                                      ((uintptr_t)1 << 48) - (uintptr_t)MODEL_PAGES * PAGE};
    static struct model model;

    for (size_t i = 0; i < sizeof(bases) / sizeof(*bases); i++) {
        model.base = bases[i];
        memset(model.owner, 0xff, sizeof(model.owner));
        for (int step = 0; step < MODEL_STEPS; step++)
            model_step(&model, step % 3000 < 1500 ? 3 : 60);
        model_unmap(&model, 0, MODEL_PAGES);
        assert_empty();
    }
    assert_int_equal(pie_mapping_table_refused(), 0);
}

enum { THREADS = 4, THREAD_RANGES = 64, THREAD_ROUNDS = 400 };

/* Neighbours of the other threads' ranges, so all share the nodes of the tree. */
static void *add_and_take(void *argument) {
    uintptr_t base = ((uintptr_t)1 << 40) + (uintptr_t)argument * PAGE;

    for (int round = 0; round < THREAD_ROUNDS; round++) {
        for (uintptr_t i = 0; i < THREAD_RANGES; i++)
            if (!pie_mapping_table_add(base + i * 2 * THREADS * PAGE, PAGE))
                return argument;
        for (uintptr_t i = 0; i < THREAD_RANGES; i++)
            if (!pie_mapping_table_take(base + i * 2 * THREADS * PAGE, PAGE))
                return argument;
    }
    return NULL;
}

static void test_threads(void **state) {
    pthread_t threads[THREADS];

    for (uintptr_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, add_and_take, (void *)(i + 1)), 0);
    for (int i = 0; i < THREADS; i++) {
        void *failed = NULL;
        assert_int_equal(pthread_join(threads[i], &failed), 0);
        assert_null(failed);
    }
    assert_empty();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cost_does_not_grow),
        cmocka_unit_test(test_against_a_model),
        cmocka_unit_test(test_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
