/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

struct pie_python;

/* AddressSanitizer's library ends a process in which it is not the first one that is preloaded, and so must the core
 * be. Returns 0, or -EINVAL with one line for people in `why`: the interpreter is built with it, or LD_PRELOAD has its
 * library. Context: launcher. */
int pie_guest_sanitizer_check(const struct pie_python *python, char *why, size_t size);
