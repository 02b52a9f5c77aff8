/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/reads/reads.h"

#include <stdatomic.h>
#include <stddef.h>

#include "profiler/base/counters.h"
#include "profiler/stacks/call_path.h"
#include "profiler/stacks/cct.h"
#include "profiler/thread/thread.h"
#include "profiler/time/sample.h"

static void begin_thread(struct pie_thread *thread) {
    pie_reads_of(thread)->sort.read.kind = PIE_READ_NONE;
}

struct pie_thread_part pie_reads_part = {.bytes = sizeof(struct pie_reads_thread), .begin = begin_thread};

/* Set by the collection thread (release), read by handlers (acquire). */
static _Atomic(const struct pie_pystack_ops *) current;

void pie_reads_set(const struct pie_pystack_ops *ops) {
    atomic_store_explicit(&current, ops && ops->call_read ? ops : NULL, memory_order_release);
}

static void push(struct pie_thread *thread, const struct pie_reads_record *record) {
    if (!pie_reads_ring_push(&pie_reads_of(thread)->ring, record))
        pie_counter_add(PIE_COUNTER_READS_RING_FULL, 1);
}

/* What was sorted can be read now, or is gone. */
static void end_sort(struct pie_thread *thread, const struct pie_pystack_ops *ops) {
    struct pie_reads_record *sort = &pie_reads_of(thread)->sort;

    if (sort->read.kind && ops->sorted_read(&sort->read))
        push(thread, sort);
    sort->read.kind = PIE_READ_NONE;
}

static bool is_of_sort(const struct pie_reads_record *sort, const struct pie_reads_record *now) {
    return sort->read.kind && now->read.kind == PIE_READ_SORT && now->read.object == sort->read.object &&
           now->read.rest == sort->read.rest;
}

/* A sort that takes most of the time is hardly ever over at a sample, but the watch of calls waits for some to
 * return. */
void pie_reads_returned(struct pie_thread *thread) {
    const struct pie_pystack_ops *ops = atomic_load_explicit(&current, memory_order_acquire);

    if (ops)
        end_sort(thread, ops);
}

void pie_reads_sampled(struct pie_thread *thread, const struct pie_sample *sample) {
    const struct pie_pystack_ops *ops = atomic_load_explicit(&current, memory_order_acquire);
    const struct pie_call_path *taken = sample->stacks;
    struct pie_reads_record record = {.cpu_ns = sample->time.user_ns + sample->time.system_ns,
                                      .node = taken->node};

    if (!ops)
        return;
    if (taken->python_count == 0 || !taken->node.value || pie_cct_is_full(taken->node) ||
        !ops->call_read(&taken->python[0], &record.read))
        record.read.kind = PIE_READ_NONE;
    if (is_of_sort(&pie_reads_of(thread)->sort, &record)) {
        pie_reads_of(thread)->sort.cpu_ns += record.cpu_ns;
        return;
    }
    end_sort(thread, ops);
    if (record.read.kind == PIE_READ_SORT)
        pie_reads_of(thread)->sort = record;
    else if (record.read.kind)
        push(thread, &record);
}
