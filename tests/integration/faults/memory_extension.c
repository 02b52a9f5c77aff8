/* SPDX-License-Identifier: Apache-2.0 */

/* An extension module with memory of its own, built with AddressSanitizer by the test. */
#include <Python.h>

#include <stdlib.h>
#include <string.h>

static PyObject *sum(PyObject *module, PyObject *count) {
    long n = PyLong_AsLong(count), total = 0;
    long *numbers = malloc((size_t)n * sizeof *numbers), *copy = calloc((size_t)n, sizeof *copy);

    for (long i = 0; i < n; i++)
        numbers[i] = i;
    memcpy(copy, numbers, (size_t)n * sizeof *copy);
    numbers = realloc(numbers, (size_t)n * 2 * sizeof *numbers);
    for (long i = 0; i < n; i++)
        total += copy[i] + numbers[i];
    free(numbers);
    free(copy);
    return PyLong_FromLong(total);
}

/* Writes one byte behind a block of n bytes. */
static PyObject *overrun(PyObject *module, PyObject *count) {
    long n = PyLong_AsLong(count);
    volatile char *block = malloc((size_t)n);

    block[n] = 1;
    free((void *)block);
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"sum", sum, METH_O, NULL}, {"overrun", overrun, METH_O, NULL}, {NULL, NULL, 0, NULL}};
static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "memory_extension", NULL, -1, methods, 0, 0, 0, 0};

PyMODINIT_FUNC PyInit_memory_extension(void) {
    return PyModule_Create(&definition);
}
