/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/base/list.h"
#include "profiler/base/own_memory.h"
#include "profiler/base/sort.h"

#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include <cmocka.h>

static void fill(unsigned char *block, size_t size, unsigned seed) {
    for (size_t i = 0; i < size; i++)
        block[i] = (unsigned char)(i * 31 + seed);
}

static bool holds(const unsigned char *block, size_t size, unsigned seed) {
    for (size_t i = 0; i < size; i++)
        if (block[i] != (unsigned char)(i * 31 + seed))
            return false;
    return true;
}

static void test_resizing_keeps_the_content_across_both_kinds(void **state) {
    static const size_t sizes[] = {10, 1000, 60000, 70000, 4 << 20, 5000000, 65536, 65535, 100, 300000};
    unsigned char *block = NULL;
    size_t size = 0;

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        block = pie_realloc(block, sizes[i]);
        assert_non_null(block);
        assert_true(holds(block, size < sizes[i] ? size : sizes[i], 7));
        size = sizes[i];
        fill(block, size, 7);
    }
    pie_free(block);
    pie_free(NULL);
    pie_free(malloc(200000)); /* malloc's own are taken too */
}

static void test_calloc_gives_zeros_and_refuses_overflow(void **state) {
    for (size_t count = 100; count < 1000000; count *= 10) {
        unsigned char *block = pie_malloc(count);
        memset(block, 0xff, count);
        pie_free(block);
        block = pie_calloc(count, 1);
        for (size_t i = 0; i < count; i++)
            assert_int_equal(block[i], 0);
        pie_free(block);
    }
    volatile size_t huge = SIZE_MAX / 2;
    assert_null(pie_calloc(huge, 3));
    assert_null(pie_malloc(SIZE_MAX));
}

#if !PIE_SANITIZED
/* Instead of the C library's, as pieprof's exported one is. */
static unsigned calls_of_mmap;
void *mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset) {
    calls_of_mmap++;
    return (void *)syscall(SYS_mmap, address, size, protection, flags, fd, offset);
}
#endif

/* A mapping of ours is none of the program's. */
static void test_mapped_blocks_are_counted_here_alone(void **state) {
    uint64_t before = pie_own_mapped_bytes();
    char *small = pie_malloc(60000), *large = pie_calloc(1, 100000), *other = pie_malloc(1 << 20);

    assert_int_equal(pie_own_mapped_bytes() - before, 102400 + (1 << 20));
    large = pie_realloc(large, 300000);
    assert_non_null(large);
    assert_int_equal(pie_own_mapped_bytes() - before, 303104 + (1 << 20));
    pie_free(other);
    pie_free(small);
    assert_int_equal(pie_own_mapped_bytes() - before, 303104);
    pie_free(large);
    assert_int_equal(pie_own_mapped_bytes(), before);
#if !PIE_SANITIZED
    assert_int_equal(calls_of_mmap, 0);
#endif
}

/* A list keeps what is in it while it grows from small blocks to mapped ones. */
static void test_a_list_has_room_for_one_more(void **state) {
    enum { N = 20000 };
    uint64_t *list = NULL;
    size_t room = 0;

    for (size_t i = 0; i < N; i++) {
        uint64_t *grown = pie_list_grown(list, i, &room, sizeof *list);
        assert_non_null(grown);
        assert_true(room > i && room <= (i < 64 ? 64 : 2 * i));
        list = grown;
        list[i] = i * 7;
    }
    for (size_t i = 0; i < N; i++)
        assert_int_equal(list[i], i * 7);
    size_t room_before = room;
    assert_null(pie_list_grown(list, room, &room, SIZE_MAX / 4 / room)); /* short of memory: as it was */
    assert_int_equal(room, room_before);
    assert_int_equal(list[N - 1], (N - 1) * 7);
    pie_free(list);
}

/* More blocks than the table has room for come from malloc, and all can be freed. */
static void test_many_large_blocks(void **state) {
    enum { N = 1500 };
    static unsigned char *blocks[N];

    for (unsigned i = 0; i < N; i++) {
        assert_non_null(blocks[i] = pie_malloc(70000));
        fill(blocks[i], 70000, i);
    }
    for (unsigned i = 0; i < N; i++) {
        assert_true(holds(blocks[i], 70000, i));
        pie_free(blocks[i]);
    }
}

/* The reason for it all. M_MMAP_THRESHOLD moves when malloc frees a mapped block; a block of a size between the old and
 * the new threshold is then no longer mapped. */
static void test_large_blocks_do_not_move_mallocs_threshold(void **state) {
    size_t mapped = mallinfo2().hblks;

    pie_free(pie_malloc(1 << 20));
    pie_free(pie_realloc(pie_malloc(100), 1 << 20));
    void *volatile block = malloc(300000);
    assert_int_equal(mallinfo2().hblks, mapped + 1);
    free(block);
}

struct item {
    int key, place;
};

static int compare(const void *a, const void *b) {
    return ((const struct item *)a)->key - ((const struct item *)b)->key;
}

static void test_sort_is_stable_and_right(void **state) {
    unsigned seed = 3;

    for (size_t n = 0; n < 3000; n = n * 3 / 2 + 1) {
        struct item *items = calloc(n + 1, sizeof *items);
        for (size_t i = 0; i < n; i++)
            items[i] = (struct item){rand_r(&seed) % 50, (int)i};
        assert_int_equal(pie_sort(items, n, sizeof *items, compare), 0);
        for (size_t i = 1; i < n; i++)
            assert_true(items[i - 1].key < items[i].key ||
                        (items[i - 1].key == items[i].key && items[i - 1].place < items[i].place));
        free(items);
    }
}

static void test_sort_by_key_is_stable_and_right(void **state) {
    static const uint64_t spans[] = {1, 50, 3000, UINT64_C(1) << 40, UINT64_MAX};
    unsigned seed = 5;

    for (size_t s = 0; s < sizeof spans / sizeof *spans; s++)
        for (size_t n = 0; n < 3000; n = n * 3 / 2 + 1) {
            struct pie_sort_key *keys = calloc(n + 1, sizeof *keys);
            for (size_t i = 0; i < n; i++) {
                uint64_t drawn = (uint64_t)rand_r(&seed) << 33 ^ (uint64_t)rand_r(&seed) << 11 ^ (uint64_t)i;
                uint64_t base = spans[s] == UINT64_MAX ? 0 : 0x400000;
                keys[i] = (struct pie_sort_key){.key = base + drawn % spans[s], .item = (void *)i};
            }
            assert_int_equal(pie_sort_keys(keys, n), 0);
            for (size_t i = 1; i < n; i++)
                assert_true(keys[i - 1].key < keys[i].key ||
                            (keys[i - 1].key == keys[i].key && keys[i - 1].item < keys[i].item));
            free(keys);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_large_blocks_do_not_move_mallocs_threshold), /* first: the heap is untouched */
        cmocka_unit_test(test_resizing_keeps_the_content_across_both_kinds),
        cmocka_unit_test(test_calloc_gives_zeros_and_refuses_overflow),
        cmocka_unit_test(test_mapped_blocks_are_counted_here_alone),
        cmocka_unit_test(test_a_list_has_room_for_one_more),
        cmocka_unit_test(test_many_large_blocks),
        cmocka_unit_test(test_sort_is_stable_and_right),
        cmocka_unit_test(test_sort_by_key_is_stable_and_right),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
