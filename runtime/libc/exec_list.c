/* SPDX-License-Identifier: Apache-2.0 */

/* execl, execle and execlp: the arguments become a vector, and the vector goes the way of the others
 * (exec.c). Short lists stay on the stack; long ones are mapped, because a vfork child may not use malloc. */

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime/libc/export.h"

enum { LIST_MAX = 256 };

struct list {
    char **argv;
    size_t mapped_bytes; /* 0: argv is `few` */
    char *few[LIST_MAX];
};

static int list_open(struct list *list, size_t entries) {
    list->argv = list->few;
    list->mapped_bytes = 0;
    if (entries <= LIST_MAX)
        return 0;
    size_t bytes = entries * sizeof *list->argv;
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return -1;
    list->argv = memory;
    list->mapped_bytes = bytes;
    return 0;
}

/* Reached only when exec failed. */
static int list_close(struct list *list, int result) {
    int saved_errno = errno;
    if (list->mapped_bytes > 0)
        munmap(list->argv, list->mapped_bytes);
    errno = saved_errno;
    return result;
}

/* Opens list with first and what follows in args up to the closing NULL. args then stands behind that. */
static int list_take(struct list *list, const char *first, va_list *args) {
    va_list counted;
    size_t n = 1;
    va_copy(counted, *args);
    while (first && va_arg(counted, char *))
        n++;
    va_end(counted);
    if (list_open(list, n + 1) < 0)
        return -1;
    list->argv[0] = (char *)first;
    for (size_t i = 1; first && i <= n; i++)
        list->argv[i] = va_arg(*args, char *);
    return 0;
}

PIE_EXPORT int execl(const char *path, const char *arg, ...) {
    struct list list;
    va_list args;
    va_start(args, arg);
    int r = list_take(&list, arg, &args);
    va_end(args);
    return r < 0 ? r : list_close(&list, execv(path, list.argv));
}

PIE_EXPORT int execlp(const char *file, const char *arg, ...) {
    struct list list;
    va_list args;
    va_start(args, arg);
    int r = list_take(&list, arg, &args);
    va_end(args);
    return r < 0 ? r : list_close(&list, execvp(file, list.argv));
}

PIE_EXPORT int execle(const char *path, const char *arg, ...) {
    struct list list;
    va_list args;
    va_start(args, arg);
    int r = list_take(&list, arg, &args);
    char *const *envp = r < 0 ? NULL : va_arg(args, char *const *);
    va_end(args);
    return r < 0 ? r : list_close(&list, execve(path, list.argv, envp));
}
