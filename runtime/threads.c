/* SPDX-License-Identifier: Apache-2.0 */

/* The exported pthread_create(): the dynamic linker binds everybody's calls to the program's symbol first, so threads of
 * Python, of C++ and of OpenBLAS all begin here. The new thread registers itself, runs its routine, and is taken leave
 * of on every way out: return, pthread_exit() and cancellation, which unwind through the cleanup handler.
 *
 * A process ends when its last thread does, and the collection thread is one too. So the last thread of the program ends
 * the profile before it goes; the C library then finds it alone, as it would without us, and calls exit(0). This happens
 * in children forked by threads, and in programs whose main thread calls pthread_exit(). */

#include "runtime/export.h"

#include "profiler/debug_registers.h"
#include "profiler/engine.h"
#include "profiler/real.h"
#include "profiler/thread.h"
#include "runtime/signals.h"
#include "runtime/thread_names.h"
#include "runtime/threads.h"

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
};

/* This thread began in begin(), which will call leave(). A thread that forked is the main thread of its child. */
static __thread bool is_of_ours;

/* Threads of the program that have begun or are about to. Set anew in a forked child. */
static _Atomic long live = 1;

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

    if (syscall(SYS_gettid) == getpid() && !is_of_ours)
        leave(NULL);
    real(result);
}

static void *begin(void *argument) {
    struct start start = *(struct start *)argument;
    void *result;

    free(argument);
    is_of_ours = true;
    pie_signals_thread_started(start.virtual_mask);
    pie_engine_thread_started(start.name);
    pthread_cleanup_push(leave, NULL);
    result = start.routine(start.argument);
    pthread_cleanup_pop(1);
    return result;
}

PIE_EXPORT int pthread_create(pthread_t *restrict thread, const pthread_attr_t *restrict attributes,
                              void *(*routine)(void *), void *restrict argument) {
    struct start *start;

    if (!pie_engine_is_running() || !(start = malloc(sizeof *start)))
        return pie_real_pthread_create(thread, attributes, routine, argument);
    *start = (struct start){routine, argument, pie_signals_virtual_mask(), ""};
    pie_thread_names_take(start->name);
    atomic_fetch_add_explicit(&live, 1, memory_order_relaxed);
    pie_debug_ptrace_pause(pie_thread_self());
    int r = pie_real_pthread_create(thread, attributes, begin, start);
    pie_debug_ptrace_resume(pie_thread_self());
    if (r != 0) {
        atomic_fetch_sub_explicit(&live, 1, memory_order_relaxed);
        free(start);
    }
    return r;
}
