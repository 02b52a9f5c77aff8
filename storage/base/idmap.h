/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A map from a key of bytes to a small number: ids that the writer gives out. Keys are copied.
 * Context: drain. */
struct pie_idmap {
    struct pie_idmap_entry *entries; /* open addressing, a power of two of them */
    size_t capacity, count;
};

/* A map whose bytes are all 0 is an empty one. */
void pie_idmap_finish(struct pie_idmap *map);

/* The value of a key, 0 if there is none. */
uint32_t pie_idmap_get(const struct pie_idmap *map, const void *key, size_t size);
/* Keeps those whose values are kept. Returns 0, or -ENOMEM: all are kept. */
int pie_idmap_forget(struct pie_idmap *map, bool (*keeps)(void *data, uint32_t value), void *data);
/* Adds a key that is not in the map; value is not 0. Returns 0 or -ENOMEM. */
int pie_idmap_add(struct pie_idmap *map, const void *key, size_t size, uint32_t value);
