/* SPDX-License-Identifier: Apache-2.0 */
#include <Python.h>

#include "runtime/stacks/pyframe.h"

#include "profiler/base/safe_load.h"

/* Telling a running frame from the remains of one, for 3.11 and 3.12.
 *
 * Those versions publish the new evaluation loop's _PyCFrame (`tstate->cframe = &cframe`) some instructions before they
 * store current_frame into it. A signal in between finds what an earlier call left in that place of the C stack: often
 * the address of a frame that has returned, whose code object may have been freed, though its memory still looks like
 * one. From 3.13 on a single store publishes the new frame and this file is not needed.
 *
 * A running frame is either in the thread's data stack, then below its top (a frame is unlinked before it is popped),
 * or in a generator that has not ended. Chunks of the data stack under the current one are not checked: frames there
 * are older than a call that is still running. */

static bool load(uintptr_t base, size_t offset, uintptr_t *ret) {
    return pie_safe_load((const void *)(base + offset), ret);
}

static bool is_live_generator(uintptr_t generator) {
    const size_t state_at = offsetof(PyGenObject, gi_frame_state);
    uintptr_t type, word;

    if (!load(generator, offsetof(PyObject, ob_type), &type))
        return false;
    if (type != (uintptr_t)&PyGen_Type && type != (uintptr_t)&PyCoro_Type &&
        type != (uintptr_t)&PyAsyncGen_Type)
        return false;
    if (!load(generator, state_at & ~(sizeof word - 1), &word))
        return false;
    /* FRAME_CREATED, SUSPENDED and EXECUTING are not above 0; COMPLETED and CLEARED are. */
    return (int8_t)(word >> state_at % sizeof word * 8) <= 0;
}

bool pie_pyframe_is_live(const struct pie_pyframe_datastack *stack, uintptr_t frame, bool is_generator) {
    if (is_generator)
        return is_live_generator(frame - offsetof(PyGenObject, gi_iframe));
    return frame < stack->chunk || frame >= stack->limit || frame < stack->top;
}
