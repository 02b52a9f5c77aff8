/* SPDX-License-Identifier: Apache-2.0 */
#define Py_BUILD_CORE 1
#include <Python.h>
#include <internal/pycore_frame.h>
#undef Py_BUILD_CORE

#include "runtime/objects/tasks.h"
#include "runtime/stacks/pyframe.h"

#include "profiler/base/safe_load.h"

/* CPython 3.11 to 3.13. A coroutine that waits for something has it on top of its frame's stack, whose height its frame
 * has. */
#if PY_VERSION_HEX < 0x030b0000 || PY_VERSION_HEX >= 0x030e0000
#error "this file is for CPython 3.11 to 3.13"
#endif

#if PY_VERSION_HEX >= 0x030d0000
#define f_code f_executable
#define prev_instr instr_ptr
#endif

enum {
    STACK_MAX = 65536, /* ends the look at a frame that is none */
    FRAME = offsetof(PyGenObject, gi_iframe),
    LOCALS = offsetof(_PyInterpreterFrame, localsplus),
};

static bool state_of(uintptr_t object, int8_t *ret_state) {
    uintptr_t type = pie_task_type(object);

    return (type == (uintptr_t)&PyCoro_Type || type == (uintptr_t)&PyGen_Type ||
            type == (uintptr_t)&PyAsyncGen_Type) &&
           pie_safe_copy(ret_state, (const void *)(object + offsetof(PyGenObject, gi_frame_state)), 1);
}

bool pie_coroutine_is(uintptr_t object) {
    int8_t state;

    return state_of(object, &state);
}

bool pie_coroutine_is_suspended(uintptr_t object) {
    int8_t state;

    return state_of(object, &state) && state < FRAME_EXECUTING && state > FRAME_CREATED;
}

bool pie_coroutine_is_running(uintptr_t object) {
    int8_t state;

    return state_of(object, &state) && state == FRAME_EXECUTING;
}

/* Does it wait for what is on top of its stack, and not just yield a value? */
static bool yields_from(uintptr_t generator, uintptr_t instr) {
#if PY_VERSION_HEX >= 0x030d0000
    int8_t state;
    return state_of(generator, &state) && state == FRAME_SUSPENDED_YIELD_FROM;
#else
    uint8_t argument; /* of the RESUME behind the YIELD_VALUE: 2 after `yield from`, 3 after `await` */
    return pie_safe_load_byte((const void *)(instr + PIE_PYFRAME_UNIT_BYTES + 1), &argument) && argument >= 2;
#endif
}

/* 0: nothing is there. */
static uintptr_t top_of(uintptr_t frame) {
    uintptr_t top;
    int height;

    if (!pie_safe_copy(&height, (const void *)(frame + offsetof(_PyInterpreterFrame, stacktop)),
                       sizeof height) ||
        height <= 0 || height > STACK_MAX)
        return 0;
    return pie_task_load(frame, LOCALS + ((size_t)height - 1) * sizeof top, &top) ? top : 0;
}

uintptr_t pie_coroutine_code(uintptr_t coroutine) {
    uintptr_t code;

    return pie_task_load(coroutine, FRAME + offsetof(_PyInterpreterFrame, f_code), &code) ? code : 0;
}

uintptr_t pie_coroutine_self(uintptr_t coroutine) {
    uintptr_t self;

    return pie_task_load(coroutine, FRAME + LOCALS, &self) ? self : 0;
}

uintptr_t pie_coroutine_read(uintptr_t coroutine, struct pie_pyframe *ret_frame) {
    uintptr_t frame = coroutine + FRAME, code = pie_coroutine_code(coroutine), instr;

    if (!code || !pie_task_load(frame, offsetof(_PyInterpreterFrame, prev_instr), &instr) ||
        pie_pyframe_classify(code, instr) != PIE_PYFRAME_PYTHON)
        return 0;
    *ret_frame = (struct pie_pyframe){.code = code, .instr = instr};
    return yields_from(coroutine, instr) ? top_of(frame) : 0;
}
