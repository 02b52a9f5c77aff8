/* SPDX-License-Identifier: Apache-2.0 */
#include "launcher/session/preload.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/memory/allocator.h"

#define NAME "_PIEPROF_PRELOAD" /* holds the user's LD_PRELOAD while ours is in force */

static bool is_second; /* this program was executed by itself */

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

void pie_preload_clean(void) {
    const char *before = getenv(NAME);
    if (!before)
        return;
    is_second = true;
    if (*before)
        setenv("LD_PRELOAD", before, 1);
    else
        unsetenv("LD_PRELOAD");
    unsetenv(NAME);
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

static int set_environment(const char *list) {
    const char *before = getenv("LD_PRELOAD");
    char *value = NULL;
    if (setenv(NAME, before ? before : "", 1) != 0 ||
        asprintf(&value, "%s%s%s", list, before && *before ? ":" : "", before ? before : "") < 0)
        return -ENOMEM;
    int r = setenv("LD_PRELOAD", value, 1) == 0 ? 0 : -ENOMEM;
    free(value);
    return r;
}

int pie_preload_allocator(const char *allocator, char **argv, void (*before_exec)(void *data), void *data) {
    if (!allocator || strcmp(allocator, "jemalloc") != 0 || is_second ||
        strcmp(pie_allocator_name(), "jemalloc") == 0)
        return 0;
    char *list;
    int r = pie_preload_list(allocator, &list);
    if (r < 0)
        return r;
    r = set_environment(list);
    free(list);
    if (r == 0) {
        if (before_exec)
            before_exec(data);
        syscall(SYS_execve, getauxval(AT_EXECFN), argv, environ); /* ours follows the program's children */
        syscall(SYS_execve, "/proc/self/exe", argv, environ);
        r = -errno;
    }
    pie_preload_clean();
    return r;
}
