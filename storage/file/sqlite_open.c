/* SPDX-License-Identifier: Apache-2.0 */

/* SQLite asks for some twenty thousand small blocks to read the schema alone, and most go when the file is closed. In
 * the collection thread malloc() serves them from an arena that it grows a page at a time, under a lock of SQLite's and
 * one of its own. Here each thread has blocks by size, from chunks that are kept: those of a database are needed again
 * when it is opened the next time. A block freed by another thread than the one that asked for it goes to that one's.
 *
 * In front of each block stands its class. What is too large for one is profiler/base/own_memory.h's.
 *
 * Memory is carved for a class that has no free block, so no class has more blocks than were in use at one time. A
 * free large block is cut up before memory that nobody has used: to make pages costs more than to find blocks. */

#include "storage/file/sqlite_open.h"

#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "profiler/base/own_memory.h"

#ifdef PIE_OWN_SQLITE

enum {
    HEADER_BYTES = 8,
    STEP_BYTES = 16, /* of small classes, up to SMALL_BYTES; beyond it STEPS to each doubling */
    STEPS = 8,
    SMALL_BYTES = 512,
    SMALL_CLASSES = SMALL_BYTES / STEP_BYTES,
    CLASSES = SMALL_CLASSES + STEPS * 7 + 1,
    LARGEST_BYTES = SMALL_BYTES << 7,
    LARGE = CLASSES,                             /* in front of a block of pie_malloc() */
    SPLIT_CLASS = SMALL_CLASSES + STEPS * 3 + 1, /* the first that is cut up: above 4 kB */
    CHUNK_BYTES = 256 * 1024,
    POPULATED_BYTES = 32 * 1024, /* at a time: a question leaves half of its last chunk alone */
};

struct block {
    uint32_t class;
    uint32_t bytes;     /* usable */
    struct block *next; /* while it is free */
};

static_assert(offsetof(struct block, next) == HEADER_BYTES, "what is in front of a block");

struct rest {
    char *at, *end;
};

static __thread struct {
    struct block *free[CLASSES];
    struct rest chunk; /* of the newest one */
    char *populated;   /* the end of its part that has pages */
    struct rest split; /* of a large block that is cut up */
    bool may_split;    /* large blocks have become free since none was found */
} heap;

/* Of a block of `bytes` with its header, at most LARGEST_BYTES; *ret_bytes: of all blocks of the class. */
static uint32_t class_of(uint32_t bytes, uint32_t *ret_bytes) {
    if (bytes <= SMALL_BYTES) {
        uint32_t class = (bytes + STEP_BYTES - 1) / STEP_BYTES;
        *ret_bytes = class * STEP_BYTES;
        return class;
    }
    uint32_t doubling = 31 - (uint32_t)__builtin_clz(bytes - 1), step = (UINT32_C(1) << doubling) / STEPS;
    uint32_t steps = (bytes - 1 - (UINT32_C(1) << doubling)) / step + 1;
    *ret_bytes = (UINT32_C(1) << doubling) + steps * step;
    return SMALL_CLASSES + (doubling - 9) * STEPS + steps;
}

static bool has(const struct rest *rest, uint32_t bytes) {
    return (size_t)(rest->end - rest->at) >= bytes;
}

static void put(struct block *block) {
    block->next = heap.free[block->class];
    heap.free[block->class] = block;
    heap.may_split |= block->class >= SPLIT_CLASS;
}

/* Too small for a block that is needed, it becomes a free one of the largest class that it can have. */
static void put_rest(const struct rest *rest) {
    uint32_t bytes = (uint32_t)(rest->end - rest->at), step = STEP_BYTES;

    if (bytes > SMALL_BYTES)
        step = (UINT32_C(1) << (31 - __builtin_clz(bytes))) / STEPS;
    bytes -= bytes % step;
    if (bytes == 0)
        return;
    struct block *block = (struct block *)rest->at;
    block->class = class_of(bytes, &bytes);
    block->bytes = bytes - HEADER_BYTES;
    put(block);
}

static bool add_chunk(void) {
    char *chunk = pie_malloc(CHUNK_BYTES);

    if (!chunk)
        return false;
    put_rest(&heap.chunk);
    heap.chunk = (struct rest){chunk, chunk + CHUNK_BYTES};
    heap.populated = chunk;
    return true;
}

/* Up to what has been carved, at least. */
static void populate(void) {
    size_t wanted = (size_t)(heap.chunk.at - heap.populated) + POPULATED_BYTES - 1;
    size_t bytes = wanted / POPULATED_BYTES * POPULATED_BYTES;

    pie_populate(heap.populated, bytes);
    heap.populated += bytes;
}

