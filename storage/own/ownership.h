/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

/* Whose code a file is: the user's own, or a library's. Own is what lies neither in the standard library nor in
 * site-packages or dist-packages, nor has been made by a library at run time ("<frozen …>", "<decorator-gen-3>");
 * --only and --exclude decide before that. Context: drain. */

struct pie_ownership;

struct pie_owner {
    bool is_own;
    bool is_home; /* ELF file: of the interpreter's home (this program, libpython, C library, loader) */
    const char *library; /* distribution's name; "python": the standard library; NULL: own code or unknown */
    const char *version; /* of the distribution, or NULL */
};

/* only, exclude: NULL, or path prefixes separated by ':'. Returns 0 or -ENOMEM. */
int pie_ownership_create(const char *only, const char *exclude, struct pie_ownership **ret_ownership);
void pie_ownership_destroy(struct pie_ownership *ownership);

/* path: a source file as Python names it, or an ELF file. Strings in *ret_owner live as long as `ownership`.
 * Returns 0 or -ENOMEM. */
int pie_ownership_find(struct pie_ownership *ownership, const char *path, struct pie_owner *ret_owner);
