/* SPDX-License-Identifier: Apache-2.0 */

/* What calls of the exec family turn into, on files made for it: an "interpreter", a copy of it, scripts. */
#include "profiler/heap/known_prices.h"
#include "runtime/libc/exec.h"
#include "runtime/libc/exec_plan.h"
#include "runtime/interpreter/target.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

enum { IMAGE_BYTES = 4096 };

static char folder[] = "/tmp/pieprof-exec-XXXXXX";

static void write_file(const char *name, const void *content, size_t size, mode_t mode) {
    int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, content, size), size);
    assert_int_equal(fchmod(fd, mode), 0);
    close(fd);
}

static void write_script(const char *name, const char *first_line) {
    write_file(name, first_line, strlen(first_line), 0755);
}

static int make_files(void **state) {
    char image[IMAGE_BYTES];
    assert_non_null(mkdtemp(folder));
    assert_int_equal(chdir(folder), 0);
    memset(image, 'p', sizeof image);
    write_file("real", image, sizeof image, 0755);
    write_file("copy", image, sizeof image, 0755);
    write_file("unreadable", image, sizeof image, 0644);
    write_file("setid", image, sizeof image, 04755);
    write_file("longer", image, sizeof image - 1, 0755);
    memset(image, 's', sizeof image);
    write_file("self", image, sizeof image, 0755);
    assert_int_equal(symlink("real", "link"), 0);
    assert_int_equal(symlink("self", "python3"), 0);
    assert_int_equal(symlink("self", "other-name"), 0);
    image[1000] = 'x';
    write_file("lookalike", image, sizeof image, 0755);
    pie_exec_settings.has_target = pie_image_read("real", &pie_exec_settings.target) == 0;
    pie_exec_settings.has_self = pie_image_read("self", &pie_exec_settings.self) == 0;
    pie_exec_settings.self_path = "/the/self";
    atomic_store(&pie_exec_settings.parent, 99);
    atomic_store(&pie_exec_settings.child_variable, "_CHILD=value");
    return 0;
}

static int remove_files(void **state) {
    static const char *const names[] = {"real", "copy",    "unreadable", "setid",     "longer", "self",
                                        "link", "python3", "other-name", "lookalike", "script"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unlink(names[i]);
    return rmdir(folder);
}

static char *some_argv[] = {"zero", "one", "two", NULL};
static char *some_envp[] = {"A=1", "_CHILD=old", "B=2", "_PIEPROF_RUN=old", "_CHILDREN=3", NULL};

static struct pie_exec_plan plan;

static bool plan_path(const char *path) {
    return pie_exec_plan_path(&plan, path, some_argv, some_envp, 12);
}

/* Expects a vector to hold the strings that follow, up to NULL. */
static void expect_vector(char *const *vector, ...) {
    va_list expected;
    va_start(expected, vector);
    for (const char *word; (word = va_arg(expected, const char *)); vector++) {
        assert_non_null(*vector);
        assert_string_equal(*vector, word);
    }
    assert_null(*vector);
    va_end(expected);
}

static void test_known_prices_are_handed_on(void **state) {
    static const uint32_t handed[PIE_HEAP_PRICES] = {0, 1, 1001, 12345};

    pie_heap_prices_inherit(handed);
    assert_true(pie_heap_price_inherited(PIE_HEAP_PRICE_NATIVE) < 0);
    assert_float_equal(pie_heap_price_inherited(PIE_HEAP_PRICE_VISIT), 0, 1e-9);
    assert_float_equal(pie_heap_price_inherited(PIE_HEAP_PRICE_SMALL), 10, 1e-9);
    pie_heap_price_know(PIE_HEAP_PRICE_LARGE, 123.44);
    pie_heap_price_know(PIE_HEAP_PRICE_SMALL, 1e9); /* beyond what is believed */
    pie_heap_price_know(PIE_HEAP_PRICE_VISIT, 0);
    assert_true(plan_path("real"));
    expect_vector(plan.envp, "A=1", "B=2", "_CHILDREN=3", "_CHILD=value", "_PIEPROF_RUN=12:99:0:1:0:12345",
                  NULL);
}

static void expect_our_environment(void) {
    expect_vector(plan.envp, "A=1", "B=2", "_CHILDREN=3", "_CHILD=value", "_PIEPROF_RUN=12:99", NULL);
}

static void test_the_interpreter_by_inode_link_or_copy(void **state) {
    static const char *const ours[] = {"real", "./real", "link", "copy", "python3"};
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++) {
        assert_true(plan_path(ours[i]));
        assert_string_equal(plan.path, "/the/self");
        assert_ptr_equal(plan.argv, some_argv);
        expect_our_environment();
    }
}

