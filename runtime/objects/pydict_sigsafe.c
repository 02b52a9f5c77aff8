/* SPDX-License-Identifier: Apache-2.0 */
#define Py_BUILD_CORE 1
#include <Python.h>
#include <internal/pycore_dict.h>
#undef Py_BUILD_CORE

#include "runtime/objects/pydict.h"

#include "profiler/base/safe_load.h"

/* Entries have a hash or, where all keys are str, none. */

enum { LOG2_MAX = 40 };

bool pie_pydict_locate(uintptr_t dict, struct pie_pydict *ret_dict) {
    const size_t indices_at = offsetof(PyDictKeysObject, dk_indices);
    uintptr_t used, keys, values, slots;
    uint8_t log2_bytes, kind;

    if (!pie_safe_load((const void *)(dict + offsetof(PyDictObject, ma_used)), &used) ||
        !pie_safe_load((const void *)(dict + offsetof(PyDictObject, ma_keys)), &keys) ||
        !pie_safe_load((const void *)(dict + offsetof(PyDictObject, ma_values)), &values) ||
        !pie_safe_load_byte((const void *)(keys + offsetof(PyDictKeysObject, dk_log2_index_bytes)),
                            &log2_bytes) ||
        !pie_safe_load_byte((const void *)(keys + offsetof(PyDictKeysObject, dk_kind)), &kind) ||
        !pie_safe_load((const void *)(keys + offsetof(PyDictKeysObject, dk_nentries)), &slots) ||
        log2_bytes > LOG2_MAX || (intptr_t)slots < 0)
        return false;
    bool is_general = kind == DICT_KEYS_GENERAL;
    *ret_dict = (struct pie_pydict){
        .entries = keys + indices_at + ((uintptr_t)1 << log2_bytes),
        .used = used,
        .slots = slots,
        .entry_bytes = is_general ? sizeof(PyDictKeyEntry) : sizeof(PyDictUnicodeEntry),
        .key_at = is_general ? offsetof(PyDictKeyEntry, me_key) : offsetof(PyDictUnicodeEntry, me_key),
        .value_at = is_general ? offsetof(PyDictKeyEntry, me_value) : offsetof(PyDictUnicodeEntry, me_value),
        .is_split = values != 0,
    };
    return true;
}

bool pie_pydict_entry(const struct pie_pydict *dict, uintptr_t slot, uintptr_t *ret_key,
                      uintptr_t *ret_value) {
    uintptr_t entry = dict->entries + slot * dict->entry_bytes;

    if (!pie_safe_load((const void *)(entry + dict->key_at), ret_key) ||
        !pie_safe_load((const void *)(entry + dict->value_at), ret_value))
        return false;
    if (!*ret_value)
        *ret_key = 0;
    return true;
}
