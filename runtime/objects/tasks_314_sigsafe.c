/* SPDX-License-Identifier: Apache-2.0 */
#define Py_BUILD_CORE 1
#include <Python.h>
#include <internal/pycore_tstate.h>
#undef Py_BUILD_CORE

#include "runtime/objects/tasks.h"

#include "profiler/base/safe_load.h"

#include <stdatomic.h>

/* CPython 3.14 and 3.15: the thread's state has the running task and a ring of all tasks of the thread's loops, by a
 * node that is the last member of a task. Who waits for a task is noted in it: another task, or a set of them. */

enum {
    TASKS_MAX = 8192, /* of the ring that are looked at */
    SLOTS_MAX = 64,   /* of a set */
    NODE_BYTES = sizeof(struct llist_node),
    HEAD = offsetof(_PyThreadStateImpl, asyncio_tasks_head),
    NEXT = offsetof(struct llist_node, next),
};

/* What a task of the C module begins with; its structure has no public declaration. */
struct future_head {
    PyObject head;
    PyObject *loop, *callback, *context, *callbacks, *exception, *exception_traceback, *result, *source,
        *cancel_message, *cancelled, *awaited_by;
};

static _Atomic uintptr_t task_bytes; /* 0: not known; relaxed. Fork child: as it was */

void pie_tasks_set_places(const struct pie_tasks_places *places) {
    atomic_store_explicit(&task_bytes, places->task_bytes, memory_order_relaxed);
}

bool pie_tasks_has_places(void) {
    return atomic_load_explicit(&task_bytes, memory_order_relaxed) != 0;
}

uintptr_t pie_tasks_current(uintptr_t tstate, uintptr_t *ret_loop) {
    uintptr_t task;

    return pie_task_load(tstate, offsetof(_PyThreadStateImpl, asyncio_running_task), &task) && task &&
                   (*ret_loop = pie_tasks_loop(tstate))
               ? task
               : 0;
}

static size_t length_of(uintptr_t head) {
    uintptr_t node = head;
    size_t length = 0;

    while (length < TASKS_MAX && pie_task_load(node, NEXT, &node) && node && node != head)
        length++;
    return length;
}

void pie_tasks_each(uintptr_t tstate, uint64_t random, bool (*add)(void *data, uintptr_t task), void *data) {
    uintptr_t bytes = atomic_load_explicit(&task_bytes, memory_order_relaxed), head = tstate + HEAD,
              node = head;
    size_t length = bytes > NODE_BYTES ? length_of(head) : 0;

    for (size_t i = length ? random % length : 0; i > 0; i--)
        if (!pie_task_load(node, NEXT, &node))
            return;
    for (size_t i = 0; i < length && pie_task_load(node, NEXT, &node); i++) {
        if (node == head && !pie_task_load(node, NEXT, &node))
            return;
        if (!add(data, node + NODE_BYTES - bytes))
            return;
    }
}

/* Of several it is any one. */
static uintptr_t first_of(uintptr_t set) {
    uintptr_t mask, table, key;

    if (!pie_task_load(set, offsetof(PySetObject, mask), &mask) ||
        !pie_task_load(set, offsetof(PySetObject, table), &table))
        return 0;
    for (uintptr_t i = 0; i <= mask && i < SLOTS_MAX; i++)
        if (pie_task_load(table + i * sizeof(setentry), offsetof(setentry, key), &key) && pie_task_is(key))
            return key;
    return 0;
}

uintptr_t pie_tasks_awaited_by(uintptr_t future) {
    uintptr_t by;

    if (!pie_task_load(future, offsetof(struct future_head, awaited_by), &by) || !by)
        return 0;
    if (pie_task_type(by) == (uintptr_t)&PySet_Type)
        return first_of(by);
    return pie_task_is(by) ? by : 0;
}
