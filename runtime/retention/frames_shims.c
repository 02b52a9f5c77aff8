/* SPDX-License-Identifier: Apache-2.0 */
#define Py_BUILD_CORE 1
#include <Python.h>
#include <internal/pycore_frame.h>
#if PY_VERSION_HEX >= 0x030e0000
#include <internal/pycore_interpframe_structs.h>
#endif
#undef Py_BUILD_CORE

#include "runtime/retention/layout.h"

#include "runtime/stacks/pyframe.h"

/* CPython 3.12 and later; see pyframe_shims_sigsafe.c. With the GIL the chains of all threads are at rest. */

static uintptr_t word_at(const void *frame, size_t offset) {
    return *(const uintptr_t *)((const char *)frame + offset);
}

const void *pie_retention_frame_first(PyThreadState *tstate) {
    uintptr_t frame;

    return pie_pyframe_find_first((uintptr_t)tstate, &frame) ? (const void *)frame : NULL;
}

/* Of the interpreter's own frames only `previous` and the owner mean anything. */
void pie_retention_frame_read(const void *at, struct pie_retention_frame *ret_frame) {
    const _PyInterpreterFrame *frame = at;
    const struct pie_pyframe_layout *layout = &pie_pyframe_layout;
    PyObject *code, *function;

    *ret_frame = (struct pie_retention_frame){.previous = frame->previous};
    if ((unsigned char)frame->owner >= layout->first_shim_owner)
        return;
    code = (PyObject *)(word_at(frame, layout->executable) & ~layout->tag_mask);
    function = (PyObject *)(word_at(frame, offsetof(_PyInterpreterFrame, f_funcobj)) & ~layout->tag_mask);
    if (!code || !PyCode_Check(code))
        return;
    ret_frame->code = code;
    ret_frame->function = function && PyFunction_Check(function) ? function : NULL;
    ret_frame->locals = frame->f_locals;
    ret_frame->slots = (const uintptr_t *)frame->localsplus;
    ret_frame->tag_mask = layout->tag_mask;
}

const void *pie_retention_frame_of(PyObject *object) {
    if (PyFrame_Check(object))
        return ((PyFrameObject *)object)->f_frame;
    if (!PyGen_CheckExact(object) && !PyCoro_CheckExact(object) && !PyAsyncGen_CheckExact(object))
        return NULL;
    const PyGenObject *generator = (const PyGenObject *)object;
    return generator->gi_frame_state < FRAME_CLEARED ? (const void *)&generator->gi_iframe : NULL;
}
