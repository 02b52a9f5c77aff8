/* SPDX-License-Identifier: Apache-2.0 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "runtime/confirm/confirm.h"

#include <string.h>

#include "profiler/ports/windows.h"

/* How many items a call of the built-in sequences goes through. Only of types that are exactly these, whose methods run
 * no code of the program's before the items are compared. */

static struct pie_confirm_passed passed_of(enum pie_passed kind, PyObject *container, Py_ssize_t items) {
    return (struct pie_confirm_passed){.kind = (uint8_t)kind,
                                       .container = container,
                                       .size = (size_t)Py_SIZE(container),
                                       .items = items > 0 ? (size_t)items : 0};
}

static struct pie_confirm_passed nothing(void) {
    return (struct pie_confirm_passed){0};
}

static bool is_sequence(PyObject *object) {
    return PyList_CheckExact(object) || PyTuple_CheckExact(object);
}

/* Only these could be in a set. */
static bool has_hash(PyObject *object) {
    hashfunc hash = Py_TYPE(object)->tp_hash;

    return hash && hash != PyObject_HashNotImplemented;
}

/* An item that is found ends the search; nobody knows where. */
struct pie_confirm_passed pie_confirm_passed_test(PyObject *item, PyObject *container) {
    if (!is_sequence(container) || !has_hash(item))
        return nothing();
    return passed_of(PIE_PASSED_SEARCH, container, Py_SIZE(container));
}

/* Few methods move the items behind a place: those behind the middle are no matter. */
static struct pie_confirm_passed passed_shift(PyObject *list, PyObject *place) {
    Py_ssize_t at = PyLong_CheckExact(place) ? PyLong_AsSsize_t(place) : -1;

    if (PyErr_Occurred())
        PyErr_Clear();
    return at >= 0 && at < Py_SIZE(list) / 2 ? passed_of(PIE_PASSED_SHIFT, list, Py_SIZE(list) - at)
                                             : nothing();
}

struct pie_confirm_passed pie_confirm_passed_method(PyObject *callee, PyObject **arguments, int count) {
    PyObject *self = arguments[0];
    const char *name =
        Py_IS_TYPE(callee, &PyMethodDescr_Type) ? ((PyMethodDescrObject *)callee)->d_method->ml_name : NULL;

    if (!name || count < 2 || !is_sequence(self))
        return nothing();
    if (strcmp(name, "index") == 0 || strcmp(name, "count") == 0 || strcmp(name, "remove") == 0)
        return pie_confirm_passed_test(arguments[1], self);
    if (PyList_CheckExact(self) && (strcmp(name, "pop") == 0 || strcmp(name, "insert") == 0))
        return passed_shift(self, arguments[1]);
    return nothing();
}

static bool makes_code(PyObject *callee) {
    PyObject *module = PyCFunction_CheckExact(callee) ? ((PyCFunctionObject *)callee)->m_module : NULL;
    const char *name = module ? ((PyCFunctionObject *)callee)->m_ml->ml_name : "";

    return module && PyUnicode_Check(module) && PyUnicode_CompareWithASCIIString(module, "builtins") == 0 &&
           (strcmp(name, "eval") == 0 || strcmp(name, "exec") == 0 || strcmp(name, "compile") == 0);
}

/* Text is made into code anew by each call, whatever its other arguments are. */
struct pie_confirm_passed pie_confirm_passed_function(PyObject *callee, PyObject *argument) {
    struct pie_confirm_digest digest;
    bool is_str = PyUnicode_CheckExact(argument);

    if (!makes_code(callee) || (!is_str && !PyBytes_CheckExact(argument)))
        return nothing();
    pie_confirm_digest_begin(&digest, pie_confirm_budget_bytes);
    pie_confirm_digest_add(&digest, argument);
    struct pie_confirm_passed passed =
        passed_of(PIE_PASSED_CODE, argument, is_str ? PyUnicode_GET_LENGTH(argument) : Py_SIZE(argument));
    passed.text = digest.hash;
    return passed;
}

struct pie_confirm_passed pie_confirm_passed_slice(PyObject *container) {
    if (PyUnicode_CheckExact(container)) {
        struct pie_confirm_passed passed = passed_of(PIE_PASSED_SLICE, container, 0);
        passed.size = (size_t)PyUnicode_GET_LENGTH(container);
        return passed;
    }
    if (is_sequence(container) || PyBytes_CheckExact(container))
        return passed_of(PIE_PASSED_SLICE, container, 0);
    return nothing();
}

void pie_confirm_passed_end(struct pie_confirm_passed *passed, PyObject *result) {
    if (passed->kind != PIE_PASSED_SLICE || !result)
        return;
    passed->items = (size_t)(PyUnicode_CheckExact(result) ? PyUnicode_GET_LENGTH(result) : Py_SIZE(result));
}
