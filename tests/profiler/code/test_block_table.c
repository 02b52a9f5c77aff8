/* SPDX-License-Identifier: Apache-2.0 */

/* A handler looks for a block while libraries come and go: it finds the right one, or none. */

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "profiler/base/region.h"
#include "profiler/code/basic_block.h"
#include "profiler/code/basic_block_lines.h"
#include "profiler/code/modules.h"

enum { CHANGES_MAX = 100000, FOUND_WANTED = 20000 /* of each */, MODULE = 7, HALF_BYTES = 4096 };

static uint64_t ips[2]; /* with the same first slot */
static const struct pie_basic_block *blocks[2];
static _Atomic bool is_over;

static const struct pie_basic_block *make(uint64_t ip) {
    struct pie_basic_block *block =
        pie_region_alloc(PIE_ARENA_BASIC_BLOCKS, sizeof *block + sizeof *block->accesses);
    assert_non_null(block);
    block->count = 1;
    block->accesses[0] = (struct pie_access){.ip = ip};
    return block;
}

static uint32_t first_slot(uint64_t ip) {
    return pie_basic_block_hash(ip >> PIE_BASIC_BLOCK_LINE_BITS);
}

static int set_up(void **state) {
    struct pie_basic_block_table *table;

    if (pie_region_init() != 0 ||
        !(table = pie_region_alloc(PIE_ARENA_BASIC_BLOCKS, sizeof *table + 2 * (size_t)HALF_BYTES)))
        return -1;
    table->half_bytes = HALF_BYTES;
    ips[0] = 0x7f0000001000;
    for (ips[1] = ips[0] + PIE_BASIC_BLOCK_LINE_BYTES; first_slot(ips[1]) != first_slot(ips[0]);)
        ips[1] += PIE_BASIC_BLOCK_LINE_BYTES;
    blocks[0] = make(ips[0]);
    blocks[1] = make(ips[1]);
    return 0;
}

static void name(uint64_t ip, const struct pie_basic_block *block) {
    struct pie_basic_block_lines lines;

    pie_basic_block_lines_begin(&lines, pie_basic_block_table(), MODULE, 0);
    pie_basic_block_lines_name(&lines, ip, block);
    assert_int_equal(pie_basic_block_lines_end(&lines), 0);
}

static const struct pie_basic_block *find(uint64_t ip) {
    return pie_basic_block_find(ip, MODULE);
}

/* Each change puts the other block in the same slot, whose place in memory is the same each time: what a handler holds
 * that was interrupted for long stays true, so that only a slot seen half written can be wrong. */
static void *change(void *unused) {
    for (int i = 0; i < CHANGES_MAX && !is_over; i++) {
        pie_basic_blocks_forget();
        name(ips[i % 2], blocks[i % 2]);
    }
    is_over = true;
    return NULL;
}

static void test_an_address_never_has_the_block_of_another(void **state) {
    pthread_t writer;
    size_t found[2] = {0}, wrong = 0;
    assert_int_equal(pthread_create(&writer, NULL, change, NULL), 0);
    for (size_t i = 0; !is_over; i++) {
        const struct pie_basic_block *block = find(ips[i % 2]);
        found[i % 2] += block != NULL;
        wrong += block && block->accesses[0].ip != ips[i % 2];
        if (found[0] > FOUND_WANTED && found[1] > FOUND_WANTED)
            break;
    }
    is_over = true;
    pthread_join(writer, NULL);
    print_message("# %zu and %zu found\n", found[0], found[1]);
    assert_int_equal(wrong, 0);
    assert_in_range(found[0], 1, SIZE_MAX);
    assert_in_range(found[1], 1, SIZE_MAX);
}

