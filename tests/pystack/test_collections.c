/* SPDX-License-Identifier: Apache-2.0 */
#define Py_BUILD_CORE 1
#include <Python.h>
#include <internal/pycore_gc.h>
#include <internal/pycore_interp.h>
#undef Py_BUILD_CORE

#include "profiler/base/safe_load.h"
#include "runtime/stacks/collections.h"
#include "runtime/stacks/state_offsets.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include <cmocka.h>

/* A collector's state as releases of 3.13 lay it out, with the lists of a Python that has objects. Words lie where no
 * aligned access would find them, so they are copied. */
enum {
    FIRST_INT = offsetof(struct _gc_runtime_state, debug), /* the lists follow it */
    ALIGNED = FIRST_INT + 8,                               /* 3.13.0 */
    PACKED = FIRST_INT + 4,                                /* 3.13.5 */
    LIST = 24,                                             /* two links and two ints */
    COUNT = 20
};

static struct {
    char tstate[sizeof(PyThreadState)], state[sizeof(PyInterpreterState)];
    uintptr_t objects[3][2];
} memory;

static uintptr_t collector(void) {
    return (uintptr_t)memory.state + pie_state_offsets().collector;
}

static void put(uintptr_t to, uintptr_t word) {
    memcpy((void *)to, &word, sizeof word);
}

static void put_int(uintptr_t to, int number) {
    memcpy((void *)to, &number, sizeof number);
}

/* The oldest list is empty, the others have an object each, whose link back has a flag. */
static void lay_out(size_t lists_at) {
    memset(&memory, 0, sizeof memory);
    put((uintptr_t)memory.tstate + pie_state_offsets().interpreter, (uintptr_t)memory.state);
    for (int i = 0; i < 3; i++) {
        uintptr_t head = collector() + lists_at + (uintptr_t)i * LIST, object = (uintptr_t)memory.objects[i];
        put(head, i < 2 ? object : head);
        put(head + 8, i < 2 ? object : head);
        put(object, head);
        put(object + 8, head | 1);
    }
}

/* What is no list has links to nowhere: their loads fail, as in a handler. */
static void on_fault(int signal_number, siginfo_t *info, void *context) {
    greg_t *pc = &((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
    uintptr_t next = pie_safe_load_fix((uintptr_t)*pc);

    if (!next)
        abort();
    *pc = (greg_t)next;
}

static size_t find_lists(void) {
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO}, before; /* cmocka's */

    sigaction(SIGSEGV, &action, &before);
    pie_collections_verify((uintptr_t)memory.tstate);
    size_t at = pie_collections_find_lists(collector());
    sigaction(SIGSEGV, &before, NULL);
    return at;
}

static int generation(size_t lists_at, int of_first, int of_second) {
    put_int(collector() + offsetof(struct _gc_runtime_state, collecting), 1);
    put_int(collector() + lists_at + LIST + COUNT, of_first);
    put_int(collector() + lists_at + 2 * LIST + COUNT, of_second);
    return pie_collections_generation((uintptr_t)memory.tstate);
}

static void test_both_layouts_are_known(void **state) {
    static const size_t layouts[] = {ALIGNED, PACKED};

    for (int i = 0; i < 2; i++) {
        lay_out(layouts[i]);
        assert_int_equal(find_lists(), layouts[i]);
        assert_int_equal(generation(layouts[i], 1, 7), 0);
        assert_int_equal(generation(layouts[i], 0, 7), 1);
        assert_int_equal(generation(layouts[i], 0, 0), 2);
        put_int(collector() + offsetof(struct _gc_runtime_state, collecting), 0);
        assert_int_equal(pie_collections_generation((uintptr_t)memory.tstate), -1);
    }
}

static void test_no_generation_is_told_where_there_are_no_lists(void **state) {
    lay_out(ALIGNED + 8);
    assert_int_equal(find_lists(), 0);
    assert_int_equal(generation(ALIGNED + 8, 1, 0), -1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_both_layouts_are_known),
        cmocka_unit_test(test_no_generation_is_told_where_there_are_no_lists),
    };
    return cmocka_run_group_tests_name("lists of the collector", tests, NULL, NULL);
}
