/* SPDX-License-Identifier: Apache-2.0 */

/* The exported mmap(), mmap64(), munmap() and mremap(). In practice they may be called in signal handlers, and stay so:
 * no lock, no memory, and the next function is known from the constructors on.
 *
 * What is unmapped is taken out of the table, and counted, before the call, as with free(): afterwards the addresses
 * may be another thread's already. If the call fails it is put back, which counts it as allocated once more.
 *
 * glibc maps memory for malloc() and for stacks without going through its exported functions. */

#include "runtime/memory/mappings.h"

#include "profiler/code/modules.h"
#include "profiler/heap/heap.h"
#include "runtime/libc/export.h"
#include "runtime/memory/mapping_table.h"
#include "runtime/memory/mappings_next.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CALLER __builtin_return_address(0)

enum { PAGE_BYTES = 4096, UNCOUNTED = MAP_STACK | MAP_GROWSDOWN | MAP_NORESERVE };

__thread unsigned pie_mappings_quiet __attribute__((tls_model("initial-exec")));

static void *map_raw(void *address, size_t length, int protection, int flags, int fd, off_t offset) {
    return (void *)syscall(SYS_mmap, address, length, protection, flags, fd, offset);
}

static int unmap_raw(void *address, size_t length) {
    return (int)syscall(SYS_munmap, address, length);
}

static bool has_new_address(int flags) {
    return flags & (MREMAP_FIXED | MREMAP_DONTUNMAP);
}

static void *remap_raw(void *address, size_t old_length, size_t length, int flags, ...) {
    void *new_address = NULL;
    va_list arguments;

    va_start(arguments, flags);
    if (has_new_address(flags))
        new_address = va_arg(arguments, void *);
    va_end(arguments);
    return (void *)syscall(SYS_mremap, address, old_length, length, flags, new_address);
}

struct pie_mappings_next pie_mappings_next = {
    .mmap = map_raw, .mmap64 = map_raw, .munmap = unmap_raw, .mremap = remap_raw};

uint64_t pie_mappings_refused(void) {
    return pie_mapping_table_refused();
}

static size_t whole_pages(size_t length) {
    return (length + PAGE_BYTES - 1) & ~(size_t)(PAGE_BYTES - 1);
}

static bool is_counted(int protection, int flags, const void *caller) {
    if (!(flags & MAP_ANONYMOUS) || !(protection & PROT_WRITE) || flags & UNCOUNTED || pie_mappings_quiet)
        return false;
    return (uintptr_t)caller - pie_mappings_next.allocator_start >=
           pie_mappings_next.allocator_end - pie_mappings_next.allocator_start;
}

static void count(struct pie_heap_thread *heap, uintptr_t start, size_t bytes, const void *caller) {
    if (pie_mapping_table_add(start, bytes))
        pie_heap_allocated(heap, PIE_HEAP_NATIVE, (void *)start, bytes, caller);
}

/* A range was cut: all of it is freed, or it is the same allocation with less memory. */
static void count_cut(struct pie_heap_thread *heap, const struct pie_mapping_cut *cut, const void *caller) {
    void *start = (void *)cut->start;

    if (cut->cut_bytes == cut->bytes) {
        pie_heap_freeing(heap, PIE_HEAP_NATIVE, start, cut->bytes);
        return;
    }
    uint32_t token = pie_heap_may_be_tracked(start) ? pie_heap_resizing(start) : 0;
    if (cut->cut_start == cut->start)
        start = (void *)(cut->start + cut->cut_bytes);
    pie_heap_resized(heap, PIE_HEAP_NATIVE, token, start, cut->bytes, cut->bytes - cut->cut_bytes, caller);
}

/* What was taken out for a call that may fail. Beyond this many ranges in one call a failure would leave some
 * uncounted. */
struct taken {
    struct pie_mapping_cut cuts[PIE_MAPPING_CUTS];
    size_t count, bytes;
};

static void take(struct pie_heap_thread *heap, void *address, size_t length, const void *caller,
                 struct taken *ret_taken) {
    uintptr_t start = (uintptr_t)address;
    struct taken taken = {.count = 0};

    if (!pie_mapping_table_is_unused() && start % PAGE_BYTES == 0) {
        do {
            taken.count = pie_mapping_table_cut(start, whole_pages(length), taken.cuts);
            for (size_t i = 0; i < taken.count; i++) {
                taken.bytes += taken.cuts[i].cut_bytes;
                if (heap)
                    count_cut(heap, &taken.cuts[i], caller);
            }
        } while (taken.count == PIE_MAPPING_CUTS);
    }
    *ret_taken = taken;
}

