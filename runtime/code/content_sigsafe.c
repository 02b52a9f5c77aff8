/* SPDX-License-Identifier: Apache-2.0 */
#include <Python.h>

#include "runtime/code/store.h"

#include "profiler/base/safe_load.h"
#include "runtime/code/pyops.h"

static bool read_word(uintptr_t code, size_t offset, uintptr_t *ret) {
    return pie_safe_load((const void *)(code + offset), ret);
}

/* --- The line that starts a process --- */

/* multiprocessing starts its processes, its server of forks and its resource tracker, as does loky, with a line as
 * python -c "from multiprocessing.spawn import spawn_main; spawn_main(…)". Its code object names a module and a
 * function, and nothing else. Python says "<string>" of it, as of what the user passes with -c. */

enum { NAMES = 2 };

/* The names that the code asks modules and namespaces for. False: there are not as many. */
static bool read_names(uintptr_t code, struct pie_pystr ret_names[NAMES]) {
    uintptr_t tuple, count, name;

    if (!pie_safe_load((const void *)(code + offsetof(PyCodeObject, co_names)), &tuple) ||
        !pie_safe_load((const void *)(tuple + offsetof(PyVarObject, ob_size)), &count) || count != NAMES)
        return false;
    for (size_t i = 0; i < NAMES; i++)
        if (!pie_safe_load((const void *)(tuple + offsetof(PyTupleObject, ob_item) + i * sizeof name),
                           &name) ||
            !pie_pystr_locate(name, PIE_PYSTR_IS_BYTES_MAX, &ret_names[i]))
            return false;
    return true;
}

static const struct {
    const char *module, *function;
} starts[] = {
    {"multiprocessing.spawn", "spawn_main"},      {"multiprocessing.forkserver", "main"},
    {"multiprocessing.resource_tracker", "main"}, {"joblib.externals.loky.backend.resource_tracker", "main"},
    {"loky.backend.resource_tracker", "main"},
};

static bool is_start_line(uintptr_t code, const struct pie_code_content *content) {
    struct pie_pystr names[NAMES];

    if (content->first_line != 1 || !pie_pystr_is(&content->file, "<string>") ||
        !pie_pystr_is(&content->qualname, "<module>") || !read_names(code, names))
        return false;
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (pie_pystr_is(&names[0], starts[i].module) && pie_pystr_is(&names[1], starts[i].function))
            return true;
    return false;
}

/* No user wrote the line, so it has a name that is no file of theirs (storage/own/ownership.c). */
static struct pie_pystr start_file(void) {
    static const char name[] = "<multiprocessing>";

    return (struct pie_pystr){
        .data = (uintptr_t)name, .units = sizeof name - 1, .width = 1, .is_ascii = true};
}

/* --- Content --- */

bool pie_code_content_read(uintptr_t code, struct pie_code_content *ret_content) {
    struct pie_code_content content;
    uintptr_t type, units, file, qualname, linetable, exceptiontable;

    if (!read_word(code, offsetof(PyObject, ob_type), &type) || type != (uintptr_t)&PyCode_Type ||
        !read_word(code, offsetof(PyVarObject, ob_size), &units) ||
        !read_word(code, offsetof(PyCodeObject, co_filename), &file) ||
        !read_word(code, offsetof(PyCodeObject, co_qualname), &qualname) ||
        !read_word(code, offsetof(PyCodeObject, co_linetable), &linetable) ||
        !read_word(code, offsetof(PyCodeObject, co_exceptiontable), &exceptiontable))
        return false;
    if (!pie_safe_copy(&content.first_line, (const void *)(code + offsetof(PyCodeObject, co_firstlineno)),
                       sizeof content.first_line))
        return false;
    if (!pie_pystr_locate(file, PIE_CODE_NAME_UNITS_MAX, &content.file) ||
        !pie_pystr_locate(qualname, PIE_CODE_NAME_UNITS_MAX, &content.qualname) ||
        !pie_pystr_locate_bytes(linetable, PIE_CODE_LINETABLE_BYTES_MAX, &content.linetable) ||
        !pie_pystr_locate_bytes(exceptiontable, PIE_CODE_EXCEPTIONTABLE_BYTES_MAX, &content.exceptiontable))
        return false;
    content.units = (uint32_t)units;
    content.bytecode = code + offsetof(PyCodeObject, co_code_adaptive);
    content.object = code;
    if (is_start_line(code, &content))
        content.file = start_file();
    *ret_content = content;
    return true;
}

bool pie_code_content_copy_bytecode(const struct pie_code_content *content, uint8_t *dst) {
    uint32_t units = pie_code_content_bytecode_units(content);

    if (!pie_safe_copy(dst, (const void *)content->bytecode, (size_t)units * PIE_CODE_UNIT_BYTES))
        return false;
    if (content->object)
        pie_pyops_reveal(content->object, dst, units);
    return true;
}
