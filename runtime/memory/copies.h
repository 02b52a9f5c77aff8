/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

/* The functions below the exported memcpy() and its like: plain loops at first, the C library's own from the program's
 * constructors on. */
struct pie_copies_next {
    void *(*memcpy)(void *, const void *, size_t);
    void *(*memmove)(void *, const void *, size_t);
    void *(*mempcpy)(void *, const void *, size_t);
    void *(*memcpy_chk)(void *, const void *, size_t, size_t);
    void *(*memmove_chk)(void *, const void *, size_t, size_t);
    void *(*mempcpy_chk)(void *, const void *, size_t, size_t);
};

extern struct pie_copies_next pie_copies_next __attribute__((visibility("hidden")));
