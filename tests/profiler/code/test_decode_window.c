/* SPDX-License-Identifier: Apache-2.0 */

/* Code without call frame information and without a symbol: only what executed instructions lead to is known, and never
 * anything that is none. */

#include "profiler/code/cfi.h"
#include "profiler/code/decode.h"
#include "profiler/code/decode_function.h"
#include "profiler/code/decode_sweep.h"

#include <dlfcn.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

/* Data that would swallow the instructions behind it: in front of the entry, and behind a call that may not come
 * back. */
extern const char window_data[], window_entry[], window_loop[], window_middle[], window_stored[],
    window_call[], window_behind[], window_end[];
__asm__(".pushsection .text\n"
        "window_code:\n"
        "    jmp window_entry\n"
        "window_data:\n"
        "    .byte 0x48, 0xb8\n"
        "window_entry:\n"
        "    mov $10, %ecx\n"
        "window_loop:\n"
        "    mov (%rdi), %rax\n"
        "window_middle:\n"
        "    add %rax, %rdx\n"
        "    mov %edx, 8(%rdi)\n"
        "window_stored:\n"
        "    dec %ecx\n"
        "    jne window_loop\n"
        "window_call:\n"
        "    call *%rsi\n"
        "    .byte 0x48, 0xb8\n"
        "window_behind:\n"
        "    mov (%rdi), %rax\n"
        "window_end:\n"
        "    ret\n"
        ".popsection\n");

static int set_up(void **state) {
    pie_decode_flush_cache();
    return 0;
}

static int executed(const char *label) {
    return pie_decode_executed((uintptr_t)label);
}

static struct pie_access accesses[8];

static int block_at(const char *label, struct pie_decode_basic_block *ret_block) {
    return pie_decode_basic_block((uintptr_t)label, accesses, 8, ret_block);
}

static int trap_at(const char *label, uint64_t address, struct pie_access *ret_access) {
    uint64_t registers[PIE_ACCESS_REGISTERS] = {[PIE_ACCESS_RDI] = 0x10000};

    return pie_decode_trap((uintptr_t)label, registers, address, 8, ret_access);
}

static void assert_loop(void) {
    struct pie_decode_basic_block block;

    assert_int_equal(block_at(window_middle, &block), 0);
    assert_int_equal(block.low, (uintptr_t)window_loop);
    assert_int_equal(block.high, (uintptr_t)window_call);
    assert_int_equal(block.count, 2);
    assert_int_equal(accesses[0].ip, (uintptr_t)window_loop);
    assert_int_equal(accesses[0].size_bytes, 8);
    assert_int_equal(accesses[0].flags, PIE_ACCESS_LOAD | PIE_ACCESS_LOOP);
    assert_int_equal(accesses[1].disp, 8);
    assert_int_equal(accesses[1].size_bytes, 4);
    assert_int_equal(accesses[1].flags, PIE_ACCESS_STORE | PIE_ACCESS_LOOP);
}

static void test_nothing_is_known_of_what_was_not_executed(void **state) {
    struct pie_decode_basic_block block;

    assert_int_equal(block_at(window_middle, &block), -ENOENT);
    assert_int_equal(executed(window_middle), 0);
    assert_int_equal(block_at(window_entry, &block), -EILSEQ);
    assert_int_equal(block_at(window_data, &block), -EILSEQ);
    assert_int_equal(block_at(window_behind, &block), -EILSEQ);
}

static void test_a_loop_is_known_from_any_of_its_instructions(void **state) {
    assert_int_equal(executed(window_middle), 0);
    assert_loop();
    pie_decode_flush_cache();
    assert_int_equal(executed(window_stored), 0);
    assert_loop();
}

static void test_what_was_known_stays(void **state) {
    struct pie_decode_basic_block block;

    assert_int_equal(executed(window_middle), 0);
    assert_int_equal(executed(window_entry), 0);
    assert_int_equal(executed(window_behind), 0);
    assert_loop();
    assert_int_equal(block_at(window_entry, &block), 0);
    assert_int_equal(block.low, (uintptr_t)window_entry);
    assert_int_equal(block.high, (uintptr_t)window_loop);
    assert_int_equal(block.count, 0);
    assert_int_equal(block.next, (uintptr_t)window_loop);
    assert_int_equal(block_at(window_behind, &block), 0);
    assert_int_equal(block.low, (uintptr_t)window_behind);
    assert_int_equal(block.before, 0);
    assert_int_equal(accesses[0].flags, PIE_ACCESS_LOAD); /* in no loop */
}

