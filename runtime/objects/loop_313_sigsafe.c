/* SPDX-License-Identifier: Apache-2.0 */
#define Py_BUILD_CORE 1
#include <Python.h>
#include <internal/pycore_tstate.h>
#undef Py_BUILD_CORE

#include "runtime/objects/tasks.h"

/* CPython 3.13 and later: the running loop is a member of the thread's state. */

uintptr_t pie_tasks_loop(uintptr_t tstate) {
    uintptr_t loop;

    return tstate && pie_task_load(tstate, offsetof(_PyThreadStateImpl, asyncio_running_loop), &loop) &&
                   loop != (uintptr_t)Py_None
               ? loop
               : 0;
}
