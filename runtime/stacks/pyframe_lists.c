/* SPDX-License-Identifier: Apache-2.0 */
#define Py_BUILD_CORE 1
#include <Python.h>
#include <internal/pycore_interp.h>
#include <internal/pycore_runtime.h>
#undef Py_BUILD_CORE

#include "runtime/stacks/pyframe.h"

#include "profiler/base/safe_load.h"

/* The interpreter's lists of thread states, read without its lock. */

enum {
    THREADS_MAX = 65536,     /* ends a walk over a list that has been changed into a ring */
    INTERPRETERS_MAX = 4096, /* likewise */
};

static bool load(uintptr_t base, size_t offset, uintptr_t *ret) {
    return pie_safe_load((const void *)(base + offset), ret);
}

static uintptr_t search_threads(uintptr_t thread, int32_t tid) {
    uintptr_t id;

    for (int i = 0; i < THREADS_MAX && pie_pyframe_is_pointer(thread); i++) {
        if (!load(thread, offsetof(PyThreadState, native_thread_id), &id))
            return 0;
        if (id == (uintptr_t)tid)
            return thread;
        if (!load(thread, offsetof(PyThreadState, next), &thread))
            return 0;
    }
    return 0;
}

uintptr_t pie_pyframe_find_tstate(int32_t tid) {
    uintptr_t interpreter, thread;

    if (!pie_pyframe_is_enabled() || !pie_safe_load(&_PyRuntime.interpreters.head, &interpreter))
        return 0;
    for (int i = 0; i < INTERPRETERS_MAX && pie_pyframe_is_pointer(interpreter); i++) {
        if (!load(interpreter, offsetof(PyInterpreterState, threads.head), &thread))
            return 0;
        uintptr_t found = search_threads(thread, tid);
        if (found)
            return found;
        if (!load(interpreter, offsetof(PyInterpreterState, next), &interpreter))
            return 0;
    }
    return 0;
}
