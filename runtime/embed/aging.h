/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* A static libpython stays as it was when this program was built, while the interpreter it stands for, and the standard
 * library that both use, get the distribution's updates. The build notes the interpreter's GNU build-id, which each
 * rebuild changes; some 20 us of reading tell whether it is the same today. */

/* Has the program at `path` a GNU build-id other than `build_id` (hexadecimal)? False where that cannot be told.
 * Context: launcher, cli. */
bool pie_aging_is_other(const char *path, const char *build_id);

/* Of this program and the interpreter it was built with. If that is another build now, text is one line that says so,
 * and what can be done. Context: launcher, cli. */
bool pie_aging_describe(char *text, size_t size);
