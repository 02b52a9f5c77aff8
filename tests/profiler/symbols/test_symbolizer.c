/* SPDX-License-Identifier: Apache-2.0 */

#include "profiler/base/counters.h"
#include "profiler/symbols/loaded_symbols.h"
#include "profiler/symbols/symbolizer.h"
#include "tests/profiler/symbols/fixture_modules.h"

#include <dlfcn.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <cmocka.h>

#include "tests/skip.h"

static struct pie_symbolizer *symbolizer;

static int set_up(void **state) {
    return pie_symbolizer_create(&symbolizer);
}

static int tear_down(void **state) {
    pie_symbolizer_destroy(symbolizer);
    return 0;
}

static void assert_frame(const struct pie_symbol *symbol, const char *function, int line) {
    assert_non_null(symbol->function);
    assert_string_equal(symbol->function, function);
    assert_non_null(symbol->file);
    assert_string_equal(strrchr(symbol->file, '/') + 1, "fixture.c");
    assert_int_equal(symbol->line, line);
}

/* The three calls that were inlined into each other, by the lines that the source itself counts. */
static void assert_inlined_chain(const char *kind) {
    void *module = fixture_open(kind);
    struct fixture_frames frames = fixture_resolve(symbolizer, fixture_mark(module, "innermost"));
    int middle = fixture_line(module, "middle"), outer = fixture_line(module, "outer");
    assert_int_equal(frames.count, 3);
    assert_frame(&frames.symbols[0], "innermost", fixture_line(module, "innermost"));
    assert_frame(&frames.symbols[1], "middle", middle - 1);
    assert_frame(&frames.symbols[2], "outer_one", outer - 1);
    assert_int_equal(frames.symbols[0].first_line, fixture_line(module, "innermost") - 2);
    assert_int_equal(frames.symbols[1].first_line, middle - 3);
    assert_int_equal(frames.symbols[2].first_line, outer - 3);

    frames = fixture_resolve(symbolizer, fixture_mark(module, "middle"));
    assert_int_equal(frames.count, 2);
    assert_frame(&frames.symbols[0], "middle", middle);
    assert_frame(&frames.symbols[1], "outer_one", outer - 1);

    frames = fixture_resolve(symbolizer, fixture_mark(module, "hidden"));
    assert_int_equal(frames.count, 1);
    assert_frame(&frames.symbols[0], "hidden_one", fixture_line(module, "hidden"));
    dlclose(module);
}

static void test_inlined_calls(void **state) {
    assert_inlined_chain("debug");
}

/* Without room for debug information, the function's name alone; later addresses have lines, and so have modules that
 * come later. */
static void test_debug_information_waits_for_its_turn(void **state) {
    void *module = fixture_open("debug");

    pie_counters_reset();
    pie_symbolizer_allow_debug_info(symbolizer, 0);
    assert_only_name(symbolizer, fixture_mark(module, "innermost"), "outer_one");
    assert_only_name(symbolizer, fixture_mark(module, "hidden"), "hidden_one");
    assert_int_equal(pie_counter_get(PIE_COUNTER_DEBUG_INFO_WAITS), 1);
    assert_int_equal(pie_counter_get(PIE_COUNTER_DEBUG_INFO_READ), 0);
    pie_symbolizer_allow_debug_info(symbolizer, 1000000000);
    assert_inlined_chain("debug");
    assert_int_equal(pie_counter_get(PIE_COUNTER_DEBUG_INFO_READ), 1);
    assert_inlined_chain("dwarf4");
    assert_int_equal(pie_counter_get(PIE_COUNTER_DEBUG_INFO_WAITS), 1);
    dlclose(module);
}

static void test_inlined_calls_in_dwarf_4(void **state) {
    assert_inlined_chain("dwarf4");
}

static void test_inlined_calls_in_compressed_sections(void **state) {
    assert_inlined_chain("compressed");
}

static void test_inlined_calls_in_a_separate_file(void **state) {
#ifdef HAVE_FIXTURE_LINKED
    assert_inlined_chain("linked");
#else
    skip_because("no such fixture can be made here");
#endif
}

