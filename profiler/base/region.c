/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/base/region.h"

#include <errno.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "profiler/base/region_layout.h"

/* Layout: one header page, then the arenas in the order of their enum.
 *
 * The mapping is sized for the largest program and reserves nothing: memory is opened as it is handed out
 * (region_sigsafe.c), and a page costs memory when it is first written. It is private: a child that is not profiled
 * writes into a copy, and what it does with its stacks and counters is nobody else's concern. Address space can be
 * scarce: under RLIMIT_AS the region takes at most an eighth of the limit, and it halves until it fits.
 *
 * Fork: the child has a copy of the parent's region until pie_region_reset() has mapped a fresh one over it. Place
 * and sizes stay the same, so pie_region_layout stays right.
 *
 * A limit that the program sets itself while it runs would be passed already, and each mapping of its own fail. So
 * before that (runtime/libc/limits.c) the arenas give back what lies behind their fill level. */

enum { ADDRESS_SPACE_SHARE = 8 }; /* use at most 1/8 of RLIMIT_AS */

#define MIB ((size_t)1 << 20)

static const size_t arena_full_bytes[PIE_ARENA_COUNT] = {
    [PIE_ARENA_THREADS] = 1024 * MIB, [PIE_ARENA_CCT] = 512 * MIB,        [PIE_ARENA_CCT_OTHER] = 512 * MIB,
    [PIE_ARENA_CODE] = 256 * MIB,     [PIE_ARENA_CODE_OTHER] = 256 * MIB, [PIE_ARENA_BASIC_BLOCKS] = 32 * MIB,
    [PIE_ARENA_HEAP] = 1 * MIB,       [PIE_ARENA_STACKS] = 320 * MIB,
};
static const size_t arena_least_bytes = MIB;

static size_t header_bytes(void) {
    return (size_t)sysconf(_SC_PAGESIZE);
}

static size_t total_bytes(const size_t sizes[PIE_ARENA_COUNT]) {
    size_t total = header_bytes();

    for (int i = 0; i < PIE_ARENA_COUNT; i++)
        total += sizes[i];
    return total;
}

/* Shrinks every arena by half, but none below the least; false if nothing could shrink any more. */
static bool halve(size_t sizes[PIE_ARENA_COUNT]) {
    bool shrunk = false;

    for (int i = 0; i < PIE_ARENA_COUNT; i++) {
        if (sizes[i] / 2 >= arena_least_bytes) {
            sizes[i] /= 2;
            shrunk = true;
        }
    }
    return shrunk;
}

/* Reserves address space, at `where` if that is given. Returns MAP_FAILED with errno set on failure. Huge pages would
 * make 2 MB of each touched byte, and a core file of the program stays the program's: best effort. */
static void *reserve(void *where, size_t size) {
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (where ? MAP_FIXED : 0);
    void *memory = mmap(where, size, PROT_NONE, flags, -1, 0);

    if (memory != MAP_FAILED) {
        madvise(memory, size, MADV_DONTDUMP);
        madvise(memory, size, MADV_NOHUGEPAGE);
    }
    return memory;
}

static void fit(size_t sizes[PIE_ARENA_COUNT], uint64_t limit_bytes) {
    while (total_bytes(sizes) > limit_bytes / ADDRESS_SPACE_SHARE && halve(sizes))
        continue;
}

static void limit_to_address_space(size_t sizes[PIE_ARENA_COUNT]) {
    struct rlimit limit;

    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
        fit(sizes, limit.rlim_cur);
}

static void set_layout(char *memory, const size_t sizes[PIE_ARENA_COUNT]) {
    struct pie_region_layout *layout = &pie_region_layout;
    char *base = memory + header_bytes();

    for (int i = 0; i < PIE_ARENA_COUNT; i++) {
        layout->bytes[i] = sizes[i];
        layout->base[i] = base;
        base += sizes[i];
    }
    layout->header = (struct pie_region_header *)memory;
}

/* The header, which is zero, and the first page of each arena. */
static int open_first_pages(char *header, char *const bases[PIE_ARENA_COUNT]) {
    struct pie_region_header *levels = (struct pie_region_header *)header;

    if (mprotect(header, header_bytes(), PROT_READ | PROT_WRITE) < 0)
        return -errno;
    for (int i = 0; i < PIE_ARENA_COUNT; i++) {
        if (i == PIE_ARENA_STACKS)
            continue;
        if (mprotect(bases[i], header_bytes(), PROT_READ | PROT_WRITE) < 0)
            return -errno;
        atomic_store_explicit(&levels->open_bytes[i], header_bytes(), memory_order_relaxed);
    }
    return 0;
}

