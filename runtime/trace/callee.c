/* SPDX-License-Identifier: Apache-2.0 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "runtime/trace/trace.h"

#include <stdio.h>
#include <string.h>

/* Attributes of unknown objects may be code of the program's; what is read here are fields of types that are known
 * exactly. */

const char *pie_trace_text(PyObject *string) {
    PyObject *type, *value, *traceback;

    if (!string || !PyUnicode_Check(string))
        return NULL;
    PyErr_Fetch(&type, &value, &traceback);
    const char *text = PyUnicode_AsUTF8(string);
    PyErr_Restore(type, value, traceback);
    return text;
}

/* "module.name", without the module of builtins. */
static size_t put_name(char *text, size_t size, const char *before, const char *name) {
    bool is_plain = !before || strcmp(before, "builtins") == 0;
    int length =
        snprintf(text, size, "%s%s%s", is_plain ? "" : before, is_plain ? "" : ".", name ? name : "?");

    return length < 0 ? 0 : (size_t)length < size ? (size_t)length : size - 1;
}

static size_t write_type(char *text, size_t size, PyTypeObject *type) {
    return put_name(text, size, NULL, type->tp_name);
}

static size_t write_native(char *text, size_t size, PyCFunctionObject *function) {
    PyObject *self = function->m_self;
    const char *before = pie_trace_text(function->m_module);

    if (!before && self && !PyModule_Check(self))
        before = PyType_Check(self) ? ((PyTypeObject *)self)->tp_name : Py_TYPE(self)->tp_name;
    return put_name(text, size, before, function->m_ml->ml_name);
}

size_t pie_trace_callee(PyObject *callee, char *text, size_t size, bool *ret_is_native) {
    if (PyMethod_Check(callee))
        callee = PyMethod_GET_FUNCTION(callee);
    *ret_is_native = !PyFunction_Check(callee);
    if (PyFunction_Check(callee))
        return put_name(text, size, NULL, pie_trace_text(((PyFunctionObject *)callee)->func_qualname));
    if (PyCFunction_Check(callee))
        return write_native(text, size, (PyCFunctionObject *)callee);
    if (Py_IS_TYPE(callee, &PyMethodDescr_Type)) {
        PyMethodDescrObject *method = (PyMethodDescrObject *)callee;
        return put_name(text, size, method->d_common.d_type->tp_name, method->d_method->ml_name);
    }
    if (PyType_Check(callee)) {
        *ret_is_native = !PyType_HasFeature((PyTypeObject *)callee, Py_TPFLAGS_HEAPTYPE);
        return write_type(text, size, (PyTypeObject *)callee);
    }
    return write_type(text, size, Py_TYPE(callee)); /* of some class with __call__ */
}
