/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/* An interpreter that may take us in as a guest. It is known by its bytes; nothing is run. */
struct pie_guest_python {
    char path[PATH_MAX]; /* absolute; links are not followed, as a virtual environment is found by them */
    char abi[16];        /* "3.11"; "3.13t" free-threaded, "3.11d" a debug build */
    bool is_shared;      /* its code is in a libpython of its own */
};

/* Reads the interpreter that `name` stands for: a path, or a name to be searched on the PATH. Returns 0, or -EINVAL
 * with one line for people in `why`: it cannot take us in. Context: launcher. */
int pie_guest_python_read(const char *name, struct pie_guest_python *ret_python, char *why, size_t size);

/* The first of the symbols of Python that the library at `core` lacks and a static interpreter does not export, on the
 * heap; NULL: none, or they cannot be read. Context: launcher. */
char *pie_guest_python_lacks(const struct pie_guest_python *python, const char *core);
