/* SPDX-License-Identifier: Apache-2.0 */
#define Py_BUILD_CORE 1
#include <Python.h>
#include <internal/pycore_runtime.h>
#undef Py_BUILD_CORE

#include "runtime/interpreter/allocator_lock.h"

#include "profiler/base/safe_load.h"

#include <semaphore.h>
#include <stdint.h>

/* Without memory CPython takes what happened to lie on its stack for the lock. A lock of 3.12 is a semaphore, and it is
 * free: there is only one thread. */
bool pie_python_has_allocator_lock(void) {
    void *lock = _PyRuntime.allocators.mutex;
    sem_t copy;
    int value;

    return lock && (uintptr_t)lock % sizeof(void *) == 0 && pie_safe_copy(&copy, lock, sizeof copy) &&
           sem_getvalue(&copy, &value) == 0 && value == 1;
}
