/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* A map from 64-bit keys to 32-bit ids; ids are never 0. Context: drain. */
struct pie_u64map {
    struct pie_u64map_entry *entries;
    size_t capacity; /* 0 or a power of two */
    size_t count;
};

/* The id of key, 0 if there is none. */
uint32_t pie_u64map_get(const struct pie_u64map *map, uint64_t key);
/* Adds a key that is not there. Returns 0 or -ENOMEM. */
int pie_u64map_put(struct pie_u64map *map, uint64_t key, uint32_t id);
/* Keeps those entries for which new_id() is not 0, with that id; none if memory is short. */
void pie_u64map_filter(struct pie_u64map *map, uint32_t (*new_id)(void *data, uint64_t key, uint32_t id),
                       void *data);
void pie_u64map_finish(struct pie_u64map *map);
