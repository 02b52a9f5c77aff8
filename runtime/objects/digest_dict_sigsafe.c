/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/objects/digest.h"

#include "profiler/base/hash.h"
#include "runtime/objects/pydict.h"

/* The first entries of a dict, in the order in which they were put in. A dict of an instance counts by where it lies.
 */

enum { ENTRIES_MAX = 8, SLOTS_MAX = 32 };

/* Returns how many entries were added. */
static uintptr_t add_entries(struct pie_digest *digest, const struct pie_pydict *dict, unsigned depth) {
    uintptr_t found = 0, key, value;

    for (uintptr_t i = 0; i < dict->slots && i < SLOTS_MAX && found < ENTRIES_MAX; i++) {
        if (!pie_pydict_entry(dict, i, &key, &value)) {
            digest->is_broken = true;
            return found;
        }
        if (!key)
            continue; /* it was deleted */
        pie_digest_add_item(digest, key, depth + 1);
        pie_digest_add_item(digest, value, depth + 1);
        found++;
    }
    return found;
}

void pie_digest_add_dict(struct pie_digest *digest, uintptr_t dict, unsigned depth) {
    struct pie_pydict table;

    if (!pie_pydict_locate(dict, &table)) {
        digest->is_broken = true;
        return;
    }
    pie_digest_add_word(digest, table.used);
    if (!table.is_split && add_entries(digest, &table, depth) == table.used)
        return;
    digest->traits |= PIE_DIGEST_SAMPLED;
    digest->state = pie_hash_mix(pie_hash_mix(digest->state, dict), table.entries);
}
