/* SPDX-License-Identifier: Apache-2.0 */
#include <Python.h>

#include "runtime/objects/awaits.h"
#include "runtime/code/registry.h"

#include <string.h>

/* asyncio keeps a WeakSet of all tasks: `_all_tasks` up to 3.11, `_scheduled_tasks` in 3.12 and 3.13. Its member `data`
 * is a set of weak references that lives as long as the module. Looked up once, when the module's own code has been run
 * and dies; no reference is kept. */

static PyObject *find_weak_set(void) {
    static const char *const names[] = {"_all_tasks", "_scheduled_tasks"};
    PyObject *name = PyUnicode_FromString("asyncio.tasks");
    PyObject *module = name ? PyImport_GetModule(name) : NULL; /* NULL also where the interpreter ends */
    PyObject *found = NULL;

    for (size_t i = 0; i < sizeof names / sizeof *names && !found && module && PyModule_Check(module); i++)
        found = PyDict_GetItemString(PyModule_GetDict(module), names[i]);
    Py_XDECREF(module);
    Py_XDECREF(name);
    return found;
}

static void look(void) {
    PyObject *weak_set = find_weak_set();
    PyObject *data = weak_set ? PyObject_GetAttrString(weak_set, "data") : NULL;
    if (data && PySet_CheckExact(data))
        pie_awaits_set_tasks((uintptr_t)data);
    Py_XDECREF(data);
}

/* The file name's end: Python's own asyncio, wherever it lies. */
static bool is_of_tasks(PyCodeObject *code) {
    static const char END[] = "asyncio/tasks.py";
    Py_ssize_t size = 0;
    const char *file = PyUnicode_AsUTF8AndSize(code->co_filename, &size);

    return file && size >= (Py_ssize_t)sizeof END - 1 && strcmp(file + size - (sizeof END - 1), END) == 0;
}

static void on_module_run(PyCodeObject *code) {
    PyObject *type, *value, *traceback;

    if (pie_awaits_has_tasks() || PyInterpreterState_Get() != PyInterpreterState_Main())
        return;
    PyErr_Fetch(&type, &value, &traceback);
    if (is_of_tasks(code))
        look();
    PyErr_Restore(type, value, traceback); /* in place of what the lookup may have raised */
}

void pie_asyncio_install(void) {
    pie_code_registry_on_module_run(on_module_run);
}
