/* SPDX-License-Identifier: Apache-2.0 */
#include <Python.h>

#include "runtime/objects/task_name.h"
#include "runtime/objects/tasks.h"
#include "runtime/stacks/pyframe.h"

#include "profiler/base/safe_load.h"

#include <stdatomic.h>
#include <string.h>

/* A task of the C module is a structure without a public declaration: behind its head comes its loop, and further on
 * its coroutine, the only one among its members; the next one is its name, if that is text (a number is one that Python
 * gave it). */

enum {
    TASK_BYTES_MAX = 512, /* of one that is looked at */
    BASES_MAX = 8,        /* of a loop's type */
    NAME_BYTES_MAX = 32,
    FIRST_WORD = sizeof(PyObject),
    FUTURE_WORDS = 8, /* behind its head a future has more, and none is a coroutine */
};

/* Where the last task had its coroutine. The next one has it there, too, but for one of another class. Fork child: as
 * it was. */
static _Atomic size_t coroutine_at;

bool pie_task_load(uintptr_t base, size_t offset, uintptr_t *ret) {
    return pie_safe_load((const void *)(base + offset), ret);
}

uintptr_t pie_task_type(uintptr_t object) {
    uintptr_t type;

    return pie_pyframe_is_pointer(object) && pie_task_load(object, offsetof(PyObject, ob_type), &type) ? type
                                                                                                       : 0;
}

bool pie_task_has_name(uintptr_t type, const char *name, size_t bytes) {
    uintptr_t at;
    char text[NAME_BYTES_MAX];

    return type && pie_task_load(type, offsetof(PyTypeObject, tp_name), &at) &&
           pie_safe_copy(text, (const void *)at, bytes) && memcmp(text, name, bytes) == 0;
}

bool pie_task_is(uintptr_t object) {
    return PIE_TASK_HAS_NAME(pie_task_type(object), "_asyncio.Task");
}

uintptr_t pie_task_coroutine(uintptr_t task, uintptr_t loop, bool (*is_wanted)(uintptr_t coroutine),
                             uintptr_t *ret_name) {
    uintptr_t type = pie_task_type(task), bytes, word;

    if (!type || !pie_task_load(task, FIRST_WORD, &word) || word != loop ||
        !pie_task_load(type, offsetof(PyTypeObject, tp_basicsize), &bytes) || bytes > TASK_BYTES_MAX)
        return 0;
    size_t known = atomic_load_explicit(&coroutine_at, memory_order_relaxed);
    if (known && known + 2 * sizeof word <= bytes && pie_task_load(task, known, &word) && is_wanted(word))
        return pie_task_load(task, known + sizeof word, ret_name) ? word : 0;
    for (size_t at = FIRST_WORD + FUTURE_WORDS * sizeof word; at + 2 * sizeof word <= bytes;
         at += sizeof word)
        if (pie_task_load(task, at, &word) && is_wanted(word)) {
            atomic_store_explicit(&coroutine_at, at, memory_order_relaxed);
            return pie_task_load(task, at + sizeof word, ret_name) ? word : 0;
        }
    return 0;
}

enum pie_task_found pie_task_running(uintptr_t tstate, struct pie_running_task *ret_task) {
    uintptr_t loop, name, task = tstate && pie_tasks_has_places() ? pie_tasks_current(tstate, &loop) : 0;

    if (!task)
        return PIE_TASK_FOUND_NONE;
    uintptr_t coroutine = pie_task_coroutine(task, loop, pie_coroutine_is, &name);
    if (!coroutine)
        return PIE_TASK_FOUND_UNREADABLE;
    ret_task->code = pie_coroutine_is_running(coroutine) ? pie_coroutine_code(coroutine) : 0;
    pie_task_name_read(name, ret_task->name);
    return PIE_TASK_FOUND;
}

bool pie_task_in_foreign_loop(uintptr_t tstate) {
    uintptr_t loop = tstate ? pie_tasks_loop(tstate) : 0, type = pie_task_type(loop);

    if (!type || pie_tasks_current(tstate, &loop))
        return false;
    for (int i = 0; i < BASES_MAX && type; i++)
        if (PIE_TASK_HAS_NAME(type, "BaseEventLoop") ||
            !pie_task_load(type, offsetof(PyTypeObject, tp_base), &type))
            return false;
    return true;
}
