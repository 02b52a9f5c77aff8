/* SPDX-License-Identifier: Apache-2.0 */

/* The exported malloc() family. Defined in the program, they come first in every library's lookup, the C library's
 * included, so that strdup(), operator new and numpy all end here.
 *
 * Where memory is not profiled, and in the profiler's own threads, pie_heap_self is NULL and each function is one load,
 * one branch and a jump to the next allocator. Results and errno are always the next allocator's: what is counted
 * afterwards leaves errno alone.
 *
 * A preloaded allocator may call exported functions itself: calloc() calls malloc(), and memory is mapped. It is
 * the outer call that counts, so the thread is not profiled meanwhile. glibc's does no such thing, and is spared the
 * stores. */

#include "runtime/allocator.h"

#include "profiler/heap.h"
#include "runtime/allocator_base.h"
#include "runtime/export.h"

#include <malloc.h>
#include <stdlib.h>

#define CALLER __builtin_return_address(0)

__thread enum pie_heap_domain pie_allocator_domain __attribute__((tls_model("initial-exec")));

/* The calling thread's counts, NULL if nothing is to be counted. */
static inline struct pie_heap_thread *begin(void) {
    struct pie_heap_thread *heap = pie_heap_self;

    if (__builtin_expect(!heap, 1))
        return NULL;
    return pie_allocator_measure == PIE_ALLOCATOR_UNKNOWN ? NULL : heap;
}

/* Around each call of the next allocator that is counted. */
static inline void enter_base(void) {
    if (__builtin_expect(pie_allocator_is_foreign, 0))
        pie_heap_self = NULL;
}

static inline void leave_base(struct pie_heap_thread *heap) {
    if (__builtin_expect(pie_allocator_is_foreign, 0))
        pie_heap_self = heap;
}

static inline void *allocated(struct pie_heap_thread *heap, void *block, const void *caller) {
    leave_base(heap);
    if (__builtin_expect(block != NULL, 1))
        pie_heap_allocated(heap, pie_allocator_domain, block, pie_allocator_size(block), caller);
    return block;
}

PIE_EXPORT void *malloc(size_t size) {
    struct pie_heap_thread *heap = begin();

    if (!heap)
        return pie_allocator_base.malloc(size);
    enter_base();
    return allocated(heap, pie_allocator_base.malloc(size), CALLER);
}

PIE_EXPORT void *calloc(size_t count, size_t size) {
    struct pie_heap_thread *heap = begin();

    if (!heap)
        return pie_allocator_base.calloc(count, size);
    enter_base();
    return allocated(heap, pie_allocator_base.calloc(count, size), CALLER);
}

PIE_EXPORT void *memalign(size_t alignment, size_t size) {
    struct pie_heap_thread *heap = begin();

    if (!heap)
        return pie_allocator_base.memalign(alignment, size);
    enter_base();
    return allocated(heap, pie_allocator_base.memalign(alignment, size), CALLER);
}

PIE_EXPORT void *aligned_alloc(size_t alignment, size_t size) {
    struct pie_heap_thread *heap = begin();

    if (!heap)
        return pie_allocator_base.aligned_alloc(alignment, size);
    enter_base();
    return allocated(heap, pie_allocator_base.aligned_alloc(alignment, size), CALLER);
}

PIE_EXPORT int posix_memalign(void **ret_block, size_t alignment, size_t size) {
    struct pie_heap_thread *heap = begin();

    if (!heap)
        return pie_allocator_base.posix_memalign(ret_block, alignment, size);
    enter_base();
    int r = pie_allocator_base.posix_memalign(ret_block, alignment, size);
    allocated(heap, r == 0 ? *ret_block : NULL, CALLER);
    return r;
}

PIE_EXPORT void *valloc(size_t size) {
    struct pie_heap_thread *heap = begin();

    if (!heap)
        return pie_allocator_base.valloc(size);
    enter_base();
    return allocated(heap, pie_allocator_base.valloc(size), CALLER);
}

/* jemalloc has none, so behind it there is glibc's, whose blocks it could not measure. */
PIE_EXPORT void *pvalloc(size_t size) {
    struct pie_heap_thread *heap = begin();

    if (!heap || pie_allocator_is_foreign)
        return pie_allocator_base.pvalloc(size);
    enter_base();
    return allocated(heap, pie_allocator_base.pvalloc(size), CALLER);
}

static __attribute__((noinline)) void free_in_foreign(struct pie_heap_thread *heap, void *block) {
    pie_heap_self = NULL;
    pie_allocator_base.free(block);
    pie_heap_self = heap;
}

PIE_EXPORT void free(void *block) {
    struct pie_heap_thread *heap = begin();

    if (heap && block) {
        pie_heap_freeing(heap, pie_allocator_domain, block, pie_allocator_size(block));
        if (__builtin_expect(pie_allocator_is_foreign, 0)) {
            free_in_foreign(heap, block);
            return;
        }
    }
    pie_allocator_base.free(block);
}

/* What a size of 0 means is the allocator's to say: glibc frees the block and returns NULL, others return a new one. The
 * old one is gone in either case. */
static __attribute__((noinline)) void *realloc_counted(struct pie_heap_thread *heap, void *old, size_t size,
                                                       const void *caller) {
    enum pie_heap_domain domain = pie_allocator_domain;

    if (!old || size == 0) {
        if (old)
            pie_heap_freeing(heap, domain, old, pie_allocator_size(old));
        enter_base();
        return allocated(heap, pie_allocator_base.realloc(old, size), caller);
    }
    size_t old_bytes = pie_allocator_size(old);
    uint32_t token = __builtin_expect(pie_heap_may_be_tracked(old), 0) ? pie_heap_resizing(old) : 0;
    enter_base();
    void *block = pie_allocator_base.realloc(old, size);
    leave_base(heap);
    if (block)
        pie_heap_resized(heap, domain, token, block, old_bytes, pie_allocator_size(block), caller);
    else
        pie_heap_resized(heap, domain, token, old, old_bytes, old_bytes, caller);
    return block;
}

/* reallocarray() of the C library calls this one. */
PIE_EXPORT void *realloc(void *old, size_t size) {
    struct pie_heap_thread *heap = begin();

    if (!heap)
        return pie_allocator_base.realloc(old, size);
    return realloc_counted(heap, old, size, CALLER);
}

PIE_EXPORT size_t malloc_usable_size(void *block) {
    return pie_allocator_base.malloc_usable_size(block);
}
