/* SPDX-License-Identifier: Apache-2.0 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "runtime/trace/trace.h"

bool pie_trace_here(struct pie_trace_place *ret_place) {
    PyFrameObject *frame = PyEval_GetFrame();

    if (!frame)
        return false;
    PyCodeObject *code = PyFrame_GetCode(frame);
    const char *file = PyUnicode_AsUTF8(code->co_filename), *function = PyUnicode_AsUTF8(code->co_qualname);
    PyErr_Clear();
    *ret_place =
        (struct pie_trace_place){file ? file : "?", function ? function : "?", PyFrame_GetLineNumber(frame)};
    Py_DECREF(code); /* it runs, so it stays */
    return true;
}
