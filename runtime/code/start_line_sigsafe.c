/* SPDX-License-Identifier: Apache-2.0 */
#include <Python.h>

#include "runtime/code/start_line.h"

#include <string.h>

#include "profiler/base/safe_load.h"

/* multiprocessing starts its processes, its server of forks and its resource tracker with a line as
 * python -c "from multiprocessing.spawn import spawn_main; spawn_main(…)". Its code object names a module and a
 * function, and nothing else. */

enum { TEXT_BYTES_MAX = 64, NAMES = 2 };

static bool is_text(const struct pie_pystr *string, const char *text) {
    char found[TEXT_BYTES_MAX];
    size_t size = strlen(text);

    return string->is_ascii && string->units == size && size <= sizeof found &&
           pie_safe_copy(found, (const void *)string->data, size) && memcmp(found, text, size) == 0;
}

/* The names that the code asks modules and namespaces for. False: there are not as many. */
static bool read_names(uintptr_t code, struct pie_pystr ret_names[NAMES]) {
    uintptr_t tuple, count, name;

    if (!pie_safe_load((const void *)(code + offsetof(PyCodeObject, co_names)), &tuple) ||
        !pie_safe_load((const void *)(tuple + offsetof(PyVarObject, ob_size)), &count) || count != NAMES)
        return false;
    for (size_t i = 0; i < NAMES; i++)
        if (!pie_safe_load((const void *)(tuple + offsetof(PyTupleObject, ob_item) + i * sizeof name),
                           &name) ||
            !pie_pystr_locate(name, TEXT_BYTES_MAX, &ret_names[i]))
            return false;
    return true;
}

static const struct {
    const char *module, *function;
} starts[] = {
    {"multiprocessing.spawn", "spawn_main"},
    {"multiprocessing.forkserver", "main"},
    {"multiprocessing.resource_tracker", "main"},
};

bool pie_code_is_start_line(uintptr_t code, const struct pie_code_content *content) {
    struct pie_pystr names[NAMES];

    if (content->first_line != 1 || !is_text(&content->file, "<string>") ||
        !is_text(&content->qualname, "<module>") || !read_names(code, names))
        return false;
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (is_text(&names[0], starts[i].module) && is_text(&names[1], starts[i].function))
            return true;
    return false;
}
