/* SPDX-License-Identifier: Apache-2.0 */
#include "launcher/session/preload.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/memory/allocator.h"

#define NAME "_PIEPROF_PRELOAD" /* holds the user's LD_PRELOAD while ours is in force */

static bool is_second; /* this program was executed by itself */

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
