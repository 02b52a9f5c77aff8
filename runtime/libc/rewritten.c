/* SPDX-License-Identifier: Apache-2.0 */

/* The exported mprotect(). A program that changes a library's code (to patch a function, to take a place in it) makes
 * its pages writable, and then executable again: instructions that were decoded before are not there any more. What it
 * makes for itself outside of libraries is never remembered, so other calls cost a comparison. */

#include "profiler/code/modules.h"
#include "runtime/libc/export.h"

#include <dlfcn.h>
#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* What the C library does, for whoever asks before the constructors. */
static int protect_raw(void *address, size_t length, int protection) {
    return (int)syscall(SYS_mprotect, address, length, protection);
}

static int (*next)(void *address, size_t length, int protection) = protect_raw;

static __attribute__((constructor)) void resolve(void) {
    int kept = errno;
    void *found = dlsym(RTLD_NEXT, "mprotect");

    next = found ? (int (*)(void *, size_t, int))found : protect_raw;
    errno = kept;
}

PIE_EXPORT int mprotect(void *address, size_t length, int protection) {
    int r = next(address, length, protection);

    if (r == 0 && protection & PROT_EXEC)
        pie_code_modules_rewritten((uintptr_t)address, length);
    return r;
}
