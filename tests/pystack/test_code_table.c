/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/code/table.h"

enum { SLOTS = 256 };

static struct pie_code_table *new_table(uint32_t slots) {
    struct pie_code_table *table = calloc(1, pie_code_table_bytes(slots));

    assert_non_null(table);
    pie_code_table_init(table, slots);
    return table;
}

/* Addresses as an allocator gives them. */
static uint64_t key_of(uint32_t i) {
    return UINT64_C(0x7f0000001000) + i * UINT64_C(176);
}

static void test_finds_what_was_inserted(void **state) {
    struct pie_code_table *table = new_table(SLOTS);

    for (uint32_t i = 0; i < SLOTS / 2; i++)
        pie_code_table_insert(table, key_of(i), i * 7, i + 1);
    for (uint32_t i = 0; i < SLOTS / 2; i++)
        assert_int_equal(pie_code_table_find(table, key_of(i), i * 7), i + 1);
    assert_int_equal(pie_code_table_find(table, key_of(SLOTS), 0), 0);
    free(table);
}

static void test_check_must_agree(void **state) {
    struct pie_code_table *table = new_table(SLOTS);

    pie_code_table_insert(table, key_of(1), 5, 11);
    assert_int_equal(pie_code_table_find(table, key_of(1), 6), 0);
    pie_code_table_insert(table, key_of(1), 6, 12);
    assert_int_equal(pie_code_table_find(table, key_of(1), 6), 12);
    assert_int_equal(pie_code_table_find(table, key_of(1), 5), 11);
    free(table);
}

static void test_remove_takes_every_entry_of_the_key(void **state) {
    struct pie_code_table *table = new_table(SLOTS);

    pie_code_table_insert(table, key_of(1), 5, 11);
    pie_code_table_insert(table, key_of(1), 5, 12);
    pie_code_table_insert(table, key_of(2), 5, 13);
    pie_code_table_remove(table, key_of(1));
    assert_int_equal(pie_code_table_find(table, key_of(1), 5), 0);
    assert_int_equal(pie_code_table_find(table, key_of(2), 5), 13);
    free(table);
}

/* Entries of other lives around an entry come and go; it must neither get lost to removal nor hide. */
static void test_removal_reaches_entries_behind_gaps(void **state) {
    struct pie_code_table *table = new_table(64);

    for (uint32_t round = 0; round < 1000; round++) {
        uint32_t first = round * 40;

        for (uint32_t i = 0; i < 40; i++)
            pie_code_table_insert(table, key_of(first + i), 1, first + i + 1);
        for (uint32_t i = 0; i < 40; i += 2)
            pie_code_table_remove(table, key_of(first + i));
        for (uint32_t i = 0; i < 40; i++)
            pie_code_table_remove(table, key_of(first + i));
        for (uint32_t i = 0; i < 40; i++)
            assert_int_equal(pie_code_table_find(table, key_of(first + i), 1), 0);
    }
    pie_code_table_insert(table, key_of(1), 1, 1);
    assert_int_equal(pie_code_table_find(table, key_of(1), 1), 1);
    free(table);
}

static void test_a_full_table_forgets_but_never_lies(void **state) {
    struct pie_code_table *table = new_table(64);
    uint32_t found = 0;

    for (uint32_t i = 0; i < 1000; i++)
        pie_code_table_insert(table, key_of(i), 0, i + 1);
    for (uint32_t i = 0; i < 1000; i++) {
        uint32_t id = pie_code_table_find(table, key_of(i), 0);

        assert_true(id == 0 || id == i + 1);
        found += id != 0;
    }
    assert_int_equal(found, 64);
    for (uint32_t i = 0; i < 1000; i++)
        pie_code_table_remove(table, key_of(i));
    pie_code_table_insert(table, key_of(5000), 0, 1);
    assert_int_equal(pie_code_table_find(table, key_of(5000), 0), 1);
    free(table);
}

enum { PAGE = 4096, MANY_SLOTS = 65536, FEW_KEYS = 100, MANY_KEYS = 20000 };

/* Pages of a table that are not all zero. */
static size_t pages_written(const struct pie_code_table *table) {
    static const char zeros[PAGE];
    const char *bytes = (const char *)table;
    size_t size = pie_code_table_bytes(MANY_SLOTS), pages = 0;

    for (size_t at = 0; at + PAGE <= size; at += PAGE)
        pages += memcmp(bytes + at, zeros, PAGE) != 0;
    return pages;
}

static void test_few_keys_touch_few_pages_and_many_find_room(void **state) {
    struct pie_code_table *table = new_table(MANY_SLOTS);
    uint32_t found = 0;

    for (uint32_t i = 0; i < FEW_KEYS; i++)
        pie_code_table_insert(table, key_of(i), 0, i + 1);
    assert_true(pages_written(table) <= sizeof table->entries / PAGE + 6);
    for (int round = 0; round < 2; round++) /* what lies at homes of before is inserted again */
        for (uint32_t i = 0; i < MANY_KEYS; i++)
            if (!pie_code_table_find(table, key_of(i), 0))
                pie_code_table_insert(table, key_of(i), 0, i + 1);
    for (uint32_t i = 0; i < MANY_KEYS; i++)
        found += pie_code_table_find(table, key_of(i), 0) == i + 1;
    assert_int_equal(found, MANY_KEYS);
    free(table);
}

