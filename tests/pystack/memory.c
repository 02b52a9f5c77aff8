/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/pystack/memory.h"

#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "tests/pystack/sampler.h"

static PyObject *object_kind(PyObject *module, PyObject *address) {
    return PyLong_FromLong(sampler_ops()->object_at(PyLong_AsUnsignedLongMask(address)));
}

/* (low, high), or None. */
static PyObject *array_data(PyObject *module, PyObject *address) {
    uintptr_t low = 0, high = 0;

    if (!sampler_ops()->array_data(PyLong_AsUnsignedLongMask(address), &low, &high))
        Py_RETURN_NONE;
    return Py_BuildValue("kk", low, high);
}

static PyObject *is_frame_memory(PyObject *module, PyObject *address) {
    return PyBool_FromLong(sampler_ops()->is_frame_memory(PyLong_AsUnsignedLongMask(address)));
}

/* Where Python's data stack holds this object: of a thread that this function's callers have not left. */
static PyObject *slots_of(PyObject *module, PyObject *object) {
    PyThreadState *tstate = PyThreadState_Get();
    PyObject *slots = PyList_New(0);

    for (const _PyStackChunk *chunk = tstate->datastack_chunk; slots && chunk; chunk = chunk->previous) {
        PyObject *const *top =
            chunk == tstate->datastack_chunk ? tstate->datastack_top : chunk->data + chunk->top;
        for (PyObject *const *slot = chunk->data; slot < top; slot++) {
            PyObject *address = ((uintptr_t)*slot & ~(uintptr_t)3) == (uintptr_t)object
                                    ? PyLong_FromVoidPtr((void *)slot)
                                    : NULL;
            if (address && PyList_Append(slots, address) < 0)
                return NULL;
            Py_XDECREF(address);
        }
    }
    return slots;
}

/* The address of a page that cannot be read, before which there is one that can, full of `filling`. */
static PyObject *forbidden_page(PyObject *module, PyObject *filling) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *memory = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (memory == MAP_FAILED)
        return PyErr_SetFromErrno(PyExc_OSError);
    for (size_t at = 0; at < page; at += sizeof(unsigned long))
        *(unsigned long *)(memory + at) = PyLong_AsUnsignedLongMask(filling);
    if (mprotect(memory + page, page, PROT_NONE) < 0)
        return PyErr_SetFromErrno(PyExc_OSError);
    return PyLong_FromVoidPtr(memory + page);
}

/* An address on the C stack. */
static PyObject *stack_address(PyObject *module, PyObject *none) {
    int here;

    return PyLong_FromVoidPtr(&here);
}

static bool ask_frame(uintptr_t address) {
    return sampler_ops()->is_frame_memory(address);
}

static bool ask_object(uintptr_t address) {
    return sampler_ops()->object_at(address) != PIE_OBJECT_NONE;
}

/* Nanoseconds for one question, the least of many. */
static PyObject *cost_of(bool (*ask)(uintptr_t), PyObject *address) {
    uintptr_t at = PyLong_AsUnsignedLongMask(address);
    double best_ns = 1e9;

    for (int round = 0; round < 200; round++) {
        struct timespec start, end;

        clock_gettime(CLOCK_MONOTONIC, &start);
        for (int i = 0; i < 100; i++)
            ask(at);
        clock_gettime(CLOCK_MONOTONIC, &end);
        double ns = ((double)(end.tv_sec - start.tv_sec) * 1e9 + (double)(end.tv_nsec - start.tv_nsec)) / 100;
        best_ns = ns < best_ns ? ns : best_ns;
    }
    return PyFloat_FromDouble(best_ns);
}

static PyObject *frame_memory_cost(PyObject *module, PyObject *address) {
    return cost_of(ask_frame, address);
}

static PyObject *object_kind_cost(PyObject *module, PyObject *address) {
    return cost_of(ask_object, address);
}

static PyMethodDef functions[] = {
    {"object_kind", object_kind, METH_O, NULL},
    {"array_data", array_data, METH_O, NULL},
    {"is_frame_memory", is_frame_memory, METH_O, NULL},
    {"slots_of", slots_of, METH_O, NULL},
    {"forbidden_page", forbidden_page, METH_O, NULL},
    {"stack_address", stack_address, METH_NOARGS, NULL},
    {"object_kind_cost", object_kind_cost, METH_O, NULL},
    {"frame_memory_cost", frame_memory_cost, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};

int memory_add_functions(PyObject *module) {
    PyModule_AddIntConstant(module, "NONE", PIE_OBJECT_NONE);
    PyModule_AddIntConstant(module, "PLAIN", PIE_OBJECT_PLAIN);
    PyModule_AddIntConstant(module, "TYPE", PIE_OBJECT_TYPE);
    PyModule_AddIntConstant(module, "DTYPE", PIE_OBJECT_DTYPE);
    PyModule_AddIntConstant(module, "ARRAY", PIE_OBJECT_ARRAY);
    return PyModule_AddFunctions(module, functions);
}
