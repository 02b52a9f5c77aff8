/* SPDX-License-Identifier: Apache-2.0 */

/* The table of basic blocks: what the collection thread learns, handlers find. */

#include "profiler/code/basic_block.h"

#include "profiler/base/region.h"
#include "profiler/code/basic_block_table.h"
#include "profiler/code/decode.h"
#include "profiler/code/modules.h"

#include <dlfcn.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

extern char first_block[], first_middle[], second_block[], silent_block[], large_block[], large_middle[];

__asm__(".pushsection .text\n"
        ".type block_code, @function\n"
        "block_code:\n"
        "    .cfi_startproc\n"
        "first_block:\n"
        "    mov (%rdi), %rax\n"
        "first_middle:\n"
        "    mov %rax, 8(%rdi)\n"
        "    test %rax, %rax\n"
        "    jz second_block\n"
        "    add %rax, 24(%rsi)\n"
        "second_block:\n"
        "    mov 16(%rdi), %rax\n"
        "    ret\n"
        "    .cfi_endproc\n"
        "    .size block_code, . - block_code\n"
        ".type silent_code, @function\n"
        "silent_code:\n"
        "    .cfi_startproc\n"
        "silent_block:\n"
        "    lea 1(%rdi), %rax\n"
        "    ret\n"
        "    .cfi_endproc\n"
        "    .size silent_code, . - silent_code\n"
        ".type large_code, @function\n"
        "large_code:\n"
        "    .cfi_startproc\n"
        "large_block:\n"
        "    .rept 50\n    mov (%rdi), %rax\n    .endr\n"
        "large_middle:\n"
        "    .rept 50\n    mov %rax, (%rdi)\n    .endr\n"
        "    ret\n"
        "    .cfi_endproc\n"
        "    .size large_code, . - large_code\n"
        ".popsection\n");

static int set_up(void **state) {
    static bool is_mapped;
    int r = is_mapped ? pie_region_reset() : pie_region_init();

    is_mapped = true;
    return r;
}

static const struct pie_basic_block *find(const char *label) {
    return pie_basic_block_find((uintptr_t)label, pie_code_module_at((uintptr_t)label));
}

static int learn(const char *label) {
    return pie_basic_block_learn((uintptr_t)label);
}

static void test_nothing_is_known_at_first(void **state) {
    assert_null(pie_basic_block_table());
    assert_null(find(first_block));
    pie_basic_blocks_forget(); /* harmless */
    assert_null(find(first_block));
}

static void test_block_is_found_where_it_was_learned(void **state) {
    assert_int_equal(learn(first_middle), 0);
    const struct pie_basic_block *block = find(first_middle);
    assert_non_null(block);
    assert_int_equal(block->count, 2);
    assert_int_equal(block->accesses[0].ip, (uintptr_t)first_block);
    assert_int_equal(block->accesses[0].flags & (PIE_ACCESS_LOAD | PIE_ACCESS_STORE), PIE_ACCESS_LOAD);
    assert_int_equal(block->accesses[1].ip, (uintptr_t)first_middle);
    assert_int_equal(block->accesses[1].flags & (PIE_ACCESS_LOAD | PIE_ACCESS_STORE), PIE_ACCESS_STORE);
    assert_int_equal(block->accesses[1].disp, 8);
    assert_null(find(second_block));
}

static void test_instructions_of_a_block_share_its_entry(void **state) {
    assert_int_equal(learn(first_middle), 0);
    assert_int_equal(learn(first_block), 0);
    assert_ptr_equal(find(first_middle), find(first_block));
    uint32_t filled = pie_basic_block_table()->filled;
    assert_int_equal(learn(first_block), 0); /* known: nothing is done */
    assert_int_equal(pie_basic_block_table()->filled, filled);
    assert_int_equal(learn(second_block), 0);
    assert_ptr_not_equal(find(second_block), find(first_block));
}

static void test_block_without_accesses_is_empty(void **state) {
    assert_int_equal(learn(silent_block), 0);
    assert_non_null(find(silent_block));
    assert_int_equal(find(silent_block)->count, 0);
}

/* What cannot be decoded is asked for once: then an empty block is there. */
static void test_what_is_no_code_is_asked_for_once(void **state) {
    static char data[64];

    assert_true(learn(data) < 0);
    assert_non_null(find(data));
    assert_int_equal(find(data)->count, 0);
    assert_int_equal(learn(data), 0);
}

static void test_large_block_is_cut(void **state) {
    assert_int_equal(learn(large_middle), 0);
    assert_int_equal(find(large_middle)->count, PIE_BASIC_BLOCK_ACCESSES_MAX);
}

