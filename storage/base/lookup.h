/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Finds things that an owner keeps in an array of its own: a hash table of nothing but their numbers, 4 to 16 bytes for
 * each. Context: cli. */
struct pie_lookup {
    uint32_t *slots; /* open addressing, a power of two of them; 0: free */
    size_t capacity, count;
};

/* What the owner says about the things it keeps. */
struct pie_lookup_by {
    uint64_t (*hash)(const void *owner, uint32_t number);
    bool (*is_it)(const void *owner, uint32_t number, const void *key);
};

/* A lookup whose bytes are all 0 is an empty one. */
void pie_lookup_finish(struct pie_lookup *lookup);

/* The number, not 0, of the entry with this key and hash; 0: there is none. */
uint32_t pie_lookup_get(const struct pie_lookup *lookup, const struct pie_lookup_by *by, const void *owner,
                        uint64_t hash, const void *key);
/* Adds an entry that does not exist yet; number is not 0. Returns 0 or -ENOMEM. */
int pie_lookup_add(struct pie_lookup *lookup, const struct pie_lookup_by *by, const void *owner,
                   uint32_t number);
