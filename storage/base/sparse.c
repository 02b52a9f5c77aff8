/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/base/sparse.h"

#include <string.h>

#include "profiler/base/own_memory.h"

enum { CHUNK = 256 }; /* entries */

void pie_sparse_init(struct pie_sparse *sparse, size_t entry_size) {
    *sparse = (struct pie_sparse){.entry_size = entry_size};
}

static void *entry_at(const struct pie_sparse *sparse, size_t slot) {
    return (char *)sparse->chunks[slot / CHUNK] + slot % CHUNK * sparse->entry_size;
}

void *pie_sparse_get(const struct pie_sparse *sparse, uint32_t id) {
    uint32_t slot = pie_u64map_get(&sparse->slot_of, id);

    return slot ? entry_at(sparse, slot - 1) : NULL;
}

/* *array becomes as long as `count` entries of a size. False: short of memory, nothing has changed. */
static bool grow_array(void **array, size_t count, size_t size) {
    void *grown = pie_realloc(*array, count * size);

    if (grown)
        *array = grown;
    return grown;
}

static bool add_chunk(struct pie_sparse *sparse) {
    size_t slots = sparse->slots + CHUNK;

    if (!grow_array((void **)&sparse->chunks, slots / CHUNK, sizeof *sparse->chunks) ||
        !grow_array((void **)&sparse->ids, slots, sizeof *sparse->ids) ||
        !grow_array((void **)&sparse->is_used, slots, sizeof *sparse->is_used) ||
        !grow_array((void **)&sparse->unused, slots, sizeof *sparse->unused))
        return false;
    void *chunk = pie_calloc(CHUNK, sparse->entry_size);
    if (!chunk)
        return false;
    sparse->chunks[slots / CHUNK - 1] = chunk;
    for (size_t slot = slots; slot-- > sparse->slots;) {
        sparse->is_used[slot] = false;
        sparse->unused[sparse->n_unused++] = (uint32_t)slot;
    }
    sparse->slots = slots;
    return true;
}

void *pie_sparse_make(struct pie_sparse *sparse, uint32_t id) {
    void *entry = pie_sparse_get(sparse, id);

    if (entry)
        return entry;
    if (sparse->n_unused == 0 && !add_chunk(sparse))
        return NULL;
    uint32_t slot = sparse->unused[sparse->n_unused - 1];
    if (pie_u64map_put(&sparse->slot_of, id, slot + 1) < 0)
        return NULL;
    sparse->n_unused--;
    sparse->ids[slot] = id;
    sparse->is_used[slot] = true;
    return entry_at(sparse, slot);
}

void pie_sparse_each(const struct pie_sparse *sparse, void (*see)(void *data, uint32_t id, void *entry),
                     void *data) {
    for (size_t slot = 0; slot < sparse->slots; slot++)
        if (sparse->is_used[slot])
            see(data, sparse->ids[slot], entry_at(sparse, slot));
}

static uint32_t slot_if_used(void *data, uint64_t id, uint32_t slot) {
    const struct pie_sparse *sparse = data;

    return sparse->is_used[slot - 1] ? slot : 0;
}

void pie_sparse_forget(struct pie_sparse *sparse, bool (*keeps)(void *data, uint32_t id), void *data,
                       void (*drop)(void *entry)) {
    for (size_t slot = 0; slot < sparse->slots; slot++) {
        if (!sparse->is_used[slot] || keeps(data, sparse->ids[slot]))
            continue;
        void *entry = entry_at(sparse, slot);
        if (drop)
            drop(entry);
        memset(entry, 0, sparse->entry_size);
        sparse->is_used[slot] = false;
        sparse->unused[sparse->n_unused++] = (uint32_t)slot;
    }
    pie_u64map_filter(&sparse->slot_of, slot_if_used, sparse);
}

static bool keeps_nothing(void *unused, uint32_t id) {
    return false;
}

void pie_sparse_finish(struct pie_sparse *sparse, void (*drop)(void *entry)) {
    pie_sparse_forget(sparse, keeps_nothing, NULL, drop);
    for (size_t i = 0; i < sparse->slots / CHUNK; i++)
        pie_free(sparse->chunks[i]);
    pie_free(sparse->chunks);
    pie_free(sparse->ids);
    pie_free(sparse->is_used);
    pie_free(sparse->unused);
    pie_u64map_finish(&sparse->slot_of);
    *sparse = (struct pie_sparse){0};
}
