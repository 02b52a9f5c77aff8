/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/base/hash.h"
#include "profiler/base/own_memory.h"
#include "profiler/base/u64map.h"

#include <errno.h>
#include <stdlib.h>

struct pie_u64map_entry {
    uint64_t key;
    uint32_t id; /* 0: empty */
};

static size_t slot_of(const struct pie_u64map *map, uint64_t key) {
    size_t at = (size_t)pie_hash_mix(0, key) & (map->capacity - 1);

    while (map->entries[at].id && map->entries[at].key != key)
        at = (at + 1) & (map->capacity - 1);
    return at;
}

uint32_t pie_u64map_get(const struct pie_u64map *map, uint64_t key) {
    return map->capacity ? map->entries[slot_of(map, key)].id : 0;
}

static int grow(struct pie_u64map *map) {
    size_t capacity = map->capacity ? map->capacity * 2 : 256;
    struct pie_u64map bigger = {pie_calloc(capacity, sizeof *bigger.entries), capacity, map->count};

    if (!bigger.entries)
        return -ENOMEM;
    for (size_t i = 0; i < map->capacity; i++)
        if (map->entries[i].id)
            bigger.entries[slot_of(&bigger, map->entries[i].key)] = map->entries[i];
    pie_free(map->entries);
    *map = bigger;
    return 0;
}

int pie_u64map_put(struct pie_u64map *map, uint64_t key, uint32_t id) {
    if (map->count * 4 >= map->capacity * 3 && grow(map) < 0)
        return -ENOMEM;
    size_t at = slot_of(map, key);
    map->count += map->entries[at].id == 0;
    map->entries[at] = (struct pie_u64map_entry){key, id};
    return 0;
}

void pie_u64map_filter(struct pie_u64map *map, uint32_t (*new_id)(void *data, uint64_t key, uint32_t id),
                       void *data) {
    struct pie_u64map kept = {0};

    for (size_t i = 0; i < map->capacity; i++) {
        const struct pie_u64map_entry *entry = &map->entries[i];
        uint32_t id = entry->id ? new_id(data, entry->key, entry->id) : 0;
        if (id && pie_u64map_put(&kept, entry->key, id) < 0) {
            pie_u64map_finish(&kept);
            break;
        }
    }
    pie_u64map_finish(map);
    *map = kept;
}

void pie_u64map_finish(struct pie_u64map *map) {
    pie_free(map->entries);
    *map = (struct pie_u64map){0};
}
