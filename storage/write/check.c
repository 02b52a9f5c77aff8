/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "storage/base/message.h"
#include "storage/file/schema.h"
#include "storage/write/writer.h"

/* Looks at the file's header instead of opening it as a database, so that nothing is created, recovered or locked
 * (https://www.sqlite.org/fileformat2.html#the_database_header). */
enum {
    HEADER_SIZE = 100,
    SCHEMA_COOKIE_OFFSET = 40,
    USER_VERSION_OFFSET = 60,
    APPLICATION_ID_OFFSET = 68,
};

static uint32_t big_endian(const unsigned char *at) {
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static int check_header(const char *path, const unsigned char *header, size_t size, char **ret_message) {
    if (size == 0)
        return 0;
    if (size < HEADER_SIZE || memcmp(header, "SQLite format 3", 16) != 0)
        return pie_message(-EBADMSG, ret_message,
                           "%s is not a profile (no database); choose another file with -o", path);
    uint32_t application_id = big_endian(header + APPLICATION_ID_OFFSET);
    uint32_t version = big_endian(header + USER_VERSION_OFFSET);
    if (application_id == 0 && version == 0 && big_endian(header + SCHEMA_COOKIE_OFFSET) == 0)
        return 0;
    if (application_id != PIE_SCHEMA_APPLICATION_ID)
        return pie_message(-EEXIST, ret_message,
                           "%s is another program's database; choose another file with -o", path);
    char theirs[PIE_SCHEMA_VERSION_BYTES], ours[PIE_SCHEMA_VERSION_BYTES];
    pie_schema_print_version(version, theirs);
    pie_schema_print_version(PIE_SCHEMA_VERSION, ours);
    if (version > PIE_SCHEMA_VERSION)
        return pie_message(
            -EPROTO, ret_message,
            "%s was written by a newer pieprof (file version %s, this one writes %s); choose another file "
            "with -o or install the newer pieprof",
            path, theirs, ours);
    if (version < PIE_SCHEMA_VERSION)
        return pie_message(
            -EPROTO, ret_message,
            "%s was made by an older pieprof (file version %s, this one writes %s) and is left as it is; "
            "choose another file with -o, or move this one away",
            path, theirs, ours);
    return 0;
}

/* A journal beside the file belongs to a writer that was killed while it made the schema; the header is not final
 * and the next writer recovers it. */
static int has_journal(const char *path) {
    char journal[PATH_MAX];
    return snprintf(journal, sizeof journal, "%s-journal", path) < (int)sizeof journal &&
           access(journal, F_OK) == 0;
}

static int check_file(const char *path, char **ret_message) {
    unsigned char header[HEADER_SIZE];
    struct stat status;
    int fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0 && errno == EISDIR)
        return pie_message(-EISDIR, ret_message,
                           "cannot write the profile to %s: it is a directory; name a file with -o", path);
    if (fd < 0)
        return pie_message(-errno, ret_message,
                           "cannot write the profile to %s: %s; choose another file with -o", path,
                           strerror(errno));
    ssize_t size = -1;
    int is_file = fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
    if (is_file)
        size = pread(fd, header, sizeof header, 0);
    int error = errno;
    close(fd);
    if (!is_file)
        return pie_message(-EINVAL, ret_message,
                           "cannot write the profile to %s: it is not a regular file; name another "
                           "with -o",
                           path);
    if (size < 0)
        return pie_message(-error, ret_message, "cannot read %s: %s; choose another file with -o", path,
                           strerror(error));
    return has_journal(path) ? 0 : check_header(path, header, (size_t)size, ret_message);
}

/* The database needs room for two more files beside it while it is written. */
static int check_folder(const char *path, char **ret_message) {
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/');
    int size = slash == path ? 1 : slash ? (int)(slash - path) : 1;
    if (snprintf(folder, sizeof folder, "%.*s", size, slash ? path : ".") >= (int)sizeof folder)
        return pie_message(-ENAMETOOLONG, ret_message, "cannot write the profile to %s: the name is too long",
                           path);
    if (access(folder, W_OK | X_OK) == 0)
        return 0;
    if (errno == ENOENT || errno == ENOTDIR)
        return pie_message(-errno, ret_message,
                           "cannot write the profile to %s: there is no folder %s; create it or choose "
                           "another file with -o",
                           path, folder);
    return pie_message(-errno, ret_message,
                       "cannot write the profile to %s: cannot write to the folder %s: %s; choose "
                       "another file with -o",
                       path, folder, strerror(errno));
}

int pie_writer_check(const char *path, char **ret_message) {
    struct stat status;
    *ret_message = NULL;
    if (!*path)
        return pie_message(-EINVAL, ret_message, "the name of the profile's file is empty; name one with -o");
    if (stat(path, &status) == 0) {
        int r = check_file(path, ret_message);
        return r < 0 ? r : check_folder(path, ret_message);
    }
    if (errno != ENOENT)
        return pie_message(-errno, ret_message,
                           "cannot write the profile to %s: %s; choose another file with -o", path,
                           strerror(errno));
    return check_folder(path, ret_message);
}

bool pie_writer_is_refusal(int error) {
    switch (error) {
    case -EBADMSG:
    case -EEXIST:
    case -EPROTO:
    case -EINVAL:
    case -EISDIR:
    case -ELOOP:
    case -EFBIG:
    case -E2BIG:
    case -ETIMEDOUT:
        return true;
    default:
        return false;
    }
}
