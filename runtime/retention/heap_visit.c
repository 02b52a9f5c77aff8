/* SPDX-License-Identifier: Apache-2.0 */
#define Py_BUILD_CORE 1
#include <Python.h>
#include <internal/pycore_gc.h>
#include <internal/pycore_interp.h>
#include <internal/pycore_object.h>
#undef Py_BUILD_CORE

#include "runtime/retention/layout.h"

/* CPython 3.14 and later, whose lists have flags in their links: it shows the objects itself, frozen ones too. Each has
 * one reference more only while it is shown. */
#if PY_VERSION_HEX < 0x030e0000
#error "this file is for CPython 3.14 and later"
#endif

struct visit {
    bool (*visit)(PyObject *object, void *arg);
    void *arg;
};

static int on_object(PyObject *object, void *arg) {
    const struct visit *visit = arg;

    return visit->visit(object, visit->arg);
}

void pie_retention_heap_visit(bool (*visit)(PyObject *object, void *arg), void *arg) {
    PyUnstable_GC_VisitObjects(on_object, &(struct visit){visit, arg});
}

bool pie_retention_heap_is_collecting(void) {
    return PyInterpreterState_Main()->gc.collecting;
}

size_t pie_retention_header_bytes(PyTypeObject *type) {
    return _PyType_PreHeaderSize(type);
}

bool pie_retention_is_tracked(PyObject *object) {
    return _PyObject_GC_IS_TRACKED(object);
}
