/* SPDX-License-Identifier: Apache-2.0 */

/* The exported pthread_create(): the dynamic linker binds everybody's calls to the program's symbol first, so threads of
 * Python, of C++ and of OpenBLAS all begin here. The new thread registers itself, runs its routine, and is taken leave
 * of on every way out: return, pthread_exit() and cancellation, which unwind through the cleanup handler. */

#include "runtime/export.h"

#include "profiler/engine.h"
#include "profiler/real.h"
#include "runtime/signals.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

struct start {
    void *(*routine)(void *);
    void *argument;
    uint64_t virtual_mask; /* signals that the creator believes to have blocked */
};

static void leave(void *unused) {
    pie_engine_thread_ended();
}

static void *begin(void *argument) {
    struct start start = *(struct start *)argument;
    void *result;

    free(argument);
    pie_signals_thread_started(start.virtual_mask);
    pie_engine_thread_started();
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
    *start = (struct start){routine, argument, pie_signals_virtual_mask()};
    int r = pie_real_pthread_create(thread, attributes, begin, start);
    if (r != 0)
        free(start);
    return r;
}
