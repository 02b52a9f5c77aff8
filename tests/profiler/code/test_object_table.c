/* SPDX-License-Identifier: Apache-2.0 */
/* The table of modules for glibc before 2.35, held against the linker's own answers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "profiler/code/object_table.h"
#include "tests/safe_load_faults.h"

enum { STEPS = 200, ROUNDS = 300 };

static pie_linker_find linker_find(void) {
    pie_linker_find find = (pie_linker_find)dlsym(RTLD_DEFAULT, "_dl_find_object");

    if (!find)
        skip(); /* this glibc has nothing to hold the table against */
    return find;
}

static void assert_same_answer(pie_linker_find find, uintptr_t address) {
    struct pie_linker_object linkers;
    struct pie_object ours;
    bool is_found = find((void *)address, &linkers) == 0;

    assert_int_equal(pie_object_table_find(address, &ours), is_found);
    if (!is_found)
        return;
    assert_int_equal(ours.start, (uintptr_t)linkers.map_start);
    assert_ptr_equal(ours.map, linkers.link_map);
    assert_ptr_equal(ours.eh_frame, linkers.eh_frame);
    assert_in_range(ours.end, address + 1, (uintptr_t)linkers.map_end);
}

/* First and last byte of each segment, and steps between. */
static int compare_segments(struct dl_phdr_info *info, size_t size, void *data) {
    unsigned *count = data;

    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *phdr = &info->dlpi_phdr[i];
        uintptr_t start = info->dlpi_addr + phdr->p_vaddr;
        if (phdr->p_type != PT_LOAD || phdr->p_memsz == 0)
            continue;
        for (unsigned step = 0; step < STEPS; step++)
            assert_same_answer(linker_find(), start + phdr->p_memsz * step / STEPS);
        assert_same_answer(linker_find(), start + phdr->p_memsz - 1);
        ++*count;
    }
    return 0;
}

static void test_each_segment_has_the_linkers_answer(void **state) {
    unsigned segments = 0;

    let_safe_loads_fault();
    linker_find();
    pie_object_table_refresh();
    dl_iterate_phdr(compare_segments, &segments);
    assert_in_range(segments, 4 * 3, 1000); /* program, C library, linker and vDSO have 12 and more */
}

static void test_what_lies_outside_is_not_found(void **state) {
    struct pie_object object;
    char on_stack, *on_heap = malloc(1);

    let_safe_loads_fault();
    pie_object_table_refresh();
    assert_false(pie_object_table_find(0, &object));
    assert_false(pie_object_table_find(UINTPTR_MAX, &object));
    assert_false(pie_object_table_find((uintptr_t)&on_stack, &object));
    assert_false(pie_object_table_find((uintptr_t)on_heap, &object));
    free(on_heap);
}

static uintptr_t open_module(const char *path, void **ret_handle) {
    *ret_handle = dlopen(path, RTLD_NOW);
    assert_non_null(*ret_handle);
    return (uintptr_t)dlsym(*ret_handle, "object_module_function");
}

static void test_what_was_loaded_is_found_before_and_after_the_refresh(void **state) {
    pie_linker_find find = linker_find();
    void *first, *second;

    let_safe_loads_fault();
    pie_object_table_refresh();
    uintptr_t in_first = open_module(MODULE_A, &first), in_second = open_module(MODULE_B, &second);
    assert_true(in_first != 0 && in_first != in_second);
    for (int i = 0; i < 2; i++) {
        assert_same_answer(find, in_first);
        assert_same_answer(find, in_second);
        pie_object_table_refresh();
    }
    dlclose(first);
    pie_object_table_refresh();
    assert_same_answer(find, in_first);
    assert_same_answer(find, in_second);
    dlclose(second);
    pie_object_table_refresh();
    assert_same_answer(find, in_first);
    assert_same_answer(find, in_second);
}

static atomic_bool is_over;
static atomic_uint lost, looked;

static void *look(void *unused) {
    uintptr_t here = (uintptr_t)look, there = (uintptr_t)dlsym(RTLD_DEFAULT, "qsort");
    struct pie_object object;

    while (!atomic_load(&is_over)) {
        bool are_found = pie_object_table_find(here, &object) && object.start <= here &&
                         pie_object_table_find(there, &object) && object.start <= there;
        atomic_fetch_add(are_found ? &looked : &lost, 1);
    }
    return NULL;
}

/* A reader may find nothing only where eight refreshes end during its look-up. */
static void test_readers_find_what_stays_while_others_come_and_go(void **state) {
    pthread_t reader;
    void *handle;

    let_safe_loads_fault();
    pie_object_table_refresh();
    assert_int_equal(pthread_create(&reader, NULL, look, NULL), 0);
    for (int i = 0; i < ROUNDS || atomic_load(&looked) < ROUNDS; i++) {
        open_module(i % 2 ? MODULE_A : MODULE_B, &handle);
        pie_object_table_refresh();
        dlclose(handle);
        pie_object_table_refresh();
    }
    atomic_store(&is_over, true);
    assert_int_equal(pthread_join(reader, NULL), 0);
    assert_int_equal(atomic_load(&lost), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_segment_has_the_linkers_answer),
        cmocka_unit_test(test_what_lies_outside_is_not_found),
        cmocka_unit_test(test_what_was_loaded_is_found_before_and_after_the_refresh),
        cmocka_unit_test(test_readers_find_what_stays_while_others_come_and_go),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
