/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/stacks/pyframe.h"

#include "profiler/base/safe_load.h"

/* The walk of 3.12 and later.
 *
 * There an evaluation loop puts a frame of its own, the shim, into its C frame, and chains it between the outermost
 * Python frame that it runs and the frame that called it. So the address of the shim that follows is the marker of
 * a Python frame. 3.15 has one more shim, on the heap, at the end of the chain: the first one counts. */

/* From 3.12 on, PyGILState_GetThisThreadState() gives the thread state that was attached last. */
uintptr_t pie_pyframe_attached(uintptr_t tstate) {
    return tstate;
}

static bool load(uintptr_t base, size_t offset, uintptr_t *ret) {
    return pie_safe_load((const void *)(base + offset), ret);
}

static bool read_owner(uintptr_t frame, unsigned *ret_owner) {
    const size_t owner_at = pie_pyframe_layout.owner;
    uintptr_t word;

    if (!pie_pyframe_is_pointer(frame) || !load(frame, owner_at & ~(sizeof word - 1), &word))
        return false;
    *ret_owner = (unsigned char)(word >> owner_at % sizeof word * 8);
    return true;
}

static bool is_live(const struct pie_pyframe_datastack *stack, uintptr_t frame, unsigned owner) {
    if (!pie_pyframe_layout.is_live || owner == PIE_PYFRAME_OWNED_BY_FRAME_OBJECT)
        return true;
    return pie_pyframe_layout.is_live(stack, frame, owner == PIE_PYFRAME_OWNED_BY_GENERATOR);
}

/* Copies differ in what is specialised, not in length. The list of them, which begins with their number, may be
 * replaced meanwhile; pie_pyframe_classify() refuses what is not inside the code then. */
bool pie_pyframe_leave_copy(uintptr_t frame, uintptr_t code, uintptr_t *instr) {
    const struct pie_pyframe_layout *layout = &pie_pyframe_layout;
    uintptr_t list, count, copy;
    int32_t number;

    if (!layout->copies)
        return true;
    if (!pie_safe_copy(&number, (const void *)(frame + layout->copy_number), sizeof number) || number < 0)
        return false;
    if (number == 0) /* the code object's own */
        return true;
    if (!load(code, layout->copies, &list) || !pie_pyframe_is_pointer(list) || !load(list, 0, &count) ||
        (uintptr_t)number >= count || !load(list, sizeof count + (size_t)number * sizeof copy, &copy))
        return false;
    *instr = code + layout->bytecode + (*instr - copy);
    return true;
}

struct walk {
    struct pie_pyframe_datastack stack;
    struct pie_pyframe *frames;
    size_t n, max;
    bool is_cut;
};

/* Takes one frame of the chain; false if it cannot be one. */
static bool step(struct walk *walk, uintptr_t frame) {
    const struct pie_pyframe_layout *layout = &pie_pyframe_layout;
    struct pie_pyframe *last = walk->n ? &walk->frames[walk->n - 1] : NULL;
    uintptr_t code, instr;
    unsigned owner;

    if (!read_owner(frame, &owner) || owner > layout->last_owner)
        return false;
    if (owner >= layout->first_shim_owner) {
        if (last && !last->marker)
            last->marker = frame;
        return true;
    }
    if (!is_live(&walk->stack, frame, owner) || !load(frame, layout->executable, &code) ||
        !load(frame, layout->instr, &instr))
        return false;
    code &= ~layout->tag_mask;
    if (!pie_pyframe_is_pointer(code) || !pie_pyframe_leave_copy(frame, code, &instr))
        return false;
    switch (pie_pyframe_classify(code, instr)) {
    case PIE_PYFRAME_INVALID:
        return false;
    case PIE_PYFRAME_TRAMPOLINE:
        return true;
    case PIE_PYFRAME_PYTHON:
        break;
    }
    if (walk->n == walk->max)
        walk->is_cut = true;
    else
        walk->frames[walk->n++] = (struct pie_pyframe){.code = code, .instr = instr};
    return true;
}

static size_t walk_chain(uintptr_t tstate, struct pie_pyframe *frames, size_t max, unsigned *flags) {
    struct walk walk = {.frames = frames, .max = max};
    uintptr_t frame;

    *flags |= PIE_PYSTACK_INVALID;
    if (!pie_pyframe_find_first(tstate, &frame) ||
        (pie_pyframe_layout.is_live && !pie_pyframe_read_datastack(tstate, &walk.stack)))
        return 0;
    /* Each Python frame has at most one shim and one trampoline behind it; more is a ring. */
    for (size_t steps = 0; frame && !walk.is_cut; steps++) {
        if (steps > 3 * max + 3 || !step(&walk, frame) || !load(frame, pie_pyframe_layout.previous, &frame))
            return walk.n;
    }
    *flags &= ~(unsigned)PIE_PYSTACK_INVALID;
    if (walk.is_cut)
        *flags |= PIE_PYSTACK_TRUNCATED;
    return walk.n;
}

size_t pie_pyframe_walk(uintptr_t tstate, struct pie_pyframe *frames, size_t max, unsigned *ret_flags) {
    *ret_flags = 0;
    if (!tstate)
        return 0;
    *ret_flags = PIE_PYSTACK_PYTHON_THREAD;
    size_t n = walk_chain(tstate, frames, max, ret_flags);
    if (n && pie_pyframe_is_call(frames[0].instr))
        *ret_flags |= PIE_PYSTACK_IN_CALL;
    return n;
}
