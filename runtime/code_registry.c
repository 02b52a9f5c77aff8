/* SPDX-License-Identifier: Apache-2.0 */
#include <Python.h>

#include "runtime/code_registry.h"

#include "profiler/safe_load.h"
#include "runtime/code_store.h"

/* The sides of the registry that are no handler's: the hook in the type, and interning for the collection thread. */

static destructor dealloc_code; /* the interpreter's own; set once before Python starts */

static void watch_dealloc(PyObject *object) {
    struct pie_code_death death;

    pie_code_registry_begin_death(&death, (uintptr_t)object);
    dealloc_code(object);
    pie_code_registry_end_death(&death);
}

void pie_code_registry_install(void) {
    if (dealloc_code)
        return;
    dealloc_code = PyCode_Type.tp_dealloc;
    PyCode_Type.tp_dealloc = watch_dealloc;
}

static bool copy_string(struct pie_pystr *string, char *buffer) {
    if (!pie_safe_copy(buffer, (const void *)string->data, pie_pystr_size(string)))
        return false;
    string->data = (uintptr_t)buffer;
    return true;
}

/* The thread whose frame it is may go on and drop the object at any moment. So the content is copied first, and only
 * the copy is looked at: whatever was read, the record says the same as the hash under which it is found. */
uint32_t pie_code_registry_intern_by_content(uintptr_t code) {
    static char
        file[PIE_CODE_NAME_UNITS_MAX * sizeof(Py_UCS4)]; /* one collection thread: these are its own */
    static char qualname[PIE_CODE_NAME_UNITS_MAX * sizeof(Py_UCS4)];
    static char linetable[PIE_CODE_LINETABLE_BYTES_MAX];
    struct pie_code_content content;

    if (!pie_code_content_read(code, &content) || !copy_string(&content.file, file) ||
        !copy_string(&content.qualname, qualname) || !copy_string(&content.linetable, linetable))
        return 0;
    return pie_code_store_add(&content);
}
