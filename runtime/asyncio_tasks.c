/* SPDX-License-Identifier: Apache-2.0 */
#include <Python.h>

#include "runtime/awaits.h"

#include <string.h>

/* asyncio keeps a WeakSet of all tasks: `_all_tasks` up to 3.11, `_scheduled_tasks` in 3.12 and 3.13. Its member `data` is a
 * set of weak references that lives as long as the module. Looked up once, in an audit hook; no reference is kept. */

static PyObject *find_weak_set(void) {
    static const char *const names[] = {"_all_tasks", "_scheduled_tasks"};
    PyObject *modules = PyImport_GetModuleDict();
    PyObject *module = modules ? PyDict_GetItemString(modules, "asyncio.tasks") : NULL;

    if (!module || !PyModule_Check(module))
        return NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        PyObject *found = PyDict_GetItemString(PyModule_GetDict(module), names[i]);
        if (found)
            return found;
    }
    return NULL;
}

static void look(void) {
    PyObject *type, *value, *traceback;

    PyErr_Fetch(&type, &value, &traceback);
    PyObject *weak_set = find_weak_set();
    PyObject *data = weak_set ? PyObject_GetAttrString(weak_set, "data") : NULL;
    if (data && PySet_CheckExact(data))
        pie_awaits_set_tasks((uintptr_t)data);
    Py_XDECREF(data);
    PyErr_Restore(type, value, traceback); /* in place of what the lookup may have raised */
}

/* An event loop begins with a pair of sockets to wake it up. */
static int on_event(const char *event, PyObject *arguments, void *unused) {
    if (strcmp(event, "socket.__new__") == 0 && !pie_awaits_has_tasks() &&
        PyInterpreterState_Get() == PyInterpreterState_Main())
        look();
    return 0;
}

void pie_asyncio_install(void) {
    PySys_AddAuditHook(on_event, NULL); /* without it such time is where the loop waits */
}
