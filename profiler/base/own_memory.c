/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/base/own_memory.h"

#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    LARGE_BYTES = 64 * 1024, /* glibc's threshold begins at twice that */
    PAGE_BYTES = 4096,
    LARGE_MAX = 1024, /* mapped at a time; more come from malloc */
};

/* Mapped blocks. They are page-aligned, which hardly any block of malloc's is: only those are looked up. A fork finds
 * the lock free: the collection thread is at rest then. */
static struct large {
    void *block;
    size_t size; /* whole pages */
} large[LARGE_MAX];
static size_t large_end;                                 /* slots beyond were never used */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of large; taken alone */
static _Atomic uint64_t mapped_bytes;                    /* of all of them; relaxed: a figure */

/* Not through the exported functions, which note each mapping in a table of many pages. A sanitizer wants to know. */
#if PIE_SANITIZED
static void *map(size_t size) {
    return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static void unmap(void *block, size_t size) {
    munmap(block, size);
}

static void *remap(void *block, size_t old_size, size_t size) {
    return mremap(block, old_size, size, MREMAP_MAYMOVE);
}
#else
static void *map(size_t size) {
    return (void *)syscall(SYS_mmap, NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static void unmap(void *block, size_t size) {
    syscall(SYS_munmap, block, size);
}

static void *remap(void *block, size_t old_size, size_t size) {
    return (void *)syscall(SYS_mremap, block, old_size, size, MREMAP_MAYMOVE, NULL);
}
#endif

uint64_t pie_own_mapped_bytes(void) {
    return atomic_load_explicit(&mapped_bytes, memory_order_relaxed);
}

static struct large *find(const void *block) {
    for (size_t i = 0; i < large_end; i++)
        if (large[i].block == block)
            return &large[i];
    return !block && large_end < LARGE_MAX ? &large[large_end++] : NULL;
}

static size_t whole_pages(size_t size) {
    return (size + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
}

void pie_populate(void *memory, size_t size) {
    const int populate_write = 23; /* MADV_POPULATE_WRITE, which older headers lack */
    uintptr_t begin = whole_pages((uintptr_t)memory),
              end = ((uintptr_t)memory + size) / PAGE_BYTES * PAGE_BYTES;
    int error = errno;

    if (end > begin)
        (void)madvise((void *)begin, end - begin, populate_write);
    errno = error;
}

/* NULL: no room in the table or no memory. */
static void *map_large(size_t size) {
    void *block = NULL;

    if (size > SIZE_MAX - PAGE_BYTES)
        return NULL;
    pthread_mutex_lock(&lock);
    struct large *slot = find(NULL);
    if (slot) {
        block = map(whole_pages(size));
        if (block == MAP_FAILED) {
            block = NULL;
        } else {
            *slot = (struct large){block, whole_pages(size)};
            atomic_fetch_add_explicit(&mapped_bytes, slot->size, memory_order_relaxed);
        }
    }
    pthread_mutex_unlock(&lock);
    return block;
}

/* The size of a mapped block, 0 for one of malloc's. */
static size_t large_size(const void *block) {
    if (!block || (uintptr_t)block % PAGE_BYTES != 0)
        return 0;
    pthread_mutex_lock(&lock);
    const struct large *slot = find(block);
    size_t size = slot ? slot->size : 0;
    pthread_mutex_unlock(&lock);
    return size;
}

static void unmap_large(void *block) {
    pthread_mutex_lock(&lock);
    struct large *slot = find(block);
    unmap(block, slot->size);
    atomic_fetch_sub_explicit(&mapped_bytes, slot->size, memory_order_relaxed);
    *slot = (struct large){0};
    pthread_mutex_unlock(&lock);
}

void *pie_malloc(size_t size) {
    void *block = size >= LARGE_BYTES ? map_large(size) : NULL;

    return block ? block : malloc(size);
}

void *pie_calloc(size_t count, size_t size) {
    size_t bytes;

    if (__builtin_mul_overflow(count, size, &bytes)) {
        errno = ENOMEM;
        return NULL;
    }
    void *block = bytes >= LARGE_BYTES ? map_large(bytes) : NULL; /* fresh pages are zero */
    return block ? block : calloc(count, size);
}

/* A mapped block with another size: its pages move, nothing is copied or touched anew. NULL: no memory, and the block
 * is as it was. */
static void *remap_large(void *block, size_t size) {
    if (size > SIZE_MAX - PAGE_BYTES)
        return NULL;
    pthread_mutex_lock(&lock);
    struct large *slot = find(block);
    void *moved = remap(block, slot->size, whole_pages(size));
    if (moved == MAP_FAILED) {
        moved = NULL;
    } else {
        atomic_fetch_add_explicit(&mapped_bytes, whole_pages(size) - slot->size, memory_order_relaxed);
        *slot = (struct large){moved, whole_pages(size)};
    }
    pthread_mutex_unlock(&lock);
    return moved;
}

void *pie_realloc(void *block, size_t size) {
    size_t mapped_size = large_size(block);

    if (!mapped_size && size < LARGE_BYTES)
        return realloc(block, size);
    if (mapped_size && size >= LARGE_BYTES)
        return remap_large(block, size);
    void *moved = pie_malloc(size);
    if (moved && block) {
        size_t old_size = mapped_size ? mapped_size : malloc_usable_size(block);
        memcpy(moved, block, old_size < size ? old_size : size);
        pie_free(block);
    }
    return moved;
}

void pie_free(void *block) {
    if (large_size(block))
        unmap_large(block);
    else
        free(block);
}
