/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* The allocator below the exported functions: of each the definition that comes next in the lookup order, so that a
 * preloaded jemalloc or AddressSanitizer stays in force. */

struct pie_allocator_base {
    void *(*malloc)(size_t);
    void (*free)(void *);
    void *(*calloc)(size_t, size_t);
    void *(*realloc)(void *, size_t);
    void *(*memalign)(size_t, size_t);
    void *(*aligned_alloc)(size_t, size_t);
    int (*posix_memalign)(void **, size_t, size_t);
    void *(*valloc)(size_t);
    void *(*pvalloc)(size_t);
    size_t (*malloc_usable_size)(void *);
};

/* Can be called from the first instruction on: each entry finds its successor when it is first used.
 * Context: hook. */
extern struct pie_allocator_base pie_allocator_base __attribute__((visibility("hidden")));

/* How a block is measured: not at all (nothing is counted), by glibc's own note before the block, by asking. */
enum pie_allocator_measure { PIE_ALLOCATOR_UNKNOWN, PIE_ALLOCATOR_HEADER, PIE_ALLOCATOR_ASK };
extern enum pie_allocator_measure pie_allocator_measure __attribute__((visibility("hidden")));

/* Not glibc's: it may call exported functions itself. */
extern bool pie_allocator_is_foreign __attribute__((visibility("hidden")));

/* glibc's note (malloc.c: chunksize(), chunk_is_mmapped()), in the word before the block: the size of the chunk and
 * three flags. A chunk is 8 bytes larger than what may be used of it, one that is mapped by itself 16. */
enum { PIE_ALLOCATOR_MAPPED = 2, PIE_ALLOCATOR_FLAGS = 7 };

static inline size_t pie_allocator_note(const void *block) {
    return ((const size_t *)block)[-1];
}

static inline size_t pie_allocator_unmapped_size(size_t note) {
    return (note & ~(size_t)PIE_ALLOCATOR_FLAGS) - 8;
}

static inline size_t pie_allocator_noted_size(const void *block) {
    size_t note = pie_allocator_note(block);

    return pie_allocator_unmapped_size(note) - (note & PIE_ALLOCATOR_MAPPED ? 8 : 0);
}

/* Context: hook. block: not NULL. */
static inline size_t pie_allocator_size(void *block) {
    return __builtin_expect(pie_allocator_measure == PIE_ALLOCATOR_HEADER, 1)
               ? pie_allocator_noted_size(block)
               : pie_allocator_base.malloc_usable_size(block);
}
