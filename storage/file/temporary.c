/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/file/temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ATTEMPTS = 16 };

/* Beside the target; not made of its name, which may be as long as a name can be. */
static int choose_name(const char *target, char **ret_path) {
    uint64_t number;
    const char *slash = strrchr(target, '/');
    if (getrandom(&number, sizeof number, 0) != sizeof number)
        return -EIO;
    int size = asprintf(ret_path, "%.*s.pieprof-%016llx.tmp", slash ? (int)(slash + 1 - target) : 0, target,
                        (unsigned long long)number);
    return size < 0 ? -ENOMEM : 0;
}

static int open_new(const char *path) {
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    return fd < 0 ? -errno : fd;
}

int pie_temporary_open(const char *target, char **ret_path) {
    struct stat status;
    int fd = -EEXIST;
    for (int i = 0; i < ATTEMPTS && fd == -EEXIST; i++) {
        char *path = NULL;
        int r = choose_name(target, &path);
        fd = r < 0 ? r : open_new(path);
        if (fd >= 0)
            *ret_path = path;
        else
            free(path);
    }
    if (fd >= 0 && stat(target, &status) == 0)
        (void)fchmod(fd, status.st_mode & 0777); /* else it stays as narrow as it is */
    return fd;
}
