/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/interpreter/weak.h"

PyObject *pie_weak_new(PyObject *object) {
    PyObject *weak = PyWeakref_NewRef(object, NULL);

    /* the program may have one already, which this is then too; it has a reference for each */
    if (weak && PyObject_GC_IsTracked(weak) && Py_REFCNT(weak) == 1)
        PyObject_GC_UnTrack(weak);
    return weak;
}

/* Called, a weak reference answers in each version; the functions for it have come and go. */
PyObject *pie_weak_get(PyObject *weak) {
    PyObject *object = weak ? PyObject_CallNoArgs(weak) : NULL;

    if (object == Py_None)
        Py_CLEAR(object);
    return object;
}
