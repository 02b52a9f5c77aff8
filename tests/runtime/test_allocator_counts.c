/* SPDX-License-Identifier: Apache-2.0 */

/* The engine's record of each call: the block, its size, whose it is, where the call came from; and that everything
 * that is freed again adds up to nothing. */
#include "runtime/memory/allocator.h"
#include "runtime/memory/allocator_base.h"

#include "tests/runtime/heap_fake.h"

#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { THREADS = 8, ROUNDS = 20000, HELD = 64 };

extern const char __executable_start[], __etext[];

static bool is_of_program(const void *address) {
    return (const char *)address >= __executable_start && (const char *)address < __etext;
}

/* The only call since the last look was this one. */
static void expect_allocated(void *block) {
    const struct heap_fake_note *note = &heap_fake_notes[0];

    assert_int_equal(heap_fake_count, 1);
    assert_int_equal(note->call, HEAP_FAKE_ALLOCATED);
    assert_ptr_equal(note->block, block);
    assert_int_equal(note->bytes, malloc_usable_size(block));
    assert_int_equal(note->domain, pie_allocator_domain);
    assert_true(is_of_program(note->caller));
    heap_fake_forget();
}

static void release(void *block) {
    free(block);
    assert_int_equal(heap_fake_count, 1);
    assert_int_equal(heap_fake_notes[0].call, HEAP_FAKE_FREEING);
    assert_ptr_equal(heap_fake_notes[0].block, block);
    heap_fake_forget();
}

#define EXPECT_ALLOCATED(call)                                                                               \
    do {                                                                                                     \
        void *got = (call);                                                                                  \
        expect_allocated(got);                                                                               \
        release(got);                                                                                        \
    } while (0)

static void *aligned(size_t alignment, size_t size) {
    void *block = NULL;

    assert_int_equal(posix_memalign(&block, alignment, size), 0);
    return block;
}

static void test_every_form_is_told(void **state) {
    static const size_t sizes[] = {0, 1, 100, 5000, 300000, 40 << 20};
    struct pie_heap_thread heap;

    heap_fake_begin(&heap, true);
    heap_fake_forget();
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int domain = 0; domain < PIE_HEAP_DOMAINS; domain++) {
            pie_allocator_domain = (enum pie_heap_domain)domain;
            EXPECT_ALLOCATED(malloc(sizes[i]));
            EXPECT_ALLOCATED(calloc(3, sizes[i]));
            EXPECT_ALLOCATED(realloc(NULL, sizes[i]));
            EXPECT_ALLOCATED(memalign(64, sizes[i]));
            EXPECT_ALLOCATED(aligned_alloc(4096, sizes[i]));
            EXPECT_ALLOCATED(aligned(256, sizes[i]));
            EXPECT_ALLOCATED(valloc(sizes[i]));
            EXPECT_ALLOCATED(reallocarray(NULL, 2, sizes[i]));
        }
    pie_allocator_domain = PIE_HEAP_NATIVE;
    free(NULL);
    assert_int_equal(heap_fake_count, 0);
    heap_fake_end();
    assert_int_equal(heap_fake_live(&heap), 0);
}

static void test_the_c_library_allocates_through_us(void **state) {
    struct pie_heap_thread heap;

    heap_fake_begin(&heap, true);
    heap_fake_forget();
    char *copy = strdup("as every library does");
    assert_int_equal(heap_fake_count, 1);
    assert_ptr_equal(heap_fake_notes[0].block, copy);
    free(copy);
    heap_fake_end();
    assert_int_equal(heap_fake_live(&heap), 0);
}

static void test_python_and_native_memory_apart(void **state) {
    struct pie_heap_thread heap;

    heap_fake_begin(&heap, false);
    void *native = malloc(1000);
    pie_allocator_domain = PIE_HEAP_PYTHON;
    void *python = malloc(5000);
    pie_allocator_domain = PIE_HEAP_NATIVE;
    assert_int_equal(heap.counts[PIE_HEAP_NATIVE].allocated_bytes, malloc_usable_size(native));
    assert_int_equal(heap.counts[PIE_HEAP_PYTHON].allocated_bytes, malloc_usable_size(python));
    free(native);
    assert_int_equal(heap.counts[PIE_HEAP_NATIVE].freed_bytes, heap.counts[PIE_HEAP_NATIVE].allocated_bytes);
    assert_int_equal(heap.counts[PIE_HEAP_PYTHON].freed_bytes, 0);
    heap_fake_end();
    free(python);
}

/* Told before and after; a block that is not tracked is not looked up. */
static void test_realloc_is_told_twice(void **state) {
    struct pie_heap_thread heap;
    void *old = malloc(100);
    size_t old_bytes = malloc_usable_size(old);

    heap_fake_begin(&heap, true);
    heap_fake_track_all(true);
    heap_fake_forget();
    void *block = realloc(old, 200000);
    assert_int_equal(heap_fake_count, 2);
    assert_int_equal(heap_fake_notes[0].call, HEAP_FAKE_RESIZING);
    assert_ptr_equal(heap_fake_notes[0].block, old);
    const struct heap_fake_note *note = &heap_fake_notes[1];
    assert_int_equal(note->call, HEAP_FAKE_RESIZED);
    assert_int_equal(note->token, heap_fake_notes[0].token);
    assert_ptr_equal(note->block, block);
    assert_int_equal(note->old_bytes, old_bytes);
    assert_int_equal(note->bytes, malloc_usable_size(block));
    assert_true(is_of_program(note->caller));
    heap_fake_track_all(false);
    heap_fake_forget();
    block = realloc(block, 100);
    assert_int_equal(heap_fake_count, 1);
    assert_int_equal(heap_fake_notes[0].call, HEAP_FAKE_RESIZED);
    assert_int_equal(heap_fake_notes[0].token, 0);
    heap_fake_end();
    free(block);
}

