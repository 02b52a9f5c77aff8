/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launcher/install/install.h"

enum { COPY_CHUNK_BYTES = 1 << 30 };

static int copy_link(const char *from, const char *to) {
    char text[PATH_MAX];
    ssize_t n = readlink(from, text, sizeof text - 1);
    if (n < 0)
        return -errno;
    text[n] = '\0';
    return symlink(text, to) < 0 ? -errno : 0;
}

static int copy_bytes(int in, int out, off_t size_bytes) {
    while (size_bytes > 0) {
        ssize_t n = sendfile(out, in, NULL, COPY_CHUNK_BYTES);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? -errno : -EIO;
        size_bytes -= n;
    }
    return fsync(out) < 0 ? -errno : 0;
}

static int copy_program(const char *from, const char *to, const struct stat *st) {
    int r = 0, in = open(from, O_RDONLY | O_CLOEXEC);
    if (in < 0)
        return -errno;
    int out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
    if (out < 0) {
        r = -errno;
    } else {
        r = copy_bytes(in, out, st->st_size);
        if (fchown(out, st->st_uid, st->st_gid) < 0 && errno != EPERM && r == 0)
            r = -errno;
        if (r == 0 && fchmod(out, st->st_mode & 0777) < 0)
            r = -errno;
        close(out);
    }
    close(in);
    return r;
}

int pie_install_copy(const char *from, const char *to) {
    struct stat st;
    if (lstat(from, &st) < 0)
        return -errno;
    int r = S_ISLNK(st.st_mode) ? copy_link(from, to) : copy_program(from, to, &st);
    struct timespec times[2] = {st.st_atim, st.st_mtim};
    if (r == 0 && utimensat(AT_FDCWD, to, times, AT_SYMLINK_NOFOLLOW) < 0)
        r = -errno;
    if (r < 0 && r != -EEXIST)
        unlink(to);
    return r;
}
