/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profiler/ports/pystack.h"

/* Reads Python's frames out of its memory. The parts that differ between versions are in pyframe_311_sigsafe.c,
 * pyframe_312_sigsafe.c, …, one of which is compiled. The shared parts are in pyframe_sigsafe.c and pyframe_lists.c,
 * the walk of 3.12 and later in pyframe_shims_sigsafe.c. Every load is fault-tolerant, so a chain that is being changed
 * gives wrong words at worst. Those are checked: pointers are aligned, a code object's type is PyCode_Type, the
 * instruction lies inside it. */

/* Is the interpreter in this process laid out as the headers that this file was compiled with say?
 * Returns 0, or -ENOTSUP and one sentence for people in *ret_reason (static). Context: launcher (before Python
 * starts). */
int pie_pyframe_check(const char **ret_reason);

/* Lets current_tstate and find_tstate answer; before that they say 0. Context: launcher (before Python starts). */
void pie_pyframe_enable(void);
bool pie_pyframe_is_enabled(void);

/* Walks the frames of a Python thread state, innermost first; see pie_pystack_ops.walk. Context: signal, drain. */
size_t pie_pyframe_walk(uintptr_t tstate, struct pie_pyframe *frames, size_t max, unsigned *ret_flags);

/* The Python thread state of kernel thread tid, or 0; see pie_pystack_ops.find_tstate. Context: drain. */
uintptr_t pie_pyframe_find_tstate(int32_t tid);

/* From now on it finds none: the lists are not where they were looked for. Context: gil. */
void pie_pyframe_lists_disable(void);

/* The Python thread state of the calling thread, or 0. Context: signal. */
uintptr_t pie_pyframe_current_tstate(void);

/* See pie_pystack_ops.is_frame_memory. Context: signal. */
bool pie_pyframe_is_memory(uintptr_t address);

/* See pie_pystack_ops.walk and .instr_offset. Context: signal. */
size_t pie_pyframe_walk_current(struct pie_pyframe *frames, size_t max, unsigned *ret_flags);
uint32_t pie_pyframe_instr_offset(uintptr_t code, uintptr_t instr);

/* --- between these files; Context: signal, drain --- */

/* The thread state that runs on the thread to which `tstate` belongs: another one inside a subinterpreter. */
uintptr_t pie_pyframe_attached(uintptr_t tstate);

/* Opcodes, specialised and instrumented ones too, that call an object named in the source. */
extern const bool pie_pyframe_calls[256];

enum pie_pyframe_kind {
    PIE_PYFRAME_INVALID,    /* not a code object, or the instruction is not inside it */
    PIE_PYFRAME_PYTHON,     /* a frame that people know */
    PIE_PYFRAME_TRAMPOLINE, /* code of the interpreter's own, without any line */
};

enum pie_pyframe_kind pie_pyframe_classify(uintptr_t code, uintptr_t instr);

/* *instr lies in the bytecode that a frame's thread runs. Where that is a copy of the thread's own, *instr becomes the
 * same unit of the code object itself. False: unreadable. */
bool pie_pyframe_leave_copy(uintptr_t frame, uintptr_t code, uintptr_t *instr);

/* Does the code unit at instr call? */
bool pie_pyframe_is_call(uintptr_t instr);

/* The data stack of a thread (3.11, 3.12): frames at or above top in the current chunk have been popped. */
struct pie_pyframe_datastack {
    uintptr_t chunk, top, limit;
};

bool pie_pyframe_read_datastack(uintptr_t tstate, struct pie_pyframe_datastack *ret_stack);

/* Can a frame at this address with this owner be one that runs? False for memory that held a frame before. */
bool pie_pyframe_is_live(const struct pie_pyframe_datastack *stack, uintptr_t frame, bool is_generator);

/* Where 3.12 and later keep a frame's words, and the meaning of its owner. */
struct pie_pyframe_layout {
    size_t executable, previous, instr, owner; /* offsets in the frame */
    uintptr_t tag_mask;                        /* bits of the executable's word that are no address */
    unsigned first_shim_owner, last_owner;
    /* Free-threaded builds (3.14 on): each thread runs a copy of the bytecode of its own. Where a frame has the number
     * of the copy that its instruction lies in, and where a code object has the list of them and its own bytecode; 0:
     * there are none. */
    size_t copy_number, copies, bytecode;
    /* pie_pyframe_is_live() where the walker can meet the remains of a frame, else NULL. */
    bool (*is_live)(const struct pie_pyframe_datastack *stack, uintptr_t frame, bool is_generator);
};

/* The same in every version. */
enum {
    PIE_PYFRAME_UNIT_BYTES = 2, /* of a code unit */
    PIE_PYFRAME_OWNED_BY_GENERATOR = 1,
    PIE_PYFRAME_OWNED_BY_FRAME_OBJECT = 2,
};

extern const struct pie_pyframe_layout pie_pyframe_layout;

/* Where a frame keeps its caller's frame, its code, its globals and its locals; behind these its evaluation stack
 * begins. */
struct pie_pyframe_stack {
    size_t previous_at, code_at, globals_at, locals_at;
    uintptr_t tag_mask; /* bits of such a word that are no address */
    uintptr_t borrowed; /* the one that says that the object's count does not include it */
};

extern const struct pie_pyframe_stack pie_pyframe_stack;

/* The thread's innermost frame, shim or not, 0 if there is none. False: unreadable. */
bool pie_pyframe_find_first(uintptr_t tstate, uintptr_t *ret_frame);

static inline bool pie_pyframe_is_pointer(uintptr_t address) {
    return address >= 4096 && address % sizeof(uintptr_t) == 0;
}
