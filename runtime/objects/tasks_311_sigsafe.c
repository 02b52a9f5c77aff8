/* SPDX-License-Identifier: Apache-2.0 */
#include <Python.h>

#include "runtime/objects/pydict.h"
#include "runtime/objects/tasks.h"

#include "profiler/base/safe_load.h"

#include <stdatomic.h>

/* CPython 3.11 to 3.13: all tasks are in a set of weak references, and the running ones in a dict by their loops. */

enum {
    SET_SLOTS_MAX = 8192, /* of the set that are looked at */
    DICT_SLOTS_MAX = 256, /* of the dict */
};

/* Relaxed: checked before use. Fork child: as they were. */
static _Atomic uintptr_t tasks_set, current_tasks;

void pie_tasks_set_places(const struct pie_tasks_places *places) {
    atomic_store_explicit(&tasks_set, places->set, memory_order_relaxed);
    atomic_store_explicit(&current_tasks, places->current, memory_order_relaxed);
}

bool pie_tasks_has_places(void) {
    return atomic_load_explicit(&tasks_set, memory_order_relaxed) != 0;
}

/* Between steps the dict is empty. */
uintptr_t pie_tasks_current(uintptr_t tstate, uintptr_t *ret_loop) {
    uintptr_t at = atomic_load_explicit(&current_tasks, memory_order_relaxed), key, value;
    struct pie_pydict dict;

    if (!at || pie_task_type(at) != (uintptr_t)&PyDict_Type || !pie_pydict_locate(at, &dict) ||
        dict.used == 0 || !(*ret_loop = pie_tasks_loop(tstate)))
        return 0;
    for (uintptr_t i = 0; i < dict.slots && i < DICT_SLOTS_MAX; i++) {
        if (!pie_pydict_entry(&dict, i, &key, &value))
            return 0;
        if (key == *ret_loop)
            return value;
    }
    return 0;
}

static uintptr_t task_in_slot(uintptr_t table, uintptr_t slot) {
    uintptr_t reference, task;
    uintptr_t entry = table + slot * sizeof(setentry);

    if (!pie_task_load(entry, offsetof(setentry, key), &reference) ||
        pie_task_type(reference) != (uintptr_t)&_PyWeakref_RefType ||
        !pie_task_load(reference, offsetof(PyWeakReference, wr_object), &task))
        return 0;
    return task;
}

void pie_tasks_each(uintptr_t tstate, uint64_t random, bool (*add)(void *data, uintptr_t task), void *data) {
    uintptr_t set = atomic_load_explicit(&tasks_set, memory_order_relaxed), mask, table;

    if (pie_task_type(set) != (uintptr_t)&PySet_Type ||
        !pie_task_load(set, offsetof(PySetObject, mask), &mask) ||
        !pie_task_load(set, offsetof(PySetObject, table), &table))
        return;
    for (uintptr_t i = 0; i <= mask && i < SET_SLOTS_MAX; i++) {
        uintptr_t task = task_in_slot(table, (random + i) & mask);
        if (task && !add(data, task))
            return;
    }
}

uintptr_t pie_tasks_awaited_by(uintptr_t future) {
    return 0;
}