static struct block *largest_free(void) {
    uint32_t class = CLASSES - 1;

    while (class >= SPLIT_CLASS && !heap.free[class])
        class --;
    heap.may_split = class >= SPLIT_CLASS;
    return heap.may_split ? heap.free[class] : NULL;
}

/* Begins to cut up another block, if there is one that is large enough. */
static bool begin_split(uint32_t bytes) {
    struct block *block = largest_free();

    if (!block || block->bytes < bytes)
        return false;
    heap.free[block->class] = block->next;
    put_rest(&heap.split);
    heap.split = (struct rest){(char *)block, (char *)block + HEADER_BYTES + block->bytes};
    return true;
}

static struct block *carve(uint32_t bytes) {
    struct rest *rest = &heap.chunk;

    if (has(&heap.split, bytes) || (heap.may_split && begin_split(bytes)))
        rest = &heap.split;
    else if (!has(rest, bytes) && !add_chunk())
        return NULL;
    struct block *block = (struct block *)rest->at;
    rest->at += bytes;
    if (heap.chunk.at > heap.populated)
        populate();
    return block;
}

static void *allocate(int size) {
    uint32_t class = LARGE, bytes = (uint32_t)size + HEADER_BYTES;
    struct block *block;

    if (bytes > LARGEST_BYTES) {
        block = pie_malloc(bytes);
    } else {
        class = class_of(bytes, &bytes);
        block = heap.free[class];
        if (block)
            heap.free[class] = block->next;
        else
            block = carve(bytes);
    }
    if (!block)
        return NULL;
    block->class = class;
    block->bytes = bytes - HEADER_BYTES;
    return (char *)block + HEADER_BYTES;
}

static struct block *block_of(void *memory) {
    return (struct block *)((char *)memory - HEADER_BYTES);
}

static void release(void *memory) {
    struct block *block = block_of(memory);

    if (block->class == LARGE) {
        pie_free(block);
        return;
    }
    put(block);
}

static int size_of(void *memory) {
    return memory ? (int)block_of(memory)->bytes : 0;
}

static void *resize(void *memory, int size) {
    if (size <= size_of(memory))
        return memory;
    void *moved = allocate(size);
    if (moved) {
        memcpy(moved, memory, (size_t)size_of(memory));
        release(memory);
    }
    return moved;
}

static int round_up(int size) {
    return (size + 7) & ~7;
}

static int start(void *unused) {
    return SQLITE_OK;
}

static void stop(void *unused) {}

/* What a database in WAL mode shares with others is none of a forked child's, which never touches the file as it is:
 * the child of a program shares no page with us that it could write to. */
static void *map(void *where, size_t size, int protection, int flags, int fd, off_t offset) {
    void *memory = mmap(where, size, protection, flags, fd, offset);

    if (memory != MAP_FAILED && (flags & MAP_SHARED))
        madvise(memory, size, MADV_DONTFORK);
    return memory;
}

static void map_by_ourselves(void) {
    sqlite3_vfs *vfs = sqlite3_initialize() == SQLITE_OK ? sqlite3_vfs_find(NULL) : NULL;

    if (vfs && vfs->iVersion >= 3)
        vfs->xSetSystemCall(vfs, "mmap", (sqlite3_syscall_ptr)map);
}

static void configure(void) {
    static const sqlite3_mem_methods methods = {.xMalloc = allocate,
                                                .xFree = release,
                                                .xRealloc = resize,
                                                .xSize = size_of,
                                                .xRoundup = round_up,
                                                .xInit = start,
                                                .xShutdown = stop};

    /* Refused once SQLite is in use: then it goes on with malloc(). */
    if (sqlite3_config(SQLITE_CONFIG_MALLOC, &methods) == SQLITE_OK)
        sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); /* its counters take a lock for each block */
    /* Each sorter and each window of a query has a cache of its own, which would ask for twenty pages at once to use
     * one. */
    sqlite3_config(SQLITE_CONFIG_PAGECACHE, NULL, 0, 0);
    map_by_ourselves();
}

#else

/* The program's own SQLite uses the same library: its settings are not ours to change. */
static void configure(void) {}

#endif

void pie_sqlite_start(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, configure);
}

int pie_sqlite_open(const char *path, sqlite3 **ret_db, int flags, const char *vfs) {
    pie_sqlite_start();
    return sqlite3_open_v2(path, ret_db, flags, vfs);
}
