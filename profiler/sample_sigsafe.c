/* SPDX-License-Identifier: Apache-2.0 */

/* What happens when a clock's signal arrives. A newcomer's map of a sample:
 *
 *   runtime/signals_sigsafe.c  is this signal ours? guard
 *   here                       how much CPU time since the last sample, user and kernel; walk; insert; push a record
 *   profiler/unwind_sigsafe.c  native frames          runtime/pyframe_*_sigsafe.c  Python frames
 *   profiler/hybrid_sigsafe.c  one path out of both   profiler/cct_sigsafe.c       the path as a node id
 *   profiler/collector.c       takes the record from the ring, adds it up, names it, gives it to the sink
 *
 * A sample stands for all CPU time since the thread's previous one, so that the sum over samples is the thread's CPU
 * time whatever became of single signals. The profiler's own time in the handler is taken out and counted. */

#include "profiler/sampler.h"

#include "profiler/cct.h"
#include "profiler/counters.h"
#include "profiler/home.h"
#include "profiler/hybrid.h"
#include "profiler/safe_load.h"
#include "profiler/thread.h"

#include <string.h>

/* Up to here wall time is taken for the handler's CPU time, which costs 20 ns to ask and not 700; beyond, another thread
 * may have run meanwhile. */
static const uint64_t HANDLER_UNDISTURBED_NS = 30000;

bool pie_sample_is_after_syscall(const ucontext_t *context) {
    uint8_t bytes[2];
    uintptr_t pc = (uintptr_t)context->uc_mcontext.gregs[REG_RIP];

    return pie_safe_copy(bytes, (const void *)(pc - 2), 2) && bytes[0] == 0x0f && bytes[1] == 0x05;
}

struct pie_sample_time pie_sample_split(uint64_t cpu_ns, uint64_t user, uint64_t kernel) {
    uint64_t periods = user + kernel;
    uint64_t system_ns = periods ? (uint64_t)((unsigned __int128)cpu_ns * kernel / periods) : 0;

    return (struct pie_sample_time){.user_ns = cpu_ns - system_ns, .system_ns = system_ns};
}

uint32_t pie_sample_insert(struct pie_thread *thread, const uint64_t *path, size_t depth) {
    uint32_t node = PIE_CCT_ROOT_ID;
    size_t i = 0;

    while (i < depth && i < thread->last_depth && thread->last_keys[i] == path[depth - 1 - i])
        node = thread->last_nodes[i++];
    for (; i < depth; i++) {
        uint64_t key = path[depth - 1 - i];
        node = pie_cct_child(node, key);
        if (!node)
            break;
        thread->last_keys[i] = key;
        thread->last_nodes[i] = node;
    }
    thread->last_depth = (uint32_t)i;
    return node;
}

static bool any_foreign(const struct pie_native_frame *frames, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (!pie_home_contains(frames[i].ip))
            return true;
    return false;
}

/* The interpreter's own work is Python time; what a called C function or another library does is native time. In
 * between stand the helpers of operators (`a + b` on integers): native frames on top of the loop, but the loop is not at
 * a call, and they are told from a library's operator (`a + b` on arrays) by where they lie. */
static bool is_python_time(const struct pie_hybrid *hybrid, const struct pie_thread *thread,
                           unsigned py_flags) {
    if (!(py_flags & PIE_PYSTACK_PYTHON_THREAD) || hybrid->native_on_top == hybrid->depth)
        return false;
    if (hybrid->native_on_top == 0)
        return true;
    return !(py_flags & PIE_PYSTACK_IN_CALL) && !any_foreign(thread->native, hybrid->native_on_top);
}

static void count_flags(unsigned py_flags, unsigned native_flags, const struct pie_hybrid *hybrid) {
    if (py_flags & PIE_PYSTACK_INVALID)
        pie_counter_add(PIE_COUNTER_PYTHON_INVALID, 1);
    if (py_flags & PIE_PYSTACK_TRUNCATED)
        pie_counter_add(PIE_COUNTER_PYTHON_TRUNCATED, 1);
    if (native_flags & PIE_UNWIND_TRUNCATED)
        pie_counter_add(PIE_COUNTER_NATIVE_TRUNCATED, 1);
    if (native_flags & PIE_UNWIND_EXOTIC)
        pie_counter_add(PIE_COUNTER_NATIVE_EXOTIC, 1);
    if (hybrid->unmatched)
        pie_counter_add(PIE_COUNTER_EVAL_UNMATCHED, 1);
}

static uint32_t context_node(const struct pie_pystack_ops *ops, struct pie_thread *thread,
                             const ucontext_t *context, bool *ret_is_python) {
    unsigned py_flags = 0, native_flags = 0;
    size_t n_python = ops->walk(thread->python, PIE_FRAMES_MAX, &py_flags);
    size_t n_native = pie_unwind(context, thread->native, PIE_FRAMES_MAX, &native_flags);
    struct pie_hybrid hybrid =
        pie_hybrid_merge(ops, thread->native, n_native, thread->python, n_python, thread->path);

    count_flags(py_flags, native_flags, &hybrid);
    *ret_is_python = is_python_time(&hybrid, thread, py_flags);
    return pie_sample_insert(thread, thread->path, hybrid.depth);
}

void pie_sample_take(const struct pie_sampler_ops *sampler, const struct pie_pystack_ops *ops,
                     struct pie_thread *thread, const siginfo_t *info, const ucontext_t *context) {
    uint64_t cpu_ns = pie_thread_cpu_ns();
    uint64_t since_ns = cpu_ns > thread->cpu_last_ns ? cpu_ns - thread->cpu_last_ns : 0;
    struct pie_sample_time time;
    bool is_python = false;

    if (!sampler->account(thread, info, context, since_ns, &time))
        return;
    struct pie_record record = {
        .time_ns = pie_monotonic_ns(), .user_ns = time.user_ns, .system_ns = time.system_ns};
    record.node = context_node(ops, thread, context, &is_python);
    record.is_python = is_python;
    if (!record.node)
        pie_counter_add(PIE_COUNTER_CCT_FULL, 1);
    else if (!pie_ring_push(&thread->ring, &record))
        pie_counter_add(PIE_COUNTER_RING_FULL, 1);
    pie_counter_add(PIE_COUNTER_SAMPLES, 1);
    atomic_fetch_add_explicit(&thread->samples, 1, memory_order_relaxed);
    atomic_store_explicit(&thread->tstate, ops->current_tstate(), memory_order_relaxed);
    uint64_t own_ns = pie_monotonic_ns() - record.time_ns;
    if (own_ns > HANDLER_UNDISTURBED_NS)
        own_ns = pie_thread_cpu_ns() - cpu_ns;
    thread->cpu_last_ns = cpu_ns + own_ns;
    atomic_fetch_add_explicit(&thread->overhead_ns, own_ns, memory_order_relaxed);
}
