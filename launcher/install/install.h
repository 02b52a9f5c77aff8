/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/* `pieprof install DIR` and `pieprof uninstall DIR`. What stood in the folder of programs is kept under a second name
 * (runtime/interpreter/replaced.h), the same inode, and comes back as that. What was a link becomes a link to this
 * program; what was a program becomes a copy of it, because Python finds its library and its environments from where
 * the links of its own name end. Links to a neighbour (python3 -> python3.11) stay, they lead to us then. Each name is
 * exchanged by a rename, so at no moment is it missing; what an interrupted call has left is understood by the next
 * one. Context: cli. */

/* What is being made beside a name, before it takes that name. */
#define PIE_INSTALL_NEW_SUFFIX "-pieprof-new"

enum pie_install_state {
    PIE_INSTALL_OTHER,     /* another interpreter than ours, or nothing that runs */
    PIE_INSTALL_FITS,      /* the interpreter that we are built with: to be replaced */
    PIE_INSTALL_NEIGHBOUR, /* a link to another name in the same folder */
    PIE_INSTALL_DONE,      /* this program, and what it replaced is kept */
    PIE_INSTALL_OUTDATED,  /* another pieprof than this one, and what it replaced is kept */
    PIE_INSTALL_NOT_OURS,  /* a pieprof that replaced nothing */
};

enum { PIE_INSTALL_NAMES_MAX = 32, PIE_INSTALL_NAME_SIZE = 32 };

/* The folder of programs that DIR means, and the names of interpreters in it. */
struct pie_install_place {
    char bin[PATH_MAX];
    char names[PIE_INSTALL_NAMES_MAX][PIE_INSTALL_NAME_SIZE];
    size_t count;
};

/* Finds them. has_kept: those under which something is kept or was being made, instead of those that are there. Returns
 * 0, -ENOENT where DIR is no environment, prefix or folder of programs, or -errno. */
int pie_install_find(const char *dir, bool has_kept, struct pie_install_place *ret_place);

/* self: path of this program. */
enum pie_install_state pie_install_judge(const char *path, const char *self);

/* Returns 0 or -errno; path is what it was then. */
int pie_install_name(const char *path, const char *self);
/* Puts back what is kept of path. Returns 0, -EEXIST where another interpreter has come there since (it is left, and
 * so is what is kept), or -errno. */
int pie_uninstall_name(const char *path);

/* Makes `to` what `from` is: a link with the same text or a program with the same bytes, mode and times, and the same
 * owner where that is allowed. `to` must not be there. Returns 0 or -errno, with nothing left of it. */
int pie_install_copy(const char *from, const char *to);
