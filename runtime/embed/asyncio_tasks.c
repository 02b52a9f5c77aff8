/* SPDX-License-Identifier: Apache-2.0 */
#include <Python.h>

#include "runtime/code/registry.h"
#include "runtime/objects/tasks.h"

#include <string.h>

/* asyncio keeps a WeakSet of all tasks: `_all_tasks` up to 3.11, `_scheduled_tasks` in 3.12 and 3.13. Its member `data`
 * is a set of weak references that lives as long as the module, as does the dict of running tasks. From 3.14 on only
 * the size of a task is asked for. All is looked up once, when the module's own code has been run and dies; no
 * reference is kept. */

/* Borrowed. */
static PyObject *member(const char *module_name, const char *name) {
    PyObject *key = PyUnicode_FromString(module_name);
    PyObject *module = key ? PyImport_GetModule(key) : NULL; /* NULL also where the interpreter ends */
    bool is_module = module && PyModule_Check(module);
    PyObject *found = is_module ? PyDict_GetItemString(PyModule_GetDict(module), name) : NULL;

    Py_XDECREF(module);
    Py_XDECREF(key);
    return found;
}

static void look(void) {
    struct pie_tasks_places places = {0};
#if PY_VERSION_HEX < 0x030e0000
    PyObject *weak_set =
        member("asyncio.tasks", PY_VERSION_HEX < 0x030c0000 ? "_all_tasks" : "_scheduled_tasks");
    PyObject *set = weak_set ? PyObject_GetAttrString(weak_set, "data") : NULL;
    PyObject *current = member("asyncio.tasks", "_current_tasks");
    if (set && PySet_CheckExact(set))
        places.set = (uintptr_t)set;
    if (current && PyDict_CheckExact(current))
        places.current = (uintptr_t)current;
    Py_XDECREF(set);
#else
    PyObject *task = member("_asyncio", "Task");
    if (task && PyType_Check(task))
        places.task_bytes = (uintptr_t)((PyTypeObject *)task)->tp_basicsize;
#endif
    pie_tasks_set_places(&places);
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

    if (pie_tasks_has_places() || PyInterpreterState_Get() != PyInterpreterState_Main())
        return;
    PyErr_Fetch(&type, &value, &traceback);
    if (is_of_tasks(code))
        look();
    PyErr_Restore(type, value, traceback); /* in place of what the lookup may have raised */
}

void pie_asyncio_install(void) {
    pie_code_registry_on_module_run(on_module_run);
}
