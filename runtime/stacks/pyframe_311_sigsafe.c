/* SPDX-License-Identifier: Apache-2.0 */
#define Py_BUILD_CORE 1
#include <Python.h>
#include <internal/pycore_frame.h>
#include <internal/pycore_runtime.h>
#undef Py_BUILD_CORE
#include <opcode.h>

#include "runtime/stacks/pyframe.h"

#include <errno.h>

#include "profiler/base/safe_load.h"

/* CPython 3.11.
 *
 * tstate->cframe points to a _PyCFrame on the C stack of the innermost evaluation loop; it has current_frame and the
 * _PyCFrame of the loop outside. One loop runs several frames, the outermost of which has is_entry. So the k-th entry
 * frame belongs to the k-th _PyCFrame, whose address is the marker. A loop sets its entry frame's `previous` to the
 * current_frame of the loop outside; where that does not hold, the chain is being changed.
 *
 * prev_instr is stored at the start of each instruction and then points to it; it points to a cache entry of the call
 * in frames that wait for an inlined one. */
#if PY_VERSION_HEX < 0x030b0000 || PY_VERSION_HEX >= 0x030c0000
#error "this file is for CPython 3.11"
#endif

const bool pie_pyframe_calls[256] = {
    [CALL] = true,
    [CALL_ADAPTIVE] = true,
    [CALL_FUNCTION_EX] = true,
    [CALL_PY_EXACT_ARGS] = true,
    [CALL_PY_WITH_DEFAULTS] = true,
    [PRECALL] = true,
    [PRECALL_ADAPTIVE] = true,
    [PRECALL_BOUND_METHOD] = true,
    [PRECALL_BUILTIN_CLASS] = true,
    [PRECALL_BUILTIN_FAST_WITH_KEYWORDS] = true,
    [PRECALL_METHOD_DESCRIPTOR_FAST_WITH_KEYWORDS] = true,
    [PRECALL_NO_KW_BUILTIN_FAST] = true,
    [PRECALL_NO_KW_BUILTIN_O] = true,
    [PRECALL_NO_KW_ISINSTANCE] = true,
    [PRECALL_NO_KW_LEN] = true,
    [PRECALL_NO_KW_LIST_APPEND] = true,
    [PRECALL_NO_KW_METHOD_DESCRIPTOR_FAST] = true,
    [PRECALL_NO_KW_METHOD_DESCRIPTOR_NOARGS] = true,
    [PRECALL_NO_KW_METHOD_DESCRIPTOR_O] = true,
    [PRECALL_NO_KW_STR_1] = true,
    [PRECALL_NO_KW_TUPLE_1] = true,
    [PRECALL_NO_KW_TYPE_1] = true,
    [PRECALL_PYFUNC] = true,
};

int pie_pyframe_check(const char **ret_reason) {
    if (Py_Version >> 16 == PY_VERSION_HEX >> 16)
        return 0;
    *ret_reason = "the libpython in this process is not the 3.11 that pieprof was built with";
    return -ENOTSUP;
}

struct frame {
    uintptr_t code, previous, instr;
    bool is_entry;
    unsigned char owner;
};

static bool load(uintptr_t base, size_t offset, uintptr_t *ret) {
    return pie_safe_load((const void *)(base + offset), ret);
}

static unsigned char byte_of(uintptr_t word, size_t offset) {
    return (unsigned char)(word >> offset % sizeof word * 8);
}

static bool read_frame(uintptr_t frame, struct frame *ret) {
    const size_t flags_at = offsetof(_PyInterpreterFrame, is_entry) & ~(sizeof(uintptr_t) - 1);
    uintptr_t flags;

    static_assert(offsetof(_PyInterpreterFrame, is_entry) / sizeof(uintptr_t) ==
                      offsetof(_PyInterpreterFrame, owner) / sizeof(uintptr_t),
                  "both bytes are in one word");
    if (!pie_pyframe_is_pointer(frame))
        return false;
    if (!load(frame, offsetof(_PyInterpreterFrame, f_code), &ret->code) ||
        !load(frame, offsetof(_PyInterpreterFrame, previous), &ret->previous) ||
        !load(frame, offsetof(_PyInterpreterFrame, prev_instr), &ret->instr) ||
        !load(frame, flags_at, &flags))
        return false;
    ret->is_entry = byte_of(flags, offsetof(_PyInterpreterFrame, is_entry));
    ret->owner = byte_of(flags, offsetof(_PyInterpreterFrame, owner));
    return ret->owner <= FRAME_OWNED_BY_FRAME_OBJECT;
}

