/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/file/file_kind.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "storage/file/schema.h"

/* SQLite puts the log into the file every 4 MB; one that a reader holds up grows on. */
static const off_t LOG_MAX_BYTES = (off_t)1 << 30;

/* SQLite itself follows no link there. */
static int check_beside(const char *path, const char *suffix) {
    char name[PATH_MAX];
    struct stat status;

    if (snprintf(name, sizeof name, "%s%s", path, suffix) >= (int)sizeof name)
        return -ENAMETOOLONG;
    if (lstat(name, &status) < 0)
        return errno == ENOENT ? 0 : -errno;
    if (!S_ISREG(status.st_mode))
        return -EINVAL;
    return status.st_size > LOG_MAX_BYTES ? -EFBIG : 0;
}

int pie_file_kind_check(const char *path) {
    static const char *const suffixes[] = {"-journal", "-wal", "-shm"};
    struct stat status;
    char *real = NULL;
    int r = 0;

    if (stat(path, &status) == 0) {
        if (!S_ISREG(status.st_mode))
            return S_ISDIR(status.st_mode) ? -EISDIR : -EINVAL;
        real = realpath(path, NULL); /* beside the file itself, not beside a link to it */
        if (!real)
            return -errno;
    } else if (errno != ENOENT) {
        return -errno;
    }
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes && r == 0; i++)
        r = check_beside(real ? real : path, suffixes[i]);
    free(real);
    return r;
}

/* https://www.sqlite.org/fileformat2.html#the_database_header */
bool pie_file_kind_is_profile(const char *path) {
    enum { APPLICATION_ID_OFFSET = 68, HEADER_BYTES = 72 };
    unsigned char header[HEADER_BYTES];
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    ssize_t size = fd < 0 ? -1 : pread(fd, header, sizeof header, 0);
    if (fd >= 0)
        close(fd);
    const unsigned char *id = header + APPLICATION_ID_OFFSET;
    return size == HEADER_BYTES && memcmp(header, "SQLite format 3", 16) == 0 &&
           ((uint32_t)id[0] << 24 | (uint32_t)id[1] << 16 | (uint32_t)id[2] << 8 | id[3]) ==
               PIE_SCHEMA_APPLICATION_ID;
}
