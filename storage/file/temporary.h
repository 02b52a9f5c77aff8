/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

/* A new file in the folder of `target`, which may take that one's name by rename(): of a name that nobody can foresee,
 * never one that was there, and nobody else's to read (0600), or of the mode that `target` has. Returns the descriptor,
 * open for reading and writing, and the path (heap), or -errno. Context: cli. */
int pie_temporary_open(const char *target, char **ret_path);
