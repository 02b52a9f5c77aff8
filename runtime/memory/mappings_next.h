/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The functions below the exported ones. Bare system calls at first; from the program's constructors on what comes next
 * in the lookup order, because a preloaded library may want to see mappings too. */
struct pie_mappings_next {
    void *(*mmap)(void *, size_t, int, int, int, off_t);
    void *(*mmap64)(void *, size_t, int, int, int, off_t);
    int (*munmap)(void *, size_t);
    void *(*mremap)(void *, size_t, size_t, int, ...);
    uintptr_t allocator_start,
        allocator_end; /* code of the allocator's library; 0: glibc, whose calls are its own */
};

extern struct pie_mappings_next pie_mappings_next __attribute__((visibility("hidden")));
