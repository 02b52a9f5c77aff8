/* SPDX-License-Identifier: Apache-2.0 */
#include <Python.h>

#include "runtime/objects/pydict.h"
#include "runtime/objects/tasks.h"

#include "profiler/base/safe_load.h"

#include <stdatomic.h>
#include <string.h>

/* CPython 3.11 and 3.12: the running loop is an item of the thread's own dict, in 3.11 within a holder whose first word
 * it is. */

enum { SLOTS_MAX = 64 };

/* What has been found by its name once is known by its address from then on: the interned key, here, and the holder's
 * type. Should another object get such an address, the task that is looked for next is of another loop, and is none.
 * Fork child: as it was. */
static _Atomic uintptr_t known_key;

static bool is_known(const _Atomic uintptr_t *known, uintptr_t address) {
    return address && atomic_load_explicit(known, memory_order_relaxed) == address;
}

static bool is_named_key(uintptr_t key) {
    static const char NAME[] = "__asyncio_running_event_loop__";
    char text[sizeof NAME - 1];
    uintptr_t length;

    return pie_task_type(key) == (uintptr_t)&PyUnicode_Type &&
           pie_task_load(key, offsetof(PyASCIIObject, length), &length) && length == sizeof text &&
           pie_safe_copy(text, (const void *)(key + sizeof(PyASCIIObject)), sizeof text) &&
           memcmp(text, NAME, sizeof text) == 0;
}

static bool is_key(uintptr_t key) {
    if (is_known(&known_key, key))
        return true;
    if (!is_named_key(key))
        return false;
    atomic_store_explicit(&known_key, key, memory_order_relaxed);
    return true;
}

#if PY_VERSION_HEX < 0x030c0000
static _Atomic uintptr_t known_holder; /* as known_key */

static bool is_holder(uintptr_t type) {
    if (is_known(&known_holder, type))
        return true;
    if (!PIE_TASK_HAS_NAME(type, "_RunningLoopHolder"))
        return false;
    atomic_store_explicit(&known_holder, type, memory_order_relaxed);
    return true;
}
#endif

static uintptr_t held(uintptr_t value) {
#if PY_VERSION_HEX >= 0x030c0000
    return value;
#else
    uintptr_t loop;
    return is_holder(pie_task_type(value)) && pie_task_load(value, sizeof(PyObject), &loop) ? loop : 0;
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
