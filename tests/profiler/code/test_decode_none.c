/* SPDX-License-Identifier: Apache-2.0 */

/* A build without a library for decoding; linked with decode_none.c. */

#include "profiler/code/decode.h"
#include "profiler/code/instruction.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void test_without_a_decoder_nothing_is_known(void **state) {
    const uint64_t registers[PIE_ACCESS_REGISTERS] = {0};
    const uint64_t here = (uint64_t)(uintptr_t)test_without_a_decoder_nothing_is_known;
    struct pie_access accesses[4], access, untouched;
    struct pie_decode_basic_block block;
    struct pie_instruction in;
    const uint8_t nop = 0x90;

    memset(&access, 0x55, sizeof access);
    untouched = access;
    assert_false(pie_decode_is_available());
    assert_int_equal(pie_decode_basic_block(here, accesses, 4, &block), -ENOSYS);
    assert_int_equal(pie_decode_trap(here, registers, 8, 8, &access), -ENOSYS);
    assert_int_equal(pie_instruction_decode(&nop, 1, here, &in, NULL), -ENOSYS);
    assert_memory_equal(&access, &untouched, sizeof access);
    pie_decode_flush_cache();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_without_a_decoder_nothing_is_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
