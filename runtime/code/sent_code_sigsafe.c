/* SPDX-License-Identifier: Apache-2.0 */
#include <Python.h>

#include "runtime/code/registry.h"

#include "profiler/base/safe_load.h"
#include "runtime/objects/pydict.h"
#include "runtime/stacks/pyframe.h"

bool pie_code_is_sent(const struct pie_code_content *content) {
    return pie_pystr_is(&content->file, "<dynamic-code>");
}

#ifdef Py_GIL_DISABLED
/* Another thread may replace the table of the globals, and free it, while it is read. */
enum pie_code_sent_state pie_code_sent_find(uintptr_t tstate, uintptr_t code, struct pie_pystr *ret_file) {
    return PIE_CODE_SENT_NO_FILE;
}
#else

enum { FRAMES_MAX = 1024, SLOTS_MAX = 64 /* the module's own names were put in first */ };

static bool load(uintptr_t base, size_t offset, uintptr_t *ret) {
    return pie_pyframe_is_pointer(base) && pie_safe_load((const void *)(base + offset), ret);
}

/* Of the thread's innermost frame that runs the code. False: there is none. */
static bool find_globals(uintptr_t tstate, uintptr_t code, uintptr_t *ret_globals) {
    const struct pie_pyframe_stack *stack = &pie_pyframe_stack;
    uintptr_t frame, found;

    if (!tstate || !pie_pyframe_find_first(tstate, &frame))
        return false;
    for (int i = 0; i < FRAMES_MAX && load(frame, stack->code_at, &found); i++) {
        if ((found & ~stack->tag_mask) == code)
            return load(frame, stack->globals_at, ret_globals);
        if (!load(frame, stack->previous_at, &frame))
            return false;
    }
    return false;
}

static bool find_file(uintptr_t globals, struct pie_pystr *ret_file) {
    uintptr_t type, key, value;
    struct pie_pydict dict;
    struct pie_pystr name;

    if (!load(globals, offsetof(PyObject, ob_type), &type) || type != (uintptr_t)&PyDict_Type ||
        !pie_pydict_locate(globals, &dict) || dict.is_split)
        return false;
    for (uintptr_t i = 0; i < dict.slots && i < SLOTS_MAX; i++) {
        if (!pie_pydict_entry(&dict, i, &key, &value))
            return false;
        if (key && pie_pystr_locate(key, PIE_PYSTR_IS_BYTES_MAX, &name) && pie_pystr_is(&name, "__file__"))
            return pie_pystr_locate(value, PIE_CODE_NAME_UNITS_MAX, ret_file);
    }
    return false;
}

enum pie_code_sent_state pie_code_sent_find(uintptr_t tstate, uintptr_t code, struct pie_pystr *ret_file) {
    uintptr_t globals;

    if (!find_globals(tstate, code, &globals))
        return PIE_CODE_SENT_RESTS;
    return find_file(globals, ret_file) ? PIE_CODE_SENT_FROM_FILE : PIE_CODE_SENT_NO_FILE;
}
#endif
