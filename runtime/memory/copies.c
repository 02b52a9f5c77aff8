/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/memory/copies.h"

#include <dlfcn.h>
#include <errno.h>

typedef void *(*copy_fn)(void *, const void *, size_t);
typedef void *(*copy_chk_fn)(void *, const void *, size_t, size_t);

static void *next_or(const char *name, void *otherwise) {
    void *found = dlsym(RTLD_NEXT, name);

    return found ? found : otherwise;
}

static void *library_of(void *function) {
    Dl_info info;

    return dladdr(function, &info) ? info.dli_fbase : NULL;
}

/* dlsym() asks glibc's IFUNC resolvers, so this is the version for this processor. Libraries that were built before
 * glibc 2.14 mean memcpy@GLIBC_2.2.5, which is memmove(), and get here as well: so where memcpy() is the C library's
 * (and not a sanitizer's, which wants to know), they all get memmove(). With most processors the two are one
 * function. */
static __attribute__((constructor)) void resolve(void) {
    struct pie_copies_next *next = &pie_copies_next;
    int kept = errno;

    next->memmove = (copy_fn)next_or("memmove", (void *)next->memmove);
    next->memcpy = (copy_fn)next_or("memcpy", (void *)next->memcpy);
    if (library_of((void *)next->memcpy) == library_of(dlsym(RTLD_DEFAULT, "gnu_get_libc_version")))
        next->memcpy = next->memmove;
    next->mempcpy = (copy_fn)next_or("mempcpy", (void *)next->mempcpy);
    next->memcpy_chk = (copy_chk_fn)next_or("__memcpy_chk", (void *)next->memcpy_chk);
    next->memmove_chk = (copy_chk_fn)next_or("__memmove_chk", (void *)next->memmove_chk);
    next->mempcpy_chk = (copy_chk_fn)next_or("__mempcpy_chk", (void *)next->mempcpy_chk);
    errno = kept;
}
