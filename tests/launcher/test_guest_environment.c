/* SPDX-License-Identifier: Apache-2.0 */

/* What a guest finds behind the arguments of its process, and what is left of it. */
#include "launcher/guest/environment.h"
#include "launcher/session/board.h"
#include "launcher/session/child_env.h"

#include "runtime/confirm/board.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define SETTINGS "_PIEPROF_CHILD=/usr/bin/python3 77 '-q -o x' - -"
#define CORE "LD_PRELOAD=/the/core.so"

enum { ENTRIES_MAX = 16, BYTES = 1024 };

/* As the kernel lays it out: argv and the environment in one vector, the strings one behind the other. */
static char *vector[ENTRIES_MAX], strings[BYTES];
static char **own; /* cmocka reads it too */
static struct pie_confirm_board *board;

static int keep_environment(void **state) {
    own = environ;
    return 0;
}

static int restore_environment(void **state) {
    environ = own;
    return 0;
}

static char **lay_out(const char *const *entries) {
    size_t used = 0, n = 0;
    memset(strings, 'x', sizeof strings);
    vector[n++] = (char *)"python3";
    vector[n++] = NULL;
    for (; *entries; entries++) {
        vector[n++] = strcpy(strings + used, *entries);
        used += strlen(*entries) + 1;
    }
    vector[n] = NULL;
    environ = vector + 2;
    return vector;
}

static void expect(const char *const *entries, size_t count) {
    for (size_t i = 0; i < count; i++)
        assert_string_equal(vector[2 + i], entries[i]);
    assert_null(vector[2 + count]);
    assert_null(memmem(strings, sizeof strings, "PIEPROF", 7));
    assert_null(memmem(strings, sizeof strings, "core.so", 7));
}

static void forget(struct pie_child_env *child, char *preload) {
    free(child->target);
    free(child->options);
    free(child->variables[0]);
    free(child->variables[1]);
    free(preload);
}

static void test_the_first_process_of_a_run(void **state) {
    static const char *const entries[] = {"A=1", "B=", CORE, SETTINGS, "_PIEPROF_RUN=root", NULL};
    struct pie_child_env child;
    char *preload = NULL;
    assert_true(pie_guest_take(1, lay_out(entries), &child, &board, &preload));
    assert_true(child.is_profiled && child.is_root);
    assert_string_equal(child.options, "-q -o x");
    assert_int_equal(child.summary_pid, 77);
    assert_string_equal(preload, CORE);
    expect(entries, 2);
    forget(&child, preload);
}

static void test_what_the_program_preloads_stays(void **state) {
    static const char *const entries[] = {
        "LD_PRELOAD=/a.so:/b.so", "A=1", CORE ":/jemalloc.so:/a.so:/b.so", SETTINGS,
        "_PIEPROF_RUN=5:6",       NULL};
    struct pie_child_env child;
    char *preload = NULL;
    assert_true(pie_guest_take(1, lay_out(entries), &child, &board, &preload));
    assert_true(child.is_profiled && !child.is_root);
    assert_int_equal(child.run_id, 5);
    assert_string_equal(preload, CORE ":/jemalloc.so");
    assert_string_equal(getenv("LD_PRELOAD"), "/a.so:/b.so");
    expect(entries, 2);
    forget(&child, preload);
}

static void test_one_that_only_counts(void **state) {
    char setting[64];
    const char *const entries[] = {"A=1", CORE, setting, NULL};
    struct pie_confirm_board *made = NULL;
    struct pie_child_env child;
    char *preload = NULL;
    int fd = -1;
    assert_int_equal(pie_confirm_board_create(&made, &fd), 0);
    pie_confirm_board_variable(fd, setting, sizeof setting);
    assert_true(pie_guest_take(1, lay_out(entries), &child, &board, &preload));
    assert_false(child.is_child || child.is_profiled);
    made->forks = 77;
    assert_int_equal(board->forks, 77);
    assert_int_equal(fcntl(fd, F_GETFD), -1); /* the program does not see it */
    assert_string_equal(preload, CORE);
    expect(entries, 1);
    forget(&child, preload);
}

static void test_without_an_invitation_nothing_is_touched(void **state) {
    static const char *const uninvited[][4] = {
        {NULL}, {"A=1", CORE, NULL}, {CORE, "A=1", SETTINGS, NULL}, {SETTINGS, "_PIEPROF_RUN=root", NULL}};
    struct pie_child_env child;
    char *preload = NULL;
    for (size_t i = 0; i < sizeof uninvited / sizeof *uninvited; i++) {
        assert_false(pie_guest_take(1, lay_out(uninvited[i]), &child, &board, &preload));
        assert_null(preload);
        for (size_t k = 0; uninvited[i][k]; k++)
            assert_string_equal(vector[2 + k], uninvited[i][k]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_the_first_process_of_a_run, keep_environment,
                                        restore_environment),
        cmocka_unit_test_setup_teardown(test_what_the_program_preloads_stays, keep_environment,
                                        restore_environment),
        cmocka_unit_test_setup_teardown(test_one_that_only_counts, keep_environment, restore_environment),
        cmocka_unit_test_setup_teardown(test_without_an_invitation_nothing_is_touched, keep_environment,
                                        restore_environment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
