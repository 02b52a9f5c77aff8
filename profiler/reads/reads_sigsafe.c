/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/reads/reads.h"

#include <stdatomic.h>
#include <stddef.h>

#include "profiler/base/counters.h"
#include "profiler/stacks/call_path.h"
#include "profiler/stacks/cct.h"
#include "profiler/thread/thread.h"
#include "profiler/time/sample.h"

struct pie_thread_part pie_reads_part = {.bytes = sizeof(struct pie_reads_ring)};

/* Set by the collection thread (release), read by handlers (acquire). */
static _Atomic(const struct pie_pystack_ops *) current;

void pie_reads_set(const struct pie_pystack_ops *ops) {
    atomic_store_explicit(&current, ops && ops->call_read ? ops : NULL, memory_order_release);
}

void pie_reads_sampled(struct pie_thread *thread, const struct pie_sample *sample) {
    const struct pie_pystack_ops *ops = atomic_load_explicit(&current, memory_order_acquire);
    const struct pie_call_path *taken = sample->stacks;
    struct pie_reads_record record = {.cpu_ns = sample->time.user_ns + sample->time.system_ns,
                                      .node = taken->node};

    if (!ops || taken->python_count == 0 || !taken->node.value || pie_cct_is_full(taken->node) ||
        !ops->call_read(&taken->python[0], &record.read))
        return;
    if (!pie_reads_ring_push(pie_reads_of(thread), &record))
        pie_counter_add(PIE_COUNTER_READS_RING_FULL, 1);
}
