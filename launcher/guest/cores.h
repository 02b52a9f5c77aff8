/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <limits.h>
#include <stdbool.h>

/* The cores: libpieprof-3.11.so and its like, one for each ABI of Python. They are looked for in the folders of
 * PIEPROF_CORES, beside the program, and where it installs them. */

/* The core for an ABI ("3.11"). self: path of the program. Context: launcher. */
bool pie_cores_find(const char *self, const char *abi, char ret_path[PATH_MAX]);

/* The ABIs that there are cores for, "3.11, 3.12", on the heap; "none" where there is none; NULL without memory. */
char *pie_cores_list(const char *self);
