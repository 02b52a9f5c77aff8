/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <limits.h>
#include <stdbool.h>

/* An interpreter of CPython, as the bytes of its program describe it. Nothing is run: a started program has effects,
 * and `python3` may be anything. Context of all: cli, launcher. */

enum pie_python_linkage {
    PIE_PYTHON_STATIC, /* the program contains CPython and exports its symbols */
    PIE_PYTHON_SHARED, /* the program needs libpython3.N.so */
};

enum pie_python_libc {
    PIE_PYTHON_GLIBC,
    PIE_PYTHON_MUSL,
    PIE_PYTHON_OTHER_LIBC,
};

struct pie_python {
    char path[PATH_MAX]; /* absolute, as it was asked for: in an environment, its link */
    char real[PATH_MAX]; /* its program, all links followed */
    int major, minor;
    bool is_free_threaded; /* ABI flag t: without the GIL */
    bool is_debug;         /* ABI flag d: structures have other layouts */
    enum pie_python_linkage linkage;
    enum pie_python_libc libc;
};

enum { PIE_PYTHON_WHY_BYTES = 2 * PATH_MAX + 256 };

/* Reads the program at path. Returns 0, or a negative errno with the reason as one line for people in ret_why:
 * -ENOENT: there is none; -ENOEXEC: a file of another kind; -ENOTSUP: a program that nothing can be loaded into, or a
 * CPython without exported symbols or older than 3.11; others as open() and realpath(). */
int pie_python_read(const char *path, struct pie_python *ret_python, char ret_why[PIE_PYTHON_WHY_BYTES]);

/* The name of its ABI as the files of cores have it: "3.11", "3.13t", "3.12d". */
enum { PIE_PYTHON_ABI_BYTES = 32 };
void pie_python_abi(const struct pie_python *python, char ret_abi[PIE_PYTHON_ABI_BYTES]);
