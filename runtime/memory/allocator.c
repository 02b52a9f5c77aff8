/* SPDX-License-Identifier: Apache-2.0 */

/* The exported malloc() family. Defined in the program, they come first in every library's lookup, the C library's
 * included, so that strdup(), operator new and numpy all end here.
 *
 * Where memory is not profiled, and in the profiler's own threads, pie_heap_self is NULL and each function is a jump
 * to the next allocator after one or two loads and branches. Results and errno are always the next allocator's: what is
 * counted afterwards leaves errno alone.
 *
 * Counting blocks of glibc's is the fast path of malloc(), calloc() and free(). It is written so that nothing has to be
 * kept over a call: what is needed afterwards is loaded again, and what is rare is a jump to a function of its own.
 *
 * Any other allocator may call exported functions itself: calloc() calls malloc(), and memory is mapped. It is the
 * outer call that counts, so the thread is not profiled meanwhile. */

#include "runtime/memory/allocator.h"

#include "profiler/base/dwarf_guard.h"
#include "profiler/heap/heap.h"
#include "runtime/libc/export.h"
#include "runtime/memory/allocator_base.h"
#include "runtime/memory/tls.h"

#include <malloc.h>
#include <stdlib.h>

#define CALLER __builtin_return_address(0)
#define RARE(condition) __builtin_expect((condition), 0)

extern __thread struct pie_heap_thread *pie_heap_self PIE_TLS;
__thread enum pie_heap_domain pie_allocator_domain PIE_TLS;

extern __thread struct pie_dwarf_way_out *pie_dwarf_way_out PIE_TLS;

/* What libdw allocates for us: it must not see that memory is short. */
static __attribute__((noinline)) void *for_libdw(void *block) {
    if (!block)
        pie_dwarf_give_up();
    return block;
}

static inline struct pie_heap_thread *begin_base(void) {
    struct pie_heap_thread *heap = pie_heap_self;

    pie_heap_self = NULL;
    return heap;
}

static void *end_base(struct pie_heap_thread *heap, void *block, const void *caller) {
    pie_heap_self = heap;
    if (block && pie_allocator_measure != PIE_ALLOCATOR_UNKNOWN)
        pie_heap_allocated(heap, pie_allocator_domain, block, pie_allocator_size(block), caller);
    return block;
}

static __attribute__((noinline)) void *malloc_elsewhere(size_t size, const void *caller) {
    struct pie_heap_thread *heap = begin_base();

    return end_base(heap, pie_allocator_base.malloc(size), caller);
}

static __attribute__((noinline)) void *calloc_elsewhere(size_t count, size_t size, const void *caller) {
    struct pie_heap_thread *heap = begin_base();

    return end_base(heap, pie_allocator_base.calloc(count, size), caller);
}

static __attribute__((noinline)) void free_elsewhere(void *block) {
    struct pie_heap_thread *heap = begin_base();

    if (pie_allocator_measure != PIE_ALLOCATOR_UNKNOWN)
        pie_heap_freeing(heap, pie_allocator_domain, block, pie_allocator_size(block));
    pie_allocator_base.free(block);
    pie_heap_self = heap;
}

static __attribute__((noinline)) void *mapped_allocated(void *block, const void *caller) {
    return end_base(pie_heap_self, block, caller);
}

static __attribute__((noinline)) void *allocated_slowly(void *block, const void *caller) {
    pie_heap_allocated_slowly(pie_heap_self, pie_allocator_domain, block, pie_allocator_noted_size(block),
                              caller);
    return block;
}

/* pie_heap_allocated() for a block of glibc's. */
static inline void *allocated(void *block, const void *caller) {
    if (RARE(!block))
        return NULL;
    size_t note = pie_allocator_note(block);
    if (RARE(note & PIE_ALLOCATOR_MAPPED))
        return mapped_allocated(block, caller);
    struct pie_heap_count *count = &pie_heap_self->counts[pie_allocator_domain];
    count->allocated_bytes += pie_allocator_unmapped_size(note);
    if (RARE(count->allocated_bytes >= count->allocated_limit))
        return allocated_slowly(block, caller);
    return block;
}

PIE_EXPORT void *malloc(size_t size) {
    if (!pie_heap_self)
        return RARE(pie_dwarf_way_out != NULL) ? for_libdw(pie_allocator_base.malloc(size))
                                               : pie_allocator_base.malloc(size);
    if (RARE(pie_allocator_measure != PIE_ALLOCATOR_HEADER))
        return malloc_elsewhere(size, CALLER);
    return allocated(pie_allocator_base.malloc(size), CALLER);
}

PIE_EXPORT void *calloc(size_t count, size_t size) {
    if (!pie_heap_self)
        return RARE(pie_dwarf_way_out != NULL) ? for_libdw(pie_allocator_base.calloc(count, size))
                                               : pie_allocator_base.calloc(count, size);
    if (RARE(pie_allocator_measure != PIE_ALLOCATOR_HEADER))
        return calloc_elsewhere(count, size, CALLER);
    return allocated(pie_allocator_base.calloc(count, size), CALLER);
}

