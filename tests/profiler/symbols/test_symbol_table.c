/* SPDX-License-Identifier: Apache-2.0 */

#include "profiler/symbols/symbol_table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define GLOBAL_FUNCTION ELF64_ST_INFO(STB_GLOBAL, STT_FUNC)
#define WEAK_FUNCTION ELF64_ST_INFO(STB_WEAK, STT_FUNC)
#define LOCAL_FUNCTION ELF64_ST_INFO(STB_LOCAL, STT_FUNC)
#define LABEL ELF64_ST_INFO(STB_GLOBAL, STT_NOTYPE)

struct input {
    const char *name;
    unsigned char info;
    uint64_t start, size, limit;
};

static struct pie_symbol_table *build(const struct input *inputs, size_t count) {
    struct pie_symbol_table_builder *builder;
    struct pie_symbol_table *table = NULL;
    assert_int_equal(pie_symbol_table_builder_create(&builder), 0);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(pie_symbol_table_add(builder, inputs[i].name, inputs[i].info, inputs[i].start,
                                              inputs[i].size, inputs[i].limit),
                         0);
    assert_int_equal(pie_symbol_table_build(builder, &table), 0);
    pie_symbol_table_builder_destroy(builder);
    return table;
}

#define BUILD(...)                                                                                           \
    build((const struct input[]){__VA_ARGS__},                                                               \
          sizeof((const struct input[]){__VA_ARGS__}) / sizeof(struct input))

static void assert_found(const struct pie_symbol_table *table, uint64_t address, const char *expected) {
    const char *name = pie_symbol_table_find(table, address);
    if (!expected) {
        if (name)
            fail_msg("%#lx is %s", (unsigned long)address, name);
        return;
    }
    if (!name || strcmp(name, expected) != 0)
        fail_msg("%#lx is %s, not %s", (unsigned long)address, name ? name : "nothing", expected);
}

static void assert_range(const struct pie_symbol_table *table, uint64_t address, uint64_t start,
                         uint64_t end) {
    uint64_t found_start = 0, found_end = 0;
    if (!pie_symbol_table_range(table, address, &found_start, &found_end) || found_start != start ||
        found_end != end)
        fail_msg("%#lx is in [%#lx, %#lx), not in [%#lx, %#lx)", (unsigned long)address,
                 (unsigned long)found_start, (unsigned long)found_end, (unsigned long)start,
                 (unsigned long)end);
}

static void test_ranges_of_functions(void **state) {
    struct pie_symbol_table *table =
        BUILD({"outer", GLOBAL_FUNCTION, 0x100, 0x40, 0x1000}, {"inner", LOCAL_FUNCTION, 0x110, 0x10, 0x1000},
              {"loop", LABEL, 0x130, 0, 0x1000}, {"kernel", LABEL, 0x200, 0, 0x280},
              {"next", LABEL, 0x230, 0, 0x280}, {"endless", GLOBAL_FUNCTION, 0x300, UINT64_MAX, 0x380});
    uint64_t start = 1, end = 2;
    assert_range(table, 0x100, 0x100, 0x110);
    assert_range(table, 0x10f, 0x100, 0x110);
    assert_range(table, 0x110, 0x110, 0x120);
    assert_range(table, 0x135, 0x120, 0x140); /* behind the inner one, and no end at the label */
    assert_range(table, 0x22f, 0x200, 0x230);
    assert_range(table, 0x230, 0x230, 0x280);
    assert_range(table, 0x37f, 0x300, 0x380);
    for (size_t i = 0; i < 5; i++)
        assert_false(pie_symbol_table_range(table, (const uint64_t[]){0, 0xff, 0x140, 0x280, UINT64_MAX}[i],
                                            &start, &end));
    assert_int_equal(start, 1);
    assert_int_equal(end, 2);
    pie_symbol_table_destroy(table);
}

static void test_bounds_are_exact(void **state) {
    struct pie_symbol_table *table =
        BUILD({"b", GLOBAL_FUNCTION, 0x200, 0x10, 0x1000}, {"a", LOCAL_FUNCTION, 0x100, 0x20, 0x1000});
    assert_found(table, 0, NULL);
    assert_found(table, 0xff, NULL);
    assert_found(table, 0x100, "a");
    assert_found(table, 0x11f, "a");
    assert_found(table, 0x120, NULL);
    assert_found(table, 0x1ff, NULL);
    assert_found(table, 0x20f, "b");
    assert_found(table, 0x210, NULL);
    assert_found(table, UINT64_MAX, NULL);
    assert_int_equal(pie_symbol_table_count(table), 2);
    pie_symbol_table_destroy(table);
}

static void test_empty_table(void **state) {
    struct pie_symbol_table *table = build(NULL, 0);
    assert_found(table, 0, NULL);
    assert_found(table, 42, NULL);
    pie_symbol_table_destroy(table);
    pie_symbol_table_destroy(NULL);
}

static void test_unsized_symbols_reach_to_the_next_or_the_limit(void **state) {
    struct pie_symbol_table *table =
        BUILD({"first", LABEL, 0x100, 0, 0x200}, {"second", LABEL, 0x140, 0, 0x200},
              {"elsewhere", GLOBAL_FUNCTION, 0x300, 0x10, 0x400}, {"last", LABEL, 0x320, 0, 0x400});
    assert_found(table, 0x13f, "first");
    assert_found(table, 0x140, "second");
    assert_found(table, 0x1ff, "second");
    assert_found(table, 0x200, NULL);
    assert_found(table, 0x318, NULL);
    assert_found(table, 0x3ff, "last");
    assert_found(table, 0x400, NULL);
    pie_symbol_table_destroy(table);
}