/* A handler may still be reading what was known before. */
static void test_forgetting_leaves_what_was_known_as_it_was(void **state) {
    struct pie_basic_block_table *table = pie_basic_block_table();

    pie_basic_blocks_forget();
    name(ips[0], blocks[0]);
    const struct pie_basic_block_line *before = pie_basic_block_line(table, table->slots[first_slot(ips[0])]);
    uint64_t known = before->known;
    pie_basic_blocks_forget();
    assert_null(find(ips[0]));
    name(ips[0] + 1, blocks[1]);
    assert_null(find(ips[0]));
    assert_int_equal(before->known, known);
    assert_ptr_equal(find(ips[0] + 1), blocks[1]);
}

/* Two functions in one line, and more and more of one. */
static void test_a_line_gathers_what_is_known_of_it(void **state) {
    static const uint8_t order[] = {17, 3, 63, 0, 18, 40, 19, 4};

    pie_basic_blocks_forget();
    for (unsigned i = 0; i < sizeof order; i++) {
        name(ips[0] + order[i], blocks[order[i] % 2]);
        for (unsigned k = 0; k < PIE_BASIC_BLOCK_LINE_BYTES; k++) {
            const struct pie_basic_block *expected = NULL;
            for (unsigned j = 0; j <= i; j++)
                expected = order[j] == k ? blocks[k % 2] : expected;
            assert_ptr_equal(find(ips[0] + k), expected);
        }
    }
    assert_int_equal(pie_basic_block_table()->filled, 1);
    name(ips[0] + 18, blocks[1]); /* learned anew */
    assert_ptr_equal(find(ips[0] + 18), blocks[1]);
    assert_ptr_equal(find(ips[0] + 17), blocks[1]);
    assert_ptr_equal(find(ips[0] + 40), blocks[0]);
    assert_null(find(ips[0] + PIE_BASIC_BLOCK_LINE_BYTES));
}

static void test_modules_that_take_turns_have_a_line_each(void **state) {
    struct pie_basic_block_lines lines;

    pie_basic_blocks_forget();
    name(ips[0], blocks[0]);
    pie_basic_block_lines_begin(&lines, pie_basic_block_table(), MODULE + 1, 0);
    pie_basic_block_lines_name(&lines, ips[0], blocks[1]);
    pie_basic_block_lines_name(&lines, ips[0] + 5, blocks[1]);
    assert_int_equal(pie_basic_block_lines_end(&lines), 0);
    assert_ptr_equal(find(ips[0]), blocks[0]);
    assert_null(find(ips[0] + 5));
    assert_ptr_equal(pie_basic_block_find(ips[0], MODULE + 1), blocks[1]);
    assert_null(pie_basic_block_find(ips[0], MODULE + 2));
}

static void test_no_room_is_told(void **state) {
    struct pie_basic_block_lines lines;

    pie_basic_blocks_forget();
    name(ips[0], blocks[0]);
    pie_basic_block_lines_begin(&lines, pie_basic_block_table(), MODULE, 0);
    for (uint64_t i = 0; i < HALF_BYTES / sizeof(struct pie_basic_block_line); i++)
        pie_basic_block_lines_name(&lines, ips[0] + i * PIE_BASIC_BLOCK_LINE_BYTES, blocks[0]);
    assert_int_equal(pie_basic_block_lines_end(&lines), -ENOMEM);
    assert_ptr_equal(find(ips[0]), blocks[0]);
}

static void test_no_address_beyond_user_space_is_learned(void **state) {
    assert_true(pie_basic_block_learn(UINT64_C(0xffffffffff600000)) < 0);
    assert_null(pie_basic_block_find(UINT64_C(0xffffffffff600000), PIE_CODE_MODULE_NOWHERE));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_address_never_has_the_block_of_another),
        cmocka_unit_test(test_forgetting_leaves_what_was_known_as_it_was),
        cmocka_unit_test(test_a_line_gathers_what_is_known_of_it),
        cmocka_unit_test(test_modules_that_take_turns_have_a_line_each),
        cmocka_unit_test(test_no_room_is_told),
        cmocka_unit_test(test_no_address_beyond_user_space_is_learned),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
