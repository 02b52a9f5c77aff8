/* SPDX-License-Identifier: Apache-2.0 */
#include <Python.h>

#include "runtime/stacks/gil.h"

/* Free-threaded builds: threads run Python side by side. Even where a program has the GIL back (PYTHON_GIL=1, or a
 * module that needs it), waits for it are counted as other waits. */
#ifndef Py_GIL_DISABLED
#error "this file is for CPython without the GIL"
#endif

const bool pie_gil_is_there = false;

void pie_gil_disable(void) {
    /* there is none */
}

bool pie_gil_read(uintptr_t tstate, struct pie_gil *ret_gil) {
    return false;
}
