/* SPDX-License-Identifier: Apache-2.0 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "runtime/interpreter/thread_names.h"

#include "profiler/collect/engine.h"
#include "runtime/interpreter/methods.h"

#include <string.h>

/* The functions of _thread run in the creating thread, and call pthread_create(). Its table of them is met before
 * Python is initialised, since sitecustomize may start threads. Context of all here but for the installation: gil. */

typedef PyObject *(*keyword_function)(PyObject *module, PyObject *arguments, PyObject *names);

static __thread char next_name[PIE_THREAD_NAME_BYTES];
/* Set once, when the module is made. Fork child: a copy. */
static PyObject *(*init_thread)(void);
static PyCFunction own_start;
static keyword_function own_start_joinable;

/* New reference or NULL. Without the GIL another thread may drop the item meanwhile. */
static PyObject *item_of(PyObject *dict, const char *name) {
#if PY_VERSION_HEX >= 0x030d0000
    PyObject *value;
    return PyDict_GetItemStringRef(dict, name, &value) > 0 ? value : NULL;
#else
    PyObject *value = PyDict_GetItemString(dict, name);
    return Py_XNewRef(value);
#endif
}

/* An attribute from the instance's own dictionary: no code of the user's runs. New reference or NULL, no error set. */
static PyObject *plain_attribute(PyObject *object, const char *name) {
    PyObject *dict = PyObject_GenericGetDict(object, NULL);
    PyObject *value = dict && PyDict_Check(dict) ? item_of(dict, name) : NULL;

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

static void note_start(PyObject *arguments) {
    next_name[0] = '\0';
    if (pie_engine_is_running() && PyTuple_Check(arguments) && PyTuple_GET_SIZE(arguments) > 0)
        note_function(PyTuple_GET_ITEM(arguments, 0));
}

static PyObject *start(PyObject *module, PyObject *arguments) {
    note_start(arguments);
    PyObject *result = own_start(module, arguments);
    next_name[0] = '\0'; /* no thread may have come of it */
    return result;
}

static PyObject *start_joinable(PyObject *module, PyObject *arguments, PyObject *names) {
    note_start(arguments);
    PyObject *result = own_start_joinable(module, arguments, names);
    next_name[0] = '\0';
    return result;
}

static void exchange(PyMethodDef *methods) {
    PyCFunction own = pie_method_exchange(methods, "start_new_thread", METH_VARARGS, start);
    PyCFunction joinable =
        pie_method_exchange(methods, "start_joinable_thread", METH_VARARGS | METH_KEYWORDS,
                            (PyCFunction)(void (*)(void))start_joinable); /* from 3.13 on */

    if (own) {
        own_start = own;
        pie_method_exchange(methods, "start_new", METH_VARARGS, start); /* its old name */
    }
    if (joinable)
        own_start_joinable = (keyword_function)(void (*)(void))joinable;
}

/* The module's definition, which comes before the module (PEP 489). Each interpreter asks for it: the first
 * exchanges. */
static PyObject *init(void) {
    PyObject *definition = init_thread();

    if (definition && Py_IS_TYPE(definition, &PyModuleDef_Type) && !own_start)
        exchange(((PyModuleDef *)definition)->m_methods);
    return definition;
}

void pie_thread_names_install(void) {
    for (struct _inittab *module = PyImport_Inittab; module && module->name; module++)
        if (strcmp(module->name, "_thread") == 0 && module->initfunc != init) {
            init_thread = module->initfunc;
            module->initfunc = init;
        }
}

void pie_thread_names_take(char ret_name[PIE_THREAD_NAME_BYTES]) {
    memcpy(ret_name, next_name, sizeof next_name);
    next_name[0] = '\0';
}
