/* SPDX-License-Identifier: Apache-2.0 */

/* The merge on stacks made by hand. Native frames occupy [sp, next sp); a loop at sp s keeps its object at s + 8. */

#include "profiler/base/home.h"
#include "profiler/stacks/cct.h"
#include "profiler/stacks/hybrid.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#define FRAME(at, stack) {.ip = (at), .sp = (stack)}

static uint32_t intern(uintptr_t code) {
    return code == 0xdead ? 0 : (uint32_t)code;
}

static uint32_t instr_offset(uintptr_t code, uintptr_t instr) {
    return (uint32_t)instr;
}

static const struct pie_pystack_ops ops = {.intern = intern, .instr_offset = instr_offset};

static uint64_t py(uint32_t code) {
    return pie_cct_python_key(code, 1);
}

static void test_two_loops_with_a_c_function_between(void **state) {
    /* key function g, called from f inlined in main; sorted() between: main -> f -> [sorted] -> g -> [len] */
    const struct pie_native_frame native[] = {FRAME(0x1000, 0x100), FRAME(0x2000, 0x200),
                                              FRAME(0x3000, 0x300), FRAME(0x4000, 0x400),
                                              FRAME(0x5000, 0x500)};
    const struct pie_pyframe python[] = {{3, 1, 0x208}, {2, 1, 0}, {1, 1, 0x408}};
    uint64_t path[8];
    struct pie_hybrid result = pie_hybrid_merge(&ops, native, 5, python, 3, path);

    assert_int_equal(result.depth, 6);
    assert_int_equal(result.native_on_top, 1);
    assert_int_equal(result.top_depth, 1);
    assert_int_equal(result.unmatched, 0);
    assert_int_equal(path[0], 0x1000); /* interrupted there: not one less */
    assert_int_equal(path[1], py(3));
    assert_int_equal(path[2], 0x3000 - 1);
    assert_int_equal(path[3], py(2));
    assert_int_equal(path[4], py(1));
    assert_int_equal(path[5], 0x5000 - 1);
}

static void test_interpreter_on_top(void **state) {
    const struct pie_native_frame native[] = {FRAME(0x1000, 0x100), FRAME(0x2000, 0x200)};
    const struct pie_pyframe python[] = {{1, 1, 0x108}};
    uint64_t path[4];
    struct pie_hybrid result = pie_hybrid_merge(&ops, native, 2, python, 1, path);

    assert_int_equal(result.native_on_top, 0);
    assert_int_equal(path[0], py(1));
    assert_int_equal(path[1], 0x2000 - 1);
}

static void test_native_thread(void **state) {
    const struct pie_native_frame native[] = {FRAME(0x1000, 0x100), FRAME(0x2000, 0x200)};
    uint64_t path[4];
    struct pie_hybrid result = pie_hybrid_merge(&ops, native, 2, NULL, 0, path);

    assert_int_equal(result.depth, 2);
    assert_int_equal(result.native_on_top, 2);
}

/* The native walk stopped early: the Python frames beyond are kept, and said to be unmatched. */
static void test_left_over_python_frames_are_appended(void **state) {
    const struct pie_native_frame native[] = {FRAME(0x1000, 0x100), FRAME(0x2000, 0x200)};
    const struct pie_pyframe python[] = {{2, 1, 0x108}, {1, 1, 0x90}};
    uint64_t path[4];
    struct pie_hybrid result = pie_hybrid_merge(&ops, native, 2, python, 2, path);

    assert_int_equal(result.unmatched, 1);
    assert_int_equal(result.depth, 3);
    assert_int_equal(path[2], py(1));
}

/* A loop whose Python frame is not there yet (prologue) stays native; the outer one is matched all the same. */
static void test_loop_that_is_being_entered(void **state) {
    const struct pie_native_frame native[] = {FRAME(0x1000, 0x100), FRAME(0x2000, 0x200),
                                              FRAME(0x3000, 0x300)};
    const struct pie_pyframe python[] = {{1, 1, 0x308}};
    uint64_t path[4];
    struct pie_hybrid result = pie_hybrid_merge(&ops, native, 3, python, 1, path);

    assert_int_equal(result.depth, 3);
    assert_int_equal(result.unmatched, 0);
    assert_int_equal(path[2], py(1));
}

static void test_code_that_cannot_be_interned_is_left_out(void **state) {
    const struct pie_native_frame native[] = {FRAME(0x1000, 0x100), FRAME(0x2000, 0x200)};
    const struct pie_pyframe python[] = {{0xdead, 1, 0}, {1, 1, 0x108}};
    uint64_t path[4];
    struct pie_hybrid result = pie_hybrid_merge(&ops, native, 2, python, 2, path);

    assert_int_equal(result.depth, 2);
    assert_int_equal(path[0], py(1));
}

/* [qsort of a library] calls back into f; everything below 0x8000 is the interpreter's. */
static const struct pie_native_frame callback[] = {
    FRAME(0x1000, 0x100), FRAME(0x1100, 0x180), FRAME(0x2000, 0x200), FRAME(0x3000, 0x300),
    FRAME(0x9000, 0x400), FRAME(0x5000, 0x500), FRAME(0x6000, 0x600), FRAME(0x7000, 0x700)};
static const struct pie_pyframe calling_back[] = {{2, 1, 0x208}, {1, 1, 0x608}};

static struct pie_hybrid merge_callback(uint64_t path[10]) {
    pie_home_clear();
    pie_home_add(0x1000, 0x8000);
    struct pie_hybrid result = pie_hybrid_merge(&ops, callback, 8, calling_back, 2, path);
    pie_home_clear();
    return result;
}

/* 0x3000 leads from the library to f, 0x7000 to main; 0x5000 called the library. */
static void test_interpreter_between_python_frames_is_left_out(void **state) {
    uint64_t path[10];
    struct pie_hybrid result = merge_callback(path);
    const uint64_t expected[] = {0x1000, 0x1100 - 1, py(2), 0x9000 - 1, 0x5000 - 1, py(1)};

    assert_int_equal(result.depth, 6);
    assert_memory_equal(path, expected, sizeof expected);
    assert_int_equal(result.native_on_top, 2);
    assert_int_equal(result.top_depth, 2);
}

static void test_interpreter_that_starts(void **state) {
    uint64_t path[10];
    pie_hybrid_set_starting(true);
    struct pie_hybrid result = merge_callback(path);
    pie_hybrid_set_starting(false);
    const uint64_t expected[] = {0x1000, py(2), 0x9000 - 1, py(1)};

    assert_int_equal(result.depth, 4);
    assert_memory_equal(path, expected, sizeof expected);
    assert_int_equal(result.native_on_top, 2);
    assert_int_equal(result.top_depth, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_loops_with_a_c_function_between),
        cmocka_unit_test(test_interpreter_on_top),
        cmocka_unit_test(test_native_thread),
        cmocka_unit_test(test_left_over_python_frames_are_appended),
        cmocka_unit_test(test_loop_that_is_being_entered),
        cmocka_unit_test(test_code_that_cannot_be_interned_is_left_out),
        cmocka_unit_test(test_interpreter_between_python_frames_is_left_out),
        cmocka_unit_test(test_interpreter_that_starts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
