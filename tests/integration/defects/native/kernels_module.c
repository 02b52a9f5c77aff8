/* SPDX-License-Identifier: Apache-2.0 */

/* The kernels of kernels.S as functions of an extension module: kernel_…(rounds) by way of a helper, so that there is C
 * between the line and the kernel. */

#include <Python.h>

#include <stdlib.h>

void kernel_leaf(long rounds);
void kernel_rbp(long rounds);
void kernel_frame(long rounds);
void kernel_own_stack(long rounds);
void kernel_loads(long rounds, const long *word);

volatile long calls;

static __attribute__((noinline)) void between(void (*kernel)(long), long rounds) {
    volatile char room[200];

    room[0] = 1;
    kernel(rounds);
    calls += room[0];
}

static PyObject *call(PyObject *argument, void (*kernel)(long)) {
    long rounds = PyLong_AsLong(argument);

    if (rounds <= 0)
        return PyErr_Format(PyExc_ValueError, "rounds must be positive");
    between(kernel, rounds);
    Py_RETURN_NONE;
}

#define FUNCTION(name)                                                                                       \
    static PyObject *name(PyObject *module, PyObject *argument) {                                            \
        return call(argument, kernel_##name);                                                                \
    }
FUNCTION(leaf)
FUNCTION(rbp)
FUNCTION(frame)
FUNCTION(own_stack)

static long *word; /* on the heap, and never written again: each load finds what the one before did */

static PyObject *loads(PyObject *module, PyObject *argument) {
    long rounds = PyLong_AsLong(argument);

    if (rounds <= 0)
        return PyErr_Format(PyExc_ValueError, "rounds must be positive");
    kernel_loads(rounds, word);
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"leaf", leaf, METH_O, NULL},           {"rbp", rbp, METH_O, NULL},     {"frame", frame, METH_O, NULL},
    {"own_stack", own_stack, METH_O, NULL}, {"loads", loads, METH_O, NULL}, {0},
};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, .m_name = "kernels", .m_size = -1,
                                        .m_methods = methods};

PyMODINIT_FUNC PyInit_kernels(void) {
    word = malloc(64);
    if (!word)
        return PyErr_NoMemory();
    *word = 12345;
    return PyModule_Create(&definition);
}
