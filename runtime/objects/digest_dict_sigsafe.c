/* SPDX-License-Identifier: Apache-2.0 */
#define Py_BUILD_CORE 1
#include <Python.h>
#include <internal/pycore_dict.h>
#undef Py_BUILD_CORE

#include "runtime/objects/digest.h"

#include "profiler/base/hash.h"
#include "profiler/base/safe_load.h"

/* The first entries of a dict, in the order in which they were put in. Behind the indices of its table the entries
 * follow, with a hash or, where all keys are str, without one. A dict of an instance has its values elsewhere, and
 * counts by where it lies. */

enum { ENTRIES_MAX = 8, SLOTS_MAX = 32, LOG2_MAX = 40 };

struct table {
    uintptr_t entries;
    size_t entry_bytes, key_at, value_at;
    uintptr_t slots; /* that were ever used */
};

static bool find_table(uintptr_t keys, struct table *ret_table) {
    const size_t indices_at = offsetof(PyDictKeysObject, dk_indices);
    uint8_t log2_bytes, kind;
    uintptr_t slots;

    if (!pie_safe_load_byte((const void *)(keys + offsetof(PyDictKeysObject, dk_log2_index_bytes)),
                            &log2_bytes) ||
        !pie_safe_load_byte((const void *)(keys + offsetof(PyDictKeysObject, dk_kind)), &kind) ||
        !pie_safe_load((const void *)(keys + offsetof(PyDictKeysObject, dk_nentries)), &slots) ||
        log2_bytes > LOG2_MAX || (intptr_t)slots < 0)
        return false;
    bool is_general = kind == DICT_KEYS_GENERAL;
    *ret_table = (struct table){
        .entries = keys + indices_at + ((uintptr_t)1 << log2_bytes),
        .entry_bytes = is_general ? sizeof(PyDictKeyEntry) : sizeof(PyDictUnicodeEntry),
        .key_at = is_general ? offsetof(PyDictKeyEntry, me_key) : offsetof(PyDictUnicodeEntry, me_key),
        .value_at = is_general ? offsetof(PyDictKeyEntry, me_value) : offsetof(PyDictUnicodeEntry, me_value),
        .slots = slots,
    };
    return true;
}

/* Returns how many entries were added. */
static uintptr_t add_entries(struct pie_digest *digest, const struct table *table, unsigned depth) {
    uintptr_t found = 0, key, value;

    for (uintptr_t i = 0; i < table->slots && i < SLOTS_MAX && found < ENTRIES_MAX; i++) {
        uintptr_t entry = table->entries + i * table->entry_bytes;
        if (!pie_safe_load((const void *)(entry + table->key_at), &key) ||
            !pie_safe_load((const void *)(entry + table->value_at), &value)) {
            digest->is_broken = true;
            return found;
        }
        if (!key || !value)
            continue; /* it was deleted */
        pie_digest_add_item(digest, key, depth + 1);
        pie_digest_add_item(digest, value, depth + 1);
        found++;
    }
    return found;
}

void pie_digest_add_dict(struct pie_digest *digest, uintptr_t dict, unsigned depth) {
    uintptr_t used, keys, values;
    struct table table;

    if (!pie_safe_load((const void *)(dict + offsetof(PyDictObject, ma_used)), &used) ||
        !pie_safe_load((const void *)(dict + offsetof(PyDictObject, ma_keys)), &keys) ||
        !pie_safe_load((const void *)(dict + offsetof(PyDictObject, ma_values)), &values) ||
        !find_table(keys, &table)) {
        digest->is_broken = true;
        return;
    }
    pie_digest_add_word(digest, used);
    if (!values && add_entries(digest, &table, depth) == used)
        return;
    digest->traits |= PIE_DIGEST_SAMPLED;
    digest->state = pie_hash_mix(pie_hash_mix(digest->state, dict), keys);
}
