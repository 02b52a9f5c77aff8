/* SPDX-License-Identifier: Apache-2.0 */

/* Before main() and beside fork(): a dlsym() that allocates while the allocator is looked for, a library whose
 * constructor allocates, and a program that forks while all its threads allocate. */
#include "runtime/memory/allocator.h"

#include "tests/runtime/early_malloc.h"
#include "tests/runtime/heap_fake.h"

#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { THREADS = 8, FORKS = 20, CHILD_S = 20, CHILD_ROUNDS = 1000, GIVEN = 3 };

/* What this program's dlsym() was given during the very first call. */
static char *given[GIVEN];
static size_t given_usable;
static int inner_calls;

/* In place of the C library's for the allocator, which is linked into this program. */
__attribute__((visibility("default"))) void *dlsym(void *restrict handle, const char *restrict name) {
    typedef void *(*dlsym_fn)(void *, const char *);
    dlsym_fn real = (dlsym_fn)dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");

    if (inner_calls++ == 0) {
        given[0] = malloc(100);
        given[1] = realloc(calloc(5, 2), 20);
        given[2] = memalign(512, 100);
        for (int i = 0; i < GIVEN; i++)
            strcpy(given[i], "given");
        given_usable = malloc_usable_size(given[0]);
        free(malloc(10));
        free(NULL);
    }
    return real(handle, name);
}

static void test_dlsym_that_allocates(void **state) {
    struct pie_heap_thread heap;

    assert_true(inner_calls >= 10);
    assert_true(given_usable >= 100);
    assert_int_equal((uintptr_t)given[2] % 512, 0);
    heap_fake_begin(&heap, false);
    for (int i = 0; i < GIVEN; i++) {
        assert_string_equal(given[i], "given");
        assert_true(malloc_usable_size(given[i]) >= 20);
        given[i] = realloc(given[i], 5000);
        assert_string_equal(given[i], "given");
        free(given[i]);
    }
    heap_fake_end();
}

static void test_library_that_allocates_before_main(void **state) {
    assert_string_equal(early_blocks[0], "aallocated");
    assert_string_equal(early_blocks[1], "");
    assert_string_equal(early_blocks[2], "resized");
    assert_int_equal((uintptr_t)early_blocks[3] % 256, 0);
    assert_true(early_thread_ran);
    for (int i = 0; i < 4; i++)
        free(realloc(early_blocks[i], 1000));
}

static atomic_bool is_over;

static void *allocate_until_over(void *argument) {
    struct pie_heap_thread heap;

    heap_fake_begin(&heap, false);
    for (unsigned i = 0; !atomic_load(&is_over); i++)
        free(realloc(malloc(i % 5000), i % 7777 + 1));
    heap_fake_end();
    return argument;
}

/* Status 0: it could allocate, in its own thread and in a new one. */
static void child(void) {
    pthread_t thread;

    alarm(CHILD_S); /* a hang must not be the test's */
    for (unsigned i = 0; i < CHILD_ROUNDS; i++)
        free(realloc(malloc(i % 5000), i % 7777 + 1));
    atomic_store(&is_over, true);
    if (pthread_create(&thread, NULL, allocate_until_over, NULL) != 0)
        _exit(1);
    pthread_join(thread, NULL);
    _exit(0);
}

static void test_fork_beside_allocating_threads(void **state) {
    struct pie_heap_thread heap;
    pthread_t threads[THREADS];

    heap_fake_begin(&heap, false);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, allocate_until_over, NULL), 0);
    for (int i = 0; i < FORKS; i++) {
        int status = -1;
        pid_t pid = fork();
        if (pid == 0)
            child();
        assert_true(pid > 0);
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_int_equal(status, 0);
    }
    atomic_store(&is_over, true);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    heap_fake_end();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dlsym_that_allocates),
        cmocka_unit_test(test_library_that_allocates_before_main),
        cmocka_unit_test(test_fork_beside_allocating_threads),
    };
    pie_allocator_check();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
