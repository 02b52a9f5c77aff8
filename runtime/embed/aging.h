/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* A static libpython never changes after this program was built. The interpreter it stands for, and the standard
 * library that both use, get the distribution's updates. The build notes the interpreter's GNU build-id, which each
 * rebuild changes. Reading it again, to compare, takes some 20 us. */

/* Has the program at `path` a GNU build-id other than `build_id` (hexadecimal)? False where that is unknown. Context:
 * launcher, cli. */
bool pie_aging_is_other(const char *path, const char *build_id);

/* Of this program and the interpreter it was built with. If that is another build now, text is one line with this fact
 * and the remedy. Context: launcher, cli. */
bool pie_aging_describe(char *text, size_t size);