static void test_fewer_places_than_frames(void **state) {
    void *module = fixture_open("debug");
    uintptr_t address = fixture_mark(module, "innermost");
    struct pie_module where;
    struct pie_symbol symbols[2];
    assert_int_equal(pie_symbolizer_resolve(symbolizer, address, &where, symbols, 0), -EINVAL);
    assert_int_equal(pie_symbolizer_resolve(symbolizer, address, &where, symbols, 2), 2);
    assert_string_equal(symbols[0].function, "innermost");
    assert_string_equal(symbols[1].function, "outer_one");
    assert_int_equal(symbols[1].line, fixture_line(module, "outer") - 1);
    assert_int_equal(pie_symbolizer_resolve(symbolizer, address, &where, symbols, 1), 1);
    assert_string_equal(symbols[0].function, "outer_one");
    dlclose(module);
}

static void test_module_of_an_address(void **state) {
    void *module = fixture_open("debug");
    uintptr_t mark = fixture_mark(module, "hidden");
    struct fixture_frames frames = fixture_resolve(symbolizer, mark);
    Dl_info info;
    assert_true(dladdr((void *)mark, &info));
    char path[1024];
    fixture_path("debug", path, sizeof(path));
    assert_string_equal(frames.module.path, path);
    assert_int_equal(frames.module.offset, mark - (uintptr_t)info.dli_fbase);
    assert_non_null(frames.module.build_id);
    assert_int_equal(strlen(frames.module.build_id), 40);
    assert_int_equal(strspn(frames.module.build_id, "0123456789abcdef"), 40);
    dlclose(module);

    module = fixture_open("noid");
    frames = fixture_resolve(symbolizer, fixture_mark(module, "hidden"));
    assert_null(frames.module.build_id);
    assert_frame(&frames.symbols[0], "hidden_one", fixture_line(module, "hidden"));
    dlclose(module);
}

static void test_no_debug_information(void **state) {
    void *module = fixture_open("nodebug");
    assert_only_name(symbolizer, fixture_mark(module, "innermost"), "outer_one");
    assert_only_name(symbolizer, fixture_mark(module, "hidden"), "hidden_one");
    dlclose(module);
}

static void test_stripped(void **state) {
#ifdef HAVE_FIXTURE_STRIPPED
    void *module = fixture_open("stripped");
    assert_only_name(symbolizer, fixture_mark(module, "innermost"), "outer_one");
    /* Static functions have no name any more. The label before the mark is not theirs: look just before it. */
    uintptr_t hidden = fixture_mark(module, "hidden") - 1;
    assert_only_name(symbolizer, hidden, NULL);
    dlclose(module);
#else
    skip_because("no such fixture can be made here");
#endif
}

static void test_packed_symbols(void **state) {
#ifdef HAVE_FIXTURE_PACKED
    void *module = fixture_open("packed");
    assert_only_name(symbolizer, fixture_mark(module, "innermost"), "outer_one");
    assert_only_name(symbolizer, fixture_mark(module, "hidden") - 1, "hidden_one");
    dlclose(module);
#else
    skip_because("no such fixture can be made here");
#endif
}

static void test_assembly(void **state) {
    void *module = fixture_open("nodebug");
    uintptr_t handmade = (uintptr_t)dlsym(module, "handmade"), sized = (uintptr_t)dlsym(module, "sized");
    uintptr_t after_gap = (uintptr_t)dlsym(module, "after_gap");
    assert_only_name(symbolizer, handmade, "handmade");
    assert_only_name(symbolizer, sized - 1, "handmade");
    assert_only_name(symbolizer, sized, "sized");
    assert_only_name(symbolizer, sized + 1, "sized");
    assert_only_name(symbolizer, sized + 2, NULL);
    assert_only_name(symbolizer, after_gap - 1, NULL);
    assert_only_name(symbolizer, after_gap, "after_gap");
    dlclose(module);
}