static void test_everything_else_passes_through(void **state) {
    static const char *const others[] = {"missing",   ".",    "unreadable", "setid",   "longer",
                                         "lookalike", "self", "other-name", "/bin/sh", ""};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        assert_false(plan_path(others[i]));
        assert_ptr_equal(plan.path, others[i]);
        assert_ptr_equal(plan.argv, some_argv);
        assert_ptr_equal(plan.envp, some_envp);
    }
    assert_false(plan_path(NULL));
}

static void test_scripts_as_the_kernel_reads_them(void **state) {
    static const struct {
        const char *line, *interpreter, *argument;
    } scripts[] = {
        {"#!link\n", "link", NULL},
        {"#! \t link \t \nrest", "link", NULL},
        {"#!./real -u", "./real", "-u"},
        {"#!copy -E  -s \n", "copy", "-E  -s"},
    };
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++) {
        write_script("script", scripts[i].line);
        assert_true(plan_path("script"));
        assert_string_equal(plan.path, "/the/self");
        if (scripts[i].argument)
            expect_vector(plan.argv, scripts[i].interpreter, scripts[i].argument, "script", "one", "two",
                          NULL);
        else
            expect_vector(plan.argv, scripts[i].interpreter, "script", "one", "two", NULL);
        expect_our_environment();
    }
}

/* A guest's interpreter stays what it is, and the kernel finds that of a script; ours come last, LD_PRELOAD twice. */
static void test_children_of_a_guest(void **state) {
    char *preloading[] = {"LD_PRELOAD=/their/one.so", "A=1", NULL};
    pie_exec_settings.preload = "LD_PRELOAD=/the/core.so";
    assert_true(plan_path("copy"));
    assert_string_equal(plan.path, "copy");
    assert_ptr_equal(plan.argv, some_argv);
    expect_vector(plan.envp, "A=1", "B=2", "_CHILDREN=3", "LD_PRELOAD=/the/core.so", "_CHILD=value",
                  "_PIEPROF_RUN=12:99", NULL);
    write_script("script", "#!link -s\n");
    assert_true(pie_exec_plan_path(&plan, "script", some_argv, preloading, 12));
    assert_string_equal(plan.path, "script");
    assert_ptr_equal(plan.argv, some_argv);
    expect_vector(plan.envp, "LD_PRELOAD=/their/one.so", "A=1", "LD_PRELOAD=/the/core.so:/their/one.so",
                  "_CHILD=value", "_PIEPROF_RUN=12:99", NULL);
    int fd = open("real", O_RDONLY | O_CLOEXEC);
    assert_true(pie_exec_plan_open(&plan, fd, some_argv, some_envp, 12));
    assert_null(plan.path);
    close(fd);
    pie_exec_settings.preload = NULL;
}

/* env(1) must not take the core in: what it would execute is executed. */
static void test_scripts_by_env_of_a_guest(void **state) {
    char search_path[sizeof folder + sizeof "PATH="], found[sizeof folder + sizeof "/link"];
    char *envp[] = {search_path, NULL};
    snprintf(search_path, sizeof search_path, "PATH=%s", folder);
    snprintf(found, sizeof found, "%s/link", folder);
    pie_exec_settings.preload = "LD_PRELOAD=/the/core.so";
    write_script("script", "#!/usr/bin/env link\n");
    assert_true(pie_exec_plan_path(&plan, "script", some_argv, envp, 12));
    assert_string_equal(plan.path, found);
    expect_vector(plan.argv, "link", "script", "one", "two", NULL);
    pie_exec_settings.preload = NULL;
}

