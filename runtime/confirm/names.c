/* SPDX-License-Identifier: Apache-2.0 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "runtime/confirm/confirm.h"

#include <stdio.h>
#include <string.h>

#include "profiler/base/hash.h"
#include "runtime/trace/trace.h"

/* The beginning of NumPy's structure of a ufunc, which its ABI fixes (numpy/ufuncobject.h): NumPy need not be there
 * when this is built. */
struct ufunc {
    PyObject head;
    int n_in, n_out, n_args, identity;
    void *functions, *data;
    int n_types, reserved;
    const char *name;
};

static bool is_named(PyObject *object, const char *name) {
    return strcmp(Py_TYPE(object)->tp_name, name) == 0;
}

/* Functions of NumPy that dispatch by the type of their arguments keep their names in a dict. */
static const char *name_in_dict(PyObject *callee) {
    PyObject **dict =
        is_named(callee, "numpy._ArrayFunctionDispatcher") ? _PyObject_GetDictPtr(callee) : NULL;
    PyObject *name = dict && *dict ? PyDict_GetItemString(*dict, "__name__") : NULL; /* borrowed */
    const char *text = name && PyUnicode_CheckExact(name) ? PyUnicode_AsUTF8(name) : NULL;

    PyErr_Clear();
    return text;
}

bool pie_confirm_is_ufunc(PyObject *callee) {
    return is_named(callee, "numpy.ufunc");
}

static const char *numpy_name(PyObject *callee) {
    return pie_confirm_is_ufunc(callee) ? ((struct ufunc *)callee)->name : name_in_dict(callee);
}

/* Cython has a type of its own for functions, in each module; what its attributes return is C code. */
static bool is_cython(PyObject *callee) {
    return is_named(callee, "cython_function_or_method");
}

static bool write_cython_name(PyObject *callee, char *text, size_t size) {
    PyObject *name = is_cython(callee) ? PyObject_GetAttrString(callee, "__qualname__") : NULL;
    const char *words = name && PyUnicode_CheckExact(name) ? PyUnicode_AsUTF8(name) : NULL;

    PyErr_Clear();
    if (words)
        snprintf(text, size, "%s", words);
    Py_XDECREF(name);
    return words;
}

/* An object of some class with __call__. To make such an object is another call, which may be at the same line. */
static bool is_instance(PyObject *callee) {
    return !PyFunction_Check(callee) && !PyCFunction_Check(callee) && !PyType_Check(callee) &&
           !Py_IS_TYPE(callee, &PyMethodDescr_Type) && !numpy_name(callee) && !is_cython(callee);
}

void pie_confirm_name(PyObject *callee, char *text, size_t size) {
    bool is_native;

    if (PyMethod_Check(callee))
        callee = PyMethod_GET_FUNCTION(callee);
    const char *name = numpy_name(callee);
    if (name) {
        snprintf(text, size, "numpy.%s", name);
        return;
    }
    if (write_cython_name(callee, text, size))
        return;
    size_t length = pie_trace_callee(callee, text, size, &is_native);
    if (is_instance(callee) && length < size)
        snprintf(text + length, size - length, ".__call__");
}

uint64_t pie_confirm_key(PyObject *callee) {
    if (PyMethod_Check(callee))
        callee = PyMethod_GET_FUNCTION(callee);
    if (PyFunction_Check(callee))
        return (uintptr_t)((PyFunctionObject *)callee)->func_code;
    if (PyCFunction_Check(callee)) {
        PyObject *self = PyCFunction_GET_SELF(callee);
        return pie_hash_mix((uintptr_t)((PyCFunctionObject *)callee)->m_ml,
                            self ? (uintptr_t)Py_TYPE(self) : 0);
    }
    return is_instance(callee) ? pie_hash_mix((uintptr_t)Py_TYPE(callee), 0) : (uintptr_t)callee;
}