int pie_region_init(void) {
    size_t sizes[PIE_ARENA_COUNT];

    if (pie_region_layout.header)
        return -EALREADY;
    memcpy(sizes, arena_full_bytes, sizeof sizes);
    limit_to_address_space(sizes);

    char *memory = reserve(NULL, total_bytes(sizes));
    while (memory == MAP_FAILED) {
        int error = errno;

        if (!halve(sizes))
            return -error;
        memory = reserve(NULL, total_bytes(sizes));
    }
    set_layout(memory, sizes);
    int r = open_first_pages(memory, pie_region_layout.base);
    if (r < 0) {
        munmap(memory, total_bytes(sizes));
        pie_region_layout = (struct pie_region_layout){0};
    }
    return r;
}

static size_t used_pages_bytes(size_t arena) {
    size_t page = header_bytes();
    size_t used = atomic_load(&pie_region_layout.header->used_bytes[arena]);

    return (used + page - 1) / page * page;
}

/* They are in a handler or a hook, and it takes them a microsecond. In a forked child that has a copy of its parent's
 * region, one may stand there for ever. */
static bool wait_for_openers(void) {
    enum { TRIES = 1000 };

    for (int i = 0; i < TRIES; i++) {
        if (atomic_load(&pie_region_layout.header->openers) == 0)
            return true;
        sched_yield();
    }
    return false;
}

/* First the size, then the level: who takes memory does it the other way round, so it is seen here or gives up
 * there. */
static void trim_arena(size_t arena, size_t wanted) {
    struct pie_region_layout *layout = &pie_region_layout;
    size_t before = atomic_load(&layout->bytes[arena]);

    if (wanted >= before)
        return;
    do {
        size_t used = used_pages_bytes(arena);
        wanted = used > wanted ? used : wanted;
        atomic_store(&layout->bytes[arena], wanted);
    } while (used_pages_bytes(arena) > wanted);
    if (wanted < before && wait_for_openers())
        munmap(layout->base[arena] + wanted, before - wanted);
}

void pie_region_trim(uint64_t limit_bytes) {
    static atomic_flag busy =
        ATOMIC_FLAG_INIT; /* in a forked child it may stay set: then nothing is trimmed */
    size_t sizes[PIE_ARENA_COUNT];

    if (!pie_region_layout.header || atomic_flag_test_and_set(&busy))
        return;
    for (size_t i = 0; i < PIE_ARENA_COUNT; i++)
        sizes[i] = atomic_load(&pie_region_layout.bytes[i]);
    fit(sizes, limit_bytes);
    pie_region_layout.is_trimmed = true;
    for (size_t i = 0; i < PIE_ARENA_COUNT; i++)
        trim_arena(i, sizes[i]);
    atomic_flag_clear(&busy);
}

void pie_region_clear(enum pie_arena arena) {
    struct pie_region_header *header = pie_region_layout.header;
    size_t bytes = used_pages_bytes(arena);
    char *base = pie_region_layout.base[arena];

    if (madvise(base, bytes, MADV_DONTNEED) < 0) /* locked */
        memset(base, 0, bytes);
    atomic_store(&header->used_bytes[arena], 0);
}

static int reserve_parts(void) {
    struct pie_region_layout *layout = &pie_region_layout;

    if (reserve(layout->header, header_bytes()) == MAP_FAILED)
        return -errno;
    for (int i = 0; i < PIE_ARENA_COUNT; i++)
        if (reserve(layout->base[i], atomic_load(&layout->bytes[i])) == MAP_FAILED)
            return -errno;
    return 0;
}

static int reserve_whole(void) {
    size_t bytes = (size_t)(pie_region_layout.base[PIE_ARENA_COUNT - 1] - (char *)pie_region_layout.header) +
                   atomic_load(&pie_region_layout.bytes[PIE_ARENA_COUNT - 1]);

    return reserve(pie_region_layout.header, bytes) == MAP_FAILED ? -errno : 0;
}

int pie_region_reset(void) {
    if (!pie_region_layout.header)
        return -ENXIO;
    int r = pie_region_layout.is_trimmed ? reserve_parts() : reserve_whole();
    return r < 0 ? r : open_first_pages((char *)pie_region_layout.header, pie_region_layout.base);
}
