/* SPDX-License-Identifier: Apache-2.0 */
#define Py_BUILD_CORE 1
#include <Python.h>
#include <internal/pycore_dict.h>
#include <internal/pycore_object.h>
#undef Py_BUILD_CORE

#include "runtime/retention/layout.h"

/* CPython 3.13 and later: the values lie behind the head of an instance, in the order of the keys that the class keeps,
 * as long as a flag there says so. A dictionary may use them in place. */
#if PY_VERSION_HEX < 0x030d0000
#error "this file is for CPython 3.13 and later"
#endif

static PyDictKeysObject *keys_of(PyObject *object) {
    return ((PyHeapTypeObject *)Py_TYPE(object))->ht_cached_keys;
}

bool pie_retention_values(PyObject *object, struct pie_retention_values *ret_values) {
    if (!PyType_HasFeature(Py_TYPE(object), Py_TPFLAGS_INLINE_VALUES) || pie_retention_managed_dict(object))
        return false;
    const PyDictValues *values = _PyObject_InlineValues(object);
    if (!values->valid)
        return false;
    *ret_values = (struct pie_retention_values){.values = values->values, .count = values->capacity};
    return true;
}

PyObject *pie_retention_values_name(PyObject *object, size_t i) {
    PyDictKeysObject *keys = keys_of(object);

    return keys && DK_IS_UNICODE(keys) && i < (size_t)keys->dk_nentries ? DK_UNICODE_ENTRIES(keys)[i].me_key
                                                                        : NULL;
}

PyObject *pie_retention_managed_dict(PyObject *object) {
    if (!PyType_HasFeature(Py_TYPE(object), Py_TPFLAGS_MANAGED_DICT))
        return NULL;
    return (PyObject *)_PyObject_ManagedDictPointer(object)->dict;
}

/* As long as the values are in the instance, its traversal visits them and not the dictionary that uses them. */
PyObject *pie_retention_untraversed_dict(PyObject *object) {
    if (!PyType_HasFeature(Py_TYPE(object), Py_TPFLAGS_INLINE_VALUES) ||
        !_PyObject_InlineValues(object)->valid)
        return NULL;
    return pie_retention_managed_dict(object);
}

uintptr_t pie_retention_dict_values_block(PyObject *dict) {
    return (uintptr_t)((PyDictObject *)dict)->ma_values; /* an address within the instance is no block's */
}

bool pie_retention_schedule(int (*call)(void *)) {
    return Py_AddPendingCall(call, NULL) == 0;
}

void pie_retention_wake(void) {
    /* Py_AddPendingCall() has told the main thread */
}
