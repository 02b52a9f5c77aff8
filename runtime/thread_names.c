/* SPDX-License-Identifier: Apache-2.0 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "runtime/thread_names.h"

#include "profiler/engine.h"
#include "runtime/thread_starter.h"

#include <string.h>

/* The hook runs in the creating thread right before it calls pthread_create(). Context of all here: gil. */
static __thread char next_name[PIE_THREAD_NAME_BYTES];

/* An attribute from the instance's own dictionary: no code of the user's runs. New reference or NULL, no error set. */
static PyObject *plain_attribute(PyObject *object, const char *name) {
    PyObject *dict = PyObject_GenericGetDict(object, NULL);
    PyObject *value = dict && PyDict_Check(dict) ? PyDict_GetItemString(dict, name) : NULL;

    Py_XINCREF(value);
    Py_XDECREF(dict);
    PyErr_Clear();
    return value;
}

static void note(PyObject *text) {
    Py_ssize_t size = 0;
    const char *utf8 = text && PyUnicode_Check(text) ? PyUnicode_AsUTF8AndSize(text, &size) : NULL;

    if (!utf8) {
        PyErr_Clear();
        return;
    }
    size_t n = (size_t)size < sizeof next_name - 1 ? (size_t)size : sizeof next_name - 1;
    while (n < (size_t)size && n > 0 && ((unsigned char)utf8[n] & 0xc0) == 0x80) /* not inside a character */
        n--;
    memcpy(next_name, utf8, n);
    next_name[n] = '\0';
}

/* A bound method of a threading.Thread gives the thread's name, another function its own. */
static void note_function(PyObject *function) {
    PyObject *name = NULL;

    if (PyMethod_Check(function))
        name = plain_attribute(PyMethod_GET_SELF(function), "_name");
    else if (PyFunction_Check(function))
        Py_XINCREF(name = ((PyFunctionObject *)function)->func_name);
    note(name);
    Py_XDECREF(name);
}

static int on_event(const char *event, PyObject *arguments, void *unused) {
    if (event[0] != '_' || strncmp(event, "_thread.start_", 14) != 0 || !pie_engine_is_running())
        return 0;
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    next_name[0] = '\0';
    if (PyTuple_Check(arguments) && PyTuple_GET_SIZE(arguments) > 0)
        note_function(PyTuple_GET_ITEM(arguments, 0));
    PyErr_Restore(type, value, traceback);
    return 0;
}

void pie_thread_names_install(void) {
    PySys_AddAuditHook(on_event, NULL); /* without memory there are no names */
}

/* Only a thread that holds the GIL may look at objects. */
static void look_at_starter(void) {
    PyThreadState *tstate = PyGILState_GetThisThreadState();
    PyObject *starter = tstate && _PyThreadState_UncheckedGet() == tstate ? pie_thread_starter() : NULL;
    PyObject *name = starter ? plain_attribute(starter, "_name") : NULL;

    if (name) /* else the thread may not hold the GIL: OpenMP's */
        note(name);
    Py_XDECREF(name);
}

void pie_thread_names_take(char ret_name[PIE_THREAD_NAME_BYTES]) {
    if (!next_name[0])
        look_at_starter();
    memcpy(ret_name, next_name, sizeof next_name);
    next_name[0] = '\0';
}
