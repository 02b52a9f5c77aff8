/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/time/tasks.h"

#include "profiler/ports/pystack.h"
#include "profiler/stacks/call_path.h"
#include "profiler/stacks/cct.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static int forget(void **state) {
    pie_task_names_forget();
    return 0;
}

static void test_a_name_has_one_number(void **state) {
    uint16_t first = pie_task_names_intern("first"), second = pie_task_names_intern("second");

    assert_int_not_equal(first, second);
    assert_int_equal(pie_task_names_intern("first"), first);
    assert_string_equal(pie_task_names_get(first), "first");
    assert_string_equal(pie_task_names_get(second), "second");
    assert_int_equal(pie_task_names_intern(""), PIE_TASK_UNNAMED);
    assert_null(pie_task_names_get(PIE_TASK_UNNAMED));
    assert_null(pie_task_names_get(PIE_TASK_NONE));
}

static void test_the_first_names_are_kept_and_the_rest_share_one(void **state) {
    char name[32];

    for (int i = 0; i < 2 * PIE_TASK_NAMES; i++) {
        snprintf(name, sizeof name, "task %d", i);
        const char *got = pie_task_names_get(pie_task_names_intern(name));
        assert_string_equal(got, i < PIE_TASK_NAMES - 1 ? name : "(other)");
    }
    assert_string_equal(pie_task_names_get(pie_task_names_intern("task 7")), "task 7");
    pie_task_names_forget();
    assert_string_equal(pie_task_names_get(pie_task_names_intern("task 400")), "task 400");
}

enum { CODE = 3, OTHER_CODE = 4, DEPTH = 5 };

static enum pie_task_found kind;
static uintptr_t code;

static enum pie_task_found running(uintptr_t tstate, struct pie_running_task *ret_task) {
    strcpy(ret_task->name, "mail");
    ret_task->code = code;
    return kind;
}

static uint32_t intern(uintptr_t address) {
    return (uint32_t)address;
}

static struct pie_sample_task find(enum pie_task_found found, uintptr_t of) {
    const struct pie_pystack_ops ops = {.running_task = running, .intern = intern};
    /* innermost first: the task's coroutine called itself below a function and native code */
    const uint64_t path[DEPTH] = {pie_cct_native_key(0x1000), pie_cct_python_key(CODE, 8),
                                  pie_cct_python_key(OTHER_CODE, 2), pie_cct_python_key(CODE, 4),
                                  pie_cct_python_key(OTHER_CODE + 1, 0)};
    const struct pie_call_path taken = {.node = {77}, .hybrid = {.depth = DEPTH}, .path = path};

    kind = found;
    code = of;
    return pie_sample_task_find(&ops, 1, &taken);
}

static void test_a_task_begins_at_the_outermost_frame_of_its_coroutine(void **state) {
    struct pie_sample_task found = find(PIE_TASK_FOUND, CODE);

    assert_int_equal(found.up, 3);
    assert_string_equal(pie_task_names_get(found.name), "mail");
}

static void test_a_task_that_is_not_on_the_stack_has_its_name(void **state) {
    for (uintptr_t of = 0; of <= 9; of += 9) {
        struct pie_sample_task found = find(PIE_TASK_FOUND, of);
        assert_int_equal(found.up, PIE_SAMPLE_TASK_UP_UNKNOWN);
        assert_string_equal(pie_task_names_get(found.name), "mail");
    }
}

static void test_one_that_cannot_be_read_has_none(void **state) {
    struct pie_sample_task found = find(PIE_TASK_FOUND_UNREADABLE, CODE);

    assert_int_equal(found.up, PIE_SAMPLE_TASK_UP_UNKNOWN);
    assert_int_equal(found.name, PIE_TASK_UNNAMED);
    assert_int_equal(find(PIE_TASK_FOUND_NONE, CODE).name, PIE_TASK_NONE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_a_name_has_one_number, forget),
        cmocka_unit_test_teardown(test_the_first_names_are_kept_and_the_rest_share_one, forget),
        cmocka_unit_test_teardown(test_a_task_begins_at_the_outermost_frame_of_its_coroutine, forget),
        cmocka_unit_test_teardown(test_a_task_that_is_not_on_the_stack_has_its_name, forget),
        cmocka_unit_test_teardown(test_one_that_cannot_be_read_has_none, forget),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
