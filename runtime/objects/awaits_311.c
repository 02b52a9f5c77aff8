/* SPDX-License-Identifier: Apache-2.0 */
#define Py_BUILD_CORE 1
#include <Python.h>
#include <internal/pycore_frame.h>
#undef Py_BUILD_CORE

#include "runtime/objects/awaits.h"
#include "runtime/stacks/pyframe.h"
#include "runtime/objects/task_name.h"

#include "profiler/base/safe_load.h"

#include <stdatomic.h>
#include <string.h>

/* CPython 3.11 to 3.13.
 *
 * All tasks are in a set of weak references. A task of the C module is a structure without a public declaration: behind
 * its head comes its loop, and one word further on points to its coroutine, the only one that is suspended; the next
 * one to its name, if that is text (a number is one that Python gave it). A coroutine
 * that waits for something has it on top of its frame's stack: another coroutine, a generator, a wrapper around one of
 * these, or the iterator of a future, whose first word is the future. Every load is fault-tolerant and every object's
 * type is looked at before the rest of it is.
 *
 * Behind the loop of a future or task comes what is called first when it is done. For a task that awaits it, that is a
 * function of C with the task as its self. gather() and wait() call a closure: one of its cells has the future that
 * their caller awaits. A task group has a method of its own called. */
#if PY_VERSION_HEX < 0x030b0000 || PY_VERSION_HEX >= 0x030e0000
#error "this file is for CPython 3.11 to 3.13"
#endif

#if PY_VERSION_HEX >= 0x030d0000
#define f_code f_executable
#define prev_instr instr_ptr
#endif

enum {
    LOOP_DEPTH_MAX = 8,   /* frames above the loop's own */
    SLOTS_MAX = 8192,     /* of the set that are looked at */
    TASK_BYTES_MAX = 512, /* of one that is looked at */
    STACK_MAX = 65536,    /* ends the look at a frame that is none */
    CHAIN_MAX = 64,       /* coroutines of a task */
    CELLS_MAX = 16,       /* of a closure */
    FIRST_WORD = sizeof(PyObject),
    CALLBACK = FIRST_WORD + sizeof(PyObject *),
};

static _Atomic uintptr_t tasks_set; /* 0: not known; relaxed: checked before use. Fork child: as it was */

void pie_awaits_set_tasks(uintptr_t set) {
    atomic_store_explicit(&tasks_set, set, memory_order_relaxed);
}

bool pie_awaits_has_tasks(void) {
    return atomic_load_explicit(&tasks_set, memory_order_relaxed) != 0;
}

static bool load(uintptr_t base, size_t offset, uintptr_t *ret) {
    return pie_safe_load((const void *)(base + offset), ret);
}

static uintptr_t type_of(uintptr_t object) {
    uintptr_t type;

    return pie_pyframe_is_pointer(object) && load(object, offsetof(PyObject, ob_type), &type) ? type : 0;
}

static bool has_name(uintptr_t type, const char *name, size_t bytes) {
    uintptr_t at;
    char text[32];

    return type && load(type, offsetof(PyTypeObject, tp_name), &at) &&
           pie_safe_copy(text, (const void *)at, bytes) && memcmp(text, name, bytes) == 0;
}

#define HAS_NAME(type, name) has_name(type, name, sizeof(name))

/* Is it a coroutine or generator that has begun and waits? */
static bool is_suspended(uintptr_t object) {
    uintptr_t type = type_of(object);
    int8_t state;

    if (type != (uintptr_t)&PyCoro_Type && type != (uintptr_t)&PyGen_Type &&
        type != (uintptr_t)&PyAsyncGen_Type)
        return false;
    return pie_safe_copy(&state, (const void *)(object + offsetof(PyGenObject, gi_frame_state)), 1) &&
           state < FRAME_EXECUTING && state > FRAME_CREATED;
}

/* Does it wait for what is on top of its stack, and not just yield a value? */
static bool yields_from(uintptr_t generator, uintptr_t instr) {
#if PY_VERSION_HEX >= 0x030d0000
    int8_t state;
    return pie_safe_copy(&state, (const void *)(generator + offsetof(PyGenObject, gi_frame_state)), 1) &&
           state == FRAME_SUSPENDED_YIELD_FROM;
#else
    uint8_t argument; /* of the RESUME behind the YIELD_VALUE: 2 after `yield from`, 3 after `await` */
    return pie_safe_load_byte((const void *)(instr + PIE_PYFRAME_UNIT_BYTES + 1), &argument) && argument >= 2;
#endif
}

