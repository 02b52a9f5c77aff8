/* SPDX-License-Identifier: Apache-2.0 */
#define Py_BUILD_CORE 1
#include <Python.h>
#include <internal/pycore_frame.h>
#undef Py_BUILD_CORE

#include "runtime/retention/layout.h"

/* CPython 3.11; see pyframe_311_sigsafe.c. With the GIL the chains of all threads are at rest. */
#if PY_VERSION_HEX < 0x030b0000 || PY_VERSION_HEX >= 0x030c0000
#error "this file is for CPython 3.11"
#endif

const void *pie_retention_frame_first(PyThreadState *tstate) {
    return tstate->cframe ? tstate->cframe->current_frame : NULL;
}

void pie_retention_frame_read(const void *at, struct pie_retention_frame *ret_frame) {
    const _PyInterpreterFrame *frame = at;

    *ret_frame = (struct pie_retention_frame){
        .code = (PyObject *)frame->f_code,
        .function = (PyObject *)frame->f_func,
        .locals = frame->f_locals,
        .slots = (const uintptr_t *)frame->localsplus,
        .previous = frame->previous,
    };
}

const void *pie_retention_frame_of(PyObject *object) {
    if (PyFrame_Check(object))
        return ((PyFrameObject *)object)->f_frame;
    if (!PyGen_CheckExact(object) && !PyCoro_CheckExact(object) && !PyAsyncGen_CheckExact(object))
        return NULL;
    const PyGenObject *generator = (const PyGenObject *)object;
    return generator->gi_frame_state < FRAME_COMPLETED ? generator->gi_iframe : NULL;
}
