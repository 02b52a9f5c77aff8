/* SPDX-License-Identifier: Apache-2.0 */

/* The slots of threads: many threads begin and end at every moment of the collection thread's work on them, and none of
 * their slots stays behind. */

#include "profiler/base/region.h"
#include "profiler/collect/collectors.h"
#include "profiler/thread/thread.h"
#include "profiler/time/thread.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

enum { AT_ONCE = 8, ROUNDS = 300 };

static struct {
    _Atomic bool stop;
    uint64_t armed, ended_while_armed, drained; /* written by the collector, read when it is gone */
} collector;

static void pause_for(unsigned rounds) {
    for (volatile unsigned i = 0; i < rounds; i++)
        if (i % 64 == 63)
            sched_yield();
}

/* As collector.c does it; what it does to a thread meanwhile takes more or less long. */
static void look_at(struct pie_thread *thread, unsigned *random) {
    uint64_t word = pie_thread_word(thread);

    if (pie_thread_stage(word) == PIE_THREAD_STARTING && pie_thread_move(thread, word, PIE_THREAD_ARMING)) {
        pause_for((unsigned)rand_r(random) % 400);
        collector.armed++;
        uint64_t arming = pie_thread_with(word, PIE_THREAD_ARMING);
        collector.ended_while_armed += !pie_thread_move(thread, arming, PIE_THREAD_RUNNING);
    }
    if (pie_thread_state(thread) == PIE_THREAD_ENDED) {
        struct pie_record record;
        while (pie_ring_pop(&pie_time_of(thread)->ring, &record))
            ;
        collector.drained++;
        pie_thread_give_back(thread);
    }
}

static void *collect(void *unused) {
    unsigned random = 1;

    while (!collector.stop) {
        for (size_t i = 0; i < pie_thread_count(); i++)
            look_at(pie_thread_at(i), &random);
        if (rand_r(&random) % 4 == 0)
            pause_for(200);
    }
    for (size_t i = 0; i < pie_thread_count(); i++)
        look_at(pie_thread_at(i), &random);
    return NULL;
}

/* Ends 0 to 400 steps after it has begun: before, while or after it is armed. */
static void *live(void *argument) {
    unsigned random = (unsigned)(uintptr_t)argument;
    struct pie_thread *thread = pie_thread_begin(false, "short");
    long failed = !thread || thread != pie_thread_self();

    if (thread && rand_r(&random) % 8 == 0) /* one that has a row of its own */
        atomic_store_explicit(&thread->samples, 1, memory_order_relaxed);
    pause_for((unsigned)rand_r(&random) % 400);
    pie_thread_end();
    return (void *)(failed + (pie_thread_self() != NULL));
}

static void *come_and_go(void *argument) {
    unsigned random = (unsigned)(uintptr_t)argument;
    long failed = 0;

    for (int i = 0; i < ROUNDS; i++) {
        pthread_t thread;
        void *result = NULL;
        failed += pthread_create(&thread, NULL, live, (void *)(uintptr_t)rand_r(&random)) != 0 ||
                  pthread_join(thread, &result) != 0 || result;
    }
    return (void *)failed;
}

static void test_no_slot_stays_behind(void **state) {
    pthread_t threads[AT_ONCE], collecting;
    struct pie_short_threads shorts;
    void *failed;

    pie_threads_reset();
    collector.stop = false;
    assert_int_equal(pthread_create(&collecting, NULL, collect, NULL), 0);
    for (uintptr_t i = 0; i < AT_ONCE; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, come_and_go, (void *)(i + 1)), 0);
    for (int i = 0; i < AT_ONCE; i++) {
        pthread_join(threads[i], &failed);
        assert_null(failed);
    }
    collector.stop = true;
    pthread_join(collecting, NULL);
    pie_threads_short(&shorts);
    print_message("%zu slots; %lu threads were armed, %lu ended meanwhile, %lu were drained, %lu folded\n",
                  pie_thread_count(), collector.armed, collector.ended_while_armed, collector.drained,
                  shorts.count);
    assert_int_equal(pie_thread_in_use(), 0);
    assert_int_equal(shorts.count + collector.drained, AT_ONCE * ROUNDS);
    assert_true(collector.armed >= 10 && collector.ended_while_armed >= 1 && shorts.count >= 10);
    /* What waits to be drained is bounded by what ran since the last look. */
    assert_in_range(pie_thread_count(), 1, AT_ONCE * ROUNDS / 4);
}

static void end_here(struct pie_thread *thread) {
    if (pie_thread_end()) /* this thread is not short any more */
        pie_thread_give_back(thread);
}

/* A word that was read before the slot became another's moves nothing. */
static void test_a_slot_of_another_thread_is_left_alone(void **state) {
    struct pie_thread *thread = pie_thread_begin(false, "first");
    uint64_t word = pie_thread_word(thread);

    assert_int_equal(pie_thread_stage(word), PIE_THREAD_STARTING);
    end_here(thread);
    assert_ptr_equal(pie_thread_begin(false, "second"), thread);
    assert_int_equal(pie_thread_state(thread), PIE_THREAD_STARTING);
    assert_false(pie_thread_move(thread, word, PIE_THREAD_ARMING));
    assert_int_equal(pie_thread_state(thread), PIE_THREAD_STARTING);
    end_here(thread);
    assert_int_equal(pie_thread_in_use(), 0);
}

static int set_up(void **state) {
    pie_collectors_lay_out_threads();
    return pie_region_init();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_slot_stays_behind),
        cmocka_unit_test(test_a_slot_of_another_thread_is_left_alone),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
