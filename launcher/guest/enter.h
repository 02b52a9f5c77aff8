/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "launcher/python/python.h"

struct pie_options;

/* The guest form: pieprof becomes the user's own interpreter, which the core is preloaded into. The core takes over
 * before main() (core.c). */
struct pie_guest {
    struct pie_python python;
    char core[PATH_MAX];
};

/* The interpreter, and the core for it. self: path of the program. Returns 0, or -EINVAL with one line for people in
 * `why`. Context: launcher. */
int pie_guest_find(const struct pie_python *python, const char *self, struct pie_guest *ret_guest, char *why,
                   size_t size);

/* Executes the interpreter, with python_argv of the options; its first word is the interpreter. Without is_profiled it
 * is executed as it is. Returns only on failure: -errno, -ENOENT where the allocator is not installed. */
int pie_guest_enter(const struct pie_guest *guest, struct pie_options *options, bool is_profiled);

/* Executes it with a command line, not to be profiled but to count calls; board: the setting that says where
 * (launcher/session/board.h). Returns only on failure: -errno. */
int pie_guest_enter_counted(const struct pie_guest *guest, char **words, char *board);
