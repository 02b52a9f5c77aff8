/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#define Py_BUILD_CORE 1
#include <Python.h>
#include <internal/pycore_interp.h>
#include <internal/pycore_runtime.h>
#undef Py_BUILD_CORE
#include <stddef.h>
#include <stdint.h>

/* Where Python's own state has its members, in bytes. Releases of one version differ there: 3.13.5 has the collector's
 * state elsewhere in an interpreter than 3.13.0. From 3.13 on the interpreter of this process says where; before that
 * the headers do, and pie_stacks_verify() finds out whether they are right. */
struct pie_state_offsets {
    size_t interpreters;              /* in _PyRuntime: the first interpreter */
    size_t interpreter_next, threads; /* in an interpreter */
    size_t collector, gil;            /* likewise; gil: a pointer to the one it uses, 0 in 3.11 */
    size_t thread_next, native_id;    /* in a thread state */
    size_t interpreter;               /* likewise: its interpreter */
    size_t gil_locked, gil_holder;    /* in a GIL; 0 in 3.11 */
};

/* Context: any. */
static inline struct pie_state_offsets pie_state_offsets(void) {
#if PY_VERSION_HEX >= 0x030d0000
    const _Py_DebugOffsets *said = &_PyRuntime.debug_offsets;
    return (struct pie_state_offsets){
        .interpreters = said->runtime_state.interpreters_head,
        .interpreter_next = said->interpreter_state.next,
        .threads = said->interpreter_state.threads_head,
        .collector = said->interpreter_state.gc,
        .gil = said->interpreter_state.ceval_gil,
        .thread_next = said->thread_state.next,
        .native_id = said->thread_state.native_thread_id,
        .interpreter = said->thread_state.interp,
        /* of the interpreter's own GIL, which may not be the one that it uses */
        .gil_locked =
            said->interpreter_state.gil_runtime_state_locked - said->interpreter_state.gil_runtime_state,
        .gil_holder =
            said->interpreter_state.gil_runtime_state_holder - said->interpreter_state.gil_runtime_state,
    };
#else
    return (struct pie_state_offsets){
        .interpreters = offsetof(_PyRuntimeState, interpreters.head),
        .interpreter_next = offsetof(PyInterpreterState, next),
        .threads = offsetof(PyInterpreterState, threads.head),
        .collector = offsetof(PyInterpreterState, gc),
        .thread_next = offsetof(PyThreadState, next),
        .native_id = offsetof(PyThreadState, native_thread_id),
        .interpreter = offsetof(PyThreadState, interp),
#if PY_VERSION_HEX >= 0x030c0000
        .gil = offsetof(PyInterpreterState, ceval.gil),
        .gil_locked = offsetof(struct _gil_runtime_state, locked),
        .gil_holder = offsetof(struct _gil_runtime_state, last_holder),
#endif
    };
#endif
}
