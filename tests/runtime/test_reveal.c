/* SPDX-License-Identifier: Apache-2.0 */

/* Opcodes behind opcodes of lines, in the two forms that releases of 3.13 keep them in. */
#include "runtime/code/pyops.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { LINE = 254, RESUME = 149, LOAD = 83, STORE = 110 };
enum { OFFSET = 8 }; /* no field may lie at 0 */

struct monitoring {
    const uint8_t *lines, *instructions;
};

struct code {
    const struct monitoring *monitoring;
};

const struct pie_pyops pie_pyops = {
    .hiding = {.monitoring = OFFSET,
               .lines = offsetof(struct monitoring, lines),
               .instructions = offsetof(struct monitoring, instructions),
               .line_entry_bytes = 2,
               .line = LINE,
               .instruction = 255},
};

/* Three units, of which the first and the last begin a line. */
static void reveal(const uint8_t *lines, uint8_t bytes[6]) {
    const struct monitoring monitoring = {.lines = lines};
    const struct code code = {.monitoring = &monitoring};
    const uint8_t shown[6] = {LINE, 0, LOAD, 1, LINE, 2};

    memcpy(bytes, shown, sizeof shown);
    pie_pyops_reveal((uintptr_t)&code - OFFSET, bytes, 3);
}

static void assert_revealed(const uint8_t *lines) {
    const uint8_t expected[6] = {RESUME, 0, LOAD, 1, STORE, 2};
    uint8_t bytes[6];

    reveal(lines, bytes);
    assert_memory_equal(bytes, expected, sizeof bytes);
}

static void test_entries_of_two_bytes(void **state) {
    const uint8_t lines[] = {RESUME, 0, 0, 0x80, STORE, 1};

    assert_revealed(lines);
}

static void test_entries_whose_length_comes_first(void **state) {
    const uint8_t two[] = {2, RESUME, 0, 0, 0x80, STORE, 1};
    const uint8_t five[] = {5, RESUME, 0, 0, 0, 0, 0, 0, 0, 0, 0x80, STORE, 1, 0, 0, 0};

    assert_revealed(two);
    assert_revealed(five);
}

static void test_nothing_is_hidden(void **state) {
    const uint8_t expected[6] = {LINE, 0, LOAD, 1, LINE, 2};
    uint8_t bytes[6];

    reveal(NULL, bytes);
    assert_memory_equal(bytes, expected, sizeof bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_entries_of_two_bytes),
        cmocka_unit_test(test_entries_whose_length_comes_first),
        cmocka_unit_test(test_nothing_is_hidden),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
