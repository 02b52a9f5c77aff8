/* SPDX-License-Identifier: Apache-2.0 */
#include "launcher/session/preload.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The loader takes what it does not find for a warning on stderr, so it is looked for first. */
static const char *find_jemalloc(void) {
    static const char *const places[] = {"/usr/lib/x86_64-linux-gnu/libjemalloc.so.2",
                                         "/usr/lib64/libjemalloc.so.2", "/usr/lib/libjemalloc.so.2",
                                         "/usr/local/lib/libjemalloc.so.2"};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (access(places[i], R_OK) == 0)
            return places[i];
    return NULL;
}

/* Debian's jemalloc has an operator new of its own, which no malloc() sees; libstdc++'s, before it, calls malloc(). */
int pie_preload_list(const char *allocator, char **ret_list) {
    static const char libstdcxx[] = "/usr/lib/x86_64-linux-gnu/libstdc++.so.6";
    *ret_list = NULL;
    if (!allocator || strcmp(allocator, "jemalloc") != 0)
        return 0;
    const char *library = find_jemalloc();
    bool has_libstdcxx = access(libstdcxx, R_OK) == 0;
    if (!library)
        return -ENOENT;
    if (asprintf(ret_list, "%s%s%s", has_libstdcxx ? libstdcxx : "", has_libstdcxx ? ":" : "", library) >= 0)
        return 0;
    *ret_list = NULL;
    return -ENOMEM;
}