static void test_cpp(void **state) {
#ifdef HAVE_FIXTURE_CPP
    void *module = fixture_open("cpp");
    struct fixture_frames frames = fixture_resolve(symbolizer, fixture_mark(module, "count"));
    assert_int_equal(frames.count, 2);
    assert_int_equal(frames.symbols[0].line, fixture_line(module, "count"));
    assert_int_equal(frames.symbols[1].line, fixture_line(module, "add") - 1);
    assert_int_equal(frames.symbols[1].first_line, fixture_line(module, "add") - 2);
    char *function = (char *)frames.symbols[1].function;
    if (strncmp(function, "_Z", 2) == 0)
        skip_because("built without a demangler");
    assert_string_equal(frames.symbols[0].function, "shop::Basket<int>::count(int)");
    assert_string_equal(frames.symbols[1].function, "shop::Basket<int>::add(int, char const*)");
    dlclose(module);
#else
    skip_because("no C++ compiler here");
#endif
}

static __attribute__((noinline)) uintptr_t own_address(void) {
    return (uintptr_t)__builtin_extract_return_addr(__builtin_return_address(0));
}

static void test_the_executable_itself(void **state) {
    uintptr_t address = own_address() - 1;
    int line = __LINE__ - 1;
    struct fixture_frames frames = fixture_resolve(symbolizer, address);
    assert_string_equal(frames.symbols[frames.count - 1].function, "test_the_executable_itself");
    char *path = realpath("/proc/self/exe", NULL);
    assert_string_equal(frames.module.path, path);
    free(path);
    if (!frames.symbols[0].file)
        skip_because("built without -g");
    assert_int_equal(frames.symbols[0].line, line);
}

static void test_vdso(void **state) {
    uintptr_t base = getauxval(AT_SYSINFO_EHDR);
    if (!base)
        skip_because("the kernel maps no vDSO");
    void *vdso = dlopen("linux-vdso.so.1", RTLD_NOW | RTLD_NOLOAD);
    if (!vdso)
        skip_because("the vDSO cannot be opened");
    uintptr_t address = (uintptr_t)dlsym(vdso, "__vdso_clock_gettime");
    struct fixture_frames frames = fixture_resolve(symbolizer, address);
    assert_string_equal(frames.symbols[0].function, "clock_gettime");
    assert_string_equal(frames.module.path, "[vdso]");
    assert_int_equal(frames.module.offset, address - base);
    struct pie_symbolizer_counters counters;
    pie_symbolizer_count(symbolizer, &counters);
    assert_int_equal(counters.unreadable_modules, 0);
    dlclose(vdso);
}

static void test_no_module(void **state) {
    void *memory = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    uintptr_t addresses[] = {(uintptr_t)memory + 100, 0, 1, UINTPTR_MAX};
    for (size_t i = 0; i < sizeof(addresses) / sizeof(*addresses); i++) {
        assert_only_name(symbolizer, addresses[i], NULL);
        struct fixture_frames frames = fixture_resolve(symbolizer, addresses[i]);
        assert_null(frames.module.path);
        assert_null(frames.module.build_id);
        assert_int_equal(frames.module.offset, addresses[i]);
    }
    struct pie_symbolizer_counters counters;
    pie_symbolizer_count(symbolizer, &counters);
    assert_int_equal(counters.unnamed_addresses, 2 * sizeof(addresses) / sizeof(*addresses));
    munmap(memory, 4096);
}

/* The code that libc chose for this CPU has a name even where libc is stripped. */
static void test_functions_chosen_at_run_time(void **state) {
    void *libc = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
    assert_non_null(libc);
    static const char *const functions[] = {"memcpy", "memset", "strlen", "strchr", "memcmp"};
    for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++) {
        uintptr_t chosen = (uintptr_t)dlsym(libc, functions[i]);
        struct fixture_frames frames = fixture_resolve(symbolizer, chosen + 3);
        if (!strstr(frames.module.path, "libc.so.6"))
            continue; /* a sanitizer's */
        const char *function = frames.symbols[frames.count - 1].function;
        assert_non_null(function);
        /* memcpy is memmove on most CPUs. */
        assert_true(strstr(function, functions[i]) || (i == 0 && strstr(function, "memmove")));
    }
    dlclose(libc);
}

