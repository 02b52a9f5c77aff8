/* SPDX-License-Identifier: Apache-2.0 */
#define Py_BUILD_CORE 1
#include <Python.h>
#include <internal/pycore_frame.h>
#undef Py_BUILD_CORE

#include "runtime/thread_starter.h"

/* threading.Thread.start(self) calls _thread.start_new_thread(): its frame is the innermost one, self its first local. */
PyObject *pie_thread_starter(void) {
    PyThreadState *tstate = _PyThreadState_UncheckedGet();
    _PyInterpreterFrame *frame = tstate && tstate->cframe ? tstate->cframe->current_frame : NULL;

    if (!frame || frame->f_code->co_argcount != 1 ||
        PyUnicode_CompareWithASCIIString(frame->f_code->co_qualname, "Thread.start") != 0)
        return NULL;
    return frame->localsplus[0];
}
