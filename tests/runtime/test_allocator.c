/* SPDX-License-Identifier: Apache-2.0 */

/* The exported malloc() family keeps every promise of the one below it, counted or not: results, alignment, errno on
 * failure and on success. Each call is made of both and compared. */
#include "profiler/base/dwarf_guard.h"
#include "runtime/memory/allocator.h"

#include "tests/runtime/heap_fake.h"

#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ERRNO_BEFORE = 77 };
static const size_t odd_sizes[] = {0,
                                   1,
                                   7,
                                   8,
                                   24,
                                   25,
                                   100,
                                   4096,
                                   131072,
                                   200000,
                                   (size_t)PTRDIFF_MAX - 4096,
                                   PTRDIFF_MAX,
                                   (size_t)PTRDIFF_MAX + 1,
                                   SIZE_MAX - 4096,
                                   SIZE_MAX};
static const size_t alignments[] = {0, 1, 3, 8, 16, 24, 64, 4096, 65536, (size_t)1 << 63, SIZE_MAX};

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

/* One way to get a block: by the exported function and by the one below. */
struct form {
    const char *name;
    void *(*get)(void *function, size_t alignment, size_t size);
    bool is_aligned; /* looks at the alignment */
};

static void *get_malloc(void *function, size_t alignment, size_t size) {
    return ((void *(*)(size_t))function)(size);
}

static void *get_calloc(void *function, size_t alignment, size_t size) {
    return ((void *(*)(size_t, size_t))function)(size % 2 ? 1 : 2, size % 2 ? size : size / 2);
}

static void *get_realloc(void *function, size_t alignment, size_t size) {
    return ((void *(*)(void *, size_t))function)(NULL, size);
}

static void *get_aligned(void *function, size_t alignment, size_t size) {
    return ((void *(*)(size_t, size_t))function)(alignment, size);
}

/* Its result and what it stores, or leaves, in one: a failure leaves the sign, whose address is not a block's. */
static char posix_sign;

static void *get_posix(void *function, size_t alignment, size_t size) {
    void *block = &posix_sign;
    int r = ((int (*)(void **, size_t, size_t))function)(&block, alignment, size);

    if (r == 0)
        return block;
    assert_ptr_equal(block, &posix_sign);
    errno = errno == ERRNO_BEFORE ? -r : errno; /* errno itself must not be touched */
    return NULL;
}

static const struct form forms[] = {
    {"malloc", get_malloc, false},        {"calloc", get_calloc, false},
    {"realloc", get_realloc, false},      {"valloc", get_malloc, false},
    {"pvalloc", get_malloc, false},       {"memalign", get_aligned, true},
    {"aligned_alloc", get_aligned, true}, {"posix_memalign", get_posix, true},
};

static void *exported(const char *name) {
    void *function = dlsym(RTLD_DEFAULT, name);

    assert_non_null(function);
    return function;
}

static void *next(const char *name) {
    void *function = dlsym(RTLD_NEXT, name);

    assert_non_null(function);
    assert_ptr_not_equal(function, exported(name));
    return function;
}

struct outcome {
    bool is_null;
    int error;
    size_t usable, offset; /* offset: from the alignment that was asked for, else from 16 bytes */
};

static struct outcome outcome_of(const struct form *form, void *function, size_t alignment, size_t size) {
    struct outcome outcome = {0};
    size_t step = form->is_aligned && alignment && !(alignment & (alignment - 1)) ? alignment : 16;

    errno = ERRNO_BEFORE;
    void *block = form->get(function, alignment, size);
    outcome.error = errno;
    outcome.is_null = !block;
    if (block) {
        outcome.usable = malloc_usable_size(block);
        outcome.offset = (uintptr_t)block % step;
        memset(block, 1, size);
        errno = ERRNO_BEFORE;
        free(block);
        assert_int_equal(errno, ERRNO_BEFORE);
    }
    return outcome;
}

static void compare(const struct form *form, size_t alignment, size_t size) {
    struct outcome ours = outcome_of(form, exported(form->name), alignment, size);
    struct outcome theirs = outcome_of(form, next(form->name), alignment, size);

    if (ours.is_null != theirs.is_null || ours.error != theirs.error || ours.offset != theirs.offset)
        fail_msg("%s(%zu, %zu): null %d and %d, errno %d and %d, offset %zu and %zu", form->name, alignment,
                 size, ours.is_null, theirs.is_null, ours.error, theirs.error, ours.offset, theirs.offset);
    if (!ours.is_null && ours.usable < size)
        fail_msg("%s(%zu, %zu): %zu bytes can be used", form->name, alignment, size, ours.usable);
}

static bool is_glibc(void) {
    return strcmp(pie_allocator_name(), "glibc") == 0;
}

/* jemalloc takes an alignment that is no power of two for a mistake of the caller's that it need not look at. It has no
 * pvalloc(), and cannot free what glibc's returns. */
static bool is_sound(const struct form *form, size_t alignment) {
    if (!is_glibc() && strcmp(form->name, "pvalloc") == 0)
        return false;
    if (is_glibc() || !form->is_aligned || form->get == get_posix)
        return true;
    return alignment && !(alignment & (alignment - 1)) && alignment < (size_t)1 << 63;
}

