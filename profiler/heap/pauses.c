/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/heap/pauses.h"

#include "profiler/base/random.h"
#include "profiler/heap/engine.h"
#include "profiler/heap/pause_words.h"
#include "profiler/thread/thread.h"

#include <stdio.h>

/* Their length is drawn, too: from half to one and a half times this. */
static const uint64_t SLICE_NS = 50000000;
enum { GROUP = 16 };

static void request(const struct pie_heap_slices *slices, bool pauses) {
    uint32_t share = (uint32_t)(slices->share * PIE_HEAP_SHARE_ONE);
    uint32_t word = PIE_HEAP_REQUEST_IS | (uint32_t)slices->number << PIE_HEAP_REQUEST_SLICE | share;

    atomic_store_explicit(&pie_heap_request, word | (pauses ? PIE_HEAP_REQUEST_PAUSES : 0),
                          memory_order_relaxed);
}

static void count_all(struct pie_heap_slices *slices) {
    if (slices->end_ns)
        atomic_store_explicit(&pie_heap_request, PIE_HEAP_REQUEST_ALL, memory_order_relaxed);
    slices->end_ns = 0;
}

/* A thread that counts sees a request when it comes to the slow path. */
static void visit_soon(void) {
    for (size_t i = 0; i < pie_thread_count(); i++) {
        struct pie_heap_count *count = &pie_heap_of(pie_thread_at(i))->counts.counts[PIE_HEAP_PYTHON];
        __atomic_store_n(&count->allocated_limit, 0, __ATOMIC_RELAXED);
    }
}

static double drawn(struct pie_heap_slices *slices) {
    return (double)(pie_random_next(&slices->random) >> 11) / (double)(UINT64_C(1) << 53);
}

/* Of a group of slices as many are counted as their shares add up to, one more or less by lot: where the first one is,
 * is drawn (systematic sampling). Each slice has its share as a chance, and the part of the time that is counted hardly
 * differs from it. */
static bool is_counted(struct pie_heap_slices *slices) {
    if (slices->left_in_group == 0) {
        slices->left_in_group = GROUP;
        slices->sum = drawn(slices);
    }
    slices->left_in_group--;
    slices->sum += slices->share;
    if (slices->sum < 1)
        return false;
    slices->sum -= 1;
    return true;
}

static void draw(struct pie_heap_slices *slices, uint64_t now_ns) {
    if (!slices->begun_ns)
        slices->begun_ns = now_ns;
    slices->number++;
    slices->end_ns = now_ns + SLICE_NS / 2 + (uint64_t)(drawn(slices) * (double)SLICE_NS);
    request(slices, !is_counted(slices));
}

void pie_heap_slices_tick(struct pie_heap_slices *slices, uint64_t now_ns, bool is_over) {
    if (is_over || slices->share <= 0 || slices->share >= 1) {
        count_all(slices);
        return;
    }
    if (now_ns >= slices->end_ns)
        draw(slices, now_ns);
    if (atomic_load_explicit(&pie_heap_request, memory_order_relaxed) & PIE_HEAP_REQUEST_PAUSES)
        visit_soon();
}

const char *pie_heap_slices_note(const struct pie_heap_slices *slices, uint64_t started_ns, uint64_t now_ns,
                                 char *ret_text, size_t bytes) {
    uint64_t paused_ns = pie_heap_pauses_ns(now_ns);

    if (!slices->begun_ns || !paused_ns || now_ns <= slices->begun_ns)
        return NULL;
    double counted = 1 - (double)paused_ns / (double)(now_ns - slices->begun_ns);
    snprintf(ret_text, bytes,
             "to keep the budget, Python's small blocks were counted in %.0f %% of the time after %.0f s, in "
             "slices "
             "drawn at random: what lines allocated is an estimate, with its interval in query \"memory\"; "
             "what they "
             "held for moments is less sure. --overhead 0 counts all",
             100 * (counted > 0 ? counted : 0), (double)(slices->begun_ns - started_ns) / 1e9);
    return ret_text;
}
