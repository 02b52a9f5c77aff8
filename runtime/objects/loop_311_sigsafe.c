/* SPDX-License-Identifier: Apache-2.0 */
#include <Python.h>

#include "runtime/objects/pydict.h"
#include "runtime/objects/tasks.h"

#include "profiler/base/safe_load.h"

#include <string.h>

/* CPython 3.11 and 3.12: the running loop is an item of the thread's own dict, in 3.11 within a holder whose first word
 * it is. */

enum { SLOTS_MAX = 64 };

static bool is_key(uintptr_t key) {
    static const char NAME[] = "__asyncio_running_event_loop__";
    char text[sizeof NAME - 1];
    uintptr_t length;

    return pie_task_type(key) == (uintptr_t)&PyUnicode_Type &&
           pie_task_load(key, offsetof(PyASCIIObject, length), &length) && length == sizeof text &&
           pie_safe_copy(text, (const void *)(key + sizeof(PyASCIIObject)), sizeof text) &&
           memcmp(text, NAME, sizeof text) == 0;
}

static uintptr_t held(uintptr_t value) {
#if PY_VERSION_HEX >= 0x030c0000
    return value;
#else
    uintptr_t loop;
    return PIE_TASK_HAS_NAME(pie_task_type(value), "_RunningLoopHolder") &&
                   pie_task_load(value, sizeof(PyObject), &loop)
               ? loop
               : 0;
#endif
}

uintptr_t pie_tasks_loop(uintptr_t tstate) {
    uintptr_t at, key, value;
    struct pie_pydict dict;

    if (!pie_task_load(tstate, offsetof(PyThreadState, dict), &at) ||
        pie_task_type(at) != (uintptr_t)&PyDict_Type || !pie_pydict_locate(at, &dict) || dict.is_split)
        return 0;
    for (uintptr_t i = 0; i < dict.slots && i < SLOTS_MAX; i++) {
        if (!pie_pydict_entry(&dict, i, &key, &value))
            return 0;
        if (key && is_key(key))
            return value != (uintptr_t)Py_None ? held(value) : 0;
    }
    return 0;
}
