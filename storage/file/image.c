/* SPDX-License-Identifier: Apache-2.0 */

/* Whoever opens a file in WAL mode makes its log first and keeps a shared lock on the file. The last one to close it
 * removes the log under an exclusive lock (https://www.sqlite.org/wal.html, section 5). So with a shared lock of our
 * own: a log that is missing before the file is read and after it was missing all the time, and without one nobody
 * writes to the file. */

#include "storage/file/image.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profiler/base/own_memory.h"
#include "storage/file/sqlite_open.h"

/* https://www.sqlite.org/fileformat2.html#the_database_header; the lock is that of os_unix.c. */
enum {
    IMAGE_MAX_BYTES = 4 << 20,
    HEADER_BYTES = 100,
    WRITE_VERSION_OFFSET = 18,
    READ_VERSION_OFFSET = 19,
    VERSION_JOURNAL = 1,
    VERSION_WAL = 2,
    SHARED_OFFSET = 0x40000002,
    SHARED_BYTES = 510,
};

struct image {
    unsigned char *bytes; /* of sqlite3_malloc() */
    int64_t size;
};

static bool is_missing(const char *path, const char *suffix) {
    char name[PATH_MAX];
    struct stat status;

    return snprintf(name, sizeof name, "%s%s", path, suffix) < (int)sizeof name && lstat(name, &status) < 0 &&
           errno == ENOENT;
}

/* Beside another name of the file, a link of either kind, there may be a log of its own. */
static int64_t size_of(int fd) {
    struct stat status;
    bool may_be = fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_nlink == 1 &&
                  status.st_size >= HEADER_BYTES && status.st_size <= IMAGE_MAX_BYTES;

    return may_be ? status.st_size : 0;
}

static bool lock(int fd) {
    struct flock shared = {
        .l_type = F_RDLCK, .l_whence = SEEK_SET, .l_start = SHARED_OFFSET, .l_len = SHARED_BYTES};

    return fcntl(fd, F_SETLK, &shared) == 0;
}

static bool read_bytes(int fd, const struct image *image) {
    for (int64_t at = 0; at < image->size;) {
        ssize_t size = pread(fd, image->bytes + at, (size_t)(image->size - at), at);
        if (size <= 0)
            return false;
        at += size;
    }
    return true;
}

/* Without a log it is the same database in the other mode, the only one that there is in memory. */
static bool leave_wal_mode(const struct image *image) {
    unsigned char *bytes = image->bytes;

    if (bytes[WRITE_VERSION_OFFSET] != VERSION_WAL || bytes[READ_VERSION_OFFSET] != VERSION_WAL)
        return false;
    bytes[WRITE_VERSION_OFFSET] = bytes[READ_VERSION_OFFSET] = VERSION_JOURNAL;
    return true;
}

static bool read_locked(int fd, const char *path, const struct image *image) {
    return lock(fd) && is_missing(path, "-wal") && is_missing(path, "-journal") && read_bytes(fd, image) &&
           is_missing(path, "-wal") && leave_wal_mode(image);
}

static int read_open(int fd, const char *path, struct image *image) {
    image->size = size_of(fd);
    if (image->size == 0)
        return SQLITE_NOTFOUND;
    image->bytes = sqlite3_malloc64((sqlite3_uint64)image->size);
    if (!image->bytes)
        return SQLITE_NOMEM;
    pie_populate(image->bytes, (size_t)image->size);
    if (read_locked(fd, path, image))
        return SQLITE_OK;
    sqlite3_free(image->bytes);
    return SQLITE_NOTFOUND;
}

/* A log is looked for before the file is opened: to close it would take the locks of a connection of this process. */
static int read_image(const char *path, struct image *ret_image) {
    if (!is_missing(path, "-wal"))
        return SQLITE_NOTFOUND;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return SQLITE_NOTFOUND;
    int code = read_open(fd, path, ret_image);
    close(fd); /* and with it the lock */
    return code;
}

/* Takes the bytes. */
static int put(sqlite3 *db, const char *name, const struct image *image) {
    return sqlite3_deserialize(db, name, image->bytes, image->size, image->size,
                               SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_READONLY);
}

int pie_image_open(const char *path, sqlite3 **ret_db) {
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE;
    struct image image;
    sqlite3 *db = NULL;

    pie_sqlite_start();
    int code = read_image(path, &image);
    if (code != SQLITE_OK)
        return code;
    code = pie_sqlite_open(":memory:", &db, flags, NULL);
    if (code == SQLITE_OK)
        code = put(db, "main", &image);
    else
        sqlite3_free(image.bytes);
    if (code == SQLITE_OK)
        *ret_db = db;
    else
        sqlite3_close(db);
    return code;
}

int pie_image_attach(sqlite3 *db, const char *name, const char *path) {
    struct image image;
    int code = read_image(path, &image);

    if (code != SQLITE_OK)
        return code;
    char *sql = sqlite3_mprintf("ATTACH ':memory:' AS %Q", name);
    code = sql ? sqlite3_exec(db, sql, NULL, NULL, NULL) : SQLITE_NOMEM;
    sqlite3_free(sql);
    if (code == SQLITE_OK)
        code = put(db, name, &image);
    else
        sqlite3_free(image.bytes);
    return code;
}
