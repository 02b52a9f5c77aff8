/* SPDX-License-Identifier: Apache-2.0 */

/* The folder of caches is not made: where a program has a home of its own, as tests have, nothing appears in it. */

#include "profiler/symbols/symbol_cache_folder.h"

#include "profiler/base/clocks.h"
#include "profiler/base/own_memory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* When there is more, files that were not used for the longest time go until there is less. */
static const uint64_t ALL_BYTES_MAX = 64 << 20, ALL_BYTES_KEPT = 48 << 20;
static const int64_t DAY_S = 86400, HOUR_S = 3600;
enum { FILES_MAX = 4096, TEMPORARY_BYTES = 64 };

static int64_t now_s(void) {
    return pie_realtime_ns() / 1000000000;
}

static bool is_ours(const struct stat *status) {
    return status->st_uid == geteuid() && !(status->st_mode & (S_IWGRP | S_IWOTH));
}

/* A folder in another one, which it closes. makes: if it is not there. Returns a descriptor or -1. */
static int enter(int above, const char *name, bool makes) {
    struct stat status;

    if (makes)
        (void)mkdirat(above, name, 0700);
    int fd = openat(above, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    close(above);
    if (fd >= 0 && (fstat(fd, &status) < 0 || !is_ours(&status))) {
        close(fd);
        return -1;
    }
    return fd;
}

static int open_folder(const char *caches, bool makes) {
    int fd = open(caches, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct stat status;

    if (fd < 0)
        return -1;
    if (fstat(fd, &status) < 0 || !is_ours(&status)) {
        close(fd);
        return -1;
    }
    fd = enter(fd, "pieprof", makes);
    return fd < 0 ? -1 : enter(fd, "symbols", makes);
}

static void *map_file(int fd, uint64_t max_bytes, size_t *ret_size) {
    struct stat status;

    if (fstat(fd, &status) < 0 || !S_ISREG(status.st_mode) || !is_ours(&status) || status.st_size <= 0 ||
        (uint64_t)status.st_size > max_bytes)
        return NULL;
    void *mapping = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (mapping == MAP_FAILED)
        return NULL;
    if (status.st_mtim.tv_sec < now_s() - DAY_S)
        (void)futimens(fd, NULL);
    *ret_size = (size_t)status.st_size;
    return mapping;
}

void *pie_symbol_cache_map(const char *caches, const char *name, uint64_t max_bytes, size_t *ret_size) {
    int folder = open_folder(caches, false);
    if (folder < 0)
        return NULL;
    int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    void *mapping = fd < 0 ? NULL : map_file(fd, max_bytes, ret_size);
    if (fd >= 0)
        close(fd);
    close(folder);
    return mapping;
}

/* --- Bounds --- */

struct kept {
    int64_t used_s;
    uint64_t bytes;
    char name[NAME_MAX + 1];
};

static int by_use(const void *a, const void *b) {
    const struct kept *first = a, *second = b;

    return first->used_s < second->used_s ? -1 : first->used_s > second->used_s;
}

/* Files that somebody did not finish are removed. Returns how many others there are. */
static size_t list(DIR *directory, struct kept *kept, uint64_t *ret_bytes) {
    size_t count = 0;
    const struct dirent *entry;

    while (count < FILES_MAX && (entry = readdir(directory))) {
        struct stat status;
        if (fstatat(dirfd(directory), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) < 0 ||
            !S_ISREG(status.st_mode))
            continue;
        if (entry->d_name[0] == '.') {
            if (status.st_mtim.tv_sec < now_s() - HOUR_S)
                (void)unlinkat(dirfd(directory), entry->d_name, 0);
            continue;
        }
        kept[count] = (struct kept){.used_s = status.st_mtim.tv_sec, .bytes = (uint64_t)status.st_size};
        snprintf(kept[count].name, sizeof kept[count].name, "%s", entry->d_name);
        *ret_bytes += kept[count++].bytes;
    }
    return count;
}

static void keep_bounds(int folder) {
    int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *directory = fd < 0 ? NULL : fdopendir(fd);
    struct kept *kept = directory ? pie_malloc(FILES_MAX * sizeof *kept) : NULL;
    uint64_t bytes = 0;

    size_t count = kept ? list(directory, kept, &bytes) : 0;
    if (bytes > ALL_BYTES_MAX || count == FILES_MAX) {
        qsort(kept, count, sizeof *kept, by_use);
        for (size_t i = 0; i < count && (bytes > ALL_BYTES_KEPT || count - i > FILES_MAX / 2); i++)
            if (unlinkat(folder, kept[i].name, 0) == 0)
                bytes -= kept[i].bytes;
    }
    pie_free(kept);
    if (directory)
        closedir(directory);
    else if (fd >= 0)
        close(fd);
}

/* --- Writing --- */

static bool write_all(int fd, const char *bytes, size_t size) {
    for (size_t at = 0; at < size;) {
        ssize_t n = write(fd, bytes + at, size - at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        at += (size_t)n;
    }
    return true;
}

static void write_file(int folder, const char *name, const void *bytes, size_t size) {
    char temporary[TEMPORARY_BYTES];

    snprintf(temporary, sizeof temporary, ".%d-%llx", (int)getpid(), (unsigned long long)pie_monotonic_ns());
    int fd = openat(folder, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return;
    bool is_whole = write_all(fd, bytes, size);
    is_whole = close(fd) == 0 && is_whole;
    if (!is_whole || renameat(folder, temporary, folder, name) < 0)
        (void)unlinkat(folder, temporary, 0);
}

void pie_symbol_cache_write(const char *caches, const char *name, const void *bytes, size_t size) {
    int folder = open_folder(caches, true);

    if (folder < 0)
        return;
    write_file(folder, name, bytes, size);
    keep_bounds(folder);
    close(folder);
}
