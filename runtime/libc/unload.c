/* SPDX-License-Identifier: Apache-2.0 */

/* The exported dlclose(): when a library is unloaded, another may be mapped to its place at once. So samples must know
 * at once, not only when the collection thread looks. Libraries that glibc unloads by itself (a failed dlopen(), its
 * own plug-ins) are seen by that thread. */

#include "profiler/code/unloads.h"
#include "runtime/libc/export.h"

#include <dlfcn.h>
#include <errno.h>

static int (*next)(void *handle);

static __attribute__((constructor)) void resolve(void) {
    next = (int (*)(void *))dlsym(RTLD_NEXT, "dlclose");
}

/* Whoever asks before the constructors keeps its library. */
PIE_EXPORT int dlclose(void *handle) {
    if (!next)
        return 0;
    pie_unloading_begin();
    int r = next(handle), kept = errno;
    pie_unloading_end();
    errno = kept;
    return r;
}
