/* SPDX-License-Identifier: Apache-2.0 */
#include <Python.h>

#include "runtime/objects/awaits.h"
#include "runtime/objects/task_name.h"
#include "runtime/objects/tasks.h"

#include <string.h>

/* A coroutine waits for another coroutine, a generator, a wrapper around one of these, or the iterator of a future,
 * whose first word is the future.
 *
 * Behind the loop of a future or task comes what is called first when it is done. For a task that awaits it, that is a
 * function of C with the task as its self. gather() and wait() call a closure: one of its cells has the future that
 * their caller awaits. A task group has a method of its own called. From 3.14 on it is also noted who waits. */

enum {
    CHAIN_MAX = 64, /* coroutines of a task */
    CELLS_MAX = 16, /* of a closure */
    FIRST_WORD = sizeof(PyObject),
    CALLBACK = FIRST_WORD + sizeof(PyObject *),
};

/* The coroutine or generator inside of what is awaited, or the object itself. */
static uintptr_t unwrapped(uintptr_t object) {
    uintptr_t type = pie_task_type(object), inner;

    if ((type == (uintptr_t)&_PyAsyncGenASend_Type || PIE_TASK_HAS_NAME(type, "coroutine_wrapper")) &&
        pie_task_load(object, FIRST_WORD, &inner))
        return inner;
    return object;
}

/* Its chain of coroutines into frames; awaits->count 0 if it has none. */
static void read_chain(uintptr_t coroutine, struct pie_pyframe *frames, size_t max, struct pie_await *await) {
    uintptr_t at = coroutine;

    while (await->count < max && await->count < CHAIN_MAX && pie_coroutine_is_suspended(at)) {
        await->self = pie_coroutine_self(at);
        frames[await->count].code = 0;
        at = unwrapped(pie_coroutine_read(at, &frames[await->count]));
        if (!frames[await->count].code)
            return;
        await->count++;
    }
    if (!PIE_TASK_HAS_NAME(pie_task_type(at), "_asyncio.FutureIter") ||
        !pie_task_load(at, FIRST_WORD, &await->awaits))
        return;
    await->is_gather = PIE_TASK_HAS_NAME(pie_task_type(await->awaits), "_GatheringFuture");
}

/* The task that a future or task wakes first; 0: none. */
static uintptr_t woken_by(uintptr_t future) {
    uintptr_t callback, task;

    if (!pie_task_load(future, CALLBACK, &callback) ||
        pie_task_type(callback) != (uintptr_t)&PyCFunction_Type ||
        !pie_task_load(callback, offsetof(PyCFunctionObject, m_self), &task))
        return 0;
    return pie_task_is(task) ? task : 0;
}

/* The same of the futures in a closure's cells. */
static uintptr_t woken_by_closure(uintptr_t function) {
    uintptr_t closure, cell, future, count;

    if (!pie_task_load(function, offsetof(PyFunctionObject, func_closure), &closure) ||
        pie_task_type(closure) != (uintptr_t)&PyTuple_Type ||
        !pie_task_load(closure, offsetof(PyVarObject, ob_size), &count) || count > CELLS_MAX)
        return 0;
    for (uintptr_t i = 0; i < count; i++) {
        uintptr_t type;
        if (!pie_task_load(closure, offsetof(PyTupleObject, ob_item) + i * sizeof cell, &cell) ||
            pie_task_type(cell) != (uintptr_t)&PyCell_Type ||
            !pie_task_load(cell, offsetof(PyCellObject, ob_ref), &future) ||
            !(type = pie_task_type(future)) ||
            !(PIE_TASK_HAS_NAME(type, "_GatheringFuture") || PIE_TASK_HAS_NAME(type, "_asyncio.Future")))
            continue;
        uintptr_t task = woken_by(future);
        if (task)
            return task;
    }
    return 0;
}

/* Who waits for this task? */
static void read_awaiter(uintptr_t task, struct pie_await *await) {
    uintptr_t callback, type;

    await->awaiter = pie_tasks_awaited_by(task);
    if (await->awaiter || !pie_task_load(task, CALLBACK, &callback) || !(type = pie_task_type(callback)))
        return;
    if (type == (uintptr_t)&PyCFunction_Type)
        await->awaiter = woken_by(task);
    else if (type == (uintptr_t)&PyFunction_Type)
        await->awaiter = woken_by_closure(callback);
    else if (type == (uintptr_t)&PyMethod_Type &&
             !pie_task_load(callback, offsetof(PyMethodObject, im_self), &await->group))
        await->group = 0;
}

/* The tasks that are found, and their frames. */
struct found {
    uintptr_t loop;
    struct pie_pyframe *frames;
    size_t max_frames;
    uint32_t used_frames;
    struct pie_await *awaits;
    size_t n, max;
};

static bool has_room(const struct found *found, size_t max) {
    return found->n < max && found->used_frames < found->max_frames;
}

static void add_task(struct found *found, uintptr_t task) {
    struct pie_await await = {.task = task, .first = found->used_frames};
    uintptr_t name, coroutine = pie_task_coroutine(task, found->loop, pie_coroutine_is_suspended, &name);

    if (!coroutine)
        return;
    read_chain(coroutine, found->frames + found->used_frames, found->max_frames - found->used_frames, &await);
    found->used_frames += await.count;
    if (await.count == 0)
        return;
    read_awaiter(task, &await);
    pie_task_name_read(name, await.name);
    found->awaits[found->n++] = await;
}

/* A third of the room is for tasks that wait for others. */
static bool add(void *data, uintptr_t task) {
    struct found *found = data;

    add_task(found, task);
    return has_room(found, found->max - found->max / 3);
}

static bool has_task(const struct found *found, uintptr_t task) {
    for (size_t i = 0; i < found->n; i++)
        if (found->awaits[i].task == task)
            return true;
    return false;
}

/* Those that wait for others may be few among many. */
static void add_awaiters(struct found *found) {
    for (size_t i = 0; i < found->n && has_room(found, found->max); i++)
        if (found->awaits[i].awaiter && !has_task(found, found->awaits[i].awaiter))
            add_task(found, found->awaits[i].awaiter);
}

size_t pie_awaits_find(uintptr_t tstate, uint64_t random, struct pie_pyframe *frames, size_t max_frames,
                       struct pie_await *awaits, size_t max) {
    struct found found = {.loop = pie_tasks_loop(tstate),
                          .frames = frames,
                          .max_frames = max_frames,
                          .awaits = awaits,
                          .max = max};

    if (!found.loop || !pie_tasks_has_places())
        return 0;
    pie_tasks_each(tstate, random, add, &found);
    add_awaiters(&found);
    return found.n;
}
