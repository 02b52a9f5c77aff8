/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "runtime/code/line_table.h"

/* What CPython itself encodes is held against CPython in line_tables.py; here: each kind by hand, and hostile bytes. */

static uint8_t entry(unsigned kind, unsigned units) {
    return (uint8_t)(128 | kind << 3 | (units - 1));
}

static void test_each_kind_of_entry(void **state) {
    const uint8_t table[] = {
        entry(3, 2),  0x11,                /* units 0-1: line 10 */
        entry(11, 1), 1,    2,             /* unit 2: line 11 */
        entry(12, 8), 1,    2,             /* units 3-10: line 13 */
        entry(15, 1),                      /* unit 11: none */
        entry(13, 1), 5,                   /* unit 12: svarint -2, line 11 */
        entry(14, 1), 0x40, 0x02, 0, 1, 2, /* unit 13: svarint 64, line 75 */
    };
    const int32_t lines[] = {10, 10, 11, 13, 13, 13, 13, 13, 13, 13, 13, 0, 11, 75, 0, 0};

    for (uint32_t unit = 0; unit < sizeof lines / sizeof lines[0]; unit++)
        assert_int_equal(pie_line_table_find(table, sizeof table, 10, unit), lines[unit]);
}

static void test_an_empty_table_has_no_lines(void **state) {
    assert_int_equal(pie_line_table_find(NULL, 0, 1, 0), 0);
}

static void test_any_bytes_are_safe(void **state) {
    uint32_t random = 1;

    for (int round = 0; round < 20000; round++) {
        size_t size = random >> 16 & 31;
        uint8_t *table = malloc(size); /* of the exact size: a sanitizer sees a read beyond */

        for (size_t i = 0; i < size; i++) {
            random = random * 1664525u + 1013904223u;
            table[i] = (uint8_t)(random >> 24);
        }
        assert_true(pie_line_table_find(table, size, (int32_t)random, random >> 20) >= 0);
        free(table);
        random = random * 1664525u + 1013904223u;
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_kind_of_entry),
        cmocka_unit_test(test_an_empty_table_has_no_lines),
        cmocka_unit_test(test_any_bytes_are_safe),
    };

    return cmocka_run_group_tests_name("line_table", tests, NULL, NULL);
}
