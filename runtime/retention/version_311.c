/* SPDX-License-Identifier: Apache-2.0 */
#define Py_BUILD_CORE 1
#include <Python.h>
#include <internal/pycore_ceval.h>
#include <internal/pycore_dict.h>
#include <internal/pycore_interp.h>
#include <internal/pycore_object.h>
#undef Py_BUILD_CORE

#include "runtime/retention/layout.h"

/* CPython 3.11: before the head of an instance there are two pointers, one to its dictionary and one to its values, one
 * of which is NULL. The values are in the order of the keys that the class keeps; the byte before them says how many
 * bytes of their block come before them. */
#if PY_VERSION_HEX < 0x030b0000 || PY_VERSION_HEX >= 0x030c0000
#error "this file is for CPython 3.11"
#endif

static uintptr_t block_of(const PyDictValues *values) {
    return values ? (uintptr_t)values - ((const uint8_t *)values)[-1] : 0;
}

static const PyDictKeysObject *keys_of(PyObject *object) {
    return ((PyHeapTypeObject *)Py_TYPE(object))->ht_cached_keys;
}

bool pie_retention_values(PyObject *object, struct pie_retention_values *ret_values) {
    if (!PyType_HasFeature(Py_TYPE(object), Py_TPFLAGS_MANAGED_DICT))
        return false;
    const PyDictValues *values = *_PyObject_ValuesPointer(object);
    const PyDictKeysObject *keys = keys_of(object);
    if (!values || !keys)
        return false;
    *ret_values = (struct pie_retention_values){
        .values = values->values,
        .count = (size_t)keys->dk_nentries,
        .block = block_of(values),
    };
    return true;
}

PyObject *pie_retention_values_name(PyObject *object, size_t i) {
    const PyDictKeysObject *keys = keys_of(object);

    return keys && DK_IS_UNICODE(keys) && i < (size_t)keys->dk_nentries ? DK_UNICODE_ENTRIES(keys)[i].me_key
                                                                        : NULL;
}

PyObject *pie_retention_managed_dict(PyObject *object) {
    return PyType_HasFeature(Py_TYPE(object), Py_TPFLAGS_MANAGED_DICT) ? *_PyObject_ManagedDictPointer(object)
                                                                       : NULL;
}

PyObject *pie_retention_untraversed_dict(PyObject *object) {
    return NULL;
}

uintptr_t pie_retention_dict_values_block(PyObject *dict) {
    return block_of(((PyDictObject *)dict)->ma_values);
}

/* Py_AddPendingCall() of 3.11 looks at the thread state that holds the GIL, which may be freed at that moment. */
bool pie_retention_schedule(int (*call)(void *)) {
    return _PyEval_AddPendingCall(PyInterpreterState_Main(), call, NULL) == 0;
}

/* Pending calls are noticed by a flag that a thread other than the main one does not set for them: it asks whether it
 * may run them itself. The main thread looks at what is pending whenever the flag is set. */
void pie_retention_wake(void) {
    _Py_atomic_store_relaxed(&PyInterpreterState_Main()->ceval.eval_breaker, 1);
}
