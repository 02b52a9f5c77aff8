/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Python's allocator of small blocks (Objects/obmalloc.c from 3.10 on): what the hooks in pymem.c know of it.
 *
 * Blocks of up to 512 bytes lie in pools of 16 KiB that hold one size class each, and pools in arenas. A pool's head
 * says its class, how many of its blocks are taken, the first of those that came back, and where its rest begins. The
 * common case of an allocation takes that first one, the common case of a free puts one there, and both are done here
 * as pymalloc does them: a hook costs two more jumps than no hook, and the lookup of a block's arena, which arenas in a
 * zone of their own spare, pays for them. A pool that is filled for the first time has one free block at a time, carved
 * from its rest. All else (a pool that is full, empties, is new) is left to pymalloc.
 *
 * pie_pymalloc_try() holds all of it against what pymalloc does, in every size class, before anything here is used. As
 * with pymalloc itself the GIL is held. */

enum { PIE_PYMALLOC_MAX = 512, PIE_PYMALLOC_ALIGNMENT = 16, PIE_PYMALLOC_CLASSES = 32 };

/* Where arenas are: an address in here is a small block. Set by pymem.c. */
extern uintptr_t pie_pymalloc_zone
    __attribute__((visibility("hidden"))); /* where it begins; 0: small blocks are not told from others */
static const uintptr_t PIE_PYMALLOC_ZONE_BYTES = UINT64_C(1) << 40;

/* The pools of a size class with blocks to give (usedpools[2 * i]). An empty list begins with its own end, whose `next`
 * is itself; so do all of them where each interpreter has lists of its own (3.12 on). */
struct pie_pymalloc_list {
    struct pie_pymalloc_pool *first, *last;
};
extern struct pie_pymalloc_list *pie_pymalloc_lists __attribute__((visibility("hidden")));

/* struct pool_header */
struct pie_pymalloc_pool {
    uint32_t taken;
    void *first_free; /* each begins with the address of the next or NULL; NULL: all are taken */
    struct pie_pymalloc_pool *next, *previous;
    uint32_t arena, size_class, next_offset, last_offset;
} __attribute__((may_alias));

typedef void *__attribute__((may_alias)) pie_pymalloc_link;

static inline bool pie_pymalloc_is_small(const void *block) {
    return (uintptr_t)block - pie_pymalloc_zone < PIE_PYMALLOC_ZONE_BYTES;
}

static inline struct pie_pymalloc_pool *pie_pymalloc_pool_of(const void *block) {
    return (struct pie_pymalloc_pool *)((uintptr_t)block & ~(uintptr_t)((1 << 14) - 1));
}

static inline size_t pie_pymalloc_size(const void *block) {
    return (size_t)(pie_pymalloc_pool_of(block)->size_class + 1) * PIE_PYMALLOC_ALIGNMENT;
}

/* The first block behind those that the pool has ever given, which becomes its only free one; NULL: there is none. */
static inline void *pie_pymalloc_carve(struct pie_pymalloc_pool *pool) {
    if (__builtin_expect(pool->next_offset > pool->last_offset, 0))
        return NULL;
    void *fresh = (char *)pool + pool->next_offset;
    pool->next_offset += (pool->size_class + 1) * PIE_PYMALLOC_ALIGNMENT;
    *(pie_pymalloc_link *)fresh = NULL;
    return fresh;
}

/* A block of that class; NULL: ask pymalloc. */
static inline void *pie_pymalloc_take(size_t size_class) {
    struct pie_pymalloc_pool *pool = pie_pymalloc_lists[size_class].first;

    if (__builtin_expect(pool == pool->next, 0))
        return NULL;
    void *block = pool->first_free;
    void *next = *(pie_pymalloc_link *)block;
    if (!next && (next = pie_pymalloc_carve(pool)) == NULL)
        return NULL;
    pool->first_free = next;
    pool->taken++;
    return block;
}

/* Puts a small block back; false: ask pymalloc. */
static inline bool pie_pymalloc_give(void *block) {
    struct pie_pymalloc_pool *pool = pie_pymalloc_pool_of(block);
    void *next = pool->first_free;

    if (__builtin_expect(!next || pool->taken == 1, 0)) /* it was full, or will be empty */
        return false;
    *(pie_pymalloc_link *)block = next;
    pool->first_free = block;
    pool->taken--;
    return true;
}

/* Whether an allocator is pymalloc as described, with its arenas in the zone; finds the lists. malloc, free: its own,
 * called with ctx; nothing stays allocated. Context: gil. */
bool pie_pymalloc_try(void *(*malloc)(void *ctx, size_t bytes), void (*free)(void *ctx, void *block),
                      void *ctx);
