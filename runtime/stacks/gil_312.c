/* SPDX-License-Identifier: Apache-2.0 */
#define Py_BUILD_CORE 1
#include <Python.h>
#include <internal/pycore_interp.h>
#undef Py_BUILD_CORE

#include "runtime/stacks/gil.h"
#include "runtime/stacks/pyframe.h"

#include "profiler/base/safe_load.h"

/* CPython 3.12 and later: the thread's interpreter points to the one that it uses. Its last holder still is it while it
 * is locked. */
#if PY_VERSION_HEX < 0x030c0000
#error "this file is for CPython 3.12 and later"
#endif

static bool load(uintptr_t base, size_t offset, uintptr_t *ret) {
    return pie_pyframe_is_pointer(base) && pie_safe_load((const void *)(base + offset), ret);
}

bool pie_gil_read(uintptr_t tstate, struct pie_gil *ret_gil) {
    uintptr_t interpreter, gil, holder;
    int locked;

    if (!load(tstate, offsetof(PyThreadState, interp), &interpreter) ||
        !load(interpreter, offsetof(PyInterpreterState, ceval.gil), &gil) ||
        !load(gil, offsetof(struct _gil_runtime_state, last_holder), &holder) ||
        !pie_safe_copy(&locked, (const void *)(gil + offsetof(struct _gil_runtime_state, locked)),
                       sizeof locked))
        return false;
    *ret_gil = (struct pie_gil){
        .low = gil, .high = gil + sizeof(struct _gil_runtime_state), .holder = locked == 1 ? holder : 0};
    return true;
}