static void forget(struct pie_module_entry *entry) {
    (void)entry;
}

/* The same from memory alone, as on a machine without debug symbols of libc. */
static void test_names_of_chosen_functions_by_memory(void **state) {
    void *libc = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
    uintptr_t memcpy_address = (uintptr_t)dlvsym(libc, "memcpy", "GLIBC_2.14");
    uintptr_t strlen_address = (uintptr_t)dlsym(libc, "strlen");
    struct pie_modules *modules;
    assert_int_equal(pie_modules_create(forget, &modules), 0);
    assert_int_equal(pie_modules_refresh(modules), 1);
    const struct pie_module_entry *entry =
        pie_modules_find(modules, (uintptr_t)dlsym(libc, "gnu_get_libc_version"));
    struct pie_symbol_table_builder *builder;
    struct pie_symbol_table *table;
    char *names = NULL;
    assert_int_equal(pie_symbol_table_builder_create(&builder), 0);
    assert_int_equal(pie_loaded_symbols_add_chosen(entry, builder, &names), 0);
    assert_int_equal(pie_symbol_table_build(builder, &table), 0);
    free(names);
    if (pie_modules_find(modules, memcpy_address) == entry) {
        const char *name = pie_symbol_table_find(table, memcpy_address + 3 - entry->base);
        assert_non_null(name);
        assert_true(strcmp(name, "memcpy") == 0 || strcmp(name, "memmove") == 0);
        assert_string_equal(pie_symbol_table_find(table, strlen_address + 3 - entry->base), "strlen");
        assert_null(pie_symbol_table_find(table, (uintptr_t)dlsym(libc, "nl_langinfo") - entry->base));
        assert_in_range(pie_symbol_table_count(table), 20, 200);
    }
    pie_symbol_table_destroy(table);
    pie_symbol_table_builder_destroy(builder);
    pie_modules_destroy(modules);
    dlclose(libc);
}

static void assert_range(uintptr_t address, uintptr_t begin, uintptr_t end) {
    uintptr_t found_begin = 0, found_end = 0;
    assert_true(pie_symbolizer_function_range(symbolizer, address, &found_begin, &found_end));
    assert_int_equal(found_begin, begin);
    assert_int_equal(found_end, end);
}

static void test_ranges_of_functions(void **state) {
    void *module = fixture_open("nodebug");
    uintptr_t handmade = (uintptr_t)dlsym(module, "handmade"), sized = (uintptr_t)dlsym(module, "sized");
    uintptr_t begin = 1, end = 2;
    assert_range(handmade, handmade, sized); /* it has no size */
    assert_range(sized - 1, handmade, sized);
    assert_range(sized + 1, sized, sized + 2);
    assert_false(pie_symbolizer_function_range(symbolizer, sized + 2, &begin, &end));
    assert_false(pie_symbolizer_function_range(symbolizer, (uintptr_t)&begin, &begin, &end));
    assert_false(pie_symbolizer_function_range(symbolizer, 0, &begin, &end));
    assert_false(pie_symbolizer_function_range(symbolizer, UINTPTR_MAX, &begin, &end));
    dlclose(module);
    /* It is still named, but there is no code to be read. */
    assert_false(pie_symbolizer_function_range(symbolizer, handmade, &begin, &end));
    assert_int_equal(begin, 1);
    assert_int_equal(end, 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_inlined_calls, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_debug_information_waits_for_its_turn, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_inlined_calls_in_dwarf_4, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_inlined_calls_in_compressed_sections, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_inlined_calls_in_a_separate_file, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_fewer_places_than_frames, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_module_of_an_address, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_no_debug_information, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_stripped, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_packed_symbols, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_assembly, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_cpp, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_the_executable_itself, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_ranges_of_functions, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_vdso, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_no_module, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_functions_chosen_at_run_time, set_up, tear_down),
        cmocka_unit_test(test_names_of_chosen_functions_by_memory),
    };
    return cmocka_run_group_tests_name("symbolizer", tests, NULL, NULL);
}