static void put_back(struct pie_heap_thread *heap, const struct taken *taken, const void *caller) {
    for (size_t i = 0; heap && i < taken->count; i++)
        count(heap, taken->cuts[i].cut_start, taken->cuts[i].cut_bytes, caller);
}

static void *map(void *(*next)(void *, size_t, int, int, int, off_t), void *address, size_t length,
                 int protection, int flags, int fd, off_t offset, const void *caller) {
    struct pie_heap_thread *heap = pie_heap_self;
    struct taken taken = {.count = 0};

    if (flags & MAP_FIXED)
        take(heap, address, length, caller, &taken);
    void *mapped = next(address, length, protection, flags, fd, offset);
    if (mapped == MAP_FAILED)
        put_back(heap, &taken, caller);
    else if (heap && is_counted(protection, flags, caller))
        count(heap, (uintptr_t)mapped, whole_pages(length), caller);
    if (protection & PROT_EXEC && mapped != MAP_FAILED)
        pie_code_modules_rewritten((uintptr_t)mapped, whole_pages(length));
    return mapped;
}

/* Under names of our own, because with 64-bit offsets the headers make mmap another name of mmap64. */
PIE_EXPORT void *map_plain(void *address, size_t length, int protection, int flags, int fd,
                           off_t offset) __asm__("mmap");
PIE_EXPORT void *map_large(void *address, size_t length, int protection, int flags, int fd,
                           off_t offset) __asm__("mmap64");

void *map_plain(void *address, size_t length, int protection, int flags, int fd, off_t offset) {
    return map(pie_mappings_next.mmap, address, length, protection, flags, fd, offset, CALLER);
}

void *map_large(void *address, size_t length, int protection, int flags, int fd, off_t offset) {
    return map(pie_mappings_next.mmap64, address, length, protection, flags, fd, offset, CALLER);
}

PIE_EXPORT int munmap(void *address, size_t length) {
    struct pie_heap_thread *heap = pie_heap_self;
    struct taken taken;

    take(heap, address, length, CALLER, &taken);
    int r = pie_mappings_next.munmap(address, length);
    if (r < 0)
        put_back(heap, &taken, CALLER);
    return r;
}

/* A whole counted range has moved, or could not: it is the same allocation in either case. */
static void count_moved(struct pie_heap_thread *heap, uint32_t token, uintptr_t start, size_t old_bytes,
                        size_t bytes, const void *caller) {
    if (!pie_mapping_table_add(start, bytes))
        bytes = 0;
    pie_heap_resized(heap, PIE_HEAP_NATIVE, token, (void *)start, old_bytes, bytes, caller);
}

static void *remap(uintptr_t old, size_t old_length, size_t length, int flags, void *new_address,
                   const void *caller) {
    struct pie_heap_thread *heap = pie_heap_self;
    size_t old_bytes = whole_pages(old_length), bytes = whole_pages(length);
    struct taken replaced = {.count = 0}, moved = {.count = 0};
    bool is_whole = false;
    uint32_t token = 0;

    if (flags & MREMAP_FIXED)
        take(heap, new_address, length, caller, &replaced);
    if (!(flags &
          MREMAP_DONTUNMAP)) { /* which leaves empty pages behind: these stay counted, and not their new place */
        is_whole = heap && pie_mapping_table_take(old, old_bytes);
        if (is_whole && pie_heap_may_be_tracked((void *)old))
            token = pie_heap_resizing((void *)old);
        else if (!is_whole)
            take(heap, (void *)old, old_length, caller, &moved);
    }
    void *mapped = pie_mappings_next.mremap((void *)old, old_length, length, flags, new_address);
    bool has_failed = mapped == MAP_FAILED;
    if (has_failed) {
        put_back(heap, &moved, caller);
        put_back(heap, &replaced, caller);
    }
    if (is_whole)
        count_moved(heap, token, has_failed ? old : (uintptr_t)mapped, old_bytes,
                    has_failed ? old_bytes : bytes, caller);
    else if (heap && !has_failed && moved.bytes && moved.bytes == old_bytes)
        count(heap, (uintptr_t)mapped, bytes, caller);
    return mapped;
}

PIE_EXPORT void *mremap(void *address, size_t old_length, size_t length, int flags, ...) {
    void *new_address = NULL;
    va_list arguments;

    va_start(arguments, flags);
    if (has_new_address(flags))
        new_address = va_arg(arguments, void *);
    va_end(arguments);
    return remap((uintptr_t)address, old_length, length, flags, new_address, CALLER);
}
