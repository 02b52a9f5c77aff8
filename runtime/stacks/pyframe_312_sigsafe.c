/* SPDX-License-Identifier: Apache-2.0 */
#define Py_BUILD_CORE 1
#include <Python.h>
#include <internal/pycore_frame.h>
#undef Py_BUILD_CORE
#include <opcode.h>

#include "runtime/stacks/pyframe.h"

#include <errno.h>

#include "profiler/base/safe_load.h"

/* CPython 3.12: tstate->cframe points to the innermost loop's _PyCFrame, which has current_frame; from there the chain
 * with shims (pyframe_shims_sigsafe.c). prev_instr points to the instruction that runs, or to a cache entry of the call
 * in frames that wait for an inlined one.
 *
 * A new loop publishes its _PyCFrame some instructions before it stores current_frame, so remains of returned frames
 * can be met (pyframe_datastack_sigsafe.c). */
#if PY_VERSION_HEX < 0x030c0000 || PY_VERSION_HEX >= 0x030d0000
#error "this file is for CPython 3.12"
#endif

const bool pie_pyframe_calls[256] = {
    [CALL] = true,
    [CALL_BOUND_METHOD_EXACT_ARGS] = true,
    [CALL_BUILTIN_CLASS] = true,
    [CALL_BUILTIN_FAST_WITH_KEYWORDS] = true,
    [CALL_FUNCTION_EX] = true,
    [CALL_METHOD_DESCRIPTOR_FAST_WITH_KEYWORDS] = true,
    [CALL_NO_KW_BUILTIN_FAST] = true,
    [CALL_NO_KW_BUILTIN_O] = true,
    [CALL_NO_KW_ISINSTANCE] = true,
    [CALL_NO_KW_LEN] = true,
    [CALL_NO_KW_LIST_APPEND] = true,
    [CALL_NO_KW_METHOD_DESCRIPTOR_FAST] = true,
    [CALL_NO_KW_METHOD_DESCRIPTOR_NOARGS] = true,
    [CALL_NO_KW_METHOD_DESCRIPTOR_O] = true,
    [CALL_NO_KW_STR_1] = true,
    [CALL_NO_KW_TUPLE_1] = true,
    [CALL_NO_KW_TYPE_1] = true,
    [CALL_PY_EXACT_ARGS] = true,
    [CALL_PY_WITH_DEFAULTS] = true,
    [INSTRUMENTED_CALL] = true,
    [INSTRUMENTED_CALL_FUNCTION_EX] = true,
};

const struct pie_pyframe_layout pie_pyframe_layout = {
    .executable = offsetof(_PyInterpreterFrame, f_code),
    .previous = offsetof(_PyInterpreterFrame, previous),
    .instr = offsetof(_PyInterpreterFrame, prev_instr),
    .owner = offsetof(_PyInterpreterFrame, owner),
    .first_shim_owner = FRAME_OWNED_BY_CSTACK,
    .last_owner = FRAME_OWNED_BY_CSTACK,
    .is_live = pie_pyframe_is_live,
};

int pie_pyframe_check(const char **ret_reason) {
    if (Py_Version >> 16 == PY_VERSION_HEX >> 16)
        return 0;
    *ret_reason = "the libpython in this process is not the 3.12 that pieprof was built with";
    return -ENOTSUP;
}

const struct pie_pyframe_stack pie_pyframe_stack = {
    .previous_at = offsetof(_PyInterpreterFrame, previous),
    .code_at = offsetof(_PyInterpreterFrame, f_code),
    .globals_at = offsetof(_PyInterpreterFrame, f_globals),
    .locals_at = offsetof(_PyInterpreterFrame, localsplus),
};

bool pie_pyframe_find_first(uintptr_t tstate, uintptr_t *ret_frame) {
    uintptr_t cframe;

    return pie_safe_load((const void *)(tstate + offsetof(PyThreadState, cframe)), &cframe) &&
           pie_pyframe_is_pointer(cframe) &&
           pie_safe_load((const void *)(cframe + offsetof(_PyCFrame, current_frame)), ret_frame);
}
