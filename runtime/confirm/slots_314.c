/* SPDX-License-Identifier: Apache-2.0 */
#define Py_BUILD_CORE 1
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <internal/pycore_frame.h>
#include <internal/pycore_stackref.h>
#undef Py_BUILD_CORE

#include "runtime/confirm/slots.h"

/* CPython 3.14 and 3.15: the lowest bits of a slot say how its object is counted, or that it is a number and no object.
 * So the objects are put down elsewhere. The frame holds them meanwhile. */
#if PY_VERSION_HEX < 0x030e0000 || PY_VERSION_HEX >= 0x03100000
#error "this file is for CPython 3.14 and 3.15"
#endif

enum { FEW = 32, TAGS = 3, NUMBER = 3 };

/* Guarded by the GIL, which is held until the operands are read: no code of the program's runs meanwhile. */
static struct {
    PyObject *few[FEW], **many; /* many: more than that were asked for once; kept for the next time */
    int room;
} own;

static PyObject **room_for(int count) {
    if (count <= FEW)
        return own.few;
    if (count > own.room) {
        PyObject **many = PyMem_RawRealloc(own.many, (size_t)count * sizeof *many);
        if (!many)
            return NULL;
        own.many = many;
        own.room = count;
    }
    return own.many;
}

static PyObject *object_in(_PyStackRef slot) {
    return (slot.bits & TAGS) == NUMBER ? NULL : (PyObject *)(slot.bits & ~(uintptr_t)TAGS);
}

PyObject **pie_confirm_slots(struct _PyInterpreterFrame *frame, const PyCodeObject *code, int depth,
                             int count) {
    const _PyStackRef *top = frame->localsplus + code->co_nlocalsplus + depth;
    PyObject **objects;

    count = count < depth ? count : depth;
    objects = room_for(count);
    for (int i = 0; objects && i < count; i++)
        objects[i] = object_in(top[i - count]);
    return objects ? objects + count : NULL;
}
