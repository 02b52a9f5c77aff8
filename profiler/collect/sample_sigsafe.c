/* SPDX-License-Identifier: Apache-2.0 */

/* What happens when a clock's signal arrives. A newcomer's map of a sample:
 *
 *   runtime/libc/signals_sigsafe.c               is this signal ours? guard
 *   here                                    how much CPU time since the last sample, user and kernel; push a record
 *   profiler/stacks/context_sigsafe.c       both stacks as a node of the calling context tree, with:
 *     profiler/stacks/unwind_sigsafe.c        native frames
 *     runtime/stacks/pyframe_*_sigsafe.c             Python frames
 *     profiler/stacks/hybrid_sigsafe.c        one path out of both
 *     profiler/stacks/cct_sigsafe.c           the path as a node id
 *   profiler/copies/loop_sigsafe.c          is it a copy that no memcpy() makes?
 *   profiler/watch/watch_sigsafe.c          may use the sample to watch a memory access
 *   profiler/collect/collection.c            takes the record from the ring, adds it up, names it, gives it to the sink
 *
 * A sample stands for all CPU time since the thread's previous one, so that the sum over samples is the thread's CPU
 * time whatever became of single signals. The profiler's own time is taken out and counted: the handler's, and the signal's
 * way to it and back (profiler/time/clock_price.h). */

#include "profiler/collect/sample.h"

#include "profiler/base/clocks.h"
#include "profiler/base/counters.h"
#include "profiler/copies/loop.h"
#include "profiler/stacks/cct.h"
#include "profiler/stacks/context.h"
#include "profiler/thread/thread.h"
#include "profiler/time/clock.h"
#include "profiler/time/thread.h"
#include "profiler/watch/sampler.h"
#include "profiler/watch/watch.h"

/* Up to here wall time is taken for the handler's CPU time, which costs 20 ns to ask and not 700; beyond, another thread
 * may have run meanwhile. */
static const uint64_t HANDLER_UNDISTURBED_NS = 30000;

/* Takes the signal's own way here and back out of the program's time. Returns what the program has used since its last
 * sample. */
static uint64_t take_delivery(struct pie_thread *thread, uint64_t cpu_ns) {
    pie_sample_passed(thread);
    return cpu_ns > thread->cpu_last_ns ? cpu_ns - thread->cpu_last_ns : 0;
}

void pie_sample_take(const struct pie_clock_ops *clock, const struct pie_pystack_ops *ops,
                     struct pie_thread *thread, const siginfo_t *info, const ucontext_t *ucontext) {
    uint64_t begun_ns = pie_monotonic_ns(), cpu_ns = pie_thread_cpu_ns();
    uint64_t since_ns = take_delivery(thread, cpu_ns);
    struct pie_sample_time time;
    struct pie_context taken;

    if (!clock->account(thread, info, ucontext, since_ns, &time))
        return;
    struct pie_record record = {.time_ns = begun_ns, .user_ns = time.user_ns, .system_ns = time.system_ns};
    pie_context_take(ops, thread, ucontext, false, &taken);
    record.node = taken.node;
    record.is_python = taken.is_python;
    __atomic_store_n(&pie_time_of(thread)->last_node.value, taken.node.value, __ATOMIC_RELAXED);
    pie_time_of(thread)->last_is_python = taken.is_python;
    pie_time_of(thread)->last_is_system = time.system_ns > time.user_ns;
    if (!pie_ring_push(&pie_time_of(thread)->ring, &record))
        pie_counter_add(PIE_COUNTER_RING_FULL, 1);
    pie_copy_loop_sample(thread, ucontext, &taken, &time, cpu_ns);
    pie_counter_add(PIE_COUNTER_SAMPLES, 1);
    atomic_fetch_add_explicit(&thread->samples, 1, memory_order_relaxed);
    atomic_store_explicit(&thread->tstate, ops->current_tstate(), memory_order_relaxed);
    uint64_t own_ns = pie_monotonic_ns() - begun_ns;
    if (own_ns > HANDLER_UNDISTURBED_NS)
        own_ns = pie_thread_cpu_ns() - cpu_ns;
    thread->cpu_last_ns = cpu_ns + own_ns;
    atomic_fetch_add_explicit(&thread->overhead_ns, own_ns, memory_order_relaxed);
    const struct pie_access_sampler_ops *accesses = pie_access_sampler_current();
    if (accesses)
        pie_watch_charge_sample(thread, ucontext, time.system_ns);
    if (accesses && accesses->is_time_weighted && taken.is_foreign && !pie_cct_is_full(taken.node))
        pie_watch_sample(thread, ucontext, &taken);
}
