/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/thread.h"

#include "profiler/counters.h"
#include "profiler/region.h"

#include <signal.h>
#include <pthread.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Set on the thread itself only. Reset by pie_threads_reset() for the one thread of a forked child. */
static __thread struct pie_thread *self __attribute__((tls_model("initial-exec")));

static _Atomic uint32_t next_id = 1; /* pie_threads_reset() */

struct pie_thread *pie_thread_self(void) {
    return self;
}

size_t pie_thread_count(void) {
    return pie_region_used(PIE_ARENA_THREADS) / sizeof(struct pie_thread);
}

struct pie_thread *pie_thread_at(size_t index) {
    return (struct pie_thread *)pie_region_base(PIE_ARENA_THREADS) + index;
}

static uint64_t clock_ns(clockid_t clock) {
    struct timespec t = {0};

    if (clock_gettime(clock, &t) != 0)
        return 0;
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t pie_thread_cpu_ns(void) {
    return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

uint64_t pie_thread_cpu_of(int32_t tid) {
    /* The kernel's number for "CPU time of thread tid" (include/linux/posix-timers.h, CPUCLOCK_PERTHREAD|SCHED). */
    return clock_ns((clockid_t)((~(uint32_t)tid << 3) | 6u));
}

uint64_t pie_monotonic_ns(void) {
    return clock_ns(CLOCK_MONOTONIC);
}

int64_t pie_realtime_ns(void) {
    return (int64_t)clock_ns(CLOCK_REALTIME);
}

/* Slots given back and not taken again: without any, a new thread need not look at all that there are. A hint, relaxed: the
 * slot's state decides. Fork child: pie_threads_reset(). */
static _Atomic uint32_t free_slots;

void pie_thread_give_back(struct pie_thread *thread) {
    /* release: pairs with the acquire of the thread that takes it */
    atomic_store_explicit(&thread->state, PIE_THREAD_FREE, memory_order_release);
    atomic_fetch_add_explicit(&free_slots, 1, memory_order_relaxed);
}

static struct pie_thread *take_slot(void) {
    size_t count = atomic_load_explicit(&free_slots, memory_order_relaxed) ? pie_thread_count() : 0;

    for (size_t i = 0; i < count; i++) {
        struct pie_thread *thread = pie_thread_at(i);
        uint32_t expected = PIE_THREAD_FREE;
        /* acquire: pairs with the collection thread's release when it gave the slot back */
        if (thread->id &&
            atomic_compare_exchange_strong_explicit(&thread->state, &expected, PIE_THREAD_CLAIMED,
                                                    memory_order_acquire, memory_order_relaxed)) {
            atomic_fetch_sub_explicit(&free_slots, 1, memory_order_relaxed);
            return thread;
        }
    }
    return pie_region_alloc(PIE_ARENA_THREADS, sizeof(struct pie_thread));
}

static void take_altstack(struct pie_thread *thread) {
    stack_t now, ours = {.ss_sp = thread->altstack, .ss_size = sizeof thread->altstack};

    if (sigaltstack(NULL, &now) != 0)
        return;
    /* After fork the thread still has the stack of the slot that it had in the parent: that may become another's. */
    uintptr_t low = (uintptr_t)pie_thread_at(0), stack = (uintptr_t)now.ss_sp;
    bool is_old_slot = stack >= low && stack < low + pie_region_size(PIE_ARENA_THREADS);
    if ((now.ss_flags & SS_DISABLE) || is_old_slot)
        sigaltstack(&ours, NULL);
}

static void leave_altstack(struct pie_thread *thread) {
    stack_t now, none = {.ss_flags = SS_DISABLE};

    if (sigaltstack(NULL, &now) == 0 && now.ss_sp == thread->altstack)
        sigaltstack(&none, NULL);
}

struct pie_thread *pie_thread_begin(bool is_main, const char *name) {
    struct pie_thread *thread = take_slot();

    if (!thread) {
        pie_counter_add(PIE_COUNTER_NO_THREAD_SLOT, 1);
        return NULL;
    }
    thread->tid = (int32_t)syscall(SYS_gettid);
    atomic_store_explicit(&thread->control_block, (uintptr_t)pthread_self(), memory_order_relaxed);
    thread->is_main = is_main;
    strncpy(thread->name, name, sizeof thread->name - 1);
    thread->started_real_ns = pie_realtime_ns();
    thread->started_ns = pie_monotonic_ns();
    thread->ended_ns = thread->ended_cpu_ns = 0;
    thread->inside = 0;
    thread->ticks_seen = thread->pool_ns = 0;
    thread->last_depth = 0;
    thread->last_node = 0;
    thread->cpu_last_ns = pie_thread_cpu_ns();
    atomic_store_explicit(&thread->samples, 0, memory_order_relaxed);
    atomic_store_explicit(&thread->overhead_ns, 0, memory_order_relaxed);
    atomic_store_explicit(&thread->tstate, 0, memory_order_relaxed);
    atomic_store_explicit(&thread->clock_ring, NULL, memory_order_relaxed);
    pie_watch_thread_begin(thread);
    thread->id = atomic_fetch_add_explicit(&next_id, 1, memory_order_relaxed);
    take_altstack(thread);
    /* release: the collection thread reads the fields above after it sees STARTING */
    atomic_store_explicit(&thread->state, PIE_THREAD_STARTING, memory_order_release);
    self = thread;
    pie_heap_thread_begin(thread);
    return thread;
}

/* What the thread ran since its last sample, half a period on average, is booked where that one was: a fifth of the CPU
 * time of a thread of 4 ms. Where a thread without any sample was is not known. No handler runs any more. */
static void book_rest(struct pie_thread *thread) {
    uint64_t cpu_ns = thread->ended_cpu_ns;
    uint64_t rest_ns = cpu_ns > thread->cpu_last_ns ? cpu_ns - thread->cpu_last_ns : 0;
    struct pie_record record = {.time_ns = thread->ended_ns,
                                .system_ns = thread->pool_ns,
                                .node = thread->last_node,
                                .is_python = thread->last_is_python,
                                .is_rest = true};

    if (!thread->last_node)
        return;
    *(thread->last_is_system ? &record.system_ns : &record.user_ns) += rest_ns;
    if (!pie_ring_push(&thread->ring, &record))
        pie_counter_add(PIE_COUNTER_RING_FULL, 1);
}

void pie_thread_end(void) {
    struct pie_thread *thread = self;

    if (!thread)
        return;
    pie_heap_thread_end(thread);
    self = NULL; /* a handler from here on finds no slot */
    atomic_signal_fence(memory_order_seq_cst);
    pie_watch_thread_end(thread);
    leave_altstack(thread);
    prctl(PR_GET_NAME, thread->kernel_name);
    thread->ended_ns = pie_monotonic_ns();
    thread->ended_cpu_ns = pie_thread_cpu_ns();
    book_rest(thread);
    atomic_store_explicit(&thread->state, PIE_THREAD_ENDED, memory_order_release);
}

void pie_threads_reset(void) {
    self = NULL;
    atomic_store_explicit(&free_slots, 0, memory_order_relaxed);
    atomic_store_explicit(&next_id, 1, memory_order_relaxed);
}