/* Addresses are used again: an entry of each time must go. */
static void test_removal_reaches_the_homes_of_before(void **state) {
    struct pie_code_table *table = new_table(MANY_SLOTS);

    for (uint32_t i = 0; i < MANY_KEYS; i++)
        for (uint32_t again = i < FEW_KEYS ? 0 : i - FEW_KEYS; again <= i; again++)
            if (!pie_code_table_find(table, key_of(again), 0))
                pie_code_table_insert(table, key_of(again), 0, again + 1);
    for (uint32_t i = 0; i < MANY_KEYS; i++)
        pie_code_table_remove(table, key_of(i));
    for (uint32_t i = 0; i < PIE_CODE_TABLE_GROUPS; i++)
        assert_int_equal(table->entries[i], 0);
    for (uint32_t i = 0; i < MANY_SLOTS; i++)
        assert_true(table->slots[i].key <= 1); /* never used, or removed */
    free(table);
}

/* The other half's memory is given back while a code object dies, at any moment between two loads. */
static void test_removal_ends_in_a_table_that_is_zeroed_meanwhile(void **state) {
    struct pie_code_table *table = new_table(MANY_SLOTS);

    for (uint32_t i = 0; i < MANY_KEYS; i++)
        pie_code_table_insert(table, key_of(i), 0, i + 1);
    table->slot_mask = 0;
    for (uint32_t i = 0; i < MANY_KEYS; i++)
        pie_code_table_remove(table, key_of(i));
    free(table);
}

/* --- threads: fake code objects that live and die as the registry's contract says --- */

enum {
    THREADS = 4,
    OBJECTS = 96, /* addresses, more than a third of the slots */
    STEPS = 60000,
    TABLE_SLOTS = 256,
};

/* An address that is used again and again. `users` stands for the references of running frames: while it is above zero
 * nobody removes; at zero one thread may take it to DYING, remove the key, and give the next life its id. */
struct object {
    _Atomic int32_t users;
    _Atomic uint32_t life; /* the id of this life, from 1 */
};

enum { DYING = -1 };

static struct object objects[OBJECTS];
static struct pie_code_table *shared;
static _Atomic uint32_t next_life, wrong, hits, deaths;

static bool begin_use(struct object *object) {
    int32_t users = atomic_load(&object->users);

    do {
        if (users == DYING)
            return false;
    } while (!atomic_compare_exchange_weak(&object->users, &users, users + 1));
    return true;
}

/* As the handler: look up, else insert. */
static void sample(uint32_t i) {
    if (!begin_use(&objects[i]))
        return;
    uint32_t life = atomic_load(&objects[i].life);
    uint32_t id = pie_code_table_find(shared, key_of(i), 0);

    if (id == 0)
        pie_code_table_insert(shared, key_of(i), 0, life);
    else if (id != life)
        atomic_fetch_add(&wrong, 1);
    else
        atomic_fetch_add_explicit(&hits, 1, memory_order_relaxed);
    atomic_fetch_sub(&objects[i].users, 1);
}

static void kill_object(uint32_t i) {
    int32_t none = 0;

    if (!atomic_compare_exchange_strong(&objects[i].users, &none, DYING))
        return;
    pie_code_table_remove(shared, key_of(i));
    atomic_store(&objects[i].life, atomic_fetch_add(&next_life, 1) + 1);
    atomic_fetch_add_explicit(&deaths, 1, memory_order_relaxed);
    atomic_store(&objects[i].users, 0);
}

static void *live_and_die(void *seed) {
    uint32_t random = (uint32_t)(uintptr_t)seed * 2654435761u + 1;

    for (int step = 0; step < STEPS; step++) {
        random = random * 1664525u + 1013904223u; /* Numerical Recipes' generator */
        uint32_t i = (random >> 8) % OBJECTS;

        if (random >> 28 < 4)
            kill_object(i);
        else
            sample(i);
    }
    return NULL;
}

static void test_threads_never_see_an_earlier_life(void **state) {
    pthread_t threads[THREADS];

    shared = new_table(TABLE_SLOTS);
    for (uint32_t i = 0; i < OBJECTS; i++)
        objects[i].life = ++next_life;
    for (uintptr_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, live_and_die, (void *)i), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(wrong, 0);
    assert_true(hits > STEPS / 4);
    assert_true(deaths > STEPS / 4);
    free(shared);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_finds_what_was_inserted),
        cmocka_unit_test(test_check_must_agree),
        cmocka_unit_test(test_few_keys_touch_few_pages_and_many_find_room),
        cmocka_unit_test(test_removal_reaches_the_homes_of_before),
        cmocka_unit_test(test_removal_ends_in_a_table_that_is_zeroed_meanwhile),
        cmocka_unit_test(test_remove_takes_every_entry_of_the_key),
        cmocka_unit_test(test_removal_reaches_entries_behind_gaps),
        cmocka_unit_test(test_a_full_table_forgets_but_never_lies),
        cmocka_unit_test(test_threads_never_see_an_earlier_life),
    };

    return cmocka_run_group_tests_name("code_table", tests, NULL, NULL);
}
