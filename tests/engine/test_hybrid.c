/* SPDX-License-Identifier: Apache-2.0 */

/* The merge on stacks made by hand. Native frames occupy [sp, next sp); a loop at sp s keeps its object at s + 8. */

#include "profiler/cct.h"
#include "profiler/hybrid.h"

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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_loops_with_a_c_function_between),
        cmocka_unit_test(test_interpreter_on_top),
        cmocka_unit_test(test_native_thread),
        cmocka_unit_test(test_left_over_python_frames_are_appended),
        cmocka_unit_test(test_loop_that_is_being_entered),
        cmocka_unit_test(test_code_that_cannot_be_interned_is_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
