/* SPDX-License-Identifier: Apache-2.0 */
#define Py_BUILD_CORE 1
#include <Python.h>
#include <internal/pycore_interpframe_structs.h>
#undef Py_BUILD_CORE
#include <opcode.h>

#include "runtime/stacks/pyframe.h"

#include "profiler/base/safe_load.h"

/* CPython 3.14 and 3.15: as 3.13, but the executable's lowest bits are a tag, and shims have another owner. */
#if PY_VERSION_HEX < 0x030e0000 || PY_VERSION_HEX >= 0x03100000
#error "this file is for CPython 3.14 and 3.15"
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
#if PY_VERSION_HEX >= 0x030f0000
    [CALL_EX_NON_PY_GENERAL] = true,
    [CALL_EX_PY] = true,
#endif
    [CALL_FUNCTION_EX] = true,
    [CALL_ISINSTANCE] = true,
    [CALL_KW] = true,
    [CALL_KW_BOUND_METHOD] = true,
    [CALL_KW_NON_PY] = true,
    [CALL_KW_PY] = true,
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

#if PY_VERSION_HEX < 0x030f0000
enum { LAST_OWNER = FRAME_OWNED_BY_CSTACK };
#else
enum { LAST_OWNER = FRAME_OWNED_BY_INTERPRETER };
#endif

/* Of a stack reference: whether it is counted, or the number itself. Nothing is a tag without an address. */
enum { TAG_MASK = 3 };

const struct pie_pyframe_layout pie_pyframe_layout = {
    .executable = offsetof(_PyInterpreterFrame, f_executable),
    .previous = offsetof(_PyInterpreterFrame, previous),
    .instr = offsetof(_PyInterpreterFrame, instr_ptr),
    .owner = offsetof(_PyInterpreterFrame, owner),
    .tag_mask = TAG_MASK,
    .first_shim_owner = FRAME_OWNED_BY_INTERPRETER,
    .last_owner = LAST_OWNER,
#ifdef Py_GIL_DISABLED
    .copy_number = offsetof(_PyInterpreterFrame, tlbc_index),
    .copies = offsetof(PyCodeObject, co_tlbc),
    .bytecode = offsetof(PyCodeObject, co_code_adaptive),
#endif
};

const struct pie_pyframe_stack pie_pyframe_stack = {
    .previous_at = offsetof(_PyInterpreterFrame, previous),
    .code_at = offsetof(_PyInterpreterFrame, f_executable),
    .globals_at = offsetof(_PyInterpreterFrame, f_globals),
    .locals_at = offsetof(_PyInterpreterFrame, localsplus),
    .tag_mask = TAG_MASK,
    .borrowed = 1,
};

bool pie_pyframe_find_first(uintptr_t tstate, uintptr_t *ret_frame) {
    return pie_safe_load((const void *)(tstate + offsetof(PyThreadState, current_frame)), ret_frame);
}
