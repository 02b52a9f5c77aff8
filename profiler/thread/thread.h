/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "profiler/base/half.h"
#include "profiler/thread/slots.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    PIE_ALTSTACK_BYTES = 64 * 1024,
};

/* Where the profiler runs on a thread; 0: nowhere. */
enum pie_inside {
    PIE_INSIDE_HANDLER = 1, /* a signal's handler */
    PIE_INSIDE_HOOK,        /* an exported function that the program called */
};

/* CPU time of a sample at the default rate: with less, a thread may be folded into one row with others. */
#define PIE_THREAD_SHORT_NS UINT64_C(1000000)

/* A thread under profiling: a slot in the region, reused after the thread has ended and is drained. The collectors'
 * parts follow it (thread/part.h). */
struct pie_thread {
    _Atomic uint64_t word;      /* stage and generation (thread/slots.h) */
    _Atomic uint32_t next_free; /* FREE: the next one, as index + 1 */
    uint32_t id;                /* from 1, never reused in a process */
    int32_t tid;
    _Atomic uintptr_t control_block; /* pthread_self(): the C library's memory of the thread */
    bool is_main;
    int64_t started_real_ns;     /* CLOCK_REALTIME */
    _Atomic uint64_t started_ns; /* CLOCK_MONOTONIC; relaxed: who looks from outside moves the word next */
    uint64_t started_cpu_ns;     /* thread CPU clock then */
    uint64_t ended_ns;           /* CLOCK_MONOTONIC; valid when ENDED */
    uint64_t ended_cpu_ns;       /* CPU time at the end; valid when ENDED */
    char name[48];               /* Python's, UTF-8; empty: use the kernel's */
    char kernel_name[16];        /* valid when ENDED */

    /* Of the handler: this thread only. */
    _Atomic uint32_t
        inside; /* pie_inside; the guard: the profiler is at work on this thread. See pie_thread_enter() */
    uint64_t cpu_last_ns; /* thread CPU clock at the last sample */
    /* Written by the handler, read by the collection thread; relaxed: they are independent. */
    _Atomic uint64_t samples;
    _Atomic uint64_t overhead_ns; /* spent in the handler and on the way to it */
    _Atomic uint64_t caches_ns;   /* the program reloads data that signals and samples evicted from caches */
    _Atomic uint64_t trap_caches_ns; /* … of these, traps did */
    _Atomic uint64_t
        switches_ns;          /* for the clock at the thread's switches; added to by the collection thread */
    _Atomic uintptr_t tstate; /* Python thread state seen last, 0: none yet */
    _Atomic uintptr_t semaphore; /* that it waits for (thread/lock_holders.h); 0: none */
    _Atomic uintptr_t lock;      /* … that is its own, to take this lock; 0: the semaphore is the lock */
    _Atomic bool waits_for_us;   /* … for the collection thread; relaxed, as above */

    /* The slot's own stack for handlers; NULL: there was no memory. It is the thread's alternate stack if the program
     * sets none. */
    char *stack;
    size_t stack_bytes;
};

/* The calling thread's slot, NULL before pie_thread_begin() and after pie_thread_end(). Context: signal. */
struct pie_thread *pie_thread_self(void);

/* Marks the calling thread as inside a handler or hook. The contexts that it records belong to the current half of the
 * tree. A turn of the tree waits until each thread was seen outside. Context: signal. */
static inline void pie_thread_enter(struct pie_thread *thread, enum pie_inside where) {
    atomic_store(&thread->inside, where); /* seq_cst: before the half is read */
    pie_half_enter();
}

/* Release: a reader that sees it outside sees its records. Context: signal. */
static inline void pie_thread_leave(struct pie_thread *thread) {
    atomic_store_explicit(&thread->inside, 0, memory_order_release);
}

/* Takes a slot for the calling thread (state STARTING), notes its name (empty: unknown) and gives it an alternate
 * signal stack if it has none. NULL if there is no room. Context: hook. */
struct pie_thread *pie_thread_begin(bool is_main, const char *name);
/* No handler may record any more. True: the slot waits to be drained (ENDED); false: it is free, or there was none.
 * Context: hook. */
bool pie_thread_end(void);
/* Ends the slot, seen RUNNING, of a thread that is gone without pie_thread_end(), with its last known CPU time. False:
 * it has ended itself. Context: drain. */
bool pie_thread_bury(struct pie_thread *thread, uint64_t seen, uint64_t cpu_ns);
/* Is a thread with a slot gone, or does another thread have its number? Context: drain. */
bool pie_thread_is_gone(const struct pie_thread *thread);
/* In a forked child: no thread has a slot. The region was reset before. */
void pie_threads_reset(void);
/* Does the caller run on a slot's stack? A child forked there cannot have a fresh region. Context: any. */
bool pie_thread_is_on_stack(void);

/* Threads that ended before they had a clock, with less CPU time than one sample represents: they have no rows of
 * their own, and their slots are free at once. */
struct pie_short_threads {
    uint64_t count, cpu_ns, wall_ns;
    int64_t first_started_ns, last_ended_ns; /* CLOCK_REALTIME */
};
/* Context: drain. */
void pie_threads_short(struct pie_short_threads *ret_short);