static __attribute__((noinline)) void free_slowly(void *block) {
    pie_heap_freeing_slowly(pie_heap_self, pie_allocator_domain, block, pie_allocator_noted_size(block));
    pie_allocator_base.free(block);
}

/* pie_heap_freeing() for a block of glibc's. */
PIE_EXPORT void free(void *block) {
    struct pie_heap_thread *heap = pie_heap_self;

    if (!heap || !block) {
        pie_allocator_base.free(block);
        return;
    }
    if (RARE(pie_allocator_measure != PIE_ALLOCATOR_HEADER)) { /* there may be nothing before the block */
        free_elsewhere(block);
        return;
    }
    size_t note = pie_allocator_note(block);
    if (RARE(note & PIE_ALLOCATOR_MAPPED)) {
        free_elsewhere(block);
        return;
    }
    struct pie_heap_count *count = &heap->counts[pie_allocator_domain];
    size_t bytes = pie_allocator_unmapped_size(note);
    count->freed_bytes += bytes;
    if (RARE(count->freed_bytes >= count->freed_limit || pie_heap_may_be_tracked(block) ||
             pie_copy_ends_may_hold(bytes)))
        free_slowly(block);
    else
        pie_allocator_base.free(block);
}

/* What a size of 0 means is the allocator's to say: glibc frees the block and returns NULL, others return a new one.
 * The old one is gone in either case. */
static __attribute__((noinline)) void *realloc_to_nothing(void *old, const void *caller) {
    struct pie_heap_thread *heap = begin_base();

    pie_heap_freeing(heap, pie_allocator_domain, old, pie_allocator_size(old));
    return end_base(heap, pie_allocator_base.realloc(old, 0), caller);
}

static __attribute__((noinline)) void *realloc_counted(void *old, size_t size, const void *caller) {
    enum pie_heap_domain domain = pie_allocator_domain;
    size_t old_bytes = pie_allocator_size(old);
    if (RARE(pie_copy_ends_may_hold(old_bytes)))
        pie_heap_resizing_copy(old, old_bytes);
    uint32_t token = RARE(pie_heap_may_be_tracked(old)) ? pie_heap_resizing(old) : 0;
    struct pie_heap_thread *heap = begin_base();
    void *block = pie_allocator_base.realloc(old, size);

    pie_heap_self = heap;
    if (block)
        pie_heap_resized(heap, domain, token, block, old_bytes, pie_allocator_size(block), caller);
    else
        pie_heap_resized(heap, domain, token, old, old_bytes, old_bytes, caller);
    return block;
}

/* reallocarray() of the C library calls this one. */
PIE_EXPORT void *realloc(void *old, size_t size) {
    if (!pie_heap_self || pie_allocator_measure == PIE_ALLOCATOR_UNKNOWN)
        return RARE(pie_dwarf_way_out && size > 0) ? for_libdw(pie_allocator_base.realloc(old, size))
                                                   : pie_allocator_base.realloc(old, size);
    if (old)
        return size ? realloc_counted(old, size, CALLER) : realloc_to_nothing(old, CALLER);
    struct pie_heap_thread *heap = begin_base();
    return end_base(heap, pie_allocator_base.realloc(NULL, size), CALLER);
}

PIE_EXPORT void *memalign(size_t alignment, size_t size) {
    if (!pie_heap_self)
        return pie_allocator_base.memalign(alignment, size);
    struct pie_heap_thread *heap = begin_base();
    return end_base(heap, pie_allocator_base.memalign(alignment, size), CALLER);
}

PIE_EXPORT void *aligned_alloc(size_t alignment, size_t size) {
    if (!pie_heap_self)
        return pie_allocator_base.aligned_alloc(alignment, size);
    struct pie_heap_thread *heap = begin_base();
    return end_base(heap, pie_allocator_base.aligned_alloc(alignment, size), CALLER);
}

PIE_EXPORT int posix_memalign(void **ret_block, size_t alignment, size_t size) {
    if (!pie_heap_self)
        return pie_allocator_base.posix_memalign(ret_block, alignment, size);
    struct pie_heap_thread *heap = begin_base();
    int r = pie_allocator_base.posix_memalign(ret_block, alignment, size);
    end_base(heap, r == 0 ? *ret_block : NULL, CALLER);
    return r;
}

PIE_EXPORT void *valloc(size_t size) {
    if (!pie_heap_self)
        return pie_allocator_base.valloc(size);
    struct pie_heap_thread *heap = begin_base();
    return end_base(heap, pie_allocator_base.valloc(size), CALLER);
}

/* jemalloc has none, so behind it there is glibc's, whose blocks it could not measure. */
PIE_EXPORT void *pvalloc(size_t size) {
    if (!pie_heap_self || pie_allocator_is_foreign)
        return pie_allocator_base.pvalloc(size);
    struct pie_heap_thread *heap = begin_base();
    return end_base(heap, pie_allocator_base.pvalloc(size), CALLER);
}

PIE_EXPORT size_t malloc_usable_size(void *block) {
    return pie_allocator_base.malloc_usable_size(block);
}
