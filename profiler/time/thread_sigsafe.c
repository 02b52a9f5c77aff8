/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/time/thread.h"

#include "profiler/base/counters.h"
#include "profiler/stacks/call_path.h"
#include "profiler/thread/thread.h"
#include "profiler/time/sample.h"

static void begin(struct pie_thread *thread) {
    struct pie_time_thread *own = pie_time_of(thread);

    own->ticks_seen = own->pool_ns = 0;
    own->ticks_user = own->ticks_kernel = own->ticks_new = 0;
    own->signal_ns = own->own_kernel_ns = 0;
    own->last_node = (struct pie_cct_id){0};
    own->period = (struct pie_period){0};
    own->wants_near = false;
    atomic_store_explicit(&own->clock_ring, NULL, memory_order_relaxed);
    atomic_store_explicit(&own->has_timer, false, memory_order_relaxed);
}

/* What the thread ran since its last sample, half a period on average, is booked where that one was: a fifth of the CPU
 * time of a thread of 4 ms. Where a thread without any sample was is not known. No handler runs any more. */
static void finish(struct pie_thread *thread) {
    struct pie_time_thread *own = pie_time_of(thread);
    uint64_t cpu_ns = thread->ended_cpu_ns;
    uint64_t rest_ns = cpu_ns > thread->cpu_last_ns ? cpu_ns - thread->cpu_last_ns : 0;
    struct pie_record record = {.time_ns = thread->ended_ns,
                                .system_ns = own->pool_ns,
                                .node = {__atomic_load_n(&own->last_node.value, __ATOMIC_RELAXED)},
                                .task = own->last_task.name,
                                .task_up = own->last_task.up,
                                .is_python = own->last_is_python,
                                .is_rest = true};

    if (!record.node.value)
        return;
    *(own->last_is_system ? &record.system_ns : &record.user_ns) += rest_ns;
    if (!pie_ring_push(&own->ring, &record))
        pie_counter_add(PIE_COUNTER_RING_FULL, 1);
}

void pie_time_sampled(struct pie_thread *thread, const struct pie_sample *sample) {
    struct pie_time_thread *own = pie_time_of(thread);
    const struct pie_record record = {.time_ns = sample->time_ns,
                                      .user_ns = sample->time.user_ns,
                                      .system_ns = sample->time.system_ns,
                                      .node = sample->stacks->node,
                                      .task = sample->task.name,
                                      .task_up = sample->task.up,
                                      .is_python = sample->stacks->is_python,
                                      .collects = sample->collects};

    __atomic_store_n(&own->last_node.value, record.node.value, __ATOMIC_RELAXED);
    own->last_is_python = record.is_python;
    own->last_task = sample->task;
    own->last_is_system = record.system_ns > record.user_ns;
    if (!pie_ring_push(&own->ring, &record))
        pie_counter_add(PIE_COUNTER_RING_FULL, 1);
}

struct pie_thread_part pie_time_part = {
    .bytes = sizeof(struct pie_time_thread),
    .begin = begin,
    .finish = finish,
};
