/* SPDX-License-Identifier: Apache-2.0 */
#define Py_BUILD_CORE 1
#include <Python.h>
#include <internal/pycore_gc.h>
#include <internal/pycore_interp.h>
#include <internal/pycore_object.h>

#include "runtime/stacks/state_offsets.h"
#undef Py_BUILD_CORE

#include "profiler/base/safe_load.h"

#include "runtime/retention/layout.h"

/* CPython 3.11 to 3.13: tracked objects are in one list for each generation. Between collections, and while finalizers
 * run, these are plain rings. PyUnstable_GC_VisitObjects() of 3.12 leaves out what gc.freeze() set aside. */
#if PY_VERSION_HEX < 0x030b0000 || PY_VERSION_HEX >= 0x030e0000
#error "this file is for CPython 3.11 to 3.13"
#endif

static struct _gc_runtime_state *state(void) {
    return (void *)((uintptr_t)PyInterpreterState_Main() + pie_state_offsets().collector);
}

/* The last of a list has its head as the next one, and the first has it as the one before. */
static bool is_ring(const PyGC_Head *list) {
    uintptr_t first, last, before, after;

    return pie_safe_load(&list->_gc_next, &first) && pie_safe_load(&list->_gc_prev, &last) &&
           pie_safe_load(&((const PyGC_Head *)first)->_gc_prev, &before) &&
           pie_safe_load(&((const PyGC_Head *)last)->_gc_next, &after) &&
           (before & _PyGC_PREV_MASK) == (uintptr_t)list && after == (uintptr_t)list;
}

/* Another release than that of the headers may have its lists elsewhere. */
static bool has_lists(void) {
    static enum { UNKNOWN, ABSENT, PRESENT } lists; /* under the GIL */
    struct _gc_runtime_state *gc = state();

    if (lists == UNKNOWN) {
        bool are_rings = is_ring(&gc->permanent_generation.head);
        for (int i = 0; i < NUM_GENERATIONS; i++)
            are_rings = are_rings && is_ring(&gc->generations[i].head);
        lists = are_rings ? PRESENT : ABSENT;
    }
    return lists == PRESENT;
}

static bool visit_list(PyGC_Head *list, bool (*visit)(PyObject *, void *), void *arg) {
    for (PyGC_Head *head = _PyGCHead_NEXT(list); head != list; head = _PyGCHead_NEXT(head)) {
        __builtin_prefetch(_PyGCHead_NEXT(head));
        if (!visit((PyObject *)(head + 1), arg))
            return false;
    }
    return true;
}

/* The oldest first: what stays is there. */
void pie_retention_heap_visit(bool (*visit)(PyObject *object, void *arg), void *arg) {
    struct _gc_runtime_state *gc = state();

    if (!has_lists())
        return;
    for (int i = NUM_GENERATIONS - 1; i >= 0; i--)
        if (!visit_list(&gc->generations[i].head, visit, arg))
            return;
    visit_list(&gc->permanent_generation.head, visit, arg);
}

bool pie_retention_heap_is_collecting(void) {
    return state()->collecting || !has_lists(); /* then nobody visits them */
}

size_t pie_retention_header_bytes(PyTypeObject *type) {
    return _PyType_PreHeaderSize(type);
}

bool pie_retention_is_tracked(PyObject *object) {
    return _PyObject_GC_IS_TRACKED(object);
}
