/* SPDX-License-Identifier: Apache-2.0 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "runtime/memory/pymalloc.h"

/* Where usedpools is one table of the process. */
#define HAS_ONE_TABLE (PY_VERSION_HEX < 0x030C0000)

enum { BLOCKS = 4, CAME_BACK_MAX = 32 };

static struct pie_pymalloc_pool no_pool = {.next = &no_pool, .previous = &no_pool};
static struct pie_pymalloc_list no_lists[PIE_PYMALLOC_CLASSES];

uintptr_t pie_pymalloc_zone;
struct pie_pymalloc_list *pie_pymalloc_lists = no_lists;

struct allocator {
    void *(*malloc)(void *ctx, size_t bytes);
    void (*free)(void *ctx, void *block);
    void *ctx;
};

/* Blocks that were tried; NULL: it has been given back. */
struct tried_blocks {
    void *held[BLOCKS], *known[BLOCKS];
};

static void give_back(const struct allocator *tried, struct tried_blocks *blocks, int i) {
    blocks->held[i] = NULL;
    tried->free(tried->ctx, blocks->known[i]);
}

/* True: it is the same one again. */
static bool get_again(const struct allocator *tried, struct tried_blocks *blocks, int i, size_t bytes) {
    blocks->held[i] = tried->malloc(tried->ctx, bytes);
    return blocks->held[i] == blocks->known[i];
}

static bool is_first_free(const struct pie_pymalloc_pool *pool, const void *block, const void *next,
                          uint32_t taken) {
    return pool->taken == taken && pool->first_free == block && (!next || *(void *const *)block == next);
}

/* What pymalloc does with a block, we do: its head then says what pymalloc's would, and pymalloc goes on from there. */
static bool gives_alike(const struct allocator *tried, struct tried_blocks *blocks, size_t bytes) {
    struct pie_pymalloc_pool *pool = pie_pymalloc_pool_of(blocks->known[0]);
    uint32_t taken = pool->taken;

    give_back(tried, blocks, 1);
    if (!is_first_free(pool, blocks->known[1], NULL, taken - 1))
        return false;
    give_back(tried, blocks, 2);
    if (!is_first_free(pool, blocks->known[2], blocks->known[1], taken - 2) ||
        !pie_pymalloc_give(blocks->known[3]))
        return false;
    blocks->held[3] = NULL;
    bool is_alike = is_first_free(pool, blocks->known[3], blocks->known[2], taken - 3);
    for (int i = BLOCKS - 1; i > 0; i--)
        is_alike = get_again(tried, blocks, i, bytes) && is_alike;
    return is_alike && pool->taken == taken;
}

static bool has_one_free(const struct pie_pymalloc_pool *pool) {
    return pool->first_free && !*(void *const *)pool->first_free && pool->next_offset <= pool->last_offset;
}

/* Takes the one free block, ours to do or pymalloc's, so that the next is carved. NULL: not as described. */
static void *carve(const struct allocator *tried, struct pie_pymalloc_pool *pool, size_t size_class,
                   bool is_ours) {
    const struct pie_pymalloc_pool before = *pool;
    size_t bytes = (size_class + 1) * PIE_PYMALLOC_ALIGNMENT;
    char *rest = (char *)pool + pool->next_offset;
    void *block = is_ours ? pie_pymalloc_take(size_class) : tried->malloc(tried->ctx, bytes);
    bool is_alike = block == before.first_free && pool->first_free == rest && !*(void **)rest &&
                    pool->next_offset == before.next_offset + bytes && pool->taken == before.taken + 1;

    if (block && !is_alike)
        tried->free(tried->ctx, block);
    return is_alike ? block : NULL;
}

/* Needs the lists. */
static bool carves_alike(const struct allocator *tried, struct pie_pymalloc_pool *pool, size_t size_class) {
    void *held[CAME_BACK_MAX + 2];
    int n = 0;
    bool is_alike = true;

    while (n < CAME_BACK_MAX && pool->first_free && !has_one_free(pool))
        held[n++] = tried->malloc(tried->ctx, (size_class + 1) * PIE_PYMALLOC_ALIGNMENT);
    for (int i = 0; i < 2 && is_alike; i++) {
        void *block = has_one_free(pool) ? carve(tried, pool, size_class, i == 1) : NULL;
        is_alike = block != NULL;
        if (block)
            held[n++] = block;
    }
    while (n > 0)
        tried->free(tried->ctx, held[--n]);
    return is_alike;
}

/* The only pool of a list marks its end. */
static bool finds_list(const struct allocator *tried, struct tried_blocks *blocks, size_t size_class) {
    struct pie_pymalloc_pool *pool = pie_pymalloc_pool_of(blocks->known[0]);
    struct pie_pymalloc_list *list = (struct pie_pymalloc_list *)(void *)&pool->next->next;

    if (pool->next != pool->previous || list->first != pool || list->last != pool)
        return false;
    if (size_class == 0)
        pie_pymalloc_lists = list;
    if (list != &pie_pymalloc_lists[size_class])
        return false;
    give_back(tried, blocks, 2);
    give_back(tried, blocks, 1);
    blocks->held[1] = pie_pymalloc_take(size_class);
    bool is_alike = blocks->held[1] == blocks->known[1];
    is_alike = get_again(tried, blocks, 2, (size_class + 1) * PIE_PYMALLOC_ALIGNMENT) && is_alike;
    return is_alike && carves_alike(tried, pool, size_class);
}

static bool knows_class(const struct allocator *tried, size_t size_class, bool *is_listed) {
    size_t bytes = (size_class + 1) * PIE_PYMALLOC_ALIGNMENT;
    struct tried_blocks blocks;
    bool is_known = true;

    for (int i = 0; i < BLOCKS; i++) {
        void *block = blocks.held[i] = blocks.known[i] = tried->malloc(tried->ctx, bytes);
        is_known = is_known && block && pie_pymalloc_is_small(block) && pie_pymalloc_size(block) == bytes &&
                   pie_pymalloc_pool_of(block) == pie_pymalloc_pool_of(blocks.known[0]);
    }
    is_known = is_known && gives_alike(tried, &blocks, bytes);
    *is_listed = is_known && *is_listed && finds_list(tried, &blocks, size_class);
    for (int i = 0; i < BLOCKS; i++)
        if (blocks.held[i])
            tried->free(tried->ctx, blocks.held[i]);
    return is_known;
}

static bool knows_classes(const struct allocator *tried, bool *is_listed) {
    for (size_t i = 0; i < PIE_PYMALLOC_CLASSES; i++)
        if (!knows_class(tried, i, is_listed))
            return false;
    void *large = tried->malloc(tried->ctx, PIE_PYMALLOC_MAX + 1);
    bool is_large = large && !pie_pymalloc_is_small(large);
    tried->free(tried->ctx, large);
    return is_large;
}

bool pie_pymalloc_try(void *(*malloc)(void *ctx, size_t bytes), void (*free)(void *ctx, void *block),
                      void *ctx) {
    struct allocator tried = {malloc, free, ctx};
    bool is_listed = HAS_ONE_TABLE;

    if (!pie_pymalloc_zone) /* any low address would be in it, and what lies before it be read as a pool */
        return false;
    for (size_t i = 0; i < PIE_PYMALLOC_CLASSES; i++)
        no_lists[i] = (struct pie_pymalloc_list){&no_pool, &no_pool};
    bool is_known = knows_classes(&tried, &is_listed);
    if (!is_known || !is_listed)
        pie_pymalloc_lists = no_lists;
    return is_known;
}
