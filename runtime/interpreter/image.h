/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

/* The identity of a program file: its inode, and for copies of it (venv --copies) its size and first bytes, in which
 * ELF keeps the build-id. */
enum { PIE_IMAGE_HEAD_BYTES = 1024 };

struct pie_image {
    dev_t device;
    ino_t inode;
    off_t size_bytes;
    unsigned char head[PIE_IMAGE_HEAD_BYTES];
};

/* Takes note of the file at path (links are followed). Returns 0 or -errno. Context: launcher. */
int pie_image_read(const char *path, struct pie_image *ret_image);

/* Is the file at path, or open as fd, this image or a copy of it? False where it cannot be read and for
 * set-id programs: nothing may stand in for those. No allocation, no locks. Context: hook, vfork child. */
bool pie_image_is_at(const struct pie_image *image, const char *path);
bool pie_image_is_open(const struct pie_image *image, int fd);
