/* SPDX-License-Identifier: Apache-2.0 */

/* A handler looks for a block while libraries come and go: it finds the right one, or none. */

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "profiler/base/region.h"
#include "profiler/code/basic_block.h"
#include "profiler/code/basic_block_table.h"
#include "profiler/code/modules.h"

enum { CHANGES_MAX = 100000, FOUND_WANTED = 20000 /* of each */, MODULE = 7 };

static uint64_t ips[2]; /* with the same first slot */
static const struct pie_basic_block *blocks[2];
static _Atomic bool is_over;

static const struct pie_basic_block *make(uint64_t ip) {
    struct pie_basic_block *block =
        pie_region_alloc(PIE_ARENA_BASIC_BLOCKS, sizeof *block + sizeof *block->accesses);
    assert_non_null(block);
    block->count = 1;
    block->module = MODULE;
    block->accesses[0] = (struct pie_access){.ip = ip};
    return block;
}

static int set_up(void **state) {
    if (pie_region_init() != 0 ||
        !pie_region_alloc(PIE_ARENA_BASIC_BLOCKS, sizeof(struct pie_basic_block_table)))
        return -1;
    ips[0] = 0x7f0000001000;
    for (ips[1] = ips[0] + 1; pie_basic_block_hash(ips[1]) != pie_basic_block_hash(ips[0]);)
        ips[1]++;
    blocks[0] = make(ips[0]);
    blocks[1] = make(ips[1]);
    return 0;
}

/* Each change puts the other block in the same slot, whose place in memory is the same each time: what a handler holds
 * that was interrupted for long stays true, so that only a slot seen half written can be wrong. */
static void *change(void *unused) {
    for (int i = 0; i < CHANGES_MAX && !is_over; i++) {
        pie_basic_blocks_forget();
        pie_basic_block_publish(pie_basic_block_table(), ips[i % 2],
                                pie_basic_block_enter(pie_basic_block_table(), blocks[i % 2]));
    }
    is_over = true;
    return NULL;
}

static void test_an_address_never_has_the_block_of_another(void **state) {
    pthread_t writer;
    size_t found[2] = {0}, wrong = 0;
    assert_int_equal(pthread_create(&writer, NULL, change, NULL), 0);
    for (size_t i = 0; !is_over; i++) {
        const struct pie_basic_block *block = pie_basic_block_find(ips[i % 2], MODULE);
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

static void test_numbers_tell_the_halves_apart(void **state) {
    pie_basic_blocks_forget();
    uint32_t first = pie_basic_block_enter(pie_basic_block_table(), blocks[0]);
    pie_basic_blocks_forget();
    uint32_t second = pie_basic_block_enter(pie_basic_block_table(), blocks[1]);
    assert_int_equal(first ^ second, 1 << PIE_BASIC_BLOCK_SLOTS_BITS);
    assert_int_equal(pie_basic_block_publish(pie_basic_block_table(), ips[0], second), 0);
    assert_int_equal(pie_basic_block_number(ips[0], MODULE), second);
    assert_int_equal(pie_basic_block_number(ips[1], MODULE), -1);
    assert_ptr_equal(pie_basic_block_find(ips[0], MODULE), blocks[1]);
}

static void test_no_address_beyond_user_space_is_learned(void **state) {
    assert_true(pie_basic_block_learn(UINT64_C(0xffffffffff600000)) < 0);
    assert_null(pie_basic_block_find(UINT64_C(0xffffffffff600000), PIE_CODE_MODULE_NOWHERE));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_address_never_has_the_block_of_another),
        cmocka_unit_test(test_numbers_tell_the_halves_apart),
        cmocka_unit_test(test_no_address_beyond_user_space_is_learned),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
