/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The engine's view of the interpreter: a table that runtime/ fills in, so that profiler/ needs no Python.h.
 *
 * A Python frame as read from the interpreter's own structures. `marker` is an address inside the C frame of the
 * evaluation loop that runs this frame as its outermost one (3.11: the _PyCFrame; 3.12+: the entry frame that
 * lies on the C stack), or 0 for a frame that the same loop runs inlined under another. See
 * runtime/pyframe_*.c for where each version keeps it. */
struct pie_pyframe {
    uintptr_t code;   /* address of the PyCodeObject */
    uintptr_t instr;  /* address of the current code unit inside the code object */
    uintptr_t marker; /* see above */
};

enum pie_pystack_flags {
    PIE_PYSTACK_PYTHON_THREAD = 1, /* the thread has a Python thread state */
    PIE_PYSTACK_TRUNCATED = 2,     /* deeper than max: the outer part is missing */
    PIE_PYSTACK_INVALID = 4, /* the chain was being changed: frames hold what could be read before that */
    PIE_PYSTACK_IN_CALL =
        8, /* innermost frame stands at an instruction that calls (CALL…, not an operator) */
};

struct pie_pystack_ops {
    /* Walks the calling thread's Python frames, innermost first. Writes at most max frames, returns their number;
     * *ret_flags is a set of pie_pystack_flags. Every load is fault-tolerant.
     * Context: signal. Async-signal-safe, no lock, no allocation, at most 4 us for 100 frames. */
    size_t (*walk)(struct pie_pyframe *frames, size_t max, unsigned *ret_flags);

    /* The same for another thread whose Python thread state is `tstate` (from current_tstate() on that thread).
     * The caller makes sure by the thread's CPU clock that it did not run meanwhile, and throws the result away
     * if it did. Context: drain. */
    size_t (*walk_thread)(uintptr_t tstate, struct pie_pyframe *frames, size_t max, unsigned *ret_flags);

    /* Address of the Python thread state of the thread with this kernel id, 0 if it has none: found in the
     * interpreters' lists of threads by fault-tolerant reads, for threads that no sample has hit yet. The list may
     * change meanwhile: the answer is a guess that walk_thread() survives. Context: drain. */
    uintptr_t (*find_tstate)(int32_t tid);

    /* Address of the calling thread's Python thread state, 0 if it has none. Context: signal. */
    uintptr_t (*current_tstate)(void);

    /* Interns a code object: the id (from 1) under which its names were copied into the shared region; 0 if it is
     * being deallocated or the region is full (the caller counts). Two ids may exist for one code object.
     * Only for code objects that are alive because the calling thread runs them. Context: signal. */
    uint32_t (*intern)(uintptr_t code);

    /* As intern, for a frame of a stopped thread (see walk_thread): matches by content, publishes nothing that a
     * handler would find under this address. Context: drain. */
    uint32_t (*intern_by_content)(uintptr_t code);

    /* The offset of instr in its code, in code units, as CCT key. Context: signal. */
    uint32_t (*instr_offset)(uintptr_t code, uintptr_t instr);

    /* What is known of an interned code object. Strings are UTF-8, live in the region. Returns 0 or -ENOENT.
     * Context: drain. */
    int (*describe)(uint32_t code_id, const char **ret_file, const char **ret_qualname,
                    int32_t *ret_first_line);

    /* The 1-based source line of a code unit; 0 if it has none. Context: drain. */
    int32_t (*line)(uint32_t code_id, uint32_t instr_offset);
};
