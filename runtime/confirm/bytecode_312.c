/* SPDX-License-Identifier: Apache-2.0 */
#define Py_BUILD_CORE 1
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <internal/pycore_code.h>
#undef Py_BUILD_CORE
#include <opcode.h>

#include "runtime/confirm/bytecode_312.h"

#include <string.h>

#include "profiler/base/own_memory.h"
#include "runtime/confirm/sites.h"

/* Instructions go back with their caches, so each specialised one finds those that it had. What these say is checked
 * by the instruction whenever it is executed, as it would have been without us: versions of types, dicts and functions
 * are never used again. A thread that is in the middle of an instruction must expect another one to specialise it. */

enum { NUMBER = 0xff }; /* of an opcode in a code unit */
#ifdef ENTER_EXECUTOR
enum { EXECUTOR = ENTER_EXECUTOR };
#else
enum { EXECUTOR = INSTRUMENTED_LINE };
#endif

static size_t bytes_of(const struct pie_confirm_code *code) {
    return (size_t)code->units * sizeof(_Py_CODEUNIT);
}

static unsigned opcode_at(const struct pie_confirm_code *code, int unit) {
    return _PyCode_CODE(code->code)[unit].cache & NUMBER;
}

/* Events, or a compiled trace, whose number means something only to the interpreter. */
static bool is_foreign(const struct pie_confirm_code *code) {
    for (int unit = 0; unit < code->units; unit++) {
        unsigned opcode = code->sites[unit].is_opcode ? opcode_at(code, unit) : 0;
        if (opcode >= MIN_INSTRUMENTED_OPCODE || opcode == EXECUTOR)
            return true;
    }
    return false;
}

void pie_confirm_bytecode_keep(struct pie_confirm_code *code) {
    if (!code->kept)
        code->kept = pie_calloc(1, bytes_of(code));
    code->is_kept = code->kept && code->units == Py_SIZE(code->code) && !is_foreign(code);
    if (code->is_kept)
        memcpy(code->kept, _PyCode_CODE(code->code), bytes_of(code));
}

void pie_confirm_bytecode_put_back(struct pie_confirm_code *code) {
    if (code->is_kept && !is_foreign(code))
        memcpy(_PyCode_CODE(code->code), code->kept, bytes_of(code));
    code->is_kept = false;
}
