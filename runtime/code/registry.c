/* SPDX-License-Identifier: Apache-2.0 */
#include <Python.h>

#include "runtime/code/registry.h"

#include "profiler/base/safe_load.h"
#include "runtime/code/store.h"

/* The sides of the registry that are no handler's: the hook in the type, and interning for the collection thread. */

/* Set once before Python starts. */
static destructor dealloc_code; /* the interpreter's own */
static void (*module_run)(PyCodeObject *code);

/* A module's code is dropped when it has been run. */
static bool is_of_module(PyCodeObject *code) {
    return !(code->co_flags & CO_OPTIMIZED) &&
           PyUnicode_CompareWithASCIIString(code->co_name, "<module>") == 0;
}

static void watch_dealloc(PyObject *object) {
    struct pie_code_death death;

    if (module_run && is_of_module((PyCodeObject *)object))
        module_run((PyCodeObject *)object);
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

void pie_code_registry_on_module_run(void (*hook)(struct PyCodeObject *code)) {
    module_run = hook;
}

/* An entry is removed when its object is deallocated, with the GIL held. Memory that is free has no counted reference,
 * or a pointer where the count is. */
static bool is_alive(uintptr_t code) {
    uint64_t count;
    uintptr_t type;

    return pie_safe_load((const void *)code, &count) &&
           pie_safe_load((const void *)(code + offsetof(PyObject, ob_type)), &type) &&
           type == (uintptr_t)&PyCode_Type && count - 1 < UINT32_MAX;
}

void pie_code_registry_visit(void (*visit)(struct PyCodeObject *code)) {
    for (unsigned half = 0; half < 2; half++) {
        const struct pie_code_table *addresses = pie_code_store_addresses(half);
        uint32_t slot = 0;
        for (uint64_t code; addresses && (code = pie_code_table_next(addresses, &slot));)
            if (is_alive((uintptr_t)code))
                visit((PyCodeObject *)(uintptr_t)code);
    }
}

static bool copy_string(struct pie_pystr *string, char *buffer) {
    if (!pie_safe_copy(buffer, (const void *)string->data, pie_pystr_size(string)))
        return false;
    string->data = (uintptr_t)buffer;
    return true;
}

static bool copy_bytecode(struct pie_code_content *content, uint8_t *buffer) {
    if (!pie_code_content_copy_bytecode(content, buffer))
        return false;
    content->bytecode = (uintptr_t)buffer;
    content->object = 0;
    return true;
}

/* Is the object at this address still what it was, as far as can be seen? */
static bool is_still(uintptr_t code, const struct pie_code_content *content) {
    struct pie_code_content now;

    return pie_code_content_read(code, &now) && now.units == content->units &&
           now.first_line == content->first_line && now.file.data == content->file.data &&
           now.qualname.data == content->qualname.data && now.linetable.data == content->linetable.data &&
           now.exceptiontable.data == content->exceptiontable.data;
}

/* The thread whose frame it is may go on and drop the object at any moment. So the content is copied first, and only
 * the copy is looked at: whatever was read, the record says the same as the hash under which it is found. The hash does
 * not know of the bytecode; so if the object has gone meanwhile, nothing is kept. */
uint32_t pie_code_registry_intern_by_content(uintptr_t code, uintptr_t tstate) {
    static char
        file[PIE_CODE_NAME_UNITS_MAX * sizeof(Py_UCS4)]; /* one collection thread: these are its own */
    static char qualname[PIE_CODE_NAME_UNITS_MAX * sizeof(Py_UCS4)];
    static char linetable[PIE_CODE_LINETABLE_BYTES_MAX];
    static char exceptiontable[PIE_CODE_EXCEPTIONTABLE_BYTES_MAX];
    static uint8_t bytecode[PIE_CODE_UNITS_MAX * PIE_CODE_UNIT_BYTES];
    struct pie_code_content found, content;
    uint32_t id;

    if (!pie_code_content_read(code, &found))
        return 0;
    content = found;
    if (pie_code_is_sent(&found) &&
        pie_code_sent_find(tstate, code, &content.file) != PIE_CODE_SENT_FROM_FILE &&
        (id = pie_code_registry_find(code)))
        return id;
    if (!copy_string(&content.file, file) || !copy_string(&content.qualname, qualname) ||
        !copy_string(&content.linetable, linetable))
        return 0;
    id = pie_code_store_find(&content);
    if (id)
        return id;
    if (!copy_string(&content.exceptiontable, exceptiontable) || !copy_bytecode(&content, bytecode) ||
        !is_still(code, &found))
        return 0;
    return pie_code_store_add(&content);
}