/* It has to come before us, and we before all others. */
static void test_a_child_with_a_sanitizer_is_no_guest(void **state) {
    char *envps[][2] = {{"LD_PRELOAD=/usr/lib/libasan.so.8"}, {"LD_PRELOAD=a.so:libclang_rt.asan-x86_64.so"}};
    pie_exec_settings.preload = "LD_PRELOAD=/the/core.so";
    for (size_t i = 0; i < sizeof envps / sizeof *envps; i++)
        assert_false(pie_exec_plan_path(&plan, "real", some_argv, envps[i], 12));
    pie_exec_settings.preload = NULL;
    assert_true(pie_exec_plan_path(&plan, "real", some_argv, envps[0], 12));
}

static void test_a_long_preload_of_the_program(void **state) {
    static char theirs[PIE_EXEC_PRELOAD_MAX + sizeof "LD_PRELOAD="] = "LD_PRELOAD=";
    char *envp[] = {theirs, NULL};
    memset(theirs + strlen(theirs), 'x', PIE_EXEC_PRELOAD_MAX - sizeof "LD_PRELOAD=/the/core.so:");
    pie_exec_settings.preload = "LD_PRELOAD=/the/core.so";
    assert_true(pie_exec_plan_path(&plan, "real", some_argv, envp, 12));
    strcat(theirs, "x");
    assert_false(pie_exec_plan_path(&plan, "real", some_argv, envp, 12));
    pie_exec_settings.preload = NULL;
}

static void test_scripts_of_others(void **state) {
    static const char *const lines[] = {"",
                                        "#",
                                        "#!",
                                        "#!\n",
                                        "#! \n",
                                        "#!/bin/sh\n",
                                        "# !link\n",
                                        "link\n",
                                        "#!lookalike\n",
                                        "#!missing x\n"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        write_script("script", lines[i]);
        assert_false(plan_path("script"));
        assert_ptr_equal(plan.argv, some_argv);
    }
}

static void test_scripts_through_env(void **state) {
    char search_path[sizeof folder + 32];
    snprintf(search_path, sizeof search_path, "PATH=/nonexistent:%s", folder);
    char *envp[] = {search_path, NULL};
    write_script("script", "#!/usr/bin/env link\n");
    assert_true(pie_exec_plan_path(&plan, "script", some_argv, envp, 1));
    expect_vector(plan.argv, "link", "script", "one", "two", NULL);
    assert_false(pie_exec_plan_path(&plan, "script", some_argv, some_envp, 1)); /* no PATH */
    static const char *const lines[] = {"#!/usr/bin/env -S link -u\n", "#!/usr/bin/env A=1 link\n",
                                        "#!/usr/bin/env link -u\n", "#!/usr/bin/env missing\n",
                                        "#!/usr/bin/env\n"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        write_script("script", lines[i]);
        assert_false(pie_exec_plan_path(&plan, "script", some_argv, envp, 1));
    }
}

static void test_by_descriptor(void **state) {
    int real = open("real", O_RDONLY | O_CLOEXEC), other = open("lookalike", O_RDONLY | O_CLOEXEC);
    assert_true(pie_exec_plan_open(&plan, real, some_argv, some_envp, 12));
    expect_our_environment();
    assert_false(pie_exec_plan_open(&plan, other, some_argv, some_envp, 12));
    assert_false(pie_exec_plan_open(&plan, -1, some_argv, some_envp, 12));
    close(real);
    close(other);
}

