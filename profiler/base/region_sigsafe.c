/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/base/region.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "profiler/base/region_layout.h"

/* Allocation is a compare-and-swap on the arena's fill level: lock-free (a thread retries only because
 * another one got memory), async-signal-safe, and nothing is ever reclaimed.
 *
 * The region is mapped without leave to touch it, since private memory that can be written counts against RLIMIT_DATA,
 * and against all that may be committed where the kernel is strict (vm.overcommit_memory 2). So memory is opened before
 * the level is raised over it. Opening twice does no harm, but opening what pie_region_trim() has just given back
 * would: it might be somebody else's by then. */

enum { ALLOC_ALIGN = 8, PAGE_BYTES = 4096, OPEN_STEP_BYTES = 1 << 20 };

struct pie_region_layout pie_region_layout;

static bool make_writable(char *memory, size_t size) {
    int error = errno;
    bool done = syscall(SYS_mprotect, memory, size, PROT_READ | PROT_WRITE) == 0;

    errno = error;
    return done;
}

/* Is the arena open up to `end`, or can it be? */
static bool open_up_to(enum pie_arena arena, uint64_t end) {
    struct pie_region_header *header = pie_region_layout.header;
    /* acquire: whoever raised it had opened it */
    uint64_t open = atomic_load_explicit(&header->open_bytes[arena], memory_order_acquire);

    if (end <= open)
        return true;
    atomic_fetch_add(&header->openers, 1); /* seq_cst, before the size is read: see wait_for_openers() */
    uint64_t capacity = atomic_load(&pie_region_layout.bytes[arena]);
    uint64_t wanted = (end + OPEN_STEP_BYTES - 1) / OPEN_STEP_BYTES * OPEN_STEP_BYTES;
    wanted = wanted < capacity ? wanted : capacity;
    bool done = end <= wanted && make_writable(pie_region_layout.base[arena] + open, wanted - open);
    while (done && open < wanted &&
           !atomic_compare_exchange_weak_explicit(&header->open_bytes[arena], &open, wanted,
                                                  memory_order_release, memory_order_relaxed))
        continue;
    atomic_fetch_sub(&header->openers, 1);
    return done;
}

static void *take(enum pie_arena arena, size_t size, bool opens) {
    struct pie_region_header *header = pie_region_layout.header;
    const size_t capacity = atomic_load(&pie_region_layout.bytes[arena]);

    if (!header || size > capacity)
        return NULL;
    size = (size + ALLOC_ALIGN - 1) & ~(size_t)(ALLOC_ALIGN - 1);

    /* The level hands out disjoint bytes and orders nothing; what is written into them is published by their user's own
     * release. But whoever trims the arena has to see what was taken, or we that it is smaller now: seq_cst. */
    uint64_t used = atomic_load_explicit(&header->used_bytes[arena], memory_order_relaxed);
    do {
        if (used > capacity || size > capacity - used || (opens && !open_up_to(arena, used + size)))
            return NULL;
    } while (!atomic_compare_exchange_weak_explicit(&header->used_bytes[arena], &used, used + size,
                                                    memory_order_seq_cst, memory_order_relaxed));
    if (used + size > atomic_load(&pie_region_layout.bytes[arena]))
        return NULL;
    return pie_region_layout.base[arena] + used;
}

void *pie_region_alloc(enum pie_arena arena, size_t size) {
    return take(arena, size, true);
}

void *pie_region_stack(size_t size, size_t *ret_size) {
    size = (size + PAGE_BYTES - 1) & ~(size_t)(PAGE_BYTES - 1);
    char *guard = take(PIE_ARENA_STACKS, PAGE_BYTES + size, false);

    if (!guard || !make_writable(guard + PAGE_BYTES, size))
        return NULL;
    *ret_size = size;
    return guard + PAGE_BYTES;
}

void *pie_region_base(enum pie_arena arena) {
    return pie_region_layout.base[arena];
}

size_t pie_region_used(enum pie_arena arena) {
    struct pie_region_header *header = pie_region_layout.header;

    return header ? atomic_load_explicit(&header->used_bytes[arena], memory_order_relaxed) : 0;
}

size_t pie_region_size(enum pie_arena arena) {
    return atomic_load_explicit(&pie_region_layout.bytes[arena], memory_order_relaxed);
}

const char *pie_region_name(enum pie_arena arena) {
    static const char *const names[PIE_ARENA_COUNT] = {
        [PIE_ARENA_THREADS] = "threads",          [PIE_ARENA_CCT] = "contexts",
        [PIE_ARENA_CCT_OTHER] = "contexts_other", [PIE_ARENA_CODE] = "code",
        [PIE_ARENA_CODE_OTHER] = "code_other",    [PIE_ARENA_BASIC_BLOCKS] = "basic_blocks",
        [PIE_ARENA_HEAP] = "allocations",         [PIE_ARENA_STACKS] = "signal_stacks",
    };

    return names[arena];
}
