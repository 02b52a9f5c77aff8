/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "profiler/heap/copy_ends.h"
#include "profiler/ports/sink.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The memory collector's fast path: what the exported malloc() family and the hooks of Python's allocators call.
 *
 * Each profiled thread counts what it allocates and frees, native and Python memory apart (enum pie_heap_domain). When
 * a counter reaches its limit, or a block is freed that may be a tracked one, the slow path in heap_sigsafe.c has a
 * look:
 *
 *   rate      one allocation in a number of bytes is sampled, with its context, and tracked until it is freed. What was
 *             allocated since the last sample is its weight. An allocation as large as that distance stands for itself.
 *   threshold whenever |allocated - freed| has changed by the threshold (Scalene §3.2), the footprint is noted: no
 *             peak is missed by more than that.
 *
 * A block's size is what the allocator set aside for it (malloc_usable_size()), so that what was counted at its
 * allocation is what is counted when it goes. */

struct pie_heap_count {
    uint64_t allocated_bytes, allocated_limit;
    uint64_t freed_bytes, freed_limit;
};

/* One thread's counts. Written by the thread alone; the collection thread reads them. */
struct pie_heap_thread {
    struct pie_heap_count counts[PIE_HEAP_DOMAINS];
};

/* The calling thread's, NULL where memory is not profiled. */
extern __thread struct pie_heap_thread *pie_heap_self __attribute__((tls_model("initial-exec")));

/* How many tracked blocks have this part of their address: others are not looked up. A count that has reached its
 * greatest value stays there. */
enum { PIE_HEAP_FILTER_BYTES = 1 << 16 };
extern _Atomic uint8_t pie_heap_filter[PIE_HEAP_FILTER_BYTES] __attribute__((visibility("hidden")));

static inline uint16_t pie_heap_filter_index(const void *block) {
    return (uint16_t)((uintptr_t)block >> 4);
}

static inline bool pie_heap_may_be_tracked(const void *block) {
    return atomic_load_explicit(&pie_heap_filter[pie_heap_filter_index(block)], memory_order_relaxed) != 0;
}

/* The slow path. caller: where the exported function or hook was called from; the context begins there.
 * Context: hook. errno is preserved. */
void pie_heap_allocated_slowly(struct pie_heap_thread *heap, enum pie_heap_domain domain, void *block,
                               size_t bytes, const void *caller);
void pie_heap_freeing_slowly(struct pie_heap_thread *heap, enum pie_heap_domain domain, void *block,
                             size_t bytes);

/* A block of this size was allocated. heap: not NULL. Context: hook. */
static inline void pie_heap_allocated(struct pie_heap_thread *heap, enum pie_heap_domain domain, void *block,
                                      size_t bytes, const void *caller) {
    struct pie_heap_count *count = &heap->counts[domain];

    count->allocated_bytes += bytes;
    if (__builtin_expect(count->allocated_bytes >= count->allocated_limit, 0))
        pie_heap_allocated_slowly(heap, domain, block, bytes, caller);
}

/* A block of this size is about to be freed: before it is, or another thread may get its address. Context: hook. */
static inline void pie_heap_freeing(struct pie_heap_thread *heap, enum pie_heap_domain domain, void *block,
                                    size_t bytes) {
    struct pie_heap_count *count = &heap->counts[domain];

    count->freed_bytes += bytes;
    if (__builtin_expect(count->freed_bytes >= count->freed_limit || pie_heap_may_be_tracked(block) ||
                             pie_copy_ends_may_hold(bytes),
                         0))
        pie_heap_freeing_slowly(heap, domain, block, bytes);
}

/* A block is about to be resized. Returns a token for pie_heap_resized(), 0 for a block that is not tracked. Until then
 * the block is tracked no more, since its address may be another's before realloc() returns. Context: hook. */
uint32_t pie_heap_resizing(void *block);
/* The same for a copy that is followed: pie_copy_ends_may_hold(bytes). Context: hook. errno is preserved. */
void pie_heap_resizing_copy(void *block, size_t bytes);

/* The block has moved to `block`, or stayed, or could not be resized; it is the same allocation to its line. Only the
 * difference in size counts. old_bytes and bytes: usable sizes. Context: hook. */
void pie_heap_resized(struct pie_heap_thread *heap, enum pie_heap_domain domain, uint32_t token, void *block,
                      size_t old_bytes, size_t bytes, const void *caller);

/* Copy volume: bytes until the next copy is sampled. 0 from the start, so that a thread's first copy finds out
 * whether it is profiled. */
extern __thread int64_t pie_copy_left __attribute__((tls_model("initial-exec")));

/* A copy crossed it, and has been made. Context: hook (also from handlers of the program). errno is preserved. */
void pie_copy_slowly(const void *to, const void *from, size_t bytes, const void *caller);

/* Does it move a block by a small part of its length, as list.pop(0) does? To take such a list apart moves each item
 * many times. Merges of sorted parts move by about the length of a part; short blocks move in no time. Context: any. */
enum { PIE_COPY_SHIFT_PART = 16, PIE_COPY_SHIFT_MIN_BYTES = 4096 };
static inline bool pie_copy_is_shift(const void *to, const void *from, size_t bytes) {
    uintptr_t a = (uintptr_t)to, b = (uintptr_t)from, distance_bytes = a > b ? a - b : b - a;

    return bytes >= PIE_COPY_SHIFT_MIN_BYTES && distance_bytes != 0 &&
           distance_bytes < bytes / PIE_COPY_SHIFT_PART;
}
