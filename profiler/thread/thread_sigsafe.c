/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/thread/thread.h"

#include "profiler/thread/lock_holders.h"

#include "profiler/base/clocks.h"
#include "profiler/base/counters.h"
#include "profiler/base/region.h"
#include "profiler/thread/part.h"

#include <signal.h>
#include <pthread.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Set on the thread itself only. Reset by pie_threads_reset() for the one thread of a forked child. */
static __thread struct pie_thread *self __attribute__((tls_model("initial-exec")));

static _Atomic uint32_t next_id = 1; /* pie_threads_reset() */

struct pie_thread *pie_thread_self(void) {
    return self;
}

/* A sum in here is at most one thread behind another. Fork child: pie_threads_reset(). */
static struct {
    _Atomic uint64_t count, cpu_ns, wall_ns;
    _Atomic int64_t first_started_ns, last_ended_ns;
} shorts;

/* Of all of it: in a forked child the parent's threads had more than is used yet. */
static bool is_in_arena(uintptr_t address) {
    return address - (uintptr_t)pie_region_base(PIE_ARENA_STACKS) < pie_region_size(PIE_ARENA_STACKS);
}

bool pie_thread_is_on_stack(void) {
    return is_in_arena((uintptr_t)__builtin_frame_address(0));
}

static void take_altstack(struct pie_thread *thread) {
    stack_t now, ours = {.ss_sp = thread->stack, .ss_size = thread->stack_bytes};

    if (!thread->stack || sigaltstack(NULL, &now) != 0)
        return;
    /* After fork the thread still has the stack of the slot that it had in the parent: that may become another's. */
    if ((now.ss_flags & SS_DISABLE) || is_in_arena((uintptr_t)now.ss_sp))
        sigaltstack(&ours, NULL);
}

static void leave_altstack(struct pie_thread *thread) {
    stack_t now, none = {.ss_flags = SS_DISABLE};

    if (sigaltstack(NULL, &now) == 0 && thread->stack && now.ss_sp == thread->stack)
        sigaltstack(&none, NULL);
}

struct pie_thread *pie_thread_begin(bool is_main, const char *name) {
    struct pie_thread *thread = pie_thread_take_slot();

    if (!thread) {
        pie_counter_add(PIE_COUNTER_NO_THREAD_SLOT, 1);
        return NULL;
    }
    thread->tid = (int32_t)syscall(SYS_gettid);
    atomic_store_explicit(&thread->control_block, (uintptr_t)pthread_self(), memory_order_relaxed);
    thread->is_main = is_main;
    strncpy(thread->name, name, sizeof thread->name - 1);
    thread->started_real_ns = pie_realtime_ns();
    atomic_store_explicit(&thread->started_ns, pie_monotonic_ns(), memory_order_relaxed);
    thread->ended_ns = thread->ended_cpu_ns = 0;
    thread->inside = 0;
    thread->cpu_last_ns = thread->started_cpu_ns = pie_thread_cpu_ns();
    atomic_store_explicit(&thread->samples, 0, memory_order_relaxed);
    atomic_store_explicit(&thread->overhead_ns, 0, memory_order_relaxed);
    atomic_store_explicit(&thread->caches_ns, 0, memory_order_relaxed);
    atomic_store_explicit(&thread->trap_caches_ns, 0, memory_order_relaxed);
    atomic_store_explicit(&thread->switches_ns, 0, memory_order_relaxed);
    atomic_store_explicit(&thread->tstate, 0, memory_order_relaxed);
    atomic_store_explicit(&thread->semaphore, 0, memory_order_relaxed);
    atomic_store_explicit(&thread->lock, 0, memory_order_relaxed);
    atomic_store_explicit(&thread->waits_for_us, false, memory_order_relaxed);
    pie_thread_parts_begin(thread);
    thread->id = atomic_fetch_add_explicit(&next_id, 1, memory_order_relaxed);
    take_altstack(thread);
    self = thread;
    pie_thread_parts_enter(thread);
    pie_thread_move(thread, pie_thread_word(thread), PIE_THREAD_STARTING);
    return thread;
}

static uint64_t wall_of(const struct pie_thread *thread) {
    return thread->ended_ns - atomic_load_explicit(&thread->started_ns, memory_order_relaxed);
}

/* Nothing is left to drain but what the slot keeps for the next look: events of the heap, whose ring is never emptied
 * by its threads, and counts, which go on. */