/* What is on top of a suspended frame's stack; 0: nothing. */
static uintptr_t top_of(uintptr_t frame) {
    uintptr_t top;
    int height;

    if (!pie_safe_copy(&height, (const void *)(frame + offsetof(_PyInterpreterFrame, stacktop)),
                       sizeof height) ||
        height <= 0 || height > STACK_MAX)
        return 0;
    return load(frame, offsetof(_PyInterpreterFrame, localsplus) + ((size_t)height - 1) * sizeof top, &top)
               ? top
               : 0;
}

/* The coroutine or generator inside of what is awaited, or the object itself. */
static uintptr_t unwrapped(uintptr_t object) {
    uintptr_t type = type_of(object), inner;

    if ((type == (uintptr_t)&_PyAsyncGenASend_Type || HAS_NAME(type, "coroutine_wrapper")) &&
        load(object, FIRST_WORD, &inner))
        return inner;
    return object;
}

/* Writes the frame of a suspended coroutine; returns what it waits for, 0: not known. */
static uintptr_t read_coroutine(uintptr_t coroutine, struct pie_pyframe *ret_frame) {
    uintptr_t frame = coroutine + offsetof(PyGenObject, gi_iframe), code, instr;

    if (!load(frame, offsetof(_PyInterpreterFrame, f_code), &code) ||
        !load(frame, offsetof(_PyInterpreterFrame, prev_instr), &instr) ||
        pie_pyframe_classify(code, instr) != PIE_PYFRAME_PYTHON)
        return 0;
    *ret_frame = (struct pie_pyframe){.code = code, .instr = instr};
    return yields_from(coroutine, instr) ? unwrapped(top_of(frame)) : 0;
}

/* Its chain of coroutines into frames; awaits->count 0 if it has none. */
static void read_chain(uintptr_t coroutine, struct pie_pyframe *frames, size_t max, struct pie_await *await) {
    uintptr_t at = coroutine;

    while (await->count < max && await->count < CHAIN_MAX && is_suspended(at)) {
        uintptr_t local = at + offsetof(PyGenObject, gi_iframe) + offsetof(_PyInterpreterFrame, localsplus);
        frames[await->count].code = 0;
        at = read_coroutine(at, &frames[await->count]);
        if (!frames[await->count].code)
            return;
        if (!load(local, 0, &await->self))
            await->self = 0;
        await->count++;
    }
    if (!HAS_NAME(type_of(at), "_asyncio.FutureIter") || !load(at, FIRST_WORD, &await->awaits))
        return;
    await->is_gather = HAS_NAME(type_of(await->awaits), "_GatheringFuture");
}

/* The task that a future or task wakes first; 0: none. */
static uintptr_t woken_by(uintptr_t future) {
    uintptr_t callback, task;

    if (!load(future, CALLBACK, &callback) || type_of(callback) != (uintptr_t)&PyCFunction_Type ||
        !load(callback, offsetof(PyCFunctionObject, m_self), &task))
        return 0;
    return HAS_NAME(type_of(task), "_asyncio.Task") ? task : 0;
}

