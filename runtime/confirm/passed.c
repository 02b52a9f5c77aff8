/* SPDX-License-Identifier: Apache-2.0 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#if PY_VERSION_HEX >= 0x030d0000
#define Py_BUILD_CORE 1
#include <internal/pycore_setobject.h>
#undef Py_BUILD_CORE
#endif

#include "runtime/confirm/confirm.h"

#include <string.h>

#include "profiler/base/hash.h"
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

static bool is_builtin(PyObject *callee, const char *const *names) {
    PyObject *module = PyCFunction_CheckExact(callee) ? ((PyCFunctionObject *)callee)->m_module : NULL;

    if (!module || !PyUnicode_Check(module) || PyUnicode_CompareWithASCIIString(module, "builtins") != 0)
        return false;
    while (*names && strcmp(((PyCFunctionObject *)callee)->m_ml->ml_name, *names) != 0)
        names++;
    return *names;
}

static bool makes_code(PyObject *callee) {
    static const char *const NAMES[] = {"eval", "exec", "compile", NULL};

    return is_builtin(callee, NAMES);
}

bool pie_confirm_runs_code(PyObject *callee) {
    static const char *const NAMES[] = {"eval", "exec", NULL};

    return is_builtin(callee, NAMES);
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

/* The item with the least hash stands for a container of which few items changed: it is mostly still there. Of a dict
 * its value is part of it. */
static void take_least(uint64_t *least, PyObject *item, PyObject *value) {
    struct pie_confirm_digest digest;

    pie_confirm_digest_begin(&digest, PIE_CONFIRM_BUDGET_SMALL_BYTES);
    pie_confirm_digest_add(&digest, item);
    pie_confirm_digest_add(&digest, value);
    uint64_t hash = pie_hash_upper(digest.hash);
    if (hash < *least)
        *least = hash;
}

/* More would keep the program waiting for milliseconds. */
enum { CHOICE_ITEMS_MAX = 1 << 16 };

/* 0: it is none whose items can be looked at. */
static size_t count_items(PyObject *container) {
    if (PyList_CheckExact(container))
        return (size_t)PyList_GET_SIZE(container);
    if (PyAnySet_CheckExact(container))
        return (size_t)PySet_GET_SIZE(container);
    return PyDict_CheckExact(container) ? (size_t)PyDict_GET_SIZE(container) : 0;
}

/* min() and max() of one container. */
struct pie_confirm_passed pie_confirm_passed_choice(PyObject *callee, PyObject *container) {
    static const char *const NAMES[] = {"min", "max", NULL};
    size_t count = count_items(container);
    struct pie_confirm_passed passed = {
        .kind = PIE_PASSED_CHOICE, .container = container, .items = count, .size = count, .text = UINT64_MAX};
    PyObject *item, *value;
    Py_ssize_t at = 0;
    Py_hash_t hash;

    if (!is_builtin(callee, NAMES) || count == 0 || count > CHOICE_ITEMS_MAX)
        return nothing();
    if (PyList_CheckExact(container))
        for (; at < PyList_GET_SIZE(container); at++)
            take_least(&passed.text, PyList_GET_ITEM(container, at), NULL);
    else if (PyAnySet_CheckExact(container))
        while (_PySet_NextEntry(container, &at, &item, &hash))
            take_least(&passed.text, item, NULL);
    else
        while (PyDict_Next(container, &at, &item, &value))
            take_least(&passed.text, item, value);
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