static bool is_short(struct pie_thread *thread) {
    return !thread->is_main && !pie_thread_parts_are_needed(thread) &&
           thread->ended_cpu_ns - thread->started_cpu_ns < PIE_THREAD_SHORT_NS &&
           atomic_load_explicit(&thread->samples, memory_order_relaxed) == 0;
}

static void fold(struct pie_thread *thread) {
    int64_t none = 0, wall_ns = (int64_t)wall_of(thread);

    atomic_fetch_add_explicit(&shorts.cpu_ns, thread->ended_cpu_ns - thread->started_cpu_ns,
                              memory_order_relaxed);
    atomic_fetch_add_explicit(&shorts.wall_ns, (uint64_t)wall_ns, memory_order_relaxed);
    atomic_compare_exchange_strong_explicit(&shorts.first_started_ns, &none, thread->started_real_ns,
                                            memory_order_relaxed, memory_order_relaxed);
    atomic_store_explicit(&shorts.last_ended_ns, thread->started_real_ns + wall_ns, memory_order_relaxed);
    /* release: pairs with the acquire of pie_threads_short() */
    atomic_fetch_add_explicit(&shorts.count, 1, memory_order_release);
}

void pie_threads_short(struct pie_short_threads *ret_short) {
    ret_short->count = atomic_load_explicit(&shorts.count, memory_order_acquire);
    ret_short->cpu_ns = atomic_load_explicit(&shorts.cpu_ns, memory_order_relaxed);
    ret_short->wall_ns = atomic_load_explicit(&shorts.wall_ns, memory_order_relaxed);
    ret_short->first_started_ns = atomic_load_explicit(&shorts.first_started_ns, memory_order_relaxed);
    ret_short->last_ended_ns = atomic_load_explicit(&shorts.last_ended_ns, memory_order_relaxed);
}

/* The collection thread may arm it at this moment; it sees ENDED when it is done with that. */
static void move_to_ended(struct pie_thread *thread) {
    while (!pie_thread_move(thread, pie_thread_word(thread), PIE_THREAD_ENDED))
        ;
}

bool pie_thread_end(void) {
    struct pie_thread *thread = self;

    if (!thread)
        return false;
    pie_thread_parts_leave(thread);
    self = NULL; /* a handler from here on finds no slot */
    atomic_signal_fence(memory_order_seq_cst);
    pie_thread_parts_end(thread);
    leave_altstack(thread);
    thread->ended_ns = pie_monotonic_ns();
    thread->ended_cpu_ns = pie_thread_cpu_ns();
    uint64_t word = pie_thread_word(thread);
    if (pie_thread_stage(word) == PIE_THREAD_STARTING && is_short(thread) &&
        pie_thread_move(thread, word, PIE_THREAD_CLAIMED)) {
        fold(thread);
        pie_thread_give_back(thread);
        return false;
    }
    if (!thread->name[0])
        prctl(PR_GET_NAME, thread->kernel_name);
    pie_thread_enter(thread, PIE_INSIDE_HOOK); /* nodes are read */
    pie_thread_parts_finish(thread);
    pie_thread_leave(thread);
    move_to_ended(thread);
    return true;
}

bool pie_thread_bury(struct pie_thread *thread, uint64_t seen, uint64_t cpu_ns) {
    if (!pie_thread_move(thread, seen, PIE_THREAD_ENDED))
        return false;
    thread->ended_ns = pie_monotonic_ns();
    thread->ended_cpu_ns = cpu_ns;
    thread->kernel_name[0] = '\0';
    pie_thread_parts_finish(thread);
    pie_thread_parts_gone(thread);
    return true;
}

void pie_threads_reset(void) {
    self = NULL;
    pie_thread_slots_reset();
    pie_lock_holders_reset();
    atomic_store_explicit(&shorts.count, 0, memory_order_relaxed);
    atomic_store_explicit(&shorts.cpu_ns, 0, memory_order_relaxed);
    atomic_store_explicit(&shorts.wall_ns, 0, memory_order_relaxed);
    atomic_store_explicit(&shorts.first_started_ns, 0, memory_order_relaxed);
    atomic_store_explicit(&shorts.last_ended_ns, 0, memory_order_relaxed);
    atomic_store_explicit(&next_id, 1, memory_order_relaxed);
}
