/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "profiler/base/region.h"
#include "profiler/collect/collectors.h"
#include "profiler/thread/lock_holders.h"
#include "profiler/thread/thread.h"

enum { LOCKS = 100000 };

/* Pretends to be another thread. */
static void take_as(uint32_t id, uintptr_t lock) {
    pie_thread_self()->id = id;
    pie_lock_taken(lock);
}

static void test_the_last_one_that_took_it_is_its_holder(void **state) {
    take_as(7, 0x7f1234567890);
    take_as(8, 0x7f1234567898);
    assert_int_equal(pie_lock_holder(0x7f1234567890), 7);
    assert_int_equal(pie_lock_holder(0x7f1234567898), 8);
    take_as(9, 0x7f1234567890);
    assert_int_equal(pie_lock_holder(0x7f1234567890), 9);
    assert_int_equal(pie_lock_holder(0x7f12345678a0), 0);
    assert_int_equal(pie_lock_holder(0), 0);
    take_as((5u << PIE_LOCK_HOLDER_BITS) + 3, 0x7f1234567890);
    assert_int_equal(pie_lock_holder(0x7f1234567890), 3);
}

/* Of too many locks some are forgotten; none has another one's holder. */
static void test_no_lock_has_the_holder_of_another(void **state) {
    uint32_t known = 0;

    for (uint32_t i = 0; i < LOCKS; i++)
        take_as(1 + i % 60000, 0x100000 + 32 * (uintptr_t)i);
    for (uint32_t i = 0; i < LOCKS; i++) {
        uint32_t holder = pie_lock_holder(0x100000 + 32 * (uintptr_t)i);
        assert_true(holder == 0 || holder == 1 + i % 60000);
        known += holder != 0;
    }
    assert_in_range(known, 2000, 4096);
}

static void test_a_child_knows_none(void **state) {
    take_as(7, 0x7f1234567890);
    pie_lock_holders_reset();
    assert_int_equal(pie_lock_holder(0x7f1234567890), 0);
}

/* From Python 3.14 on: who wants a lock waits for a semaphore of its own. */
static void test_the_holder_is_that_of_the_lock_behind_a_semaphore(void **state) {
    const uintptr_t lock = 0x7f1234500010, inner = 0x7f1234500020, semaphore = 0x7ffd00001230;
    const struct pie_thread *self = pie_thread_self();

    take_as(7, lock);
    take_as(8, inner);
    take_as(9, semaphore); /* what it was waited for the last time */
    assert_int_equal(pie_lock_wait_for(lock), 0);
    pie_lock_wait(semaphore);
    assert_int_equal(pie_lock_holder_for(self, semaphore), 7);
    assert_int_equal(pie_lock_holder_for(self, inner), 8); /* another futex, as a mutex of the C library */
    pie_lock_wait(0);
    assert_int_equal(pie_lock_holder_for(self, semaphore), 9);

    assert_int_equal(pie_lock_wait_for(inner), lock); /* in a handler of a signal */
    pie_lock_wait(semaphore);
    assert_int_equal(pie_lock_holder_for(self, semaphore), 8);
    pie_lock_wait(0);
    assert_int_equal(pie_lock_wait_for(lock), inner);
    assert_int_equal(pie_lock_wait_for(0), lock);
}

static void test_a_thread_without_a_slot_holds_nothing(void **state) {
    pie_thread_end();
    assert_int_equal(pie_lock_wait_for(1), 0);
    pie_lock_taken(0x7f1234567890);
    assert_int_equal(pie_lock_holder(0x7f1234567890), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_last_one_that_took_it_is_its_holder),
        cmocka_unit_test(test_no_lock_has_the_holder_of_another),
        cmocka_unit_test(test_a_child_knows_none),
        cmocka_unit_test(test_the_holder_is_that_of_the_lock_behind_a_semaphore),
        cmocka_unit_test(test_a_thread_without_a_slot_holds_nothing),
    };

    pie_collectors_lay_out_threads();
    if (pie_region_init() < 0 || !pie_thread_begin(true, ""))
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
