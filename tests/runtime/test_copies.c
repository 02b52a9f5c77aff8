/* SPDX-License-Identifier: Apache-2.0 */

/* The exported copy functions against a loop over bytes: by the C library's functions, and by the plain ones that serve
 * before there is any constructor. And what is counted of them. */
#include "runtime/memory/copies.h"

#include "tests/runtime/heap_fake.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { SPACE = 600, ROUNDS = 20000, LARGE = 3 << 20 };

void *__memcpy_chk(void *to, const void *from, size_t bytes, size_t room);
void *__memmove_chk(void *to, const void *from, size_t bytes, size_t room);
void *__mempcpy_chk(void *to, const void *from, size_t bytes, size_t room);

typedef void *(*copy_fn)(void *, const void *, size_t);
typedef void *(*copy_chk_fn)(void *, const void *, size_t, size_t);

static const struct copy {
    copy_fn copy;
    copy_chk_fn copy_chk;
    bool may_overlap, returns_end;
} copies[] = {
    {memcpy, NULL, false, false},       {memmove, NULL, true, false},
    {mempcpy, NULL, false, true},       {NULL, __memcpy_chk, false, false},
    {NULL, __memmove_chk, true, false}, {NULL, __mempcpy_chk, false, true},
};
enum { COPIES = sizeof copies / sizeof *copies };

static void copy_by_bytes(unsigned char *to, const unsigned char *from, size_t bytes) {
    static unsigned char kept[LARGE];

    for (size_t i = 0; i < bytes; i++)
        ((volatile unsigned char *)kept)[i] = from[i];
    for (size_t i = 0; i < bytes; i++)
        ((volatile unsigned char *)to)[i] = kept[i];
}

static void check(const struct copy *one, unsigned char *space, unsigned char *expected, size_t space_bytes,
                  size_t to, size_t from, size_t bytes) {
    for (size_t i = 0; i < space_bytes; i++)
        space[i] = expected[i] = (unsigned char)(i * 7 + i / 256);
    copy_by_bytes(expected + to, expected + from, bytes);
    void *end = one->copy ? one->copy(space + to, space + from, bytes)
                          : one->copy_chk(space + to, space + from, bytes, bytes + to % 3);
    assert_ptr_equal(end, space + to + (one->returns_end ? bytes : 0));
    if (memcmp(space, expected, space_bytes) != 0)
        fail_msg("form %td: %zu bytes from %zu to %zu", one - copies, bytes, from, to);
}

static void check_all(void) {
    static unsigned char space[2 * LARGE], expected[2 * LARGE];
    unsigned lot = 1;

    for (int i = 0; i < ROUNDS; i++) {
        const struct copy *one = &copies[i % COPIES];
        lot = lot * 1664525 + 1013904223;
        size_t bytes = (lot >> 8) % (SPACE / 2), from = (lot >> 5) % (SPACE / 2),
               to = (lot >> 17) % (SPACE / 2);
        if (!one->may_overlap && to < from + bytes && from < to + bytes)
            to = from + bytes <= SPACE - bytes ? from + bytes : from >= bytes ? from - bytes : (bytes = 0);
        check(one, space, expected, SPACE, to, from, bytes);
    }
    for (int i = 0; i < COPIES; i++)
        check(&copies[i], space, expected, sizeof space, 1, LARGE, LARGE - 3);
    check(&copies[1], space, expected, sizeof space, 100, 0, LARGE);
    check(&copies[1], space, expected, sizeof space, 0, 100, LARGE);
}

static void test_results(void **state) {
    check_all();
}

static struct pie_copies_next plain; /* as they were before the constructors */

static __attribute__((constructor(101))) void keep_plain(void) {
    plain = pie_copies_next;
}

static void test_results_before_constructors(void **state) {
    struct pie_copies_next kept = pie_copies_next;

    assert_ptr_not_equal(kept.memmove, plain.memmove);
    pie_copies_next = plain;
    check_all();
    pie_copies_next = kept;
}

