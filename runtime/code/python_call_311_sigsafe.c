/* SPDX-License-Identifier: Apache-2.0 */
#define Py_BUILD_CORE 1
#include <Python.h>
#include <internal/pycore_frame.h>
#undef Py_BUILD_CORE
#include <opcode.h>

#include "runtime/code/arguments.h"

#include "profiler/base/safe_load.h"
#include "runtime/code/pyops.h"
#include "runtime/code/registry.h"
#include "runtime/code/stack_depth.h"
#include "runtime/code/store.h"
#include "runtime/stacks/pyframe.h"

/* CPython 3.11: PRECALL has made a function and its self of a bound method, and CALL makes a frame of them. It leaves
 * out its two lowest slots, the callable's and the self's, and saves the depth below them in the caller's frame; there
 * the result is pushed. While a frame runs, that saved depth is -1: so it is no result that the caller itself pushes
 * there, as when it handles an exception.
 *
 * As the loop fetches CALL, the caller's prev_instr is at PRECALL; when CALL specialises itself, it is at CALL. */

enum {
    UNIT_BYTES = PIE_PYFRAME_UNIT_BYTES,
    CALLED_SLOTS = 2,
    ACTS_UNITS_MAX = 2048, /* some 10 us */
    GENERATORS = CO_GENERATOR | CO_COROUTINE | CO_ITERABLE_COROUTINE | CO_ASYNC_GENERATOR,
};

static bool load(uintptr_t base, size_t offset, uintptr_t *ret) {
    return pie_safe_load((const void *)(base + offset), ret);
}

static bool load_int(uintptr_t base, size_t offset, int32_t *ret) {
    return pie_safe_copy(ret, (const void *)(base + offset), sizeof *ret);
}

static uintptr_t caches_of(uint8_t opcode) {
    return (uintptr_t)pie_pyops_caches[opcode] * UNIT_BYTES;
}

/* A frame that waits for a function is at the last cache entry of CALL. */
static uintptr_t find_unit(uintptr_t code, uintptr_t instr) {
    uintptr_t unit = instr - caches_of(CALL);
    uint8_t opcode;

    if (unit < code + offsetof(PyCodeObject, co_code_adaptive) ||
        !pie_safe_load_byte((const void *)unit, &opcode) || pie_pyops_deopt[opcode] != CALL)
        return 0;
    return unit;
}

/* Is the unit one of this code, and the frame about to make its call? */
static bool is_at(uintptr_t frame, uintptr_t code, uintptr_t unit) {
    uintptr_t first = code + offsetof(PyCodeObject, co_code_adaptive), units, instr;

    return load(code, offsetof(PyVarObject, ob_size), &units) && unit >= first &&
           unit < first + units * UNIT_BYTES &&
           load(frame, offsetof(_PyInterpreterFrame, prev_instr), &instr) &&
           (instr == unit || instr == unit - UNIT_BYTES - caches_of(PRECALL));
}

/* The code of a function that the loop runs by itself and that returns when it is done. */
static bool find_callee(uintptr_t called, uintptr_t *ret_code) {
    uintptr_t first, second, type;
    int32_t flags;

    if (!load(called, 0, &first) || !load(called, sizeof first, &second))
        return false;
    uintptr_t function = first ? first : second;
    return pie_pyframe_is_pointer(function) && load(function, offsetof(PyObject, ob_type), &type) &&
           type == (uintptr_t)&PyFunction_Type &&
           load(function, offsetof(PyFunctionObject, func_code), ret_code) &&
           load_int(*ret_code, offsetof(PyCodeObject, co_flags), &flags) && !(flags & GENERATORS);
}

static bool begin(uintptr_t unit, struct pie_python_call *ret_call) {
    struct pie_python_call call = {.unit = unit};
    int32_t locals;

    if (!pie_pyframe_find_first(pie_pyframe_current_tstate(), &call.frame) ||
        !pie_pyframe_is_pointer(call.frame) ||
        !load(call.frame, offsetof(_PyInterpreterFrame, f_code), &call.code) ||
        !pie_pyframe_is_pointer(call.code) || !is_at(call.frame, call.code, unit) ||
        !load_int(call.code, offsetof(PyCodeObject, co_nlocalsplus), &locals))
        return false;
    struct pie_call_site site =
        pie_call_site_find(pie_code_registry_intern(call.code), pie_pyframe_instr_offset(call.code, unit));
    if (site.shape != PIE_CALL_PLAIN || site.depth < site.count + CALLED_SLOTS)
        return false;
    uintptr_t top = call.frame + offsetof(_PyInterpreterFrame, localsplus) +
                    ((uint32_t)locals + (uintptr_t)site.depth) * sizeof top;
    call.result_at = top - (site.count + (uintptr_t)CALLED_SLOTS) * sizeof top;
    if (!find_callee(call.result_at, &call.callee) || !pie_call_arguments_read(&site, top, &call.arguments))
        return false;
    *ret_call = call;
    return true;
}

/* The saved depth is counted up when the result has been stored: before or after the trap. */
static bool end(struct pie_python_call *call) {
    uintptr_t frame, code, instr, below;
    int32_t depth;

    below = (call->result_at - call->frame - offsetof(_PyInterpreterFrame, localsplus)) / sizeof below;
    return pie_pyframe_find_first(pie_pyframe_current_tstate(), &frame) && frame == call->frame &&
           load(frame, offsetof(_PyInterpreterFrame, f_code), &code) && code == call->code &&
           load(frame, offsetof(_PyInterpreterFrame, prev_instr), &instr) &&
           instr == call->unit + caches_of(CALL) &&
           load_int(frame, offsetof(_PyInterpreterFrame, stacktop), &depth) &&
           (depth == (int32_t)below || depth == (int32_t)below + 1) &&
           load(call->result_at, 0, &call->result);
}

static bool is_change(uint8_t opcode) {
    switch (opcode) {
    case STORE_GLOBAL:
    case DELETE_GLOBAL:
    case STORE_DEREF:
    case DELETE_DEREF:
    case STORE_ATTR:
    case DELETE_ATTR:
    case STORE_SUBSCR:
    case DELETE_SUBSCR:
        return true;
    default:
        return false;
    }
}

static bool acts(uintptr_t callee) {
    const struct pie_code_record *record = pie_code_store_get(pie_code_registry_intern(callee));
    bool is_behind_call = false;

    if (!record || record->bytecode_units != record->units || record->units > ACTS_UNITS_MAX)
        return true;
    for (uint32_t at = 0; at < record->units;) {
        struct pie_stack_instruction one =
            pie_stack_instruction_read(pie_code_record_bytecode(record), at, record->units);
        if (is_change(one.opcode) || (is_behind_call && one.opcode == POP_TOP))
            return true;
        is_behind_call = one.opcode == CALL || one.opcode == CALL_FUNCTION_EX;
        at = one.end;
    }
    return false;
}

static void digest(const struct pie_python_call *call, const struct pie_value *result,
                   struct pie_call_digest *ret_digest) {
    pie_call_arguments_digest(&call->arguments, result, ret_digest);
}

const struct pie_python_call_ops pie_code_python_calls = {
    .find_unit = find_unit,
    .begin = begin,
    .end = end,
    .acts = acts,
    .digest = digest,
};
