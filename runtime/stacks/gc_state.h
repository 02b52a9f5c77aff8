/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#define Py_BUILD_CORE 1
#include <Python.h>
#include <internal/pycore_interp.h>
#include <internal/pycore_runtime.h>
#undef Py_BUILD_CORE
#include <stddef.h>
#include <stdint.h>

/* The collector's state of an interpreter, CPython 3.11 to 3.13. Releases of one version differ in the members before
 * it: 3.13.5 has it elsewhere than 3.13.0. From 3.13 on the interpreter says where. Context: any. */
static inline uintptr_t pie_gc_state_at(uintptr_t interpreter) {
#if PY_VERSION_HEX >= 0x030d0000
    return interpreter + (size_t)_PyRuntime.debug_offsets.interpreter_state.gc;
#else
    return interpreter + offsetof(PyInterpreterState, gc);
#endif
}
