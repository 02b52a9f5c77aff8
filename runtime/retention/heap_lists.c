/* SPDX-License-Identifier: Apache-2.0 */
#define Py_BUILD_CORE 1
#include <Python.h>
#include <internal/pycore_gc.h>
#include <internal/pycore_interp.h>
#include <internal/pycore_object.h>

#include "runtime/stacks/collections.h"
#include "runtime/stacks/state_offsets.h"
#undef Py_BUILD_CORE

#include "runtime/retention/layout.h"

/* CPython 3.11 to 3.13: tracked objects are in one list for each generation. Between collections, and while finalizers
 * run, these are plain rings. PyUnstable_GC_VisitObjects() of 3.12 leaves out what gc.freeze() set aside. */
#if PY_VERSION_HEX < 0x030b0000 || PY_VERSION_HEX >= 0x030e0000
#error "this file is for CPython 3.11 to 3.13"
#endif

static struct _gc_runtime_state *state(void) {
    return (void *)((uintptr_t)PyInterpreterState_Main() + pie_state_offsets().collector);
}

/* Where this release has its lists, 0 if nowhere that is known. */
static size_t lists_at(void) {
    static size_t at; /* under the GIL */
    static bool is_known;

    if (!is_known) {
        at = pie_collections_find_lists((uintptr_t)state());
        is_known = true;
    }
    return at;
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
    struct gc_generation *lists = (void *)((uintptr_t)gc + lists_at());

    if (!lists_at())
        return;
    for (int i = NUM_GENERATIONS - 1; i >= 0; i--)
        if (!visit_list(&lists[i].head, visit, arg))
            return;
    visit_list(&gc->permanent_generation.head, visit, arg);
}

bool pie_retention_heap_is_collecting(void) {
    return state()->collecting || !lists_at(); /* then nobody visits them */
}

size_t pie_retention_header_bytes(PyTypeObject *type) {
    return _PyType_PreHeaderSize(type);
}

bool pie_retention_is_tracked(PyObject *object) {
    return _PyObject_GC_IS_TRACKED(object);
}
