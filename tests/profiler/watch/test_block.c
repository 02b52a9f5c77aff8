/* SPDX-License-Identifier: Apache-2.0 */

/* The table of basic blocks: what the collection thread learns, handlers find. */

#include "profiler/code/basic_block.h"

#include "profiler/base/clocks.h"
#include "profiler/base/counters.h"
#include "profiler/base/region.h"
#include "profiler/code/basic_block_table.h"
#include "profiler/code/decode_function.h"
#include "profiler/code/modules.h"

#include <dlfcn.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

extern char first_block[], first_middle[], second_block[], silent_block[], large_block[], large_middle[];

__asm__(".pushsection .text\n"
        "    .p2align 6\n" /* the first two functions share a line */
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
}

static void test_all_blocks_of_a_function_are_learned_at_once(void **state) {
    assert_int_equal(learn(first_middle), 0);
    uint32_t filled = pie_basic_block_table()->filled;
    assert_non_null(find(second_block));
    assert_int_equal(find(second_block)->count, 1);
    assert_int_equal(find(second_block)->accesses[0].disp, 16);
    assert_null(find(first_block + 1)); /* in the middle of an instruction */
    assert_null(find(silent_block));    /* of another function */
    assert_int_equal(learn(second_block), 0);
    assert_int_equal(pie_basic_block_table()->filled, filled);
}

static void test_functions_that_share_a_line_are_both_known(void **state) {
    assert_int_equal((uintptr_t)first_block / 64, (uintptr_t)silent_block / 64);
    assert_int_equal(learn(first_block), 0);
    assert_int_equal(learn(silent_block), 0);
    assert_int_equal(find(silent_block)->count, 0);
    assert_int_equal(find(first_middle)->count, 2);
    assert_int_equal(find(second_block)->count, 1);
}

/* What decoding one block around an address says, or one near by if nothing in it can be watched. */
static struct pie_access asked[PIE_BASIC_BLOCK_ACCESSES_MAX];

static size_t ask_near(uint64_t ip) {
    struct pie_decode_basic_block own, block;
    int r = pie_decode_basic_block(ip, asked, PIE_BASIC_BLOCK_ACCESSES_MAX, &own);

    if (r < 0)
        return r == -E2BIG ? own.count : SIZE_MAX;
    block = own;
    for (int i = 1; i < 8 && block.count == 0 && block.next; i++)
        if (pie_decode_basic_block(block.next, asked, PIE_BASIC_BLOCK_ACCESSES_MAX, &block) < 0 &&
            !block.count)
            return SIZE_MAX;
    for (uint64_t at = own.before, i = 0; i < 8 && block.count == 0 && at; i++, at = block.before)
        if (pie_decode_basic_block(at, asked, PIE_BASIC_BLOCK_ACCESSES_MAX, &block) < 0 && !block.count)
            return SIZE_MAX;
    return block.count;
}

/* Each instruction of many functions of the C library: what was learned with the function is what its own block is.
 * Overlapping instructions and bytes that do not decode may differ. */
static void test_what_a_function_published_is_what_was_decoded(void **state) {
    uint64_t begin = (uintptr_t)dlsym(RTLD_DEFAULT, "malloc") & ~UINT64_C(4095);
    unsigned module = pie_code_module_at((uintptr_t)begin), known = 0, same = 0, full = 0;

    for (uint64_t ip = begin; ip < begin + 16384; ip++) {
        const struct pie_decode_function *function;
        if (pie_decode_function_find(ip, &function) < 0 || function->is_window ||
            !pie_decode_function_has(function, PIE_DECODE_START, ip))
            continue;
        pie_basic_block_learn(ip);
        const struct pie_basic_block *block = pie_basic_block_find(ip, module);
        size_t count = ask_near(ip);
        if (count == SIZE_MAX)
            continue; /* padding: nothing runs there */
        known++;
        full += block && block->count > 0;
        same += block && block->count == count && memcmp(block->accesses, asked, count * sizeof *asked) == 0;
    }
    print_message("# of %u instructions %u are the same, %u can be watched\n", known, same, full);
    assert_in_range(known, 2000, 16384);
    assert_in_range(same, known - known / 100, known);
    assert_in_range(full, known / 2, known);
}

