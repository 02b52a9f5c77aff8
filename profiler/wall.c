/* SPDX-License-Identifier: Apache-2.0 */

/* The amount is exact: wall time minus CPU time minus the time the thread was runnable and waited for a processor
 * (/proc/self/task/TID/schedstat, second figure). The place is sampled: the time since the last tick goes to the context
 * in which the thread is found blocked now; while it is found running, it is kept in a pool for the next time.
 *
 * The Python frames of another thread may only be believed if it did not run while they were read. Its CPU clock says so:
 * equal before and after means that it did not execute one instruction between. A thread whose clock stands where it stood
 * at the last tick is still in the same place, and nothing is read at all. */

#include "profiler/wall.h"

#include "profiler/aggregate.h"
#include "profiler/cct.h"
#include "profiler/proc_file.h"
#include "profiler/pystack.h"
#include "profiler/thread.h"
#include "profiler/wall_awaits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool read_task_file(int32_t tid, const char *name, char *text, size_t size) {
    char path[64];

    snprintf(path, sizeof path, "/proc/thread-self/../%d/%s", tid, name);
    return pie_proc_read(path, text, size) > 0;
}

/* Blocked: asleep in the kernel, not waiting for a processor, not stopped by a debugger. */
static bool is_blocked(int32_t tid) {
    char text[512];

    if (!read_task_file(tid, "stat", text, sizeof text))
        return false;
    const char *state = strrchr(text, ')'); /* the name before it may hold anything */
    return state && (state[2] == 'S' || state[2] == 'D');
}

static uint64_t run_delay_ns(int32_t tid) {
    char text[96], *end;

    if (!read_task_file(tid, "schedstat", text, sizeof text))
        return 0;
    strtoull(text, &end, 10);
    return strtoull(end, NULL, 10);
}

/* The context of a stopped thread: its Python frames; 0 if it has none or ran meanwhile. If it is an event loop that has
 * nothing to do, also where its tasks are suspended. */
static uint32_t blocked_context(struct pie_wall *wall, struct pie_thread *thread,
                                const struct pie_pystack_ops *ops, uint64_t cpu_ns) {
    static struct pie_pyframe frames[PIE_FRAMES_MAX]; /* collection thread only */
    static uint64_t keys[PIE_FRAMES_MAX];
    uintptr_t tstate = atomic_load_explicit(&thread->tstate, memory_order_relaxed);
    unsigned flags = 0;
    uint32_t node = PIE_CCT_ROOT_ID;

    if (!tstate && !(tstate = ops->find_tstate(thread->tid)))
        return 0;
    size_t n = ops->walk_thread(tstate, frames, PIE_FRAMES_MAX, &flags);
    if (n == 0 || (flags & PIE_PYSTACK_INVALID))
        return 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t id = ops->intern_by_content(frames[i].code);
        keys[i] = id ? pie_cct_python_key(id, ops->instr_offset(frames[i].code, frames[i].instr)) : 0;
    }
    wall->n_awaits = pie_wall_awaits_find(ops, tstate, frames, keys, n, wall->awaits);
    if (pie_thread_cpu_of(thread->tid) != cpu_ns)
        return 0;
    while (n-- > 0 && node)
        if (keys[n])
            node = pie_cct_child(node, keys[n]);
    return node == PIE_CCT_ROOT_ID ? 0 : node;
}

static void book(struct pie_wall *wall, const struct pie_thread *thread, struct pie_aggregate *aggregate,
                 uint64_t ns) {
    uint64_t left_ns = ns;

    for (uint32_t i = wall->n_awaits; i > 0; i--) {
        uint64_t share_ns = left_ns / i;
        pie_aggregate_add_wait(aggregate, thread->id, wall->awaits[i - 1], share_ns);
        left_ns -= share_ns;
    }
    if (wall->n_awaits == 0)
        pie_aggregate_add_wait(aggregate, thread->id, wall->blocked_node, ns);
}

static void start_over(struct pie_wall *wall, struct pie_thread *thread) {
    *wall = (struct pie_wall){
        .thread_id = thread->id,
        .last_ns = pie_monotonic_ns(),
        .last_cpu_ns = pie_thread_cpu_of(thread->tid),
        .last_delay_ns = run_delay_ns(thread->tid),
    };
}

void pie_wall_tick(struct pie_wall *wall, struct pie_thread *thread, const struct pie_pystack_ops *ops,
                   struct pie_aggregate *aggregate) {
    if (wall->thread_id != thread->id) {
        start_over(wall, thread);
        return;
    }
    uint64_t now_ns = pie_monotonic_ns(), cpu_ns = pie_thread_cpu_of(thread->tid);
    uint64_t wall_ns = now_ns - wall->last_ns, ran_ns = cpu_ns - wall->last_cpu_ns;
    wall->samples = atomic_load_explicit(&thread->samples, memory_order_relaxed);
    if (cpu_ns == 0)
        return; /* it is gone */
    wall->last_ns = now_ns;
    wall->last_cpu_ns = cpu_ns;
    if (ran_ns == 0 && wall->is_still) {
        wall->wait_ns += wall_ns;
        if (wall->blocked_node)
            book(wall, thread, aggregate, wall_ns);
        else
            wall->pool_ns += wall_ns;
        return;
    }
    uint64_t delay_ns = run_delay_ns(thread->tid), delayed_ns = delay_ns - wall->last_delay_ns;
    wall->last_delay_ns = delay_ns;
    uint64_t off_ns = wall_ns > ran_ns + delayed_ns ? wall_ns - ran_ns - delayed_ns : 0;
    wall->pool_ns += off_ns;
    wall->wait_ns += off_ns;
    wall->is_still = is_blocked(thread->tid);
    wall->blocked_node = wall->is_still ? blocked_context(wall, thread, ops, cpu_ns) : 0;
    if (wall->blocked_node) {
        book(wall, thread, aggregate, wall->pool_ns);
        wall->pool_ns = 0;
    }
}

void pie_wall_end(struct pie_wall *wall, const struct pie_thread *thread, struct pie_aggregate *aggregate) {
    if (wall->thread_id != thread->id || !wall->is_still || !wall->blocked_node)
        return;
    uint64_t wall_ns = thread->ended_ns - wall->last_ns, ran_ns = thread->ended_cpu_ns - wall->last_cpu_ns;
    if (wall_ns > ran_ns && wall_ns < thread->ended_ns) {
        wall->wait_ns += wall_ns - ran_ns;
        book(wall, thread, aggregate, wall_ns - ran_ns);
    }
}
