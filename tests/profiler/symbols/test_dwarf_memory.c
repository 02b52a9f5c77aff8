/* SPDX-License-Identifier: Apache-2.0 */

/* An allocation fails, libdw's own ones too: each one once, and each second to ninth one for ever. Nothing crashes, and
 * an address has its name, a poorer one, or none. */

#include "profiler/base/dwarf_guard.h"
#include "profiler/symbols/symbolizer.h"
#include "tests/profiler/symbols/fixture_modules.h"

#include <dlfcn.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static long calls, first_failure, failures_every; /* first_failure 0: none fails; every 0: only that one */
static unsigned gave_up;

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);

static bool fails(void) {
    if (first_failure == 0 || ++calls < first_failure)
        return false;
    if (calls != first_failure && (failures_every == 0 || (calls - first_failure) % failures_every != 0))
        return false;
    errno = ENOMEM;
    gave_up += pie_dwarf_way_out != NULL;
    pie_dwarf_give_up(); /* as runtime/memory/allocator.c */
    return true;
}

void *malloc(size_t size) {
    return fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
    return fails() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *block, size_t size) {
    return size && fails() ? NULL : __libc_realloc(block, size);
}

static bool is_right(const char *name) {
    return !name || strcmp(name, "innermost") == 0 || strcmp(name, "middle") == 0 ||
           strcmp(name, "outer_one") == 0;
}

/* Returns the number of frames of the last address. */
static int resolve(void *fixture) {
    struct pie_symbolizer *symbolizer;
    int frames = 0;
    if (pie_symbolizer_create(&symbolizer) < 0)
        return 0;
    (void)pie_symbolizer_refresh(symbolizer);
    for (int again = 0; again < 3; again++) {
        struct pie_module module;
        struct pie_symbol symbols[PIE_SYMBOL_INLINE_MAX];
        frames = pie_symbolizer_resolve(symbolizer, fixture_mark(fixture, "innermost"), &module, symbols,
                                        PIE_SYMBOL_INLINE_MAX);
        for (int i = 0; i < frames; i++)
            if (!is_right(symbols[i].function))
                fail_msg("an address of innermost() has the name %s", symbols[i].function);
    }
    pie_symbolizer_destroy(symbolizer);
    return frames;
}

static int resolve_failing(void *fixture, long first, long every) {
    calls = 0;
    failures_every = every;
    first_failure = first;
    int frames = resolve(fixture);
    first_failure = 0;
    return frames;
}

static void test_each_call_fails_once(void **state) {
    void *fixture = fixture_open("debug");
    int frames = resolve(fixture);
    assert_int_equal(frames, 3);
    long nth = 0;
    do
        resolve_failing(fixture, ++nth, 0);
    while (calls >= nth);
    assert_in_range(nth, 100, 100000);
    assert_true(gave_up > 0);
    assert_int_equal(resolve(fixture), frames);
    dlclose(fixture);
}

static void *asserted;

static void assert_nothing(void *data) {
    asserted = data;
    pie_dwarf_give_up();
    fail_msg("work went on");
}

static void test_work_is_left(void **state) {
    int mark;
    pie_dwarf_give_up(); /* outside it nothing happens */
    assert_false(pie_dwarf_guarded(assert_nothing, &mark));
    assert_ptr_equal(asserted, &mark);
    assert_null(pie_dwarf_way_out);
    pie_dwarf_give_up();
}

static void test_calls_go_on_failing(void **state) {
    void *fixture = fixture_open("debug");
    for (long every = 2; every < 10; every++)
        for (long first = 1; first < 400; first++)
            resolve_failing(fixture, first, every);
    assert_int_equal(resolve(fixture), 3);
    dlclose(fixture);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_work_is_left),
        cmocka_unit_test(test_each_call_fails_once),
        cmocka_unit_test(test_calls_go_on_failing),
    };
    return cmocka_run_group_tests_name("dwarf_memory", tests, NULL, NULL);
}
