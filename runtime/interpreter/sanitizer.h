/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

/* Has a value of LD_PRELOAD the library of AddressSanitizer, GCC's or clang's? It ends a process in which it is not the
 * first of all libraries. Context: launcher, hook, vfork child. */
bool pie_sanitizer_is_preloaded(const char *libraries);
