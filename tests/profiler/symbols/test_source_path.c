/* SPDX-License-Identifier: Apache-2.0 */

#include "profiler/symbols/source_path.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static void test_plain_forms(void **state) {
    static const struct {
        const char *directory, *file, *expected;
    } table[] = {
        {NULL, "/usr/src/a.c", "/usr/src/a.c"},
        {"/build", "/usr/src/a.c", "/usr/src/a.c"},
        {"/build", "a.c", "/build/a.c"},
        {"/build/", "./a.c", "/build/a.c"},
        {"/home/me/build", "../src/a.c", "/home/me/src/a.c"},
        {"/home/me/build/x", "../../src//./deep/../a.c", "/home/me/src/a.c"},
        {"/build", "../../../a.c", "/a.c"},
        {"/", "a.c", "/a.c"},
        {"./misc", "./misc/tsearch.c", "misc/tsearch.c"},
        {NULL, "../sysdeps/x.c", "../sysdeps/x.c"},
        {NULL, "../../a/../x.c", "../../x.c"},
        {NULL, "a/../../x.c", "../x.c"},
        {NULL, "a.c", "a.c"},
        {NULL, "..a/.b", "..a/.b"},
        {NULL, "", ""},
        {NULL, "/", "/"},
        {NULL, "/..", "/"},
    };
    for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
        char path[64];
        assert_int_equal(pie_source_path(table[i].directory, table[i].file, path, sizeof(path)), 0);
        assert_string_equal(path, table[i].expected);
    }
}

static void test_too_long(void **state) {
    char path[8];
    assert_int_equal(pie_source_path(NULL, "/234567", path, sizeof(path)), 0);
    assert_string_equal(path, "/234567");
    assert_int_equal(pie_source_path(NULL, "/2345678", path, sizeof(path)), -ENAMETOOLONG);
    assert_int_equal(pie_source_path("/234", "5678", path, sizeof(path)), -ENAMETOOLONG);
    assert_int_equal(pie_source_path(NULL, "a", path, 1), -ENAMETOOLONG);
    assert_int_equal(pie_source_path(NULL, "a", path, 0), -ENAMETOOLONG);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain_forms),
        cmocka_unit_test(test_too_long),
    };
    return cmocka_run_group_tests_name("source_path", tests, NULL, NULL);
}
