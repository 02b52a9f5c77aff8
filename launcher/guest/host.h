/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

struct pie_python;

/* Whether an interpreter can take the core in. Context of all: launcher. */

/* Returns 0, or -EINVAL with one line for people in `why`: the loader takes no library from the environment for it,
 * its C library is another one, or it has no GIL. */
int pie_guest_host_check(const struct pie_python *python, char *why, size_t size);

/* May the library at `core` be loaded here? Otherwise the loader would go on without it. Returns 0, or -EINVAL with one
 * line for people in `why`. */
int pie_guest_host_maps(const char *core, char *why, size_t size);

/* The first of the symbols of Python that the library at `core` lacks and a static interpreter does not export, on the
 * heap; NULL: none, or they cannot be read. */
char *pie_guest_host_lacks(const struct pie_python *python, const char *core);
