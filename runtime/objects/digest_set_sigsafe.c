/* SPDX-License-Identifier: Apache-2.0 */
#include <Python.h>

#include "runtime/objects/digest.h"

#include "profiler/base/hash.h"
#include "profiler/base/safe_load.h"

/* The keys of a set, in whatever order its table has them: each has a digest of its own, and these are added up. Of a
 * large set the hashes that its table keeps are added up: other hashes are other keys for certain. */

enum { KEYS_MAX = 16, SLOTS_MAX = 512, MASK_MAX = 1 << 30 };

struct table {
    uintptr_t used, slots, entries;
};

static bool find_table(uintptr_t set, struct table *ret_table) {
    uintptr_t mask;

    if (!pie_safe_load((const void *)(set + offsetof(PySetObject, used)), &ret_table->used) ||
        !pie_safe_load((const void *)(set + offsetof(PySetObject, mask)), &mask) || mask > MASK_MAX ||
        !pie_safe_load((const void *)(set + offsetof(PySetObject, table)), &ret_table->entries))
        return false;
    ret_table->slots = mask + 1;
    return ret_table->used <= ret_table->slots;
}

/* *ret_key is 0 for an entry that is free, or was deleted, which only the hash shows. */
static bool read_entry(const struct table *table, uintptr_t slot, uintptr_t *ret_key, uintptr_t *ret_hash) {
    uintptr_t entry = table->entries + slot * sizeof(setentry);

    if (!pie_safe_load((const void *)(entry + offsetof(setentry, key)), ret_key) ||
        !pie_safe_load((const void *)(entry + offsetof(setentry, hash)), ret_hash))
        return false;
    if ((intptr_t)*ret_hash == -1)
        *ret_key = 0;
    return true;
}

static uint64_t add_key(struct pie_digest *digest, uintptr_t key, unsigned depth) {
    struct pie_digest one = *digest;

    one.content = one.state = 1;
    one.floats = NULL;
    pie_digest_add_item(&one, key, depth + 1);
    uint64_t content = one.content, state = one.state;
    one.content = digest->content;
    one.state = digest->state;
    one.floats = digest->floats;
    *digest = one;
    if (state != 1) /* a sum, too, as their order says nothing */
        digest->state += pie_hash_upper(state);
    return content;
}

void pie_digest_add_set(struct pie_digest *digest, uintptr_t set, unsigned depth) {
    struct table table;
    uintptr_t key, hash;
    uint64_t sum = 0, state = 0;

    if (!find_table(set, &table)) {
        digest->is_broken = true;
        return;
    }
    bool is_large = table.used > KEYS_MAX;
    for (uintptr_t slot = 0; slot < table.slots && slot < SLOTS_MAX && !digest->is_broken; slot++) {
        if (!read_entry(&table, slot, &key, &hash)) {
            digest->is_broken = true;
            return;
        }
        if (!key)
            continue;
        sum += is_large ? pie_hash_upper(hash) : add_key(digest, key, depth);
        state += pie_hash_upper(key);
    }
    digest->is_blank = digest->is_blank && table.used == 0;
    pie_digest_add_word(digest, table.used);
    bool is_whole = table.slots <= SLOTS_MAX;
    if (!is_large || is_whole)
        pie_digest_add_word(digest, sum);
    if (!is_large && is_whole)
        return;
    digest->traits |= PIE_DIGEST_SAMPLED;
    pie_digest_add_state(digest, is_whole ? state : pie_hash_mix(set, table.entries));
}
