/* SPDX-License-Identifier: Apache-2.0 */
#define Py_BUILD_CORE 1
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <internal/pycore_frame.h>
#undef Py_BUILD_CORE

#include "runtime/confirm/slots.h"

/* CPython 3.12 and 3.13: slots are pointers to objects. */
PyObject **pie_confirm_slots(struct _PyInterpreterFrame *frame, const PyCodeObject *code, int depth,
                             int count) {
    return frame->localsplus + code->co_nlocalsplus + depth;
}
