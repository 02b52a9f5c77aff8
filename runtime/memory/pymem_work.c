/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/memory/pymem_work.h"

#include <Python.h>

#include "profiler/base/clocks.h"
#include "runtime/memory/pymalloc.h"

enum { NUMBER_BYTES = 32, ALIVE = 4 };

/* Blocks that come while a few others are there, and go soon. Where many are alive at a time, their places differ from
 * run to run, and what they cost by as much as the price. */
static void take_turns(size_t bytes) {
    void *blocks[ALIVE] = {NULL};

    for (size_t i = 0; i < PIE_WORK_BLOCKS; i++) {
        PyObject_Free(blocks[i % ALIVE]);
        blocks[i % ALIVE] = PyObject_Malloc(bytes);
    }
    for (size_t i = 0; i < ALIVE; i++)
        PyObject_Free(blocks[i]);
}

void pie_work_small(void) {
    take_turns(NUMBER_BYTES);
}

void pie_work_large(void) {
    take_turns(PIE_PYMALLOC_MAX + 1);
}

/* Numbers too large to be kept, one of which takes the other's place. */
void pie_work_numbers(void) {
    PyObject *sum = PyLong_FromLong(1L << 40);

    for (int i = 0; i < PIE_WORK_BLOCKS && sum; i++) {
        PyObject *more = PyNumber_Add(sum, Py_True);
        Py_DECREF(sum);
        sum = more;
    }
    Py_XDECREF(sum);
}

/* By no call, which might be one too deep where a program is measured that runs. */
void pie_work_objects(void) {
    for (int i = 0; i < PIE_WORK_BLOCKS; i++) {
        PyObject *made = PyType_GenericAlloc(&PyBaseObject_Type, 0);
        Py_XDECREF(made);
    }
}

uint64_t pie_work_least_ns(void (*work)(void), int rounds) {
    uint64_t least_ns = UINT64_MAX;

    for (int round = 0; round < rounds; round++) {
        uint64_t begun_ns = pie_monotonic_ns();
        work();
        uint64_t took_ns = pie_monotonic_ns() - begun_ns;
        least_ns = took_ns < least_ns ? took_ns : least_ns;
    }
    return least_ns;
}