/* The same of the futures in a closure's cells. */
static uintptr_t woken_by_closure(uintptr_t function) {
    uintptr_t closure, cell, future, count;

    if (!load(function, offsetof(PyFunctionObject, func_closure), &closure) ||
        type_of(closure) != (uintptr_t)&PyTuple_Type ||
        !load(closure, offsetof(PyVarObject, ob_size), &count) || count > CELLS_MAX)
        return 0;
    for (uintptr_t i = 0; i < count; i++) {
        uintptr_t type;
        if (!load(closure, offsetof(PyTupleObject, ob_item) + i * sizeof cell, &cell) ||
            type_of(cell) != (uintptr_t)&PyCell_Type ||
            !load(cell, offsetof(PyCellObject, ob_ref), &future) || !(type = type_of(future)) ||
            !(HAS_NAME(type, "_GatheringFuture") || HAS_NAME(type, "_asyncio.Future")))
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

    if (!load(task, CALLBACK, &callback) || !(type = type_of(callback)))
        return;
    if (type == (uintptr_t)&PyCFunction_Type)
        await->awaiter = woken_by(task);
    else if (type == (uintptr_t)&PyFunction_Type)
        await->awaiter = woken_by_closure(callback);
    else if (type == (uintptr_t)&PyMethod_Type &&
             !load(callback, offsetof(PyMethodObject, im_self), &await->group))
        await->group = 0;
}

/* The coroutine of a task of this loop, and the name that the word behind it points to; 0: none, or it is not
 * suspended. */
static uintptr_t coroutine_of(uintptr_t task, uintptr_t loop, uintptr_t *ret_name) {
    uintptr_t type = type_of(task), bytes, word;

    if (!type || !load(task, FIRST_WORD, &word) || word != loop ||
        !load(type, offsetof(PyTypeObject, tp_basicsize), &bytes) || bytes > TASK_BYTES_MAX)
        return 0;
    for (size_t at = FIRST_WORD + sizeof word; at + 2 * sizeof word <= bytes; at += sizeof word)
        if (load(task, at, &word) && is_suspended(word))
            return load(task, at + sizeof word, ret_name) ? word : 0;
    return 0;
}

/* The object `self` of the frame that runs loop_code. */
static uintptr_t find_loop(uintptr_t tstate, uintptr_t loop_code) {
    uintptr_t frame, code, loop;

    if (!pie_pyframe_find_first(tstate, &frame))
        return 0;
    for (int i = 0; i < LOOP_DEPTH_MAX && pie_pyframe_is_pointer(frame); i++) {
        if (!load(frame, offsetof(_PyInterpreterFrame, f_code), &code))
            return 0;
        if (code == loop_code)
            return load(frame, offsetof(_PyInterpreterFrame, localsplus), &loop) ? loop : 0;
        if (!load(frame, offsetof(_PyInterpreterFrame, previous), &frame))
            return 0;
    }
    return 0;
}

static uintptr_t task_in_slot(uintptr_t table, uintptr_t slot) {
    uintptr_t reference, task;
    uintptr_t entry = table + slot * sizeof(setentry);

    if (!load(entry, offsetof(setentry, key), &reference) ||
        type_of(reference) != (uintptr_t)&_PyWeakref_RefType ||
        !load(reference, offsetof(PyWeakReference, wr_object), &task))
        return 0;
    return task;
}

/* The tasks that are found, and their frames. */
struct found {
    uintptr_t loop;
    struct pie_pyframe *frames;
    size_t max_frames;
    uint32_t used_frames;
    struct pie_await *awaits;
    size_t n;
};

static void add_task(struct found *found, uintptr_t task) {
    uintptr_t name, coroutine = task ? coroutine_of(task, found->loop, &name) : 0;
    struct pie_await await = {.task = task, .first = found->used_frames};

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

static bool has_task(const struct found *found, uintptr_t task) {
    for (size_t i = 0; i < found->n; i++)
        if (found->awaits[i].task == task)
            return true;
    return false;
}

/* Those that wait for others may be few among many. */
static void add_awaiters(struct found *found, size_t max) {
    for (size_t i = 0; i < found->n && found->n < max && found->used_frames < found->max_frames; i++)
        if (found->awaits[i].awaiter && !has_task(found, found->awaits[i].awaiter))
            add_task(found, found->awaits[i].awaiter);
}

size_t pie_awaits_find(uintptr_t tstate, uintptr_t loop_code, uint64_t random, struct pie_pyframe *frames,
                       size_t max_frames, struct pie_await *awaits, size_t max) {
    uintptr_t set = atomic_load_explicit(&tasks_set, memory_order_relaxed), mask, table;
    struct found found = {.frames = frames, .max_frames = max_frames, .awaits = awaits};

    if (type_of(set) != (uintptr_t)&PySet_Type)
        return 0;
    found.loop = find_loop(tstate, loop_code);
    if (!found.loop || !load(set, offsetof(PySetObject, mask), &mask) ||
        !load(set, offsetof(PySetObject, table), &table))
        return 0;
    for (uintptr_t i = 0;
         i <= mask && i < SLOTS_MAX && found.n < max - max / 3 && found.used_frames < max_frames; i++)
        add_task(&found, task_in_slot(table, (random + i) & mask));
    add_awaiters(&found, max);
    return found.n;
}
