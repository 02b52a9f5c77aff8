/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/interpreter/replaced.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LINKS_MAX = 40 }; /* as the kernel */

/* What every pieprof carries in its read-only data, because it looks for it. */
static const char MARK[] = "pieprof stands for the interpreter that was here";

bool pie_replaced_name(const char *path, char ret_name[PATH_MAX]) {
    int n = snprintf(ret_name, PATH_MAX, "%s" PIE_REPLACED_SUFFIX, path);
    return n > 0 && n < PATH_MAX;
}

/* path with its folder resolved, but not its last part. With a slash behind the folder realpath() would make a system
 * call more, which python3 makes nowhere, and which a seccomp filter may forbid. */
static int resolve_folder(const char *path, char ret_path[PATH_MAX]) {
    char folder[PATH_MAX], real[PATH_MAX];
    const char *slash = strrchr(path, '/');
    int n = slash ? snprintf(folder, sizeof folder, "%.*s", (int)(slash - path) + (slash == path), path)
                  : snprintf(folder, sizeof folder, ".");
    if (n >= (int)sizeof folder)
        return -ENAMETOOLONG;
    if (!realpath(folder, real))
        return -errno;
    n = snprintf(ret_path, PATH_MAX, "%s/%s", strcmp(real, "/") == 0 ? "" : real, slash ? slash + 1 : path);
    return n < PATH_MAX ? 0 : -ENAMETOOLONG;
}

/* Replaces path by what the link at `link` says, seen from path's folder. Returns 1, 0 if that is no link, or
 * -errno. */
static int follow_one(const char *link, char path[PATH_MAX]) {
    char text[PATH_MAX], next[PATH_MAX];
    ssize_t length = readlink(link, text, sizeof text - 1);
    if (length < 0)
        return errno == EINVAL ? 0 : -errno;
    text[length] = '\0';
    const char *slash = strrchr(path, '/');
    int n = text[0] == '/' ? snprintf(next, sizeof next, "%s", text)
                           : snprintf(next, sizeof next, "%.*s/%s", (int)(slash - path), path, text);
    if (n >= (int)sizeof next)
        return -ENAMETOOLONG;
    int r = resolve_folder(next, path);
    return r < 0 ? r : 1;
}

int pie_replaced_follow(const char *path, struct pie_replaced *ret_replaced) {
    struct pie_replaced replaced = {0};
    struct stat st;
    int r = resolve_folder(path, replaced.real);
    for (int links = 0; r >= 0 && links < LINKS_MAX; links++) {
        bool has_kept =
            pie_replaced_name(replaced.real, replaced.content) && lstat(replaced.content, &st) == 0;
        if (!has_kept)
            memcpy(replaced.content, replaced.real, sizeof replaced.content);
        replaced.is_replaced |= has_kept;
        r = follow_one(replaced.content, replaced.real);
        if (r == 0) {
            *ret_replaced = replaced;
            return 0;
        }
    }
    return r < 0 ? r : -ELOOP;
}

bool pie_replaced_is_pieprof(const char *path) {
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return false;
    void *bytes = MAP_FAILED;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0)
        bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    if (bytes == MAP_FAILED)
        return false;
    bool is_pieprof = memmem(bytes, (size_t)st.st_size, MARK, sizeof MARK) != NULL;
    munmap(bytes, (size_t)st.st_size);
    return is_pieprof;
}
