/* SPDX-License-Identifier: Apache-2.0 */

/* The exported pthread_create(): the dynamic linker binds everybody's calls to the program's symbol first, so threads
 * of Python, of C++ and of OpenBLAS all begin here. The new thread registers itself, runs its routine, and is taken
 * leave of on every way out: return, pthread_exit() and cancellation, which unwind through the cleanup handler.
 *
 * A process ends when its last thread does, and the collection thread is one too. So the last thread of the program
 * ends the profile before it goes; the C library then finds it alone, as it would without us, and calls exit(0). This
 * happens in children forked by threads, and in programs whose main thread calls pthread_exit(). */

#include "runtime/libc/export.h"

#include "profiler/base/real.h"
#include "profiler/collect/engine.h"
#include "profiler/heap/heap.h"
#include "profiler/thread/filtered.h"
#include "profiler/thread/thread.h"
#include "profiler/watch/debug_registers.h"
#include "runtime/interpreter/thread_names.h"
#include "runtime/libc/signals.h"
#include "runtime/libc/threads.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

struct start {
    void *(*routine)(void *);
    void *argument;
    uint64_t virtual_mask; /* signals that the creator believes to have blocked */
    char name[PIE_THREAD_NAME_BYTES];
    bool is_filtered; /* by seccomp, as its creator is: then it is none of ours */
};

/* This thread began in begin(), which will call leave(). A thread that forked is the main thread of its child. */
static __thread bool is_of_ours;

/* Threads of the program that have begun or are about to. Set anew in a forked child. */
static _Atomic long live = 1;

/* The profiler's memory, not the program's: allocated by one thread and freed by another that is not profiled yet, it
 * would stay in the program's footprint for ever. The compiler believes that malloc() and free() look at nothing:
 * fences. */
static struct pie_heap_thread *uncounted_begin(void) {
    struct pie_heap_thread *heap = pie_heap_self;

    pie_heap_self = NULL;
    atomic_signal_fence(memory_order_seq_cst);
    return heap;
}

static void uncounted_end(struct pie_heap_thread *heap) {
    atomic_signal_fence(memory_order_seq_cst);
    pie_heap_self = heap;
}

static struct start *start_create(const struct start *start) {
    struct pie_heap_thread *heap = uncounted_begin();
    struct start *copy = malloc(sizeof *copy);

    uncounted_end(heap);
    if (copy)
        *copy = *start;
    return copy;
}

static void start_destroy(struct start *start) {
    struct pie_heap_thread *heap = uncounted_begin();

    free(start);
    uncounted_end(heap);
}

static void leave(void *unused) {
    pie_engine_thread_ended();
    if (atomic_fetch_sub_explicit(&live, 1, memory_order_acq_rel) == 1)
        pie_engine_finish("exit", 0);
}

void pie_threads_fork_child(void) {
    atomic_store_explicit(&live, 1, memory_order_relaxed);
}

/* The main thread has no routine of ours to return to. */
PIE_EXPORT void pthread_exit(void *result) {
    typedef void (*exit_fn)(void *) __attribute__((noreturn));
    exit_fn real = (exit_fn)dlsym(RTLD_NEXT, "pthread_exit");

    if (!pie_filtered() && syscall(SYS_gettid) == getpid() && !is_of_ours)
        leave(NULL);
    real(result);
}

static void *begin(void *argument) {
    struct start start = *(struct start *)argument;
    void *result;

    start_destroy(argument);
    pie_filtered_set(start.is_filtered);
    pie_signals_thread_started(start.virtual_mask);
    if (start.is_filtered)
        return start.routine(start.argument);
    is_of_ours = true;
    pie_engine_thread_started(start.name);
    pthread_cleanup_push(leave, NULL);
    result = start.routine(start.argument);
    pthread_cleanup_pop(1);
    return result;
}

static int create_filtered(pthread_t *thread, const pthread_attr_t *attributes, struct start *start) {
    int r = pie_real_pthread_create(thread, attributes, begin, start);
    if (r != 0)
        start_destroy(start);
    return r;
}

PIE_EXPORT int pthread_create(pthread_t *restrict thread, const pthread_attr_t *restrict attributes,
                              void *(*routine)(void *), void *restrict argument) {
    struct start wanted = {.routine = routine, .argument = argument};

    if (!pie_filtered() && !pie_engine_is_running())
        return pie_real_pthread_create(thread, attributes, routine, argument);
    wanted.virtual_mask = pie_signals_virtual_mask();
    wanted.is_filtered = pie_filtered();
    if (!wanted.is_filtered)
        pie_thread_names_take(wanted.name);
    struct start *start = start_create(&wanted);
    if (!start)
        return pie_real_pthread_create(thread, attributes, routine, argument);
    if (start->is_filtered)
        return create_filtered(thread, attributes, start);
    atomic_fetch_add_explicit(&live, 1, memory_order_relaxed);
    pie_debug_ptrace_pause(pie_thread_self());
    int r = pie_real_pthread_create(thread, attributes, begin, start);
    pie_debug_ptrace_resume(pie_thread_self());
    if (r != 0) {
        atomic_fetch_sub_explicit(&live, 1, memory_order_relaxed);
        start_destroy(start);
    }
    return r;
}
