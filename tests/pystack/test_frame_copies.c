/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/stacks/pyframe.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <ucontext.h>

#include <cmocka.h>

#include "profiler/base/safe_load.h"

/* Frames of a free-threaded Python, made by hand: an instruction of a thread's copy of the bytecode is walked as the
 * same one of the code object. */

enum { UNITS = 8, COPIES = 4, OWNED_BY_THREAD = 0, SHIM = 3 };

struct code {
    uintptr_t type;
    const struct copies *copies;
    uint16_t bytecode[UNITS];
};

struct copies {
    intptr_t count;
    const uint16_t *entries[COPIES];
};

struct frame {
    uintptr_t executable;
    const struct frame *previous;
    const uint16_t *instr;
    int32_t copy_number;
    char owner;
};

const struct pie_pyframe_layout pie_pyframe_layout = {
    .executable = offsetof(struct frame, executable),
    .previous = offsetof(struct frame, previous),
    .instr = offsetof(struct frame, instr),
    .owner = offsetof(struct frame, owner),
    .tag_mask = 3,
    .first_shim_owner = SHIM,
    .last_owner = SHIM,
    .copy_number = offsetof(struct frame, copy_number),
    .copies = offsetof(struct code, copies),
    .bytecode = offsetof(struct code, bytecode),
};

static uint16_t own_copies[2][UNITS]; /* of two threads */
static struct code code;
static struct copies copies;

/* A thread state is its innermost frame. */
bool pie_pyframe_find_first(uintptr_t tstate, uintptr_t *ret_frame) {
    *ret_frame = tstate;
    return true;
}

bool pie_pyframe_read_datastack(uintptr_t tstate, struct pie_pyframe_datastack *ret_stack) {
    return false;
}

bool pie_pyframe_is_call(uintptr_t instr) {
    return false;
}

enum pie_pyframe_kind pie_pyframe_classify(uintptr_t at, uintptr_t instr) {
    return instr - (uintptr_t)code.bytecode < sizeof code.bytecode ? PIE_PYFRAME_PYTHON : PIE_PYFRAME_INVALID;
}

static int set_up(void **state) {
    copies = (struct copies){.count = COPIES, .entries = {code.bytecode, own_copies[0], NULL, own_copies[1]}};
    code.copies = &copies;
    return 0;
}

static struct frame frame_of(int32_t number, const uint16_t *instr, const struct frame *previous) {
    return (struct frame){.executable = (uintptr_t)&code | 1, /* a reference that is not counted */
                          .previous = previous,
                          .instr = instr,
                          .copy_number = number,
                          .owner = OWNED_BY_THREAD};
}

static size_t walk(const struct frame *frame, struct pie_pyframe found[COPIES], unsigned *ret_flags) {
    return pie_pyframe_walk((uintptr_t)frame, found, COPIES, ret_flags);
}

static void assert_whole(const struct frame *frame, size_t unit) {
    struct pie_pyframe found[COPIES];
    unsigned flags;

    assert_int_equal(walk(frame, found, &flags), 1);
    assert_int_equal(flags & PIE_PYSTACK_INVALID, 0);
    assert_int_equal(found[0].code, &code);
    assert_int_equal(found[0].instr, &code.bytecode[unit]);
}

static void assert_refused(const struct frame *frame) {
    struct pie_pyframe found[COPIES];
    unsigned flags;

    assert_int_equal(walk(frame, found, &flags), 0);
    assert_int_not_equal(flags & PIE_PYSTACK_INVALID, 0);
}

static void test_the_code_objects_own(void **state) {
    struct frame frame = frame_of(0, &code.bytecode[5], NULL);
    assert_whole(&frame, 5);
}

static void test_copies_of_threads(void **state) {
    struct frame frame = frame_of(1, &own_copies[0][7], NULL), other = frame_of(3, &own_copies[1][2], NULL);
    assert_whole(&frame, 7);
    assert_whole(&other, 2);
}

static void test_a_stack_of_several_copies(void **state) {
    struct frame outer = frame_of(0, &code.bytecode[1], NULL),
                 middle = frame_of(3, &own_copies[1][2], &outer),
                 inner = frame_of(1, &own_copies[0][3], &middle);
    struct pie_pyframe found[COPIES];
    unsigned flags;

    assert_int_equal(walk(&inner, found, &flags), 3);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(found[i].instr, &code.bytecode[3 - i]);
}

/* Between the two stores that move a generator's frame to another thread's copy, and amid other changes. */
static void test_what_does_not_fit_is_refused(void **state) {
    struct frame moved = frame_of(1, &own_copies[1][2], NULL), none = frame_of(2, &own_copies[0][2], NULL),
                 beyond = frame_of(COPIES, &own_copies[0][2], NULL),
                 negative = frame_of(-1, &own_copies[0][2], NULL);
    assert_refused(&moved);
    assert_refused(&none);
    assert_refused(&beyond);
    assert_refused(&negative);
}

static void on_fault(int signal_number, siginfo_t *info, void *context) {
    greg_t *pc = &((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
    uintptr_t next = pie_safe_load_fix((uintptr_t)*pc);
    if (!next)
        abort();
    *pc = (greg_t)next;
}

static void test_a_list_that_cannot_be_read(void **state) {
    struct frame frame = frame_of(1, &own_copies[0][2], NULL);
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO}, before; /* cmocka's */
    sigaction(SIGSEGV, &action, &before);
    code.copies = NULL;
    assert_refused(&frame);
    code.copies = (const struct copies *)UINT64_C(0x7ff000000000);
    assert_refused(&frame);
    frame.copy_number = 0; /* does not need it */
    frame.instr = code.bytecode;
    assert_whole(&frame, 0);
    sigaction(SIGSEGV, &before, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_the_code_objects_own, set_up),
        cmocka_unit_test_setup(test_copies_of_threads, set_up),
        cmocka_unit_test_setup(test_a_stack_of_several_copies, set_up),
        cmocka_unit_test_setup(test_what_does_not_fit_is_refused, set_up),
        cmocka_unit_test_setup(test_a_list_that_cannot_be_read, set_up),
    };
    return cmocka_run_group_tests_name("frame_copies", tests, NULL, NULL);
}
