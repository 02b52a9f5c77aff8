/* SPDX-License-Identifier: Apache-2.0 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "runtime/interpreter/lock_methods.h"

#include <stdbool.h>
#include <stdint.h>

#include "profiler/thread/lock_holders.h"

/* CPython 3.14 and later: a lock is a byte of its object. A thread that waits for it waits for a semaphore of its own,
 * which says neither whose lock that is nor who holds it. So the methods that take a lock note the thread, and before
 * that the object. Which kind of function a method is differs between releases. */

enum method {
    LOCK_ACQUIRE,
    LOCK_ACQUIRE_LOCK,
    LOCK_ENTER,
    RLOCK_ACQUIRE,
    RLOCK_ENTER,
    RLOCK_RESTORE,
    METHODS
};

/* What was in the method tables before. Set once, before the program runs. Subinterpreters share the tables. */
static union {
    PyCFunction plain;
    PyCFunctionWithKeywords with_dict;
    PyCFunctionFastWithKeywords fast;
} before[METHODS];

static PyObject *ended(PyObject *lock, uintptr_t outer, PyObject *result) {
    if (result && result != Py_False)
        pie_lock_taken((uintptr_t)lock);
    pie_lock_wait_for(outer);
    return result;
}

static PyObject *plain(enum method method, PyObject *lock, PyObject *argument) {
    uintptr_t outer =
        pie_lock_wait_for((uintptr_t)lock); /* a handler of the program's may wait for another one */
    return ended(lock, outer, before[method].plain(lock, argument));
}

static PyObject *with_dict(enum method method, PyObject *lock, PyObject *arguments, PyObject *named) {
    uintptr_t outer = pie_lock_wait_for((uintptr_t)lock);
    return ended(lock, outer, before[method].with_dict(lock, arguments, named));
}

static PyObject *fast(enum method method, PyObject *lock, PyObject *const *arguments, Py_ssize_t count,
                      PyObject *names) {
    uintptr_t outer = pie_lock_wait_for((uintptr_t)lock);
    return ended(lock, outer, before[method].fast(lock, arguments, count, names));
}

/* The three forms of what takes a method's place. */
#define FORMS_OF(name, method)                                                                               \
    static PyObject *name##_plain(PyObject *lock, PyObject *argument) {                                      \
        return plain(method, lock, argument);                                                                \
    }                                                                                                        \
    static PyObject *name##_with_dict(PyObject *lock, PyObject *arguments, PyObject *named) {                \
        return with_dict(method, lock, arguments, named);                                                    \
    }                                                                                                        \
    static PyObject *name##_fast(PyObject *lock, PyObject *const *arguments, Py_ssize_t count,               \
                                 PyObject *names) {                                                          \
        return fast(method, lock, arguments, count, names);                                                  \
    }

FORMS_OF(lock_acquire, LOCK_ACQUIRE)
FORMS_OF(lock_acquire_lock, LOCK_ACQUIRE_LOCK)
FORMS_OF(lock_enter, LOCK_ENTER)
FORMS_OF(rlock_acquire, RLOCK_ACQUIRE)
FORMS_OF(rlock_enter, RLOCK_ENTER)
FORMS_OF(rlock_restore, RLOCK_RESTORE)

#define FORMS(name) name##_plain, name##_with_dict, name##_fast

static const struct {
    const char *type, *name;
    PyCFunction plain;
    PyCFunctionWithKeywords with_dict;
    PyCFunctionFastWithKeywords fast;
} methods[METHODS] = {
    [LOCK_ACQUIRE] = {"lock", "acquire", FORMS(lock_acquire)},
    [LOCK_ACQUIRE_LOCK] = {"lock", "acquire_lock", FORMS(lock_acquire_lock)}, /* its old name */
    [LOCK_ENTER] = {"lock", "__enter__", FORMS(lock_enter)},
    [RLOCK_ACQUIRE] = {"RLock", "acquire", FORMS(rlock_acquire)},
    [RLOCK_ENTER] = {"RLock", "__enter__", FORMS(rlock_enter)},
    [RLOCK_RESTORE] = {"RLock", "_acquire_restore", FORMS(rlock_restore)}, /* of a condition */
};

static void exchange(enum method method, PyMethodDef *entry) {
    switch (entry->ml_flags & ~METH_COEXIST) {
    case METH_VARARGS:
    case METH_O:
    case METH_NOARGS:
        before[method].plain = entry->ml_meth;
        entry->ml_meth = methods[method].plain;
        break;
    case METH_VARARGS | METH_KEYWORDS:
        before[method].with_dict = (PyCFunctionWithKeywords)(void (*)(void))entry->ml_meth;
        entry->ml_meth = (PyCFunction)(void (*)(void))methods[method].with_dict;
        break;
    case METH_FASTCALL | METH_KEYWORDS:
        before[method].fast = (PyCFunctionFastWithKeywords)(void (*)(void))entry->ml_meth;
        entry->ml_meth = (PyCFunction)(void (*)(void))methods[method].fast;
        break;
    default:
        break;
    }
}

/* New references, or NULL. */
static PyObject *dict_of(PyObject *module, const char *name) {
    PyObject *type = module ? PyObject_GetAttrString(module, name) : NULL;
    PyObject *dict = type && PyType_Check(type) ? PyType_GetDict((PyTypeObject *)type) : NULL;

    Py_XDECREF(type);
    return dict;
}

void pie_lock_methods_install(void) {
    PyObject *module = PyImport_ImportModule("_thread");

    for (enum method method = 0; method < METHODS; method++) {
        PyObject *dict = dict_of(module, methods[method].type);
        PyObject *found = dict ? PyDict_GetItemString(dict, methods[method].name) : NULL;
        if (found && Py_IS_TYPE(found, &PyMethodDescr_Type))
            exchange(method, ((PyMethodDescrObject *)found)->d_method);
        Py_XDECREF(dict);
    }
    Py_XDECREF(module);
    PyErr_Clear();
}
