/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/base/hash.h"
#include "profiler/base/own_memory.h"
#include "storage/base/idmap.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct pie_idmap_entry {
    char *key;
    size_t size;
    uint64_t hash;
    uint32_t value; /* 0: the entry is free */
};

enum { FIRST_CAPACITY = 64 };

static struct pie_idmap_entry *find(struct pie_idmap_entry *entries, size_t capacity, const void *key,
                                    size_t size, uint64_t hash) {
    size_t mask = capacity - 1;
    for (size_t i = hash & mask;; i = (i + 1) & mask) {
        struct pie_idmap_entry *entry = &entries[i];
        if (entry->value == 0)
            return entry;
        if (entry->hash == hash && entry->size == size && memcmp(entry->key, key, size) == 0)
            return entry;
    }
}

void pie_idmap_finish(struct pie_idmap *map) {
    for (size_t i = 0; i < map->capacity; i++)
        pie_free(map->entries[i].key);
    pie_free(map->entries);
    *map = (struct pie_idmap){0};
}

uint32_t pie_idmap_get(const struct pie_idmap *map, const void *key, size_t size) {
    if (map->capacity == 0)
        return 0;
    return find(map->entries, map->capacity, key, size, pie_hash_bytes(key, size))->value;
}

static int grow(struct pie_idmap *map) {
    size_t capacity = map->capacity ? map->capacity * 2 : FIRST_CAPACITY;
    struct pie_idmap_entry *entries = pie_calloc(capacity, sizeof *entries);
    if (!entries)
        return -ENOMEM;
    for (size_t i = 0; i < map->capacity; i++) {
        struct pie_idmap_entry *old = &map->entries[i];
        if (old->value != 0)
            *find(entries, capacity, old->key, old->size, old->hash) = *old;
    }
    pie_free(map->entries);
    map->entries = entries;
    map->capacity = capacity;
    return 0;
}

int pie_idmap_forget(struct pie_idmap *map, bool (*keeps)(void *data, uint32_t value), void *data) {
    size_t count = 0, capacity = FIRST_CAPACITY;
    for (size_t i = 0; i < map->capacity; i++)
        count += map->entries[i].value != 0 && keeps(data, map->entries[i].value);
    while (capacity < 2 * (count + 1))
        capacity *= 2;
    struct pie_idmap_entry *entries = pie_calloc(capacity, sizeof *entries);
    if (!entries)
        return -ENOMEM;
    for (size_t i = 0; i < map->capacity; i++) {
        struct pie_idmap_entry *old = &map->entries[i];
        if (old->value != 0 && keeps(data, old->value))
            *find(entries, capacity, old->key, old->size, old->hash) = *old;
        else
            pie_free(old->key);
    }
    pie_free(map->entries);
    *map = (struct pie_idmap){.entries = entries, .capacity = capacity, .count = count};
    return 0;
}

int pie_idmap_add(struct pie_idmap *map, const void *key, size_t size, uint32_t value) {
    if (map->count * 2 >= map->capacity && grow(map) < 0)
        return -ENOMEM;
    char *copy = pie_malloc(size ? size : 1);
    if (!copy)
        return -ENOMEM;
    memcpy(copy, key, size);
    uint64_t hash = pie_hash_bytes(key, size);
    *find(map->entries, map->capacity, key, size, hash) =
        (struct pie_idmap_entry){.key = copy, .size = size, .hash = hash, .value = value};
    map->count++;
    return 0;
}