/* Little room is left: only what samples meet. */
static void test_scarce_room_is_kept_for_what_is_asked(void **state) {
    assert_int_equal(learn(silent_block), 0);
    pie_basic_block_table()->used_bytes = pie_basic_block_table()->half_bytes / 4 * 3 + 8;
    assert_int_equal(learn(first_middle), 0);
    assert_int_equal(find(first_block)->count, 2);
    assert_null(find(second_block));
    assert_int_equal(learn(second_block), 0);
    assert_int_equal(find(second_block)->count, 1);
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

/* Each line of some megabytes of data, as if samples fell everywhere. Returns how many were learned. */
static uint32_t learn_everywhere(void) {
    static char data[PIE_BASIC_BLOCK_SLOTS * PIE_BASIC_BLOCK_LINE_BYTES];
    uint32_t learned = 0;

    for (uint32_t i = 0; i < PIE_BASIC_BLOCK_SLOTS; i++) {
        learned += learn(data + i * PIE_BASIC_BLOCK_LINE_BYTES) != -ENOMEM;
    }
    return learned;
}

/* The table fills up and says so, and what is in it stays. */
static void test_full_table_refuses(void **state) {
    assert_int_equal(learn(first_block), 0);
    pie_basic_block_table()->full_ns = pie_monotonic_ns();
    pie_counters_reset();
    uint32_t learned = learn_everywhere();
    assert_in_range(learned, PIE_BASIC_BLOCK_SLOTS / 2, PIE_BASIC_BLOCK_SLOTS_FILLED_MAX);
    assert_int_equal(learn(large_block), -ENOMEM);
    assert_int_equal(find(first_block)->count, 2);
    assert_int_equal(pie_counter_get(PIE_COUNTER_WATCH_BLOCKS_FULL), PIE_BASIC_BLOCK_SLOTS - learned + 1);
}

/* What ran long ago makes room for what runs now, but not again and again. */
static void test_full_table_begins_again_once_in_a_while(void **state) {
    assert_int_equal(learn(first_block), 0);
    uint32_t generation = pie_basic_block_generation();
    learn_everywhere();
    assert_int_equal(pie_basic_block_generation(), generation + 1);
    learn_everywhere();
    assert_int_equal(pie_basic_block_generation(), generation + 1);
    assert_int_equal(learn(large_block), -ENOMEM);
    pie_basic_block_table()->full_ns -= UINT64_C(3600000000000);
    assert_int_equal(learn(large_block), 0);
    assert_int_equal(pie_basic_block_generation(), generation + 2);
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
        CASE(test_all_blocks_of_a_function_are_learned_at_once),
        CASE(test_functions_that_share_a_line_are_both_known),
        CASE(test_what_a_function_published_is_what_was_decoded),
        CASE(test_scarce_room_is_kept_for_what_is_asked),
        CASE(test_instructions_of_a_block_share_its_entry),
        CASE(test_block_without_accesses_is_empty),
        CASE(test_what_is_no_code_is_asked_for_once),
        CASE(test_large_block_is_cut),
        CASE(test_what_was_unloaded_is_forgotten),
        CASE(test_what_was_changed_is_forgotten),
        CASE(test_full_table_refuses),
        CASE(test_full_table_begins_again_once_in_a_while),
        CASE(test_forgetting_all_day_needs_no_more_memory),
    };

    if (!pie_decode_is_available()) {
        printf("1..0 # SKIP this build has no decoder\n");
        return 0;
    }
    return cmocka_run_group_tests_name("blocks", tests, NULL, NULL);
}
