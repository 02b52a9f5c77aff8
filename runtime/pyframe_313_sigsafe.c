/* SPDX-License-Identifier: Apache-2.0 */
#define Py_BUILD_CORE 1
#include <Python.h>
#include <internal/pycore_frame.h>
#include <internal/pycore_interp.h>
#include <internal/pycore_runtime.h>
#undef Py_BUILD_CORE
#include <opcode.h>

#include "runtime/pyframe.h"

#include <errno.h>
#include <string.h>

#include "profiler/safe_load.h"

/* CPython 3.13: tstate->current_frame begins the chain with shims (pyframe_shims_sigsafe.c); one store publishes a new
 * frame, so there are no remains to be met. instr_ptr points to the instruction that runs. `__init__` called by an
 * inlined constructor has a frame of the interpreter's own behind it, a trampoline. */
#if PY_VERSION_HEX < 0x030d0000 || PY_VERSION_HEX >= 0x030e0000
#error "this file is for CPython 3.13"
#endif

const bool pie_pyframe_calls[256] = {
    [CALL] = true,
    [CALL_ALLOC_AND_ENTER_INIT] = true,
    [CALL_BOUND_METHOD_EXACT_ARGS] = true,
    [CALL_BOUND_METHOD_GENERAL] = true,
    [CALL_BUILTIN_CLASS] = true,
    [CALL_BUILTIN_FAST] = true,
    [CALL_BUILTIN_FAST_WITH_KEYWORDS] = true,
    [CALL_BUILTIN_O] = true,
    [CALL_FUNCTION_EX] = true,
    [CALL_ISINSTANCE] = true,
    [CALL_KW] = true,
    [CALL_LEN] = true,
    [CALL_LIST_APPEND] = true,
    [CALL_METHOD_DESCRIPTOR_FAST] = true,
    [CALL_METHOD_DESCRIPTOR_FAST_WITH_KEYWORDS] = true,
    [CALL_METHOD_DESCRIPTOR_NOARGS] = true,
    [CALL_METHOD_DESCRIPTOR_O] = true,
    [CALL_NON_PY_GENERAL] = true,
    [CALL_PY_EXACT_ARGS] = true,
    [CALL_PY_GENERAL] = true,
    [CALL_STR_1] = true,
    [CALL_TUPLE_1] = true,
    [CALL_TYPE_1] = true,
    [INSTRUMENTED_CALL] = true,
    [INSTRUMENTED_CALL_FUNCTION_EX] = true,
    [INSTRUMENTED_CALL_KW] = true,
};

static const struct pie_pyframe_layout layout = {
    .executable = offsetof(_PyInterpreterFrame, f_executable),
    .previous = offsetof(_PyInterpreterFrame, previous),
    .instr = offsetof(_PyInterpreterFrame, instr_ptr),
    .owner = offsetof(_PyInterpreterFrame, owner),
    .first_shim_owner = FRAME_OWNED_BY_CSTACK,
    .last_owner = FRAME_OWNED_BY_CSTACK,
};

/* What this process's interpreter says of itself against what the headers said. */
static bool offsets_agree(const _Py_DebugOffsets *offsets) {
    return offsets->thread_state.current_frame == offsetof(PyThreadState, current_frame) &&
           offsets->interpreter_frame.executable == layout.executable &&
           offsets->interpreter_frame.previous == layout.previous &&
           offsets->interpreter_frame.instr_ptr == layout.instr &&
           offsets->interpreter_frame.owner == layout.owner &&
           offsets->code_object.filename == offsetof(PyCodeObject, co_filename) &&
           offsets->code_object.qualname == offsetof(PyCodeObject, co_qualname) &&
           offsets->code_object.linetable == offsetof(PyCodeObject, co_linetable) &&
           offsets->code_object.firstlineno == offsetof(PyCodeObject, co_firstlineno) &&
           offsets->code_object.co_code_adaptive == offsetof(PyCodeObject, co_code_adaptive);
}

int pie_pyframe_check(const char **ret_reason) {
    const _Py_DebugOffsets *offsets = &_PyRuntime.debug_offsets;

    if (memcmp(offsets->cookie, _Py_Debug_Cookie, sizeof offsets->cookie) != 0)
        *ret_reason = "the libpython in this process does not describe its structures";
    else if (offsets->version >> 16 != PY_VERSION_HEX >> 16 || !offsets_agree(offsets))
        *ret_reason = "the libpython in this process is not the one that pieprof was built with";
    else if (offsets->free_threaded)
        *ret_reason = "Python stacks of a free-threaded Python cannot be read";
    else
        return 0;
    return -ENOTSUP;
}

static bool find_first(uintptr_t tstate, uintptr_t *ret_frame) {
    return pie_safe_load((const void *)(tstate + offsetof(PyThreadState, current_frame)), ret_frame);
}

size_t pie_pyframe_walk(uintptr_t tstate, struct pie_pyframe *frames, size_t max, unsigned *ret_flags) {
    uintptr_t frame;

    *ret_flags = 0;
    if (!tstate)
        return 0;
    *ret_flags = PIE_PYSTACK_PYTHON_THREAD;
    if (!find_first(tstate, &frame)) {
        *ret_flags |= PIE_PYSTACK_INVALID;
        return 0;
    }
    return pie_pyframe_walk_shims(&layout, tstate, frame, frames, max, ret_flags);
}

uintptr_t pie_pyframe_find_tstate(int32_t tid) {
    uintptr_t first = 0;

    pie_safe_load(&_PyRuntime.interpreters.head, &first);
    const struct pie_pyframe_lists lists = {
        .first_interpreter = first,
        .next_interpreter = offsetof(PyInterpreterState, next),
        .first_thread = offsetof(PyInterpreterState, threads.head),
    };
    return pie_pyframe_search_lists(&lists, tid);
}
