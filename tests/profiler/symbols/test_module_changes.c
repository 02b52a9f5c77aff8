/* SPDX-License-Identifier: Apache-2.0 */

/* Modules that come, go, are replaced on disk, or cannot be opened. */

#include "profiler/symbols/symbolizer.h"
#include "tests/profiler/symbols/fixture_modules.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "tests/skip.h"

static struct pie_symbolizer *symbolizer;
static char directory[64];

static int set_up(void **state) {
    strcpy(directory, "/tmp/pieprof-modules-XXXXXX");
    return mkdtemp(directory) ? pie_symbolizer_create(&symbolizer) : -1;
}

static int tear_down(void **state) {
    pie_symbolizer_destroy(symbolizer);
    return rmdir(directory);
}

static void path_of(const char *name, char *ret_path, size_t size) {
    snprintf(ret_path, size, "%s/%s", directory, name);
}

static void *open_copy(const char *kind, const char *path) {
    char from[1024];
    fixture_path(kind, from, sizeof(from));
    fixture_copy(from, path);
    void *module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!module)
        fail_msg("%s", dlerror());
    return module;
}

static void assert_function(uintptr_t address, const char *function) {
    struct fixture_frames frames = fixture_resolve(symbolizer, address);
    assert_non_null(frames.symbols[frames.count - 1].function);
    assert_string_equal(frames.symbols[frames.count - 1].function, function);
}

static uint64_t count_unreadable(void) {
    struct pie_symbolizer_counters counters;
    pie_symbolizer_count(symbolizer, &counters);
    return counters.unreadable_modules;
}

static void test_refresh_tells_of_changes(void **state) {
    assert_int_equal(pie_symbolizer_refresh(symbolizer), 1);
    assert_int_equal(pie_symbolizer_refresh(symbolizer), 0);
    void *module = fixture_open("debug");
    assert_int_equal(pie_symbolizer_refresh(symbolizer), 1);
    assert_int_equal(pie_symbolizer_refresh(symbolizer), 0);
    dlclose(module);
    assert_int_equal(pie_symbolizer_refresh(symbolizer), 1);
    assert_int_equal(pie_symbolizer_refresh(symbolizer), 0);
}

static void test_an_unloaded_module_keeps_its_names(void **state) {
    void *module = fixture_open("debug");
    uintptr_t seen = fixture_mark(module, "hidden"), unseen = fixture_mark(module, "outer");
    int line = fixture_line(module, "hidden");
    assert_function(seen, "hidden_one");
    dlclose(module);
    pie_symbolizer_refresh(symbolizer);
    assert_function(seen, "hidden_one");
    assert_function(unseen, "outer_one");
    assert_int_equal(fixture_resolve(symbolizer, seen).symbols[0].line, line);
}

static void test_a_module_never_looked_at_before_it_went(void **state) {
    void *module = fixture_open("debug");
    uintptr_t mark = fixture_mark(module, "hidden");
    pie_symbolizer_refresh(symbolizer);
    dlclose(module);
    pie_symbolizer_refresh(symbolizer);
    assert_function(mark, "hidden_one");
}

/* The dynamic linker puts a module of the same size where the last one was. */
static void *open_at(const char *kind, uintptr_t mark) {
    void *module = fixture_open(kind);
    if (fixture_mark(module, "hidden") != mark)
        skip_because("another mapping took the place of the module");
    return module;
}

static void test_a_range_used_again(void **state) {
    void *module = fixture_open("debug");
    uintptr_t mark = fixture_mark(module, "hidden");
    struct fixture_frames before = fixture_resolve(symbolizer, mark);
    dlclose(module);
    module = open_at("other", mark);
    assert_function(mark, "hidden_two");
    assert_string_equal(before.symbols[0].function, "hidden_one");
    assert_string_not_equal(before.module.path, fixture_resolve(symbolizer, mark).module.path);
    assert_string_not_equal(before.module.build_id, fixture_resolve(symbolizer, mark).module.build_id);
    dlclose(module);

    module = open_at("debug", mark);
    assert_function(mark, "hidden_one");
    dlclose(module);
}

/* The same path, the same place, another program. */
static void assert_rewritten(const char *first, const char *second) {
    char path[256];
    path_of("rewritten.so", path, sizeof(path));
    void *module = open_copy(first, path);
    uintptr_t mark = fixture_mark(module, "hidden");
    struct fixture_frames before = fixture_resolve(symbolizer, mark);
    dlclose(module);
    module = open_copy(second, path); /* written over in place */
    uintptr_t again = fixture_mark(module, "hidden");
    pie_symbolizer_refresh(symbolizer);
    assert_function(again, "hidden_two");
    assert_string_equal(before.symbols[0].function, "hidden_one");
    dlclose(module);
    unlink(path);
}

static void test_a_file_rewritten_while_unloaded(void **state) {
    assert_rewritten("debug", "other");
}

