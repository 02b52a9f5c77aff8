/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/file/strays.h"

#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { STRAYS = 3, MODE = 0600 };

static const char *const suffixes[STRAYS] = {"-journal", "-wal", "-shm"};

struct stray {
    char name[PATH_MAX];
    dev_t device;
    ino_t inode;
};

static bool find(struct stray *stray, const char *path, const char *suffix) {
    struct stat status;

    if (snprintf(stray->name, sizeof stray->name, "%s%s", path, suffix) >= (int)sizeof stray->name ||
        lstat(stray->name, &status) < 0)
        return false;
    stray->device = status.st_dev;
    stray->inode = status.st_ino;
    return true;
}

/* Another process may have made the file and removed these meanwhile. */
static bool is_there(const struct stray *stray) {
    struct stat status;

    return lstat(stray->name, &status) == 0 && status.st_dev == stray->device &&
           status.st_ino == stray->inode;
}

void pie_strays_remove(const char *path) {
    struct stray strays[STRAYS];
    size_t count = 0;

    if (access(path, F_OK) == 0)
        return;
    for (size_t i = 0; i < STRAYS; i++)
        count += find(&strays[count], path, suffixes[i]);
    int fd = count > 0 ? open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, MODE) : -1;
    if (fd < 0)
        return;
    for (size_t i = 0; i < count; i++) {
        if (is_there(&strays[i]))
            unlink(strays[i].name);
    }
    close(fd);
}
