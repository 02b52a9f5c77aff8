/* SPDX-License-Identifier: Apache-2.0 */

/* Short threads that copy, one after the other in one slot, while the collection thread has no turn. */

#include "profiler/base/region.h"
#include "profiler/heap/engine.h"
#include "profiler/heap/heap.h"
#include "profiler/ports/pystack.h"
#include "profiler/stacks/call_path.h"
#include "profiler/stacks/cct.h"
#include "profiler/thread/thread.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { THREADS = 40, COPIES = 3000, COPY_BYTES = 1000 };

extern __thread int64_t pie_copy_left;

static size_t walk(struct pie_pyframe *frames, size_t max, unsigned *ret_flags) {
    *ret_flags = 0;
    return 0;
}

static uintptr_t no_tstate(void) {
    return 0;
}

static const struct pie_pystack_ops ops = {.walk = walk, .current_tstate = no_tstate};
static const struct pie_heap_settings settings = {.ops = &ops, .has_copies = true};

static struct pie_thread *thread;

static int begin(void **state) {
    static struct pie_thread_part *const parts[] = {&pie_heap_part, &pie_call_path_part};

    pie_thread_parts_set(parts, 2);
    if (pie_region_init() < 0 || pie_cct_init() < 0 || !(thread = pie_thread_begin(true, "main")))
        return -1;
    pie_heap_set(&settings);
    return 0;
}

static void copy(void) {
    static char to[COPY_BYTES];
    static const char from[COPY_BYTES];

    if ((pie_copy_left -= COPY_BYTES) < 0)
        pie_copy_slowly(to, from, COPY_BYTES, __builtin_return_address(0));
}

static void test_no_byte_is_lost_while_nothing_is_collected(void **state) {
    struct pie_heap_record record;
    uint64_t sum_bytes = 0;

    for (int i = 0; i < THREADS; i++) {
        pie_heap_part.enter(thread);
        for (int k = 0; k < COPIES; k++)
            copy();
        pie_heap_part.leave(thread);
    }
    while (pie_heap_ring_pop(&pie_heap_of(thread)->ring, &record))
        sum_bytes += record.weight_bytes;
    /* The first copy of a thread begins the count, and is not in it. */
    assert_in_range(sum_bytes, (uint64_t)THREADS * (COPIES - 1) * COPY_BYTES,
                    (uint64_t)THREADS * COPIES * COPY_BYTES);
}

/* A thread that fills its ring while nothing is collected. Once there is room, samples are as near as before. */
static void test_samples_are_near_again_once_there_is_room(void **state) {
    struct pie_heap_state *heap = pie_heap_of(thread);
    struct pie_heap_record record = {0};

    pie_heap_part.enter(thread);
    for (int k = 0; k < 20 * COPIES; k++)
        copy();
    uint64_t before_bytes = heap->copies.interval_bytes;
    for (int i = 0; i < PIE_HEAP_RING_RECORDS; i++)
        pie_heap_ring_push(&heap->ring, &record);
    for (int i = 0; i < 1000; i++)
        pie_heap_rate_leave_room(&heap->copies, true);
    assert_true(heap->copies.interval_bytes >= 32 * before_bytes &&
                heap->copies.interval_bytes <= 64 * before_bytes);
    while (pie_heap_ring_pop(&heap->ring, &record)) {
    }
    for (int k = 0; k < 200 * COPIES && heap->copies.narrow_bytes; k++)
        copy();
    assert_int_equal(heap->copies.narrow_bytes, 0);
    assert_true(heap->copies.interval_bytes <= 2 * before_bytes);
    pie_heap_part.leave(thread);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_no_byte_is_lost_while_nothing_is_collected),
                                       cmocka_unit_test(test_samples_are_near_again_once_there_is_room)};

    return cmocka_run_group_tests(tests, begin, NULL);
}
