/* SPDX-License-Identifier: Apache-2.0 */

/* What happens when a clock's signal arrives. A newcomer's map of a sample:
 *
 *   runtime/libc/signals_sigsafe.c               is this signal ours? guard
 *   here                                    how much CPU time since the last sample, user and kernel
 *   profiler/stacks/call_path_sigsafe.c     both stacks as a node of the calling context tree, with:
 *     profiler/stacks/unwind_sigsafe.c        native frames
 *     runtime/stacks/pyframe_*_sigsafe.c             Python frames
 *     profiler/stacks/hybrid_sigsafe.c        one path out of both
 *     profiler/stacks/cct_sigsafe.c           the path as a node id
 *   profiler/collect/collectors_sigsafe.c   collectors that use the sample at once:
 *     profiler/time/thread_sigsafe.c          leaves a record in the thread's ring
 *     profiler/copies/loop_sigsafe.c          is it a copy that no memcpy() makes?
 *     profiler/watch/watch_sigsafe.c          may begin to watch a memory access
 *   profiler/collect/collection.c            takes the record from the ring, adds it up, names it, gives it to the sink
 *
 * A sample stands for all CPU time since the thread's previous one, so that the sum over samples is the thread's CPU
 * time whatever became of single signals. The profiler's own time is taken out and counted: the handler's, and the
 * signal's way to it and back (profiler/time/clock_price.h). */

#include "profiler/collect/sample.h"

#include "profiler/base/clocks.h"
#include "profiler/base/counters.h"
#include "profiler/collect/collectors.h"
#include "profiler/stacks/call_path.h"
#include "profiler/thread/thread.h"
#include "profiler/time/clock.h"
#include "profiler/time/sample.h"

#include <stdatomic.h>

/* Up to here wall time is taken for the handler's CPU time, which costs 20 ns to ask and not 700; beyond, another
 * thread may have run meanwhile. */
static const uint64_t HANDLER_UNDISTURBED_NS = 30000;

/* seq_cst, as `inside` of a thread: one of the two sees what the other has written. */
static _Atomic bool is_forbidden;

void pie_sample_allow(bool is_allowed) {
    atomic_store(&is_forbidden, !is_allowed);
}

/* Takes the signal's own way here and back out of the program's time. Returns what the program has used since its last
 * sample. */
static uint64_t take_delivery(struct pie_thread *thread, uint64_t cpu_ns) {
    pie_sample_passed(thread);
    return cpu_ns > thread->cpu_last_ns ? cpu_ns - thread->cpu_last_ns : 0;
}

void pie_sample_take(const struct pie_clock_ops *clock, const struct pie_pystack_ops *ops,
                     struct pie_thread *thread, const siginfo_t *info, const ucontext_t *ucontext) {
    if (atomic_load(&is_forbidden))
        return;
    uint64_t begun_ns = pie_monotonic_ns(), cpu_ns = pie_thread_cpu_ns();
    uint64_t since_ns = take_delivery(thread, cpu_ns);
    struct pie_sample_time time;
    struct pie_call_path taken;

    if (!clock->account(thread, info, ucontext, since_ns, &time))
        return;
    pie_call_path_take(ops, thread, ucontext, false, &taken);
    uintptr_t tstate = ops->current_tstate();
    const struct pie_sample sample = {.time_ns = begun_ns,
                                      .ucontext = ucontext,
                                      .stacks = &taken,
                                      .time = time,
                                      .cpu_ns = cpu_ns,
                                      .task = pie_sample_task_find(ops, tstate, &taken),
                                      .collects = (uint8_t)(ops->collects ? ops->collects(tstate) + 1 : 0)};
    PIE_EACH_COLLECTOR(pie_collectors(), sampled, thread, &sample);
    pie_counter_add(PIE_COUNTER_SAMPLES, 1);
    atomic_fetch_add_explicit(&thread->samples, 1, memory_order_relaxed);
    atomic_store_explicit(&thread->tstate, tstate, memory_order_relaxed);
    uint64_t own_ns = pie_monotonic_ns() - begun_ns;
    if (own_ns > HANDLER_UNDISTURBED_NS)
        own_ns = pie_thread_cpu_ns() - cpu_ns;
    thread->cpu_last_ns = cpu_ns + own_ns;
    atomic_fetch_add_explicit(&thread->overhead_ns, own_ns, memory_order_relaxed);
    PIE_EACH_COLLECTOR(pie_collectors(), after_sample, thread, &sample);
}
