/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/memory/mappings.h"

#include "runtime/memory/mappings_next.h"

#include <dlfcn.h>
#include <errno.h>

#include "profiler/code/find_object.h"

/* A pointer to a function of the C library, or the old value if it has none. */
static void *next_or(const char *name, void *otherwise) {
    void *found = dlsym(RTLD_NEXT, name);

    return found ? found : otherwise;
}

static __attribute__((constructor)) void resolve(void) {
    struct pie_mappings_next *next = &pie_mappings_next;
    int kept = errno;

    next->mmap = (void *(*)(void *, size_t, int, int, int, off_t))next_or("mmap", (void *)next->mmap);
    next->mmap64 = (void *(*)(void *, size_t, int, int, int, off_t))next_or("mmap64", (void *)next->mmap64);
    next->munmap = (int (*)(void *, size_t))next_or("munmap", (void *)next->munmap);
    next->mremap = (void *(*)(void *, size_t, size_t, int, ...))next_or("mremap", (void *)next->mremap);
    errno = kept;
}

void pie_mappings_set_allocator(const void *function) {
    struct pie_mappings_next *next = &pie_mappings_next;
    struct pie_object object;

    next->allocator_start = next->allocator_end = 0;
    if (function && pie_find_object((uintptr_t)function, &object)) {
        next->allocator_start = object.start;
        next->allocator_end = object.end;
    }
}
