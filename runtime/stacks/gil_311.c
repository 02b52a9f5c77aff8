/* SPDX-License-Identifier: Apache-2.0 */
#define Py_BUILD_CORE 1
#include <Python.h>
#include <internal/pycore_runtime.h>
#undef Py_BUILD_CORE

#include "runtime/stacks/gil.h"

#include <stdatomic.h>

#include "profiler/base/safe_load.h"

/* CPython 3.11: one for all interpreters. Its last holder still is it while it is locked. */
#if PY_VERSION_HEX < 0x030b0000 || PY_VERSION_HEX >= 0x030c0000
#error "this file is for CPython 3.11"
#endif

const bool pie_gil_is_there = true;

static atomic_bool is_off; /* relaxed: the reader may be late */

void pie_gil_disable(void) {
    atomic_store_explicit(&is_off, true, memory_order_relaxed);
}

bool pie_gil_read(uintptr_t tstate, struct pie_gil *ret_gil) {
    const struct _gil_runtime_state *gil = &_PyRuntime.ceval.gil;
    uintptr_t holder;
    int locked;

    if (atomic_load_explicit(&is_off, memory_order_relaxed) ||
        !pie_safe_copy(&locked, &gil->locked, sizeof locked) || !pie_safe_load(&gil->last_holder, &holder))
        return false;
    *ret_gil = (struct pie_gil){
        .low = (uintptr_t)gil, .high = (uintptr_t)(gil + 1), .holder = locked == 1 ? holder : 0};
    return true;
}
