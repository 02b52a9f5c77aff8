/* SPDX-License-Identifier: Apache-2.0 */

/* Texts of code that has no file: the one that was compiled last under a name is found, at a cost that does not grow
 * with the others. */
#include <stdint.h>

static uint64_t looks;
#define PIE_CELL_LOOK() (looks++)
#include "profiler/base/counters.h"
#include "runtime/interpreter/cell_sources.c" /* NOLINT(bugprone-suspicious-include) */

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

enum { MANY = 50000 };

static bool is_running = true;

bool pie_engine_is_running(void) {
    return is_running;
}

void pie_counter_add(enum pie_counter counter, uint64_t n) {}

static void keep_text(const char *name, const char *text) {
    keep(name, strlen(name), text, strlen(text));
}

static void expect_text(const char *name, const char *text) {
    size_t size = 0;
    const char *found = pie_cell_sources_find(name, &size);
    assert_non_null(found);
    assert_string_equal(found, text);
    assert_int_equal(size, strlen(text));
}

static void test_the_last_text_of_a_name_is_found(void **state) {
    size_t size;
    assert_null(pie_cell_sources_find("<cell>", &size));
    keep_text("<cell>", "a = 1");
    keep_text("<other>", "c = 3");
    keep_text("<cell>", "b = 22");
    expect_text("<cell>", "b = 22");
    expect_text("<other>", "c = 3");
    assert_null(pie_cell_sources_find("<cel>", &size));
    assert_null(pie_cell_sources_find("<cell>>", &size));
}

static void test_the_same_text_takes_its_room_once(void **state) {
    keep_text("<template>", "x = 1");
    uint32_t before = used;
    keep_text("<template>", "x = 1");
    assert_int_equal(used, before);
    keep_text("<template>", "x = 2");
    assert_true(used > before);
    expect_text("<template>", "x = 2");
}

static void run(const char *text) {
    assert_int_equal(PyRun_SimpleString(text), 0);
}

static void test_compile_hands_its_text_over(void **state) {
    size_t size;
    run("compile('a = 1', '<positional>', 'exec')");
    run("compile(mode='exec', filename='<named>', source=b'b = 2')");
    run("compile('\\u00e9 = 3', '<mixed>', mode='eval'.replace('eval', 'exec'))");
    expect_text("<positional>", "a = 1");
    expect_text("<named>", "b = 2");
    expect_text("<mixed>", "\xc3\xa9 = 3");
    run("import ast; compile(ast.parse('c = 4', '<parsed>'), '<tree>', 'exec')");
    expect_text("<parsed>", "c = 4");
    assert_null(pie_cell_sources_find("<tree>", &size));
    run("compile('d = 5', '<string>', 'exec')");
    assert_null(pie_cell_sources_find("<string>", &size));
    is_running = false;
    run("compile('e = 6', '<later>', 'exec')");
    assert_null(pie_cell_sources_find("<later>", &size));
    is_running = true;
}

/* As without us, also where the name cannot be told. */
static void test_compile_answers_as_before(void **state) {
    run("try:\n    compile('1 +', '<wrong>', 'exec')\nexcept SyntaxError as e:\n    assert e.filename == "
        "'<wrong>'\n"
        "else:\n    assert False");
    run("try:\n    compile()\nexcept TypeError:\n    pass\nelse:\n    assert False");
    run("assert compile('1', '<\\udc80>', 'eval').co_filename == '<\\udc80>'");
    run("import builtins\nassert builtins.compile.__name__ == 'compile' and builtins.compile is compile");
}

static void test_many_are_found_at_the_cost_of_a_few(void **state) {
    char name[32], text[32];
    uint64_t most = 0;
    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof name, "<gen %d>", i);
        snprintf(text, sizeof text, "x = %d", i);
        keep_text(name, text);
    }
    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof name, "<gen %d>", i);
        snprintf(text, sizeof text, "x = %d", i);
        looks = 0;
        expect_text(name, text);
        most = looks > most ? looks : most;
    }
    assert_in_range(most, 1, 40); /* three in the mean; one behind the other they were 25000 */
}

static void test_a_full_arena_keeps_what_it_has(void **state) {
    static char text[TEXT_BYTES_MAX];
    size_t size;
    memset(text, 'x', sizeof text - 1);
    for (int i = 0; i < ARENA_BYTES / TEXT_BYTES_MAX; i++) {
        text[0] = (char)('a' + i);
        keep_text(i == 0 ? "<large>" : "<others>", text);
    }
    text[0] = 'a';
    keep_text("<late>", text);
    assert_null(pie_cell_sources_find("<late>", &size));
    expect_text("<large>", text);
    expect_text("<gen 0>", "x = 0");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_last_text_of_a_name_is_found),
        cmocka_unit_test(test_the_same_text_takes_its_room_once),
        cmocka_unit_test(test_compile_hands_its_text_over),
        cmocka_unit_test(test_compile_answers_as_before),
        cmocka_unit_test(test_many_are_found_at_the_cost_of_a_few),
        cmocka_unit_test(test_a_full_arena_keeps_what_it_has),
    };
    Py_InitializeEx(0);
    pie_cell_sources_install();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