static void test_vectors_that_are_missing_or_too_long(void **state) {
    static char *many[PIE_EXEC_VECTOR_MAX + 1];
    assert_true(pie_exec_plan_path(&plan, "real", NULL, NULL, 12));
    expect_vector(plan.envp, "_CHILD=value", "_PIEPROF_RUN=12:99", NULL);
    assert_null(plan.argv);
    write_script("script", "#!link -u\n");
    assert_true(pie_exec_plan_path(&plan, "script", NULL, NULL, 12));
    expect_vector(plan.argv, "link", "-u", "script", NULL);
    for (size_t n = 0; n < PIE_EXEC_VECTOR_MAX; n++) {
        many[n] = "X=1";
        bool fits = n + 1 + 3 <= PIE_EXEC_VECTOR_MAX;
        assert_int_equal(pie_exec_plan_path(&plan, "real", some_argv, many, 12), fits);
        bool both_fit =
            n + 1 + 4 + 3 <= PIE_EXEC_VECTOR_MAX; /* -u and the script take the place of argv[0] */
        bool got = pie_exec_plan_path(&plan, "script", many, NULL, 12);
        if (got)
            assert_string_equal(plan.argv[0], "link");
        else
            assert_ptr_equal(plan.argv, many);
        assert_true(got || !both_fit);
    }
}

static void test_nothing_is_redirected_when_off(void **state) {
    const char *variable = atomic_exchange(&pie_exec_settings.child_variable, NULL);
    assert_false(plan_path("real"));
    assert_ptr_equal(plan.envp, some_envp);
    atomic_store(&pie_exec_settings.child_variable, variable);
}

static void test_names_of_python(void **state) {
    static const char *const yes[] = {"python",           "python3",     "python3.11",
                                      "/usr/bin/python3", "./python3.9", "a/python"};
    static const char *const no[] = {"",           "pytho",       "python2",        "python3.",
                                     "python3.1x", "pythonw",     "python3-config", "python/",
                                     "ipython",    "python3.11d", "pieprof"};
    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++)
        assert_true(pie_target_is_python_name(yes[i]));
    for (size_t i = 0; i < sizeof no / sizeof *no; i++)
        assert_false(pie_target_is_python_name(no[i]));
}

static void test_search(void **state) {
    char path[PATH_MAX], search_path[PATH_MAX];
    assert_int_equal(pie_target_search("real", "/nonexistent::/bin", path),
                     0); /* an empty folder is this one */
    assert_string_equal(path, "real");
    snprintf(search_path, sizeof search_path, "/bin:%s/", folder);
    assert_int_equal(pie_target_search("link", search_path, path), 0);
    assert_true(access(path, X_OK) == 0);
    assert_true(pie_target_search("unreadable", folder, path) < 0);
    assert_true(pie_target_search("real", "", path) == 0);
    assert_true(pie_target_search("missing", search_path, path) < 0);
    memset(search_path, 'x', sizeof search_path - 1);
    search_path[sizeof search_path - 1] = '\0';
    assert_true(pie_target_search("real", search_path, path) < 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_interpreter_by_inode_link_or_copy),
        cmocka_unit_test(test_everything_else_passes_through),
        cmocka_unit_test(test_scripts_as_the_kernel_reads_them),
        cmocka_unit_test(test_children_of_a_guest),
        cmocka_unit_test(test_scripts_by_env_of_a_guest),
        cmocka_unit_test(test_a_child_with_a_sanitizer_is_no_guest),
        cmocka_unit_test(test_a_long_preload_of_the_program),
        cmocka_unit_test(test_scripts_of_others),
        cmocka_unit_test(test_scripts_through_env),
        cmocka_unit_test(test_by_descriptor),
        cmocka_unit_test(test_vectors_that_are_missing_or_too_long),
        cmocka_unit_test(test_known_prices_are_handed_on), /* late: they stay known */
        cmocka_unit_test(test_nothing_is_redirected_when_off),
        cmocka_unit_test(test_names_of_python),
        cmocka_unit_test(test_search),
    };
    return cmocka_run_group_tests(tests, make_files, remove_files);
}
