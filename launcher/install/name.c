/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launcher/install/install.h"
#include "runtime/interpreter/image.h"
#include "runtime/interpreter/replaced.h"
#include "runtime/interpreter/target.h"

static bool new_name(const char *path, char ret_name[PATH_MAX]) {
    int n = snprintf(ret_name, PATH_MAX, "%s" PIE_INSTALL_NEW_SUFFIX, path);
    return n > 0 && n < PATH_MAX;
}

static bool is_same_inode(const struct stat *a, const struct stat *b) {
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* python3 -> python3.11: a link to another interpreter of this folder. */
static bool is_link_to_neighbour(const char *path) {
    char text[PATH_MAX];
    ssize_t n = readlink(path, text, sizeof text - 1);
    if (n < 0)
        return false;
    text[n] = '\0';
    return !strchr(text, '/') && pie_target_is_python_name(text);
}

static bool is_this(const char *path, const char *self) {
    struct pie_image image;
    return pie_image_read(self, &image) == 0 && pie_image_is_at(&image, path);
}

/* A link to a pieprof that has gone away. */
static bool was_link_to_pieprof(const char *path) {
    char text[PATH_MAX];
    ssize_t n = readlink(path, text, sizeof text - 1);
    if (n < 0 || access(path, F_OK) == 0)
        return false;
    text[n] = '\0';
    const char *slash = strrchr(text, '/');
    return strncmp(slash ? slash + 1 : text, "pieprof", 7) == 0;
}

enum pie_install_state pie_install_judge(const char *path, const char *self) {
    char kept[PATH_MAX];
    struct stat st, kept_st;
    if (!pie_replaced_name(path, kept) || lstat(path, &st) < 0)
        return PIE_INSTALL_OTHER;
    bool has_kept = lstat(kept, &kept_st) == 0 && !is_same_inode(&st, &kept_st);
    if (!has_kept && is_link_to_neighbour(path))
        return PIE_INSTALL_NEIGHBOUR;
    if (was_link_to_pieprof(path))
        return has_kept ? PIE_INSTALL_OUTDATED : PIE_INSTALL_NOT_OURS;
    if (pie_replaced_is_pieprof(path)) {
        if (!has_kept)
            return PIE_INSTALL_NOT_OURS;
        return is_this(path, self) ? PIE_INSTALL_DONE : PIE_INSTALL_OUTDATED;
    }
    /* What may be kept beside it is of an interpreter that was there before this one. */
    return pie_target_is_built_for(path) ? PIE_INSTALL_FITS : PIE_INSTALL_OTHER;
}

/* A second name for what is at path. Not all file systems have links to links, and not everybody may link to
 * everything. */
static int keep(const char *path, const char *kept, const char *fresh) {
    if (linkat(AT_FDCWD, path, AT_FDCWD, fresh, 0) < 0) {
        int r = pie_install_copy(path, fresh);
        if (r < 0)
            return r;
    }
    int r = rename(fresh, kept) < 0 ? -errno : 0;
    unlink(fresh); /* it is still there where both were names of one inode */
    return r;
}

/* What was a link becomes a link, what was a program becomes a program. */
static int make(const char *self, bool is_link, const char *fresh) {
    if (is_link)
        return symlink(self, fresh) < 0 ? -errno : 0;
    int r = pie_install_copy(self, fresh);
    if (r == 0 && chmod(fresh, 0755) < 0)
        r = -errno;
    return r;
}

int pie_install_name(const char *path, const char *self) {
    char kept[PATH_MAX], fresh[PATH_MAX];
    struct stat st;
    if (!pie_replaced_name(path, kept) || !new_name(path, fresh))
        return -ENAMETOOLONG;
    unlink(fresh); /* what an interrupted call has left */
    int r = 0;
    if (pie_install_judge(path, self) == PIE_INSTALL_FITS)
        r = keep(path, kept, fresh);
    if (r == 0 && lstat(kept, &st) < 0)
        r = -errno;
    if (r == 0)
        r = make(self, S_ISLNK(st.st_mode), fresh);
    if (r == 0 && rename(fresh, path) < 0)
        r = -errno;
    if (r < 0)
        unlink(fresh);
    return r;
}

int pie_uninstall_name(const char *path) {
    char kept[PATH_MAX], fresh[PATH_MAX];
    struct stat st, kept_st;
    if (!pie_replaced_name(path, kept) || !new_name(path, fresh))
        return -ENAMETOOLONG;
    unlink(fresh);
    if (lstat(kept, &kept_st) < 0)
        return errno == ENOENT ? 0 : -errno;
    bool is_there = lstat(path, &st) == 0;
    if (is_there && !is_same_inode(&st, &kept_st) && !pie_replaced_is_pieprof(path) &&
        !was_link_to_pieprof(path))
        return -EEXIST;
    if (rename(kept, path) < 0)
        return -errno;
    unlink(kept); /* it is still there where both were names of one inode */
    return 0;
}