static void test_results_when_all_are_sampled(void **state) {
    heap_fake_copy_distance = 0;
    pie_copy_left = 0;
    check_all();
    heap_fake_copy_distance = INT64_MAX;
    assert_true(heap_fake_copies >= ROUNDS / 2);
}

/* A program that overruns its buffer ends by SIGABRT, and says so in the C library's words. */
static void expect_abort(copy_chk_fn copy, const struct pie_copies_next *next) {
    char room[16] = "", said[200] = "";
    int ends[2], status = 0;

    assert_int_equal(pipe(ends), 0);
    pid_t pid = fork();
    if (pid == 0) {
        signal(SIGABRT, SIG_DFL); /* not cmocka's */
        dup2(ends[1], STDERR_FILENO);
        pie_copies_next = *next;
        copy(room, "0123456789abcdef", 17, sizeof room);
        _exit(0);
    }
    close(ends[1]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    assert_true(read(ends[0], said, sizeof said - 1) > 0);
    assert_non_null(strstr(said, "buffer overflow detected"));
    close(ends[0]);
}

static void test_overruns_abort(void **state) {
    for (int i = 0; i < COPIES; i++)
        if (copies[i].copy_chk) {
            expect_abort(copies[i].copy_chk, &pie_copies_next);
            expect_abort(copies[i].copy_chk, &plain);
        }
}

/* Every byte counts, in the order of the calls, and the caller is this program. */
static void test_bytes_are_counted(void **state) {
    extern const char __executable_start[], __etext[];
    static char from[1000], to[1000];

    heap_fake_copy_distance = 10000;
    for (int i = 0; i < COPIES; i++) {
        uint64_t before = heap_fake_copies;
        pie_copy_left = 2500;
        for (int k = 0; k < 3; k++)
            if (copies[i].copy)
                copies[i].copy(to, from, 1000);
            else
                copies[i].copy_chk(to, from, 1000, 1000);
        assert_int_equal(heap_fake_copies, before + 1);
        assert_in_range((uintptr_t)heap_fake_copy_caller, (uintptr_t)__executable_start, (uintptr_t)__etext);
    }
    heap_fake_copy_distance = INT64_MAX;
}

/* A long block that is moved by little, either way: 1; by a part, to another place or not at all: 0. */
static void test_shifts_are_told(void **state) {
    static char space[4 * PIE_COPY_SHIFT_MIN_BYTES];
    static const struct {
        size_t to, from, bytes;
        bool is_shift;
    } moves[] = {
        {0, 8, PIE_COPY_SHIFT_MIN_BYTES, true},
        {8, 0, PIE_COPY_SHIFT_MIN_BYTES, true},
        {0, PIE_COPY_SHIFT_MIN_BYTES / PIE_COPY_SHIFT_PART - 1, PIE_COPY_SHIFT_MIN_BYTES, true},
        {0, PIE_COPY_SHIFT_MIN_BYTES / PIE_COPY_SHIFT_PART, PIE_COPY_SHIFT_MIN_BYTES, false},
        {0, 8, PIE_COPY_SHIFT_MIN_BYTES - 1, false},
        {0, 2 * PIE_COPY_SHIFT_MIN_BYTES, PIE_COPY_SHIFT_MIN_BYTES, false},
        {8, 8, PIE_COPY_SHIFT_MIN_BYTES, false},
    };

    heap_fake_copy_distance = 0;
    pie_copy_left = 0;
    for (size_t i = 0; i < sizeof moves / sizeof *moves; i++)
        for (int k = 0; k < COPIES; k++)
            if (copies[k].copy && copies[k].may_overlap) {
                uint64_t before = heap_fake_shifts;
                copies[k].copy(space + moves[i].to, space + moves[i].from, moves[i].bytes);
                assert_int_equal(heap_fake_shifts - before, moves[i].is_shift);
            }
    heap_fake_copy_distance = INT64_MAX;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_results),
        cmocka_unit_test(test_results_before_constructors),
        cmocka_unit_test(test_results_when_all_are_sampled),
        cmocka_unit_test(test_overruns_abort),
        cmocka_unit_test(test_bytes_are_counted),
        cmocka_unit_test(test_shifts_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