static void compare_all(void) {
    for (size_t f = 0; f < COUNT_OF(forms); f++)
        for (size_t s = 0; s < COUNT_OF(odd_sizes); s++)
            for (size_t a = 0; a < (forms[f].is_aligned ? COUNT_OF(alignments) : 1); a++)
                if (is_sound(&forms[f], alignments[a]))
                    compare(&forms[f], alignments[a], odd_sizes[s]);
}

static void test_results_when_off(void **state) {
    compare_all();
}

static void test_results_when_counted(void **state) {
    struct pie_heap_thread heap;

    for (int is_slow = 0; is_slow < 2; is_slow++) {
        heap_fake_begin(&heap, is_slow);
        compare_all();
        heap_fake_end();
    }
}

static void check_calloc_overflow(void) {
    void *(*volatile call)(size_t, size_t) = calloc;
    void *(*volatile array)(void *, size_t, size_t) = reallocarray;

    errno = 0;
    assert_null(call(SIZE_MAX / 2, 3));
    assert_int_equal(errno, ENOMEM);
    errno = 0;
    assert_null(call((size_t)1 << 33, (size_t)1 << 33));
    assert_int_equal(errno, ENOMEM);
    char *block = malloc(32);
    errno = 0;
    assert_null(array(block, (size_t)1 << 33, (size_t)1 << 33));
    assert_int_equal(errno, ENOMEM);
    free(block);
    unsigned char *zeroed = call(1000, 7);
    for (int i = 0; i < 7000; i++)
        assert_int_equal(zeroed[i], 0);
    free(zeroed);
}

/* A resize that fails leaves the old block as it was. */
static void check_realloc(void) {
    void *(*volatile resize)(void *, size_t) = realloc;
    char *block = resize(NULL, 100);

    memset(block, 'x', 100);
    errno = 0;
    assert_null(resize(block, PTRDIFF_MAX));
    assert_int_equal(errno, is_glibc() ? ENOMEM : 0); /* jemalloc 5.3 leaves it */
    for (int i = 0; i < 100; i++)
        assert_int_equal(block[i], 'x');
    errno = ERRNO_BEFORE;
    block = resize(block, 300000);
    for (int i = 0; i < 100; i++)
        assert_int_equal(block[i], 'x');
    block = resize(block, 10);
    assert_int_equal(block[9], 'x');
    assert_int_equal(errno, ERRNO_BEFORE);
    void *left = resize(block, 0); /* glibc frees it */
    assert_int_equal(errno, ERRNO_BEFORE);
    if (is_glibc())
        assert_null(left);
    free(left);
    free(NULL);
    assert_int_equal(errno, ERRNO_BEFORE);
    assert_int_equal(malloc_usable_size(NULL), 0);
}

static void test_overflow_and_realloc(void **state) {
    struct pie_heap_thread heap;

    check_calloc_overflow();
    check_realloc();
    for (int is_slow = 0; is_slow < 2; is_slow++) {
        heap_fake_begin(&heap, is_slow);
        check_calloc_overflow();
        check_realloc();
        heap_fake_end();
        assert_int_equal(heap_fake_live(&heap), 0);
    }
}

enum asked { ASKED_MALLOC, ASKED_CALLOC, ASKED_REALLOC, ASKED_COUNT };

static bool went_on;

static void *ask(enum asked asked, void *old, size_t size) {
    void *(*volatile allocate)(size_t) = malloc;
    void *(*volatile clear)(size_t, size_t) = calloc;
    void *(*volatile resize)(void *, size_t) = realloc;

    return asked == ASKED_MALLOC   ? allocate(size)
           : asked == ASKED_CALLOC ? clear(size, 1)
                                   : resize(old, size);
}

static void ask_guarded(void *data) {
    enum asked asked = *(enum asked *)data;
    void *block = ask(asked, NULL, 100);

    assert_non_null(block);
    went_on = true;
    if (asked == ASKED_REALLOC) /* a block that is freed is not memory that is short */
        block = ask(asked, block, 0);
    free(block);
    ask(asked, NULL, PTRDIFF_MAX);
    fail_msg("no memory, and the work went on");
}

static void test_failure_ends_guarded_work(void **state) {
    for (enum asked asked = 0; asked < ASKED_COUNT; asked++) {
        went_on = false;
        assert_false(pie_dwarf_guarded(ask_guarded, &asked));
        assert_true(went_on);
        assert_null(ask(asked, NULL, PTRDIFF_MAX));
    }
}

static void test_name_and_measure(void **state) {
    const char *preload = getenv("LD_PRELOAD");

    assert_string_equal(pie_allocator_name(), preload && strstr(preload, "jemalloc") ? "jemalloc" : "glibc");
    assert_true(pie_allocator_is_counted());
    assert_null(pie_allocator_refusal());
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_name_and_measure),          cmocka_unit_test(test_results_when_off),
        cmocka_unit_test(test_results_when_counted),      cmocka_unit_test(test_overflow_and_realloc),
        cmocka_unit_test(test_failure_ends_guarded_work),
    };
    pie_allocator_check();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