static void test_a_file_replaced_while_loaded(void **state) {
    char path[256], new_path[256], other[1024];
    path_of("replaced.so", path, sizeof(path));
    path_of("new.so", new_path, sizeof(new_path));
    fixture_path("other", other, sizeof(other));
    void *module = open_copy("debug", path);
    pie_symbolizer_refresh(symbolizer);
    fixture_copy(other, new_path);
    assert_int_equal(rename(new_path, path), 0);
    /* What is mapped is the old file: its memory is asked, not the new file. */
    assert_only_name(symbolizer, fixture_mark(module, "outer"), "outer_one");
    assert_only_name(symbolizer, (uintptr_t)dlsym(module, "sized"), "sized");
    assert_only_name(symbolizer, (uintptr_t)dlsym(module, "sized") + 2, NULL);
    assert_int_equal(count_unreadable(), 1);
    dlclose(module);
    unlink(path);
}

static void test_a_file_deleted_while_loaded(void **state) {
    char path[256];
    path_of("deleted.so", path, sizeof(path));
    void *module = open_copy("noid", path);
    unlink(path);
    assert_only_name(symbolizer, fixture_mark(module, "innermost"), "outer_one");
    struct fixture_frames frames = fixture_resolve(symbolizer, fixture_mark(module, "innermost"));
    assert_string_equal(frames.module.path, path);
    assert_int_equal(count_unreadable(), 1);
    uintptr_t mark = fixture_mark(module, "innermost");
    dlclose(module);
    assert_only_name(symbolizer, mark, "outer_one");
}

static void test_a_file_that_became_something_else(void **state) {
    char path[256];
    path_of("odd.so", path, sizeof(path));
    void *module = open_copy("debug", path);
    unlink(path);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_only_name(symbolizer, fixture_mark(module, "innermost"), "outer_one");
    dlclose(module);
    unlink(path);
}

static void test_no_descriptor_is_kept(void **state) {
    int before = fixture_count_descriptors();
    void *module = fixture_open("debug");
    assert_function(fixture_mark(module, "hidden"), "hidden_one");
    assert_function((uintptr_t)fopen + 1,
                    fixture_resolve(symbolizer, (uintptr_t)fopen + 1).symbols[0].function);
    assert_int_equal(fixture_count_descriptors(), before);
    dlclose(module);
}

/* With the table of descriptors full, names come from memory; as soon as one is free, from the file. */
static void test_no_descriptor_is_left(void **state) {
    void *module = fixture_open("debug");
    struct rlimit limit, small;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    int lowest = open("/dev/null", O_RDONLY);
    close(lowest);
    small = limit;
    small.rlim_cur = (rlim_t)lowest;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &small), 0);
    assert_int_equal(open("/dev/null", O_RDONLY), -1);
    struct fixture_frames full = fixture_resolve(symbolizer, fixture_mark(module, "innermost"));
    small.rlim_cur = (rlim_t)lowest + 1;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &small), 0);
    struct fixture_frames one_free = fixture_resolve(symbolizer, fixture_mark(module, "innermost"));
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    assert_int_equal(full.count, 1);
    assert_string_equal(full.symbols[0].function, "outer_one");
    assert_null(full.symbols[0].file);
    assert_int_equal(one_free.count, 3);
    assert_string_equal(one_free.symbols[0].function, "innermost");
    assert_int_equal(count_unreadable(), 0);
    dlclose(module);
}

/* More modules than are kept: the oldest lose their names, none gets a wrong one. */
static void test_many_modules(void **state) {
    enum { COUNT = 1100 };
    char path[256], from[1024];
    fixture_path("nodebug", from, sizeof(from));
    for (int i = 0; i < COUNT; i++) {
        char name[32];
        snprintf(name, sizeof(name), "many-%d.so", i);
        path_of(name, path, sizeof(path));
        assert_int_equal(symlink(from, path), 0);
        void *module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        assert_non_null(module);
        uintptr_t mark = fixture_mark(module, "hidden");
        assert_true(pie_symbolizer_refresh(symbolizer) >= 0);
        struct fixture_frames frames = fixture_resolve(symbolizer, mark);
        assert_string_equal(frames.symbols[0].function, "hidden_one");
        assert_string_equal(frames.module.path, path);
        dlclose(module);
        assert_int_equal(unlink(path), 0);
    }
    pie_symbolizer_refresh(symbolizer);
    struct pie_symbolizer_counters counters;
    pie_symbolizer_count(symbolizer, &counters);
    assert_in_range(counters.memory_bytes, 1, 64 * 1024 * 1024);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_refresh_tells_of_changes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_an_unloaded_module_keeps_its_names, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_module_never_looked_at_before_it_went, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_range_used_again, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_file_rewritten_while_unloaded, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_file_replaced_while_loaded, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_file_deleted_while_loaded, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_file_that_became_something_else, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_no_descriptor_is_kept, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_no_descriptor_is_left, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_many_modules, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("module_changes", tests, NULL, NULL);
}
