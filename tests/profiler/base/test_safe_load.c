/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "profiler/base/safe_load.h"
#include "tests/safe_load_faults.h"

/* Two pages, of which the second cannot be read. */
static char *half_readable(size_t *ret_page) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *memory = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    assert_true(memory != MAP_FAILED);
    assert_int_equal(mprotect(memory + page, page, PROT_NONE), 0);
    *ret_page = page;
    return memory;
}

static void test_loads_a_word(void **state) {
    uintptr_t source = 0x1122334455667788, word = 0;

    assert_true(pie_safe_load(&source, &word));
    assert_int_equal(word, source);
}

static void test_a_failed_load_leaves_the_result_alone(void **state) {
    const uintptr_t bad[] = {
        0, 3, 4096, UINTPTR_MAX, UINTPTR_MAX - 7, (uintptr_t)1 << 63, (uintptr_t)0xdeadbeef << 32};
    size_t page;
    char *memory = half_readable(&page);
    uintptr_t word = 42;

    let_safe_loads_fault();
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(pie_safe_load((const void *)bad[i], &word));
    assert_false(pie_safe_load(memory + page, &word));
    assert_false(pie_safe_load(memory + page - 4, &word));
    assert_int_equal(word, 42);
    assert_true(pie_safe_load(memory + page - 8, &word));
    assert_int_equal(word, 0);
    munmap(memory, 2 * page);
}

static void test_loads_a_byte_and_none_beside_it(void **state) {
    size_t page;
    char *memory = half_readable(&page);
    uint8_t byte = 42;

    let_safe_loads_fault();
    memory[page - 1] = (char)0xfe;
    assert_true(pie_safe_load_byte(memory + page - 1, &byte));
    assert_int_equal(byte, 0xfe);
    assert_false(pie_safe_load_byte(memory + page, &byte));
    assert_false(pie_safe_load_byte(NULL, &byte));
    assert_int_equal(byte, 0xfe);
    munmap(memory, 2 * page);
}

/* A mapped file that was truncated gives SIGBUS. */
static void test_a_load_beyond_the_end_of_a_file_fails(void **state) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    int fd = memfd_create("test", 0);
    uintptr_t word = 42;

    let_safe_loads_fault();
    assert_true(fd >= 0);
    char *memory = mmap(NULL, page, PROT_READ, MAP_SHARED, fd, 0);
    assert_true(memory != MAP_FAILED);
    assert_false(pie_safe_load(memory, &word));
    assert_int_equal(word, 42);
    munmap(memory, page);
    close(fd);
}

static void test_copies_any_part(void **state) {
    char source[64], copy[64];

    for (size_t i = 0; i < sizeof source; i++)
        source[i] = (char)(i + 1);
    for (size_t at = 0; at < 16; at++) {
        for (size_t size = 0; size < 40; size++) {
            memset(copy, 0, sizeof copy);
            assert_true(pie_safe_copy(copy, source + at, size));
            assert_memory_equal(copy, source + at, size);
            assert_int_equal(copy[size], 0);
        }
    }
}

static void test_copy_reads_up_to_the_last_byte_of_a_page_and_no_further(void **state) {
    char copy[64];
    size_t page;
    char *memory = half_readable(&page);

    let_safe_loads_fault();
    memset(memory, 'x', page);
    for (size_t size = 1; size < 20; size++)
        assert_true(pie_safe_copy(copy, memory + page - size, size));
    for (size_t size = 1; size < 20; size++)
        assert_false(pie_safe_copy(copy, memory + page - size, size + 1));
    munmap(memory, 2 * page);
}

static void test_words_are_copied_up_to_the_first_that_cannot_be_read(void **state) {
    uintptr_t copy[4] = {0};
    size_t page;
    char *memory = half_readable(&page);

    let_safe_loads_fault();
    for (size_t at = 0; at < sizeof *copy; at++) {
        memset(memory, 'x', page);
        assert_true(pie_safe_words(copy, memory + at, 3));
        assert_memory_equal(copy, memory + at, 3 * sizeof *copy);
        assert_int_equal(copy[3], 0);
    }
    assert_true(pie_safe_words(copy, memory + page, 0));
    memset(copy, 0, sizeof copy);
    assert_false(pie_safe_words(copy, memory + page - 2 * sizeof *copy, 3));
    assert_memory_equal(copy, memory, 2 * sizeof *copy);
    assert_int_equal(copy[2], 0);
    assert_false(pie_safe_words(copy, memory + page - sizeof *copy + 1, 1));
    munmap(memory, 2 * page);
}

static void test_only_the_load_is_mended(void **state) {
    assert_int_equal(pie_safe_load_fix((uintptr_t)pie_safe_copy), 0);
    assert_int_equal(pie_safe_load_fix((uintptr_t)memcpy), 0);
    assert_int_equal(pie_safe_load_fix(0), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_loads_a_word),
        cmocka_unit_test(test_a_failed_load_leaves_the_result_alone),
        cmocka_unit_test(test_loads_a_byte_and_none_beside_it),
        cmocka_unit_test(test_a_load_beyond_the_end_of_a_file_fails),
        cmocka_unit_test(test_copies_any_part),
        cmocka_unit_test(test_copy_reads_up_to_the_last_byte_of_a_page_and_no_further),
        cmocka_unit_test(test_words_are_copied_up_to_the_first_that_cannot_be_read),
        cmocka_unit_test(test_only_the_load_is_mended),
    };

    return cmocka_run_group_tests_name("safe_load", tests, NULL, NULL);
}