/* Reads a frame and checks that it can be a running one. */
static bool read_live(const struct pie_pyframe_datastack *stack, uintptr_t address, struct frame *ret) {
    if (!read_frame(address, ret))
        return false;
    if (ret->owner != FRAME_OWNED_BY_FRAME_OBJECT &&
        !pie_pyframe_is_live(stack, address, ret->owner == FRAME_OWNED_BY_GENERATOR))
        return false;
    return pie_pyframe_classify(ret->code, ret->instr) != PIE_PYFRAME_INVALID;
}

/* From the loop *cframe to the one outside, whose current frame must be `previous`. */
static bool leave_loop(uintptr_t *cframe, uintptr_t previous) {
    uintptr_t outer, current;

    if (!load(*cframe, offsetof(_PyCFrame, previous), &outer) || !pie_pyframe_is_pointer(outer))
        return false;
    if (!load(outer, offsetof(_PyCFrame, current_frame), &current) || current != previous)
        return false;
    *cframe = outer;
    return true;
}

/* PyGILState_GetThisThreadState() gives the thread state in the main interpreter, always. The one that holds the GIL is
 * this thread's too if it has the same thread id; it may be another thread's, and be freed while it is looked at. */
uintptr_t pie_pyframe_attached(uintptr_t tstate) {
    uintptr_t holder, own_id, holder_id;

    if (!pie_safe_load(&_PyRuntime.gilstate.tstate_current, &holder) || holder == tstate ||
        !pie_pyframe_is_pointer(holder))
        return tstate;
    if (!load(tstate, offsetof(PyThreadState, thread_id), &own_id) ||
        !load(holder, offsetof(PyThreadState, thread_id), &holder_id) || holder_id != own_id)
        return tstate;
    return holder;
}

const struct pie_pyframe_stack pie_pyframe_stack = {
    .previous_at = offsetof(_PyInterpreterFrame, previous),
    .code_at = offsetof(_PyInterpreterFrame, f_code),
    .globals_at = offsetof(_PyInterpreterFrame, f_globals),
    .locals_at = offsetof(_PyInterpreterFrame, localsplus),
};

bool pie_pyframe_find_first(uintptr_t tstate, uintptr_t *ret_frame) {
    uintptr_t cframe;

    return load(tstate, offsetof(PyThreadState, cframe), &cframe) && pie_pyframe_is_pointer(cframe) &&
           load(cframe, offsetof(_PyCFrame, current_frame), ret_frame);
}

static size_t walk(uintptr_t tstate, struct pie_pyframe *frames, size_t max, unsigned *flags) {
    struct pie_pyframe_datastack stack;
    uintptr_t cframe, address;
    size_t n = 0;

    *flags |= PIE_PYSTACK_INVALID;
    if (!load(tstate, offsetof(PyThreadState, cframe), &cframe) || !pie_pyframe_is_pointer(cframe) ||
        !load(cframe, offsetof(_PyCFrame, current_frame), &address) ||
        !pie_pyframe_read_datastack(tstate, &stack))
        return 0;
    while (address) {
        struct frame frame;

        if (n == max) {
            *flags |= PIE_PYSTACK_TRUNCATED;
            break;
        }
        if (!read_live(&stack, address, &frame))
            return n;
        frames[n++] = (struct pie_pyframe){
            .code = frame.code,
            .instr = frame.instr,
            .marker = frame.is_entry ? cframe : 0,
        };
        if (frame.is_entry && !leave_loop(&cframe, frame.previous))
            return n;
        address = frame.previous;
    }
    *flags &= ~(unsigned)PIE_PYSTACK_INVALID;
    return n;
}

size_t pie_pyframe_walk(uintptr_t tstate, struct pie_pyframe *frames, size_t max, unsigned *ret_flags) {
    *ret_flags = 0;
    if (!tstate)
        return 0;
    *ret_flags = PIE_PYSTACK_PYTHON_THREAD;
    size_t n = walk(tstate, frames, max, ret_flags);
    if (n && pie_pyframe_is_call(frames[0].instr))
        *ret_flags |= PIE_PYSTACK_IN_CALL;
    return n;
}