static void test_traps_are_known_where_what_trapped_is(void **state) {
    struct pie_access access;

    assert_int_equal(trap_at(window_middle, 0x10000, &access), 0); /* around the loop to what is before it */
    assert_int_equal(access.ip, (uintptr_t)window_loop);
    assert_int_equal(access.flags, PIE_ACCESS_LOAD | PIE_ACCESS_LOOP);
    assert_int_equal(trap_at(window_stored, 0x10008, &access), 0);
    assert_int_equal(access.flags, PIE_ACCESS_STORE | PIE_ACCESS_LOOP);
    assert_int_equal(trap_at(window_middle, 0x20000, &access), -ENXIO);
    assert_int_equal(trap_at(window_end, 0x10000, &access), -ENXIO); /* nobody knows what is before it */
    assert_int_equal(executed(window_behind), 0);
    assert_int_equal(trap_at(window_end, 0x10000, &access), 0);
    assert_int_equal(access.ip, (uintptr_t)window_behind);
}

/* --- Against functions whose bounds are known: the sweep from their beginning knows all of their instructions. --- */

struct totals {
    long functions, beginnings, known, wrong;
};

static struct pie_decode_function *function_of(uint64_t begin, uint32_t size) {
    uint32_t words = (size + 63) / 64;
    struct pie_decode_function *function =
        calloc(1, sizeof *function + (size_t)PIE_DECODE_MARKS * words * sizeof *function->maps);

    assert_non_null(function);
    function->begin = begin;
    function->size = size;
    function->words = words;
    return function;
}

static void follow_from(const struct pie_decode_function *swept, uint32_t at, struct totals *totals) {
    struct pie_decode_function *followed = function_of(swept->begin, swept->size);
    uint64_t *from = calloc(swept->words, sizeof *from);

    assert_non_null(from);
    from[at / 64] |= UINT64_C(1) << at % 64;
    assert_int_equal(pie_decode_follow(followed, (const uint8_t *)(uintptr_t)swept->begin, from), 0);
    for (uint32_t i = PIE_DECODE_START * swept->words; i < (PIE_DECODE_START + 1) * swept->words; i++) {
        totals->known += __builtin_popcountll(followed->maps[i]);
        totals->wrong += __builtin_popcountll(followed->maps[i] & ~swept->maps[i]);
    }
    free(from);
    free(followed);
}

static void test_no_instruction_is_known_that_is_none(void **state) {
    static const char *const names[] = {"qsort",   "strtod", "vfprintf", "vfscanf", "regexec", "getaddrinfo",
                                        "iconv",   "mktime", "fnmatch",  "glob",    "wordexp", "strptime",
                                        "realloc", "memcpy", "strlen",   "fopen",   "malloc",  "getdelim"};
    struct totals totals = {0};
    void *libc =
        dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD); /* its own ones, not those of AddressSanitizer */

    assert_non_null(libc);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        uintptr_t address = (uintptr_t)dlsym(libc, names[i]), begin, end;
        if (!address || !pie_cfi_function_range(address, &begin, &end))
            continue;
        struct pie_decode_function *swept = function_of(begin, (uint32_t)(end - begin));
        assert_int_equal(pie_decode_sweep(swept, (const uint8_t *)begin), 0);
        for (uint32_t at = 0, n = 0; at < swept->size; at++)
            if (pie_decode_map_get(swept, PIE_DECODE_START, at) && n++ % 5 == 0) {
                totals.beginnings++;
                follow_from(swept, at, &totals);
            }
        totals.functions++;
        free(swept);
    }
    dlclose(libc);
    print_message("# %ld functions, from %ld instructions %ld known, %ld wrong\n", totals.functions,
                  totals.beginnings, totals.known, totals.wrong);
    assert_true(totals.functions >= 10 && totals.beginnings >= 500);
    assert_true(totals.known >= 5 * totals.beginnings);
    assert_int_equal(totals.wrong, 0);
}

int main(void) {
#define CASE(test) cmocka_unit_test_setup(test, set_up)
    const struct CMUnitTest tests[] = {
        CASE(test_nothing_is_known_of_what_was_not_executed),
        CASE(test_a_loop_is_known_from_any_of_its_instructions),
        CASE(test_what_was_known_stays),
        CASE(test_traps_are_known_where_what_trapped_is),
        CASE(test_no_instruction_is_known_that_is_none),
    };

    return cmocka_run_group_tests_name("windows", tests, NULL, NULL);
}
