/* SPDX-License-Identifier: Apache-2.0 */

/* The unwinder's cache under several writers and flushes: no rule may be found under another address, or after the
 * library that it was of has gone. Rules are made up, so that each says for which address and generation it is. */

#include "profiler/stacks/unwind_sigsafe.c"

#include "profiler/code/generation.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#ifdef __SANITIZE_THREAD__ /* some fifty times as slow, and it needs no luck to see a race */
enum { THREADS = 4, LOOKUPS = 100000, ADDRESSES = 100000 };
#else
enum { THREADS = 4, LOOKUPS = 2000000, ADDRESSES = 100000 };
#endif

static _Atomic bool is_over;
static bool unloads_meanwhile; /* a library goes while its rule is looked up */
static int32_t rules_of;       /* which library lies there now; single-threaded tests */
static bool is_nowhere;        /* no library does */
static unsigned lookups;

struct pie_cfi_rule pie_cfi_find(uintptr_t pc) {
    struct pie_cfi_rule rule = {.kind = PIE_CFI_NORMAL, .cfa_offset = (int32_t)(pc & 0xffffff) + rules_of};

    rule.module = is_nowhere ? PIE_CODE_MODULE_NOWHERE : (uint16_t)(pc % 1000);
    if (rules_of) /* not between threads */
        lookups++;
    if (unloads_meanwhile) {
        rules_of += 8;
        pie_code_begin_generation();
    }
    return rule;
}

uint64_t pie_cfi_pack(struct pie_cfi_rule rule) {
    return (uint64_t)(uint32_t)rule.cfa_offset << 32 | (uint64_t)rule.kind << 1 | 1;
}

struct pie_cfi_rule pie_cfi_unpack(uint64_t packed) {
    return (struct pie_cfi_rule){.kind = (enum pie_cfi_kind)(packed >> 1 & 7),
                                 .cfa_offset = (int32_t)(packed >> 32)};
}

bool pie_safe_load(const void *address, uintptr_t *ret) {
    *ret = *(const uintptr_t *)address;
    return true;
}

static void *look_up(void *argument) {
    unsigned seed = (unsigned)(uintptr_t)argument * 7919 + 1;
    uintptr_t wrong = 0;

    for (int i = 0; i < LOOKUPS; i++) {
        seed = seed * 1664525 + 1013904223;
        uintptr_t pc = 0x400000 + (uintptr_t)(seed >> 8) % ADDRESSES * 8;
        struct pie_cfi_rule rule = rule_at(pc);
        wrong += rule.cfa_offset != (int32_t)(pc & 0xffffff) || rule.module != pc % 1000;
    }
    return (void *)wrong;
}

static void *flush(void *unused) {
    const struct timespec nap = {0, 1000000};

    while (!atomic_load(&is_over)) {
        pie_code_begin_generation();
        nanosleep(&nap, NULL);
    }
    return NULL;
}

static void test_a_rule_is_never_under_another_address(void **state) {
    pthread_t threads[THREADS], flusher;
    void *wrong;

    assert_int_equal(pthread_create(&flusher, NULL, flush, NULL), 0);
    for (uintptr_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, look_up, (void *)i), 0);
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], &wrong), 0);
        assert_int_equal((uintptr_t)wrong, 0);
    }
    atomic_store(&is_over, true);
    assert_int_equal(pthread_join(flusher, NULL), 0);
}

/* The library goes after its rule was looked up, and before it is put into the cache. */
static void test_a_rule_from_before_a_flush_is_not_found_after(void **state) {
    rules_of = 8;
    unloads_meanwhile = true;
    rule_at(0x1000);
    unloads_meanwhile = false;
    assert_int_equal(rule_at(0x1000).cfa_offset, 0x1000 + 16);
    assert_int_equal(rule_at(0x1000).cfa_offset, 0x1000 + 16);
}

static void test_nothing_is_believed_while_a_library_goes(void **state) {
    rules_of = 8;
    pie_code_begin_generation();
    rule_at(0x2000);
    pie_code_unloading(true);
    rules_of = 16;
    assert_int_equal(rule_at(0x2000).cfa_offset, 0x2000 + 16);
    rules_of = 24;
    assert_int_equal(rule_at(0x2000).cfa_offset, 0x2000 + 24);
    pie_code_begin_generation();
    pie_code_unloading(false);
    pie_code_unloading(false); /* of a call that began before a fork */
    lookups = 0;
    for (int i = 0; i < 10; i++)
        assert_int_equal(rule_at(0x2000).cfa_offset, 0x2000 + 24);
    assert_int_equal(lookups, 1);
}

/* Code made at run time lay there, and a library is mapped to its place: dlopen() begins no generation. */
static void test_what_lies_in_no_library_is_not_kept(void **state) {
    rules_of = 8;
    is_nowhere = true;
    assert_int_equal(rule_at(0x3000).module, PIE_CODE_MODULE_NOWHERE);
    assert_int_equal(rule_at(0x3000).module, PIE_CODE_MODULE_NOWHERE);
    is_nowhere = false;
    rules_of = 16;
    assert_int_equal(rule_at(0x3000).cfa_offset, 0x3000 + 16);
    assert_int_equal(rule_at(0x3000).module, 0x3000 % 1000);
}

/* First of all tests: few addresses use a small part, and many find room. */
static void test_the_cache_grows_where_it_is_crowded(void **state) {
    size_t few_bytes, many_bytes;

    rules_of = 8;
    for (uintptr_t i = 0; i < 1000; i++)
        rule_at(0x400000 + i * 8);
    pie_unwind_cache(&few_bytes);
    assert_int_equal(few_bytes, CACHE_FIRST_SLOTS * sizeof *cache);
    uintptr_t known = 1000;
    do
        rule_at(0x400000 + known++ * 8);
    while (pie_unwind_cache(&many_bytes) && many_bytes == few_bytes);
    assert_int_equal(many_bytes, CACHE_GROWTH * few_bytes);
    lookups = 0;
    for (int round = 0; round < 2; round++)
        for (uintptr_t i = 0; i < known; i++)
            rule_at(0x400000 + i * 8);
    assert_in_range(lookups, 1, known / 10); /* those that were overwritten: what is known moves */
    for (int round = 0; round < 2; round++)
        for (uintptr_t i = 0; i < CACHE_SLOTS / 4; i++)
            rule_at(0x400000 + i * 8);
    pie_unwind_cache(&many_bytes);
    assert_int_equal(many_bytes, sizeof cache);
    lookups = 0;
    for (uintptr_t i = 0; i < CACHE_SLOTS / 4; i++)
        rule_at(0x400000 + i * 8);
    assert_in_range(lookups, 0, CACHE_SLOTS / 100); /* 4 %: full neighbourhoods */
    rules_of = 0;
    pie_code_begin_generation();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_cache_grows_where_it_is_crowded),
        cmocka_unit_test(test_a_rule_is_never_under_another_address),
        cmocka_unit_test(test_a_rule_from_before_a_flush_is_not_found_after),
        cmocka_unit_test(test_nothing_is_believed_while_a_library_goes),
        cmocka_unit_test(test_what_lies_in_no_library_is_not_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
