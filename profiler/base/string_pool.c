/* SPDX-License-Identifier: Apache-2.0 */

/* Texts lie one after another in chunks; a hash table with open addressing, at most half full, finds them. */

#include "profiler/base/hash.h"
#include "profiler/base/own_memory.h"
#include "profiler/base/string_pool.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK_BYTES = 32 * 1024, FIRST_SLOTS = 256 };

struct chunk {
    struct chunk *next;
    char text[];
};

struct pie_string_pool {
    struct chunk *chunks;
    char *free;
    size_t free_bytes;
    const char **slots;
    size_t slot_count, used;
    size_t size_bytes;
};

int pie_string_pool_create(struct pie_string_pool **ret_pool) {
    struct pie_string_pool *pool = pie_calloc(1, sizeof(*pool));
    if (!pool)
        return -ENOMEM;
    pool->slot_count = FIRST_SLOTS;
    pool->slots = pie_calloc(pool->slot_count, sizeof(*pool->slots));
    if (!pool->slots) {
        pie_free(pool);
        return -ENOMEM;
    }
    *ret_pool = pool;
    return 0;
}

void pie_string_pool_destroy(struct pie_string_pool *pool) {
    if (!pool)
        return;
    for (struct chunk *chunk = pool->chunks, *next; chunk; chunk = next) {
        next = chunk->next;
        pie_free(chunk);
    }
    pie_free(pool->slots);
    pie_free(pool);
}

static const char **find_slot(const char **slots, size_t slot_count, const char *text) {
    size_t i = (size_t)pie_hash_bytes(text, strlen(text)) & (slot_count - 1);
    while (slots[i] && strcmp(slots[i], text) != 0)
        i = (i + 1) & (slot_count - 1);
    return &slots[i];
}

static int grow_slots(struct pie_string_pool *pool) {
    size_t slot_count = pool->slot_count * 2;
    const char **slots = pie_calloc(slot_count, sizeof(*slots));
    if (!slots)
        return -ENOMEM;
    for (size_t i = 0; i < pool->slot_count; i++)
        if (pool->slots[i])
            *find_slot(slots, slot_count, pool->slots[i]) = pool->slots[i];
    pie_free(pool->slots);
    pool->slots = slots;
    pool->slot_count = slot_count;
    return 0;
}

static char *alloc_text(struct pie_string_pool *pool, size_t size) {
    if (size > pool->free_bytes) {
        size_t chunk_bytes = size > CHUNK_BYTES ? size : CHUNK_BYTES;
        struct chunk *chunk = pie_malloc(sizeof(*chunk) + chunk_bytes);
        if (!chunk)
            return NULL;
        chunk->next = pool->chunks;
        pool->chunks = chunk;
        pool->free = chunk->text;
        pool->free_bytes = chunk_bytes;
    }
    char *text = pool->free;
    pool->free += size;
    pool->free_bytes -= size;
    pool->size_bytes += size;
    return text;
}

const char *pie_string_pool_put(struct pie_string_pool *pool, const char *text) {
    if (!text)
        return NULL;
    const char **slot = find_slot(pool->slots, pool->slot_count, text);
    if (*slot)
        return *slot;
    if (pool->used * 2 >= pool->slot_count) {
        if (grow_slots(pool) < 0)
            return NULL;
        slot = find_slot(pool->slots, pool->slot_count, text);
    }
    size_t size = strlen(text) + 1;
    char *copy = alloc_text(pool, size);
    if (!copy)
        return NULL;
    *slot = memcpy(copy, text, size);
    pool->used++;
    return copy;
}

size_t pie_string_pool_size_bytes(const struct pie_string_pool *pool) {
    return pool->size_bytes;
}
