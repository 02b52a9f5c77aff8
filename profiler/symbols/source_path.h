/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

/* Writes the plain form of a source path as compilers note it: relative paths after an absolute `directory` (else
 * alone; NULL: none), without "." and "dir/..". By the text alone: the sources need not be on this machine. Returns
 * 0, or -ENAMETOOLONG if it does not fit (ret_path is then unusable). Context: any. */
int pie_source_path(const char *directory, const char *file, char *ret_path, size_t size);
