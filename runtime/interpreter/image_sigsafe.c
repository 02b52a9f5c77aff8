/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/interpreter/image.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static ssize_t read_head(int fd, unsigned char *head) {
    ssize_t n;
    do {
        n = pread(fd, head, PIE_IMAGE_HEAD_BYTES, 0);
    } while (n < 0 && errno == EINTR);
    return n;
}

int pie_image_read(const char *path, struct pie_image *ret_image) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    struct pie_image image = {0};
    struct stat st;
    int r = 0;
    if (fstat(fd, &st) < 0 || read_head(fd, image.head) < 0)
        r = -errno;
    else if (!S_ISREG(st.st_mode))
        r = -ENOEXEC;
    close(fd);
    if (r < 0)
        return r;
    image.device = st.st_dev;
    image.inode = st.st_ino;
    image.size_bytes = st.st_size;
    *ret_image = image;
    return 0;
}

enum verdict { DIFFERENT, SAME, MAYBE_COPY };

static enum verdict judge(const struct pie_image *image, const struct stat *st) {
    if (!S_ISREG(st->st_mode) || (st->st_mode & (S_ISUID | S_ISGID)))
        return DIFFERENT;
    if (st->st_ino == image->inode && st->st_dev == image->device)
        return SAME;
    return st->st_size == image->size_bytes && image->size_bytes > PIE_IMAGE_HEAD_BYTES ? MAYBE_COPY
                                                                                        : DIFFERENT;
}

static bool has_same_head(const struct pie_image *image, int fd) {
    unsigned char head[PIE_IMAGE_HEAD_BYTES];
    return read_head(fd, head) == PIE_IMAGE_HEAD_BYTES && memcmp(head, image->head, sizeof head) == 0;
}

bool pie_image_is_at(const struct pie_image *image, const char *path) {
    struct stat st;
    if (stat(path, &st) < 0)
        return false;
    enum verdict verdict = judge(image, &st);
    if (verdict != MAYBE_COPY)
        return verdict == SAME;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    bool same = has_same_head(image, fd);
    close(fd);
    return same;
}

bool pie_image_is_open(const struct pie_image *image, int fd) {
    struct stat st;
    if (fstat(fd, &st) < 0)
        return false;
    enum verdict verdict = judge(image, &st);
    return verdict == SAME || (verdict == MAYBE_COPY && has_same_head(image, fd));
}
