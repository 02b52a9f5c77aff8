/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/base/lookup.h"

#include "profiler/base/hash.h"

#include <errno.h>
#include <stdlib.h>

enum { FIRST_CAPACITY = 64 };

void pie_lookup_finish(struct pie_lookup *lookup) {
    free(lookup->slots);
    *lookup = (struct pie_lookup){0};
}

uint32_t pie_lookup_get(const struct pie_lookup *lookup, const struct pie_lookup_by *by, const void *owner,
                        uint64_t hash, const void *key) {
    size_t mask = lookup->capacity - 1;
    if (lookup->capacity == 0)
        return 0;
    for (size_t i = hash & mask;; i = (i + 1) & mask) {
        uint32_t number = lookup->slots[i];
        if (number == 0 || by->is_it(owner, number, key))
            return number;
    }
}

static void put(uint32_t *slots, size_t capacity, uint64_t hash, uint32_t number) {
    size_t mask = capacity - 1, i = hash & mask;
    while (slots[i] != 0)
        i = (i + 1) & mask;
    slots[i] = number;
}

static int grow(struct pie_lookup *lookup, const struct pie_lookup_by *by, const void *owner) {
    size_t capacity = lookup->capacity ? lookup->capacity * 2 : FIRST_CAPACITY;
    uint32_t *slots = calloc(capacity, sizeof *slots);
    if (!slots)
        return -ENOMEM;
    for (size_t i = 0; i < lookup->capacity; i++) {
        if (lookup->slots[i] != 0)
            put(slots, capacity, by->hash(owner, lookup->slots[i]), lookup->slots[i]);
    }
    free(lookup->slots);
    lookup->slots = slots;
    lookup->capacity = capacity;
    return 0;
}

int pie_lookup_add(struct pie_lookup *lookup, const struct pie_lookup_by *by, const void *owner,
                   uint32_t number) {
    if (lookup->count * 4 >= lookup->capacity * 3 && grow(lookup, by, owner) < 0)
        return -ENOMEM;
    put(lookup->slots, lookup->capacity, by->hash(owner, number), number);
    lookup->count++;
    return 0;
}
