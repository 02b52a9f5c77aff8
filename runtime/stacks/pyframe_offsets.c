/* SPDX-License-Identifier: Apache-2.0 */
#define Py_BUILD_CORE 1
#include <Python.h>
#include <internal/pycore_runtime.h>
#undef Py_BUILD_CORE

#include "runtime/stacks/pyframe.h"

#include <errno.h>
#include <string.h>

/* From 3.13 on, the interpreter's first bytes of data say where its structures keep their members, for tools that look
 * at other processes. So a libpython that is not the one of the headers is noticed. */

#ifdef Py_GIL_DISABLED
enum { IS_FREE_THREADED = 1 };
#else
enum { IS_FREE_THREADED = 0 };
#endif

#if defined Py_GIL_DISABLED && PY_VERSION_HEX >= 0x030e0000
static bool copies_agree(const _Py_DebugOffsets *offsets) {
    return offsets->interpreter_frame.tlbc_index == pie_pyframe_layout.copy_number &&
           offsets->code_object.co_tlbc == pie_pyframe_layout.copies;
}
#else
static bool copies_agree(const _Py_DebugOffsets *offsets) {
    return true;
}
#endif

/* What this process's interpreter says of itself against what the headers said. */
static bool offsets_agree(const _Py_DebugOffsets *offsets) {
    return offsets->thread_state.current_frame == offsetof(PyThreadState, current_frame) &&
           offsets->interpreter_frame.executable == pie_pyframe_layout.executable &&
           offsets->interpreter_frame.previous == pie_pyframe_layout.previous &&
           offsets->interpreter_frame.instr_ptr == pie_pyframe_layout.instr &&
           offsets->interpreter_frame.owner == pie_pyframe_layout.owner &&
           offsets->code_object.filename == offsetof(PyCodeObject, co_filename) &&
           offsets->code_object.qualname == offsetof(PyCodeObject, co_qualname) &&
           offsets->code_object.linetable == offsetof(PyCodeObject, co_linetable) &&
           offsets->code_object.firstlineno == offsetof(PyCodeObject, co_firstlineno) &&
           offsets->code_object.co_code_adaptive == offsetof(PyCodeObject, co_code_adaptive) &&
           copies_agree(offsets);
}

int pie_pyframe_check(const char **ret_reason) {
    const _Py_DebugOffsets *offsets = &_PyRuntime.debug_offsets;

    if (memcmp(offsets->cookie, _Py_Debug_Cookie, sizeof offsets->cookie) != 0)
        *ret_reason = "the libpython in this process does not describe its structures";
    else if (offsets->version >> 16 != PY_VERSION_HEX >> 16 || offsets->free_threaded != IS_FREE_THREADED ||
             !offsets_agree(offsets))
        *ret_reason = "the libpython in this process is not the one that pieprof was built with";
    else
        return 0;
    return -ENOTSUP;
}
