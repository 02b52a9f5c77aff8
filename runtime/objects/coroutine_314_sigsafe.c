/* SPDX-License-Identifier: Apache-2.0 */
#define Py_BUILD_CORE 1
#include <Python.h>
#include <internal/pycore_frame.h>
#include <internal/pycore_interpframe_structs.h>
#undef Py_BUILD_CORE

#include "runtime/objects/tasks.h"
#include "runtime/stacks/pyframe.h"

#include "profiler/base/safe_load.h"

/* CPython 3.14 and 3.15. A coroutine that waits for something has it on its frame's stack, to whose end its frame
 * points; the lowest bits of words there are a tag. */
#if PY_VERSION_HEX < 0x030e0000 || PY_VERSION_HEX >= 0x03100000
#error "this file is for CPython 3.14 and 3.15"
#endif

enum {
    FRAME = offsetof(PyGenObject, gi_iframe),
    LOCALS = offsetof(_PyInterpreterFrame, localsplus),
#if PY_VERSION_HEX >= 0x030f0000
    DEPTH = 2, /* above it lies the index of a loop, or nothing */
#else
    DEPTH = 1,
#endif
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

    return state_of(object, &state) && FRAME_STATE_SUSPENDED(state);
}

bool pie_coroutine_is_running(uintptr_t object) {
    int8_t state;

    return state_of(object, &state) && state == FRAME_EXECUTING;
}

static bool load_reference(uintptr_t at, uintptr_t *ret_object) {
    uintptr_t word;

    if (!pie_safe_load((const void *)at, &word))
        return false;
    *ret_object = word & ~pie_pyframe_stack.tag_mask;
    return true;
}

static uintptr_t awaited_by(uintptr_t frame) {
    uintptr_t end, object;

    return pie_task_load(frame, offsetof(_PyInterpreterFrame, stackpointer), &end) &&
                   end >= frame + LOCALS + DEPTH * sizeof end &&
                   load_reference(end - DEPTH * sizeof end, &object)
               ? object
               : 0;
}

uintptr_t pie_coroutine_code(uintptr_t coroutine) {
    uintptr_t code;

    return load_reference(coroutine + FRAME + offsetof(_PyInterpreterFrame, f_executable), &code) ? code : 0;
}

uintptr_t pie_coroutine_self(uintptr_t coroutine) {
    uintptr_t self;

    return load_reference(coroutine + FRAME + LOCALS, &self) ? self : 0;
}

uintptr_t pie_coroutine_read(uintptr_t coroutine, struct pie_pyframe *ret_frame) {
    uintptr_t frame = coroutine + FRAME, code = pie_coroutine_code(coroutine), instr;
    int8_t state;

    if (!code || !pie_task_load(frame, offsetof(_PyInterpreterFrame, instr_ptr), &instr) ||
        !pie_pyframe_leave_copy(frame, code, &instr) ||
        pie_pyframe_classify(code, instr) != PIE_PYFRAME_PYTHON)
        return 0;
    *ret_frame = (struct pie_pyframe){.code = code, .instr = instr};
    if (!state_of(coroutine, &state) || state == FRAME_SUSPENDED)
        return 0;
    return awaited_by(frame);
}