static void test_labels_inside_functions_do_not_count(void **state) {
    struct pie_symbol_table *table =
        BUILD({"function", GLOBAL_FUNCTION, 0x100, 0x40, 0x200}, {"loop", LABEL, 0x110, 0, 0x200},
              {"entry", LABEL, 0x100, 0, 0x200});
    assert_found(table, 0x100, "function");
    assert_found(table, 0x118, "function");
    assert_found(table, 0x140, NULL);
    pie_symbol_table_destroy(table);
}

static void test_the_innermost_function_counts(void **state) {
    struct pie_symbol_table *table = BUILD(
        {"outer", GLOBAL_FUNCTION, 0x100, 0x100, 0x1000}, {"inner", GLOBAL_FUNCTION, 0x140, 0x20, 0x1000},
        {"core", GLOBAL_FUNCTION, 0x148, 0x8, 0x1000}, {"late", GLOBAL_FUNCTION, 0x1f0, 0x20, 0x1000});
    assert_found(table, 0x13f, "outer");
    assert_found(table, 0x140, "inner");
    assert_found(table, 0x148, "core");
    assert_found(table, 0x150, "inner");
    assert_found(table, 0x160, "outer");
    assert_found(table, 0x1ef, "outer");
    assert_found(table, 0x1f0, "late");
    assert_found(table, 0x20f, "late");
    assert_found(table, 0x210, NULL);
    pie_symbol_table_destroy(table);
}

static void test_the_name_of_many(void **state) {
    struct pie_symbol_table *table = BUILD(
        {"__libc_malloc", GLOBAL_FUNCTION, 0x100, 8, 0x1000}, {"malloc", GLOBAL_FUNCTION, 0x100, 8, 0x1000},
        {"__malloc", LOCAL_FUNCTION, 0x100, 8, 0x1000}, {"alias", WEAK_FUNCTION, 0x200, 8, 0x1000},
        {"real", GLOBAL_FUNCTION, 0x200, 8, 0x1000}, {"aaa", LOCAL_FUNCTION, 0x200, 8, 0x1000},
        {"_Z1fv", GLOBAL_FUNCTION, 0x300, 8, 0x1000}, {"_x", GLOBAL_FUNCTION, 0x300, 8, 0x1000},
        {"memcpy", LABEL, 0x400, 0, 0x500}, {"__memcpy_avx", LOCAL_FUNCTION, 0x400, 8, 0x1000});
    assert_found(table, 0x104, "malloc");
    assert_found(table, 0x200, "real");
    assert_found(table, 0x307, "_Z1fv");
    assert_found(table, 0x400, "__memcpy_avx");
    assert_found(table, 0x408, NULL);
    pie_symbol_table_destroy(table);
}

/* Ends before its section at the latest; an address computation that overflows must not wrap around. */
static void test_damaged_symbols(void **state) {
    struct pie_symbol_table *table = BUILD(
        {"endless", GLOBAL_FUNCTION, 0x100, UINT64_MAX, 0x200}, {"outside", GLOBAL_FUNCTION, 0x500, 8, 0x400},
        {"high", GLOBAL_FUNCTION, UINT64_MAX - 8, UINT64_MAX, UINT64_MAX},
        {"huge", GLOBAL_FUNCTION, UINT64_C(1) << 40, UINT64_C(1) << 40, UINT64_C(1) << 50});
    assert_found(table, 0x1ff, "endless");
    assert_found(table, 0x200, NULL);
    assert_found(table, 0x500, NULL);
    assert_found(table, UINT64_MAX - 1, "high");
    assert_found(table, (UINT64_C(1) << 40) + 5, "huge");
    pie_symbol_table_destroy(table);
}

/* Against the plain definition: of those that cover the address the one that starts last. Nested at random; starts are
 * distinct, so the answer is unique. */
static void test_random_overlaps(void **state) {
    enum { ROUNDS = 200, COUNT = 40, SPACE = 400 };
    unsigned seed = 12345;
    for (int round = 0; round < ROUNDS; round++) {
        struct input inputs[COUNT];
        char names[COUNT][8];
        bool taken[SPACE] = {false};
        for (int i = 0; i < COUNT; i++) {
            uint64_t start;
            do
                start = (uint64_t)rand_r(&seed) % SPACE;
            while (taken[start]);
            taken[start] = true;
            snprintf(names[i], sizeof(names[i]), "f%d", i);
            inputs[i] =
                (struct input){names[i], GLOBAL_FUNCTION, start, 1 + (uint64_t)rand_r(&seed) % 60, 1000};
        }
        struct pie_symbol_table *table = build(inputs, COUNT);
        for (uint64_t address = 0; address < SPACE + 80; address++) {
            const struct input *best = NULL;
            for (int i = 0; i < COUNT; i++)
                if (address - inputs[i].start < inputs[i].size && (!best || inputs[i].start > best->start))
                    best = &inputs[i];
            assert_found(table, address, best ? best->name : NULL);
            uint64_t start = 0, end = 0;
            assert_int_equal(pie_symbol_table_range(table, address, &start, &end), best != NULL);
            if (best)
                assert_true(start <= address && address < end);
            for (uint64_t at = start; best && at < end; at++)
                assert_found(table, at, best->name);
        }
        pie_symbol_table_destroy(table);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bounds_are_exact),
        cmocka_unit_test(test_ranges_of_functions),
        cmocka_unit_test(test_empty_table),
        cmocka_unit_test(test_unsized_symbols_reach_to_the_next_or_the_limit),
        cmocka_unit_test(test_labels_inside_functions_do_not_count),
        cmocka_unit_test(test_the_innermost_function_counts),
        cmocka_unit_test(test_the_name_of_many),
        cmocka_unit_test(test_damaged_symbols),
        cmocka_unit_test(test_random_overlaps),
    };
    return cmocka_run_group_tests_name("symbol_table", tests, NULL, NULL);
}