/* A library that is there is known; once it is gone it is not, and what lies there next is looked at anew. */
static void test_what_was_unloaded_is_forgotten(void **state) {
    void *library = dlopen("libcrypt.so.1", RTLD_NOW);
    const char *code = library ? dlsym(library, "crypt_r") : NULL;

    if (!code || dlopen("libcrypt.so.1", RTLD_NOW | RTLD_NOLOAD) != library) {
        print_message("# libcrypt is not on this machine\n");
        return;
    }
    dlclose(library);
    assert_int_equal(learn(code), 0);
    assert_int_equal(learn(first_block), 0);
    assert_non_null(find(code));
    const struct pie_basic_block *of_code = find(code), *of_others = find(first_block);
    dlclose(library);
    assert_null(find(code));
    assert_ptr_equal(find(first_block), of_others);
    assert_int_equal(learn(code), -ENXIO); /* nothing is there */
    assert_null(find(code));
    library = dlopen("libcrypt.so.1", RTLD_NOW);
    if (dlsym(library, "crypt_r") == code)
        assert_ptr_equal(find(code), of_code);
    code = dlsym(library, "crypt_r");
    assert_int_equal(learn(code), 0);
    assert_non_null(find(code));
    dlclose(library);
    assert_null(find(code));
}

/* A program that changes a library's code: nothing is known of it any more. Code outside of libraries is of no
 * concern. */
static void test_what_was_changed_is_forgotten(void **state) {
    static char data[64];
    uint32_t rewrites = pie_code_modules_rewrites();
    void *made = malloc(64);

    assert_int_equal(learn(first_block), 0);
    assert_true(learn(data) < 0);
    pie_code_modules_rewritten((uintptr_t)made, 64);
    assert_int_equal(pie_code_modules_rewrites(), rewrites);
    pie_basic_blocks_refresh();
    assert_int_equal(find(first_block)->count, 2);
    pie_code_modules_rewritten((uintptr_t)first_block & ~UINT64_C(4095), 4096);
    assert_null(find(first_block));
    assert_int_equal(learn(first_block), -EAGAIN);
    pie_basic_blocks_refresh();
    assert_int_equal(learn(first_block), 0);
    assert_int_equal(find(first_block)->count, 2);
    assert_null(find(data));
    free(made);
}

/* Each address of a megabyte of data, as if samples fell everywhere: the table fills up and says so, and what is in it
 * stays. */
static void test_full_table_refuses(void **state) {
    static char data[PIE_BASIC_BLOCK_SLOTS];
    uint32_t learned = 0;

    assert_int_equal(learn(first_block), 0);
    for (uint32_t i = 0; i < PIE_BASIC_BLOCK_SLOTS; i++) {
        int r = learn(data + i);
        assert_true(r < 0);
        learned += r != -ENOMEM;
    }
    assert_in_range(learned, PIE_BASIC_BLOCK_SLOTS / 2, PIE_BASIC_BLOCK_SLOTS_FILLED_MAX);
    assert_int_equal(learn(second_block), -ENOMEM);
    assert_int_equal(find(first_block)->count, 2);
}

/* A program that loads and unloads libraries all day: each time everything is forgotten, and learned again. */
static void test_forgetting_all_day_needs_no_more_memory(void **state) {
    size_t arena = pie_region_size(PIE_ARENA_BASIC_BLOCKS);
    size_t block = PIE_BASIC_BLOCK_ACCESSES_MAX * sizeof(struct pie_access);

    for (size_t i = 0; i < 2 * arena / block; i++) {
        assert_int_equal(learn(large_middle), 0);
        pie_basic_blocks_forget();
    }
}

#define CASE(test) cmocka_unit_test_setup(test, set_up)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(test_nothing_is_known_at_first),
        CASE(test_block_is_found_where_it_was_learned),
        CASE(test_instructions_of_a_block_share_its_entry),
        CASE(test_block_without_accesses_is_empty),
        CASE(test_what_is_no_code_is_asked_for_once),
        CASE(test_large_block_is_cut),
        CASE(test_what_was_unloaded_is_forgotten),
        CASE(test_what_was_changed_is_forgotten),
        CASE(test_full_table_refuses),
        CASE(test_forgetting_all_day_needs_no_more_memory),
    };

    if (!pie_decode_is_available()) {
        printf("1..0 # SKIP this build has no decoder\n");
        return 0;
    }
    return cmocka_run_group_tests_name("blocks", tests, NULL, NULL);
}
