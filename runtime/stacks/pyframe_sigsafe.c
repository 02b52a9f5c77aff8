/* SPDX-License-Identifier: Apache-2.0 */
#include <Python.h>

#include "runtime/stacks/pyframe.h"

#include "profiler/base/safe_load.h"

/* What the walkers of all versions share. Only fields of the public headers (PyCodeObject, PyThreadState) are used
 * here; their offsets are the compiler's. */

enum {
    TRAMPOLINE_UNITS_MAX = 8,
    ENTRY_START = 128,  /* in the location table (line_table.c) */
    LOCATION_NONE = 15, /* kind of an entry: instructions without a line */
    CHUNKS_MAX = 64,    /* of a data stack that are looked at, innermost first */
};

static bool load(uintptr_t base, size_t offset, uintptr_t *ret) {
    return pie_safe_load((const void *)(base + offset), ret);
}

/* Has no entry of the location table a line? Only short tables are looked at, such as the interpreter's own code
 * has. */
static bool has_no_line(uintptr_t code) {
    uintptr_t table, size, entries;

    if (!load(code, offsetof(PyCodeObject, co_linetable), &table) || !pie_pyframe_is_pointer(table))
        return false;
    if (!load(table, offsetof(PyVarObject, ob_size), &size) || size > sizeof entries)
        return false;
    if (!load(table, offsetof(PyBytesObject, ob_sval), &entries))
        return false;
    for (size_t i = 0; i < size; i++) {
        uintptr_t byte = entries >> i * 8 & 255;

        if ((byte & ENTRY_START) && (byte >> 3 & 15) != LOCATION_NONE)
            return false;
    }
    return true;
}

enum pie_pyframe_kind pie_pyframe_classify(uintptr_t code, uintptr_t instr) {
    uintptr_t type, units, ahead;
    uintptr_t base = code + offsetof(PyCodeObject, co_code_adaptive);

    if (!pie_pyframe_is_pointer(code))
        return PIE_PYFRAME_INVALID;
    if (!load(code, offsetof(PyObject, ob_type), &type) || type != (uintptr_t)&PyCode_Type)
        return PIE_PYFRAME_INVALID;
    if (!load(code, offsetof(PyVarObject, ob_size), &units))
        return PIE_PYFRAME_INVALID;
    /* Up to 3.12 a frame that has not begun points one unit before its code. */
    ahead = instr - base + PIE_PYFRAME_UNIT_BYTES;
    if (ahead % PIE_PYFRAME_UNIT_BYTES || ahead / PIE_PYFRAME_UNIT_BYTES > units)
        return PIE_PYFRAME_INVALID;
    if (units <= TRAMPOLINE_UNITS_MAX && has_no_line(code))
        return PIE_PYFRAME_TRAMPOLINE;
    return PIE_PYFRAME_PYTHON;
}

bool pie_pyframe_is_call(uintptr_t instr) {
    uint8_t opcode;

    return pie_safe_load_byte((const void *)instr, &opcode) && pie_pyframe_calls[opcode];
}

bool pie_pyframe_read_datastack(uintptr_t tstate, struct pie_pyframe_datastack *ret_stack) {
    return load(tstate, offsetof(PyThreadState, datastack_chunk), &ret_stack->chunk) &&
           load(tstate, offsetof(PyThreadState, datastack_top), &ret_stack->top) &&
           load(tstate, offsetof(PyThreadState, datastack_limit), &ret_stack->limit);
}

/* Set once before Python starts. */
static bool is_enabled;

void pie_pyframe_enable(void) {
    is_enabled = true;
}

bool pie_pyframe_is_enabled(void) {
    return is_enabled;
}

uintptr_t pie_pyframe_current_tstate(void) {
    /* pthread_getspecific or a thread-local variable behind one check that Python runs: no lock, no allocation. */
    uintptr_t tstate = is_enabled ? (uintptr_t)PyGILState_GetThisThreadState() : 0;

    return tstate ? pie_pyframe_attached(tstate) : 0;
}

size_t pie_pyframe_walk_current(struct pie_pyframe *frames, size_t max, unsigned *ret_flags) {
    return pie_pyframe_walk(pie_pyframe_current_tstate(), frames, max, ret_flags);
}

uint32_t pie_pyframe_instr_offset(uintptr_t code, uintptr_t instr) {
    uintptr_t base = code + offsetof(PyCodeObject, co_code_adaptive);

    return instr < base ? 0 : (uint32_t)((instr - base) / PIE_PYFRAME_UNIT_BYTES);
}

/* The data stack is a list of chunks, each bigger than all frames of a common depth. */
bool pie_pyframe_is_memory(uintptr_t address) {
    uintptr_t tstate = pie_pyframe_current_tstate();
    uintptr_t chunk, size;

    if (!tstate || !load(tstate, offsetof(PyThreadState, datastack_chunk), &chunk))
        return false;
    for (int i = 0; i < CHUNKS_MAX && pie_pyframe_is_pointer(chunk); i++) {
        if (!load(chunk, offsetof(_PyStackChunk, size), &size))
            return false;
        if (address - chunk < size)
            return true;
        if (!load(chunk, offsetof(_PyStackChunk, previous), &chunk))
            return false;
    }
    return false;
}
