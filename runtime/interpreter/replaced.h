/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <limits.h>
#include <stdbool.h>

/* Interpreters that `pieprof install` has replaced (launcher/install/install.h). The one that was bin/python3.11 lies
 * beside it as bin/python3.11-before-pieprof: the same inode, a link or a program. A name like that is no Python name,
 * so it is never taken for one. */
#define PIE_REPLACED_SUFFIX "-before-pieprof"

/* The target of a path's links before anything was replaced. */
struct pie_replaced {
    char real[PATH_MAX];    /* the result of realpath() */
    char content[PATH_MAX]; /* where that program is now: real, or its kept copy */
    bool is_replaced;       /* one of the links, or the program, has been replaced */
};

/* The name, beside path, of the kept original. Returns false if it is too long. Context: any. */
bool pie_replaced_name(const char *path, char ret_name[PATH_MAX]);

/* Follows path's links as they were. Returns 0, or -errno as realpath(). Context: launcher, cli. */
int pie_replaced_follow(const char *path, struct pie_replaced *ret_replaced);

/* Is the program at path (links are followed) a pieprof, of whatever version? False where it cannot be read.
 * Context: cli. */
bool pie_replaced_is_pieprof(const char *path);
