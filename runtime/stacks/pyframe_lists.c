/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/stacks/pyframe.h"

#include <stdatomic.h>

#include "runtime/stacks/state_offsets.h"

#include "profiler/base/safe_load.h"

/* The interpreter's lists of thread states, read without its lock. */

enum {
    THREADS_MAX = 65536,     /* ends a walk over a list that has been changed into a ring */
    INTERPRETERS_MAX = 4096, /* likewise */
};

static atomic_bool is_off; /* relaxed: the reader may be late */

void pie_pyframe_lists_disable(void) {
    atomic_store_explicit(&is_off, true, memory_order_relaxed);
}

static bool load(uintptr_t base, size_t offset, uintptr_t *ret) {
    return pie_safe_load((const void *)(base + offset), ret);
}

static uintptr_t search_threads(const struct pie_state_offsets *at, uintptr_t thread, int32_t tid) {
    uintptr_t id;

    for (int i = 0; i < THREADS_MAX && pie_pyframe_is_pointer(thread); i++) {
        if (!load(thread, at->native_id, &id))
            return 0;
        if (id == (uintptr_t)tid)
            return thread;
        if (!load(thread, at->thread_next, &thread))
            return 0;
    }
    return 0;
}

uintptr_t pie_pyframe_find_tstate(int32_t tid) {
    const struct pie_state_offsets at = pie_state_offsets();
    uintptr_t interpreter, thread;

    if (!pie_pyframe_is_enabled() || atomic_load_explicit(&is_off, memory_order_relaxed) ||
        !load((uintptr_t)&_PyRuntime, at.interpreters, &interpreter))
        return 0;
    for (int i = 0; i < INTERPRETERS_MAX && pie_pyframe_is_pointer(interpreter); i++) {
        if (!load(interpreter, at.threads, &thread))
            return 0;
        uintptr_t found = search_threads(&at, thread, tid);
        if (found)
            return found;
        if (!load(interpreter, at.interpreter_next, &interpreter))
            return 0;
    }
    return 0;
}
