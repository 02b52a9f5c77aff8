/* SPDX-License-Identifier: Apache-2.0 */

/* Threads that are gone without pie_thread_end(). Not under the sanitizers, which wait for such threads for ever. */

#include "profiler/base/region.h"
#include "profiler/collect/collectors.h"
#include "profiler/thread/thread.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

enum { GONE = 20 };

static void *go_without_a_word(void *ready) {
    pie_thread_begin(false, "gone");
    atomic_store((_Atomic bool *)ready, true);
    while (atomic_load((_Atomic bool *)ready))
        sched_yield();
    syscall(SYS_exit, 0);
    return NULL;
}

static void run_gone(struct pie_thread **ret_thread) {
    static _Atomic bool ready;
    pthread_t thread;

    pthread_create(&thread, NULL, go_without_a_word, (void *)&ready);
    while (!atomic_load(&ready))
        sched_yield();
    for (size_t i = 0; i < pie_thread_count(); i++)
        if (pie_thread_state(pie_thread_at(i)) == PIE_THREAD_STARTING)
            *ret_thread = pie_thread_at(i);
    uint64_t word = pie_thread_word(*ret_thread);
    assert_true(pie_thread_move(*ret_thread, word, PIE_THREAD_ARMING));
    assert_true(pie_thread_move(*ret_thread, pie_thread_word(*ret_thread), PIE_THREAD_RUNNING));
    assert_false(pie_thread_is_gone(*ret_thread));
    atomic_store(&ready, false);
    pthread_join(thread, NULL);
}

static void test_a_thread_that_went_without_a_word_is_buried(void **state) {
    struct pie_thread *thread = NULL;

    for (int i = 0; i < GONE; i++) {
        run_gone(&thread);
        uint64_t word = pie_thread_word(thread);
        for (int waits = 0; waits < 2000 && !pie_thread_is_gone(thread); waits++)
            usleep(1000); /* pthread_join() returns a little before the kernel has taken the thread away */
        assert_true(pie_thread_is_gone(thread));
        assert_true(pie_thread_bury(thread, word, 12345));
        assert_false(pie_thread_bury(thread, word, 12345));
        assert_int_equal(pie_thread_state(thread), PIE_THREAD_ENDED);
        assert_int_equal(thread->ended_cpu_ns, 12345);
        pie_thread_give_back(thread);
    }
    assert_int_equal(pie_thread_in_use(), 0);
}

/* Its number is another thread's, which began later than the slot was taken. */
static void test_a_number_that_is_another_threads_now(void **state) {
    struct pie_thread *thread = pie_thread_begin(false, "old");
    uint64_t started_ns = atomic_load(&thread->started_ns);

    assert_false(pie_thread_is_gone(thread));
    atomic_store(&thread->started_ns, started_ns - UINT64_C(60000000000)); /* this process is younger */
    assert_true(pie_thread_is_gone(thread));
    if (pie_thread_end())
        pie_thread_give_back(thread);
}

static int set_up(void **state) {
    pie_collectors_lay_out_threads();
    return pie_region_init();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_thread_that_went_without_a_word_is_buried),
        cmocka_unit_test(test_a_number_that_is_another_threads_now),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