static void test_realloc_that_fails(void **state) {
    struct pie_heap_thread heap;
    void *(*volatile resize)(void *, size_t) = realloc;
    void *block = malloc(100);
    size_t bytes = malloc_usable_size(block);

    heap_fake_begin(&heap, false);
    heap_fake_track_all(true);
    heap_fake_forget();
    assert_null(resize(block, PTRDIFF_MAX));
    assert_int_equal(heap_fake_count, 2);
    assert_int_equal(heap_fake_notes[1].call, HEAP_FAKE_RESIZED);
    assert_ptr_equal(heap_fake_notes[1].block, block);
    assert_int_equal(heap_fake_notes[1].old_bytes, bytes);
    assert_int_equal(heap_fake_notes[1].bytes, bytes);
    heap_fake_track_all(false);
    heap_fake_end();
    assert_int_equal(heap_fake_live(&heap), 0);
    free(block);
}

static void test_realloc_to_nothing(void **state) {
    struct pie_heap_thread heap;

    heap_fake_begin(&heap, false);
    void *volatile block = malloc(100);
    free(realloc(block, 0));
    heap_fake_end();
    assert_int_equal(heap_fake_live(&heap), 0);
    assert_true(heap.counts[PIE_HEAP_NATIVE].freed_bytes >= 100);
}

static void test_failures_are_not_counted(void **state) {
    struct pie_heap_thread heap;
    void *(*volatile get)(size_t) = malloc;
    void *kept = &heap;

    heap_fake_begin(&heap, true);
    heap_fake_forget();
    assert_null(get(PTRDIFF_MAX));
    assert_int_equal(posix_memalign(&kept, 3, 100), EINVAL);
    assert_ptr_equal(kept, &heap);
    assert_int_equal(heap_fake_count, 0);
    heap_fake_end();
}

static uint32_t next_random(uint32_t *state) {
    return *state = *state * 1664525 + 1013904223;
}

/* One of every form, by lot. */
static void *any_block(uint32_t lot, void *old) {
    size_t size = (lot >> 8) % 3000 + (lot % 997 == 0 ? 200000 : 0);

    if (lot % 8 == 0)
        return realloc(old, size + 1);
    free(old);
    switch (lot % 8) {
    case 1:
        return calloc(size, 2);
    case 2:
        return memalign(64, size);
    case 3:
        return aligned(128, size);
    default:
        return malloc(size);
    }
}

static void *allocate_and_free(void *argument) {
    struct pie_heap_thread *heap = argument;
    uint32_t state = (uint32_t)(uintptr_t)argument;
    void *held[HELD] = {NULL};

    heap_fake_begin(heap, false);
    for (int i = 0; i < ROUNDS; i++) {
        uint32_t lot = next_random(&state) >> 3;
        held[i % HELD] = any_block(lot, held[i % HELD]);
    }
    for (int i = 0; i < HELD; i++)
        free(held[i]);
    heap_fake_end();
    return NULL;
}

static void test_balance_of_each_thread(void **state) {
    static struct pie_heap_thread heaps[THREADS];
    pthread_t threads[THREADS];

    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, allocate_and_free, &heaps[i]), 0);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    for (int i = 0; i < THREADS; i++) {
        assert_true(heaps[i].counts[PIE_HEAP_NATIVE].allocated_bytes > ROUNDS * 100);
        assert_int_equal(heap_fake_live(&heaps[i]), 0);
        assert_int_equal(heaps[i].counts[PIE_HEAP_PYTHON].allocated_bytes, 0);
    }
}

/* Where glibc's note and malloc_usable_size() were to differ, blocks are measured by asking. */
static void test_asking_for_sizes(void **state) {
    enum pie_allocator_measure kept = pie_allocator_measure;
    static struct pie_heap_thread heap;

    pie_allocator_measure = PIE_ALLOCATOR_ASK;
    allocate_and_free(&heap);
    assert_int_equal(heap_fake_live(&heap), 0);
    pie_allocator_measure = PIE_ALLOCATOR_UNKNOWN;
    allocate_and_free(&heap);
    assert_int_equal(heap.counts[PIE_HEAP_NATIVE].allocated_bytes, 0);
    pie_allocator_measure = kept;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_form_is_told),
        cmocka_unit_test(test_the_c_library_allocates_through_us),
        cmocka_unit_test(test_python_and_native_memory_apart),
        cmocka_unit_test(test_realloc_is_told_twice),
        cmocka_unit_test(test_realloc_that_fails),
        cmocka_unit_test(test_realloc_to_nothing),
        cmocka_unit_test(test_failures_are_not_counted),
        cmocka_unit_test(test_balance_of_each_thread),
        cmocka_unit_test(test_asking_for_sizes),
    };
    pie_allocator_check();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
