/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/region.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "profiler/region_layout.h"

/* Layout: one header page, then the arenas in the order of their enum.
 *
 * The mapping is sized for the largest program and reserves nothing: a page costs memory when it is first
 * written. It is backed by a memfd whose descriptor is closed at once, so that the program never meets it;
 * where none can be had (no descriptor left, RLIMIT_FSIZE, seccomp) an anonymous shared mapping, which
 * behaves the same, takes its place. Address space can be scarce too: under RLIMIT_AS the region takes at
 * most an eighth of the limit, and it halves until it fits.
 *
 * Fork: the child shares the parent's region until pie_region_reset() has mapped a fresh one over it. Place
 * and sizes stay the same, so pie_region_layout stays right.
 *
 * A limit that the program sets itself while it runs would be passed already, and each mapping of its own fail. So before that
 * (runtime/limits.c) the arenas give back what lies behind their fill level. */

enum { ADDRESS_SPACE_SHARE = 8 }; /* use at most 1/8 of RLIMIT_AS */

#define MIB ((size_t)1 << 20)

static const size_t arena_full_bytes[PIE_ARENA_COUNT] = {
    [PIE_ARENA_THREADS] = 1024 * MIB, [PIE_ARENA_CCT] = 1024 * MIB, [PIE_ARENA_CODE] = 512 * MIB,
    [PIE_ARENA_BLOCKS] = 32 * MIB,    [PIE_ARENA_HEAP] = 1 * MIB,
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

/* A descriptor of `size` bytes of shared memory, or -1. RLIMIT_FSIZE is asked first: a file grown beyond it
 * raises SIGXFSZ, which would kill the program. */
static int open_memory(size_t size) {
    struct rlimit limit;

    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur < size)
        return -1;
    int fd = memfd_create("pieprof", MFD_CLOEXEC);
    if (fd >= 0 && ftruncate(fd, (off_t)size) < 0) {
        close(fd);
        return -1;
    }
    return fd;
}

/* Maps fresh zeroed shared memory, at `where` if that is given. Returns MAP_FAILED with errno set on failure.
 */
static void *map_shared(void *where, size_t size) {
    int flags = MAP_SHARED | MAP_NORESERVE | (where ? MAP_FIXED : 0);
    int fd = open_memory(size);
    void *memory = MAP_FAILED;

    if (fd >= 0) {
        memory = mmap(where, size, PROT_READ | PROT_WRITE, flags, fd, 0);
        close(fd);
    }
    if (memory == MAP_FAILED)
        memory = mmap(where, size, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0);
    if (memory != MAP_FAILED)
        madvise(memory, size,
                MADV_DONTDUMP); /* a core file of the program stays the program's; best effort */
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

static void write_header(struct pie_region_header *header) {
    header->magic = PIE_REGION_MAGIC;
    header->pid = (uint32_t)getpid();
    for (int i = 0; i < PIE_ARENA_COUNT; i++)
        header->arena_bytes[i] = pie_region_layout.bytes[i];
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

int pie_region_init(void) {
    size_t sizes[PIE_ARENA_COUNT];

    if (pie_region_layout.header)
        return -EALREADY;
    memcpy(sizes, arena_full_bytes, sizeof sizes);
    limit_to_address_space(sizes);

    char *memory = map_shared(NULL, total_bytes(sizes));
    while (memory == MAP_FAILED) {
        int error = errno;

        if (!halve(sizes))
            return -error;
        memory = map_shared(NULL, total_bytes(sizes));
    }
    set_layout(memory, sizes);
    write_header(pie_region_layout.header);
    return 0;
}

static size_t used_pages_bytes(size_t arena) {
    size_t page = header_bytes();
    size_t used = atomic_load(&pie_region_layout.header->used_bytes[arena]);

    return (used + page - 1) / page * page;
}

/* First the size, then the level: who takes memory does it the other way round, so it is seen here or gives up there. */
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
    if (wanted < before)
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

static int map_parts(void) {
    struct pie_region_layout *layout = &pie_region_layout;

    if (map_shared(layout->header, header_bytes()) == MAP_FAILED)
        return -errno;
    for (int i = 0; i < PIE_ARENA_COUNT; i++)
        if (map_shared(layout->base[i], atomic_load(&layout->bytes[i])) == MAP_FAILED)
            return -errno;
    return 0;
}

static int map_whole(void) {
    size_t bytes = (size_t)(pie_region_layout.base[PIE_ARENA_COUNT - 1] - (char *)pie_region_layout.header) +
                   atomic_load(&pie_region_layout.bytes[PIE_ARENA_COUNT - 1]);

    return map_shared(pie_region_layout.header, bytes) == MAP_FAILED ? -errno : 0;
}

int pie_region_reset(void) {
    if (!pie_region_layout.header)
        return -ENXIO;
    int r = pie_region_layout.is_trimmed ? map_parts() : map_whole();
    if (r < 0)
        return r;
    write_header(pie_region_layout.header);
    return 0;
}
