/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "profiler/copy_loop.h"
#include "profiler/heap_engine.h"
#include "profiler/pystack.h"
#include "profiler/ring.h"
#include "profiler/unwind.h"
#include "profiler/watch.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    PIE_FRAMES_MAX = 1024, /* of one kind; deeper stacks lose their outermost part */
    PIE_PATH_MAX = 2 * PIE_FRAMES_MAX,
    PIE_ALTSTACK_BYTES = 64 * 1024,
};

enum pie_thread_state {
    PIE_THREAD_FREE,
    PIE_THREAD_CLAIMED,  /* being filled in by its new thread */
    PIE_THREAD_STARTING, /* waits for the collection thread to give it a clock */
    PIE_THREAD_RUNNING,
    PIE_THREAD_ENDED, /* waits for the collection thread to drain it */
};

/* Where the profiler is at work on a thread; 0: nowhere. */
enum pie_inside {
    PIE_INSIDE_HANDLER = 1, /* a signal's handler */
    PIE_INSIDE_HOOK,        /* an exported function that the program called */
};

/* What one thread under profiling has: a slot in the region, reused after the thread has ended and is drained. */
struct pie_thread {
    /* Moves FREE -> CLAIMED -> STARTING (the new thread, release) -> RUNNING (collection thread, release) -> ENDED (the thread, release) ->
     * FREE (collection thread, release). */
    _Atomic uint32_t state;
    uint32_t id; /* from 1, never reused in a process */
    int32_t tid;
    _Atomic uintptr_t control_block; /* pthread_self(): the C library's memory of the thread */
    bool is_main;
    int64_t started_real_ns; /* CLOCK_REALTIME */
    uint64_t started_ns;     /* CLOCK_MONOTONIC */
    uint64_t ended_ns;       /* CLOCK_MONOTONIC; valid when ENDED */
    uint64_t ended_cpu_ns;   /* CPU time at the end; valid when ENDED */
    char name[48];           /* Python's, UTF-8; empty: the kernel's is to be asked */
    char kernel_name[16];    /* valid when ENDED */

    /* Of the handler: this thread only. */
    volatile uint32_t inside; /* pie_inside; the guard: the profiler is at work on this thread */
    uint64_t cpu_last_ns;     /* thread CPU clock at the last sample */
    uint64_t pool_ns;         /* kernel time whose place is not known yet (sampler_perf) */
    uint64_t ticks_seen;      /* position in the clock's own ring (sampler_perf) */
    uint32_t last_node;       /* of the last sample, 0: none yet; the rest: what kind of time it stood for */
    bool last_is_python, last_is_system;
    /* Written by the handler, read by the collection thread; relaxed: each stands for itself. */
    _Atomic uint64_t samples;
    _Atomic uint64_t overhead_ns; /* spent in the handler */
    _Atomic uintptr_t tstate;     /* Python thread state seen last, 0: none yet */

    /* Of the clock: written by the collection thread before RUNNING (release), read by the handler (acquire). */
    _Atomic(void *) clock_ring; /* mapping of the perf event's ring, or NULL */
    _Atomic uint64_t period_ns;

    struct pie_ring ring;
    struct pie_watch_thread watch;
    struct pie_heap_state heap;
    struct pie_copy_ring copy_loops;

    /* The handler's scratch space: an alternate stack must not need to hold it. */
    struct pie_native_frame native[PIE_FRAMES_MAX];
    struct pie_pyframe python[PIE_FRAMES_MAX];
    uint64_t path[PIE_PATH_MAX]; /* CCT keys, innermost first */
    /* The path that was inserted last, outermost first, with its nodes: the next one often begins the same way. */
    uint64_t last_keys[PIE_PATH_MAX];
    uint32_t last_nodes[PIE_PATH_MAX];
    uint32_t last_depth;

    char altstack[PIE_ALTSTACK_BYTES] __attribute__((aligned(64)));
};

/* The calling thread's slot, NULL before pie_thread_begin() and after pie_thread_end(). Context: signal. */
struct pie_thread *pie_thread_self(void);

/* Takes a slot for the calling thread (state STARTING), notes its name (empty: unknown) and gives it an alternate signal stack if it has none.
 * NULL if there is no room. Context: hook. */
struct pie_thread *pie_thread_begin(bool is_main, const char *name);
/* The slot waits to be drained (state ENDED); no handler may record any more. Context: hook. */
void pie_thread_end(void);
/* The slot of a thread that has ended is drained and may be taken by another. Context: drain. */
void pie_thread_give_back(struct pie_thread *thread);
/* In a forked child: no thread has a slot. The region was reset before. */
void pie_threads_reset(void);

/* Slots 0 … pie_thread_count() - 1 have been used so far. Context: any. */
size_t pie_thread_count(void);
struct pie_thread *pie_thread_at(size_t index);

/* CPU time of the calling thread, in ns. Context: signal. */
uint64_t pie_thread_cpu_ns(void);
/* CPU time of another thread of this process; 0 if it is gone. Context: drain. */
uint64_t pie_thread_cpu_of(int32_t tid);
/* CLOCK_MONOTONIC in ns. Context: signal. */
uint64_t pie_monotonic_ns(void);
/* CLOCK_REALTIME in ns. Context: signal. */
int64_t pie_realtime_ns(void);
