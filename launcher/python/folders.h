/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <limits.h>
#include <stdbool.h>

/* FOLDER/NAME. Returns false if it is too long. Context: cli, launcher. */
bool pie_folder_join(char ret_path[PATH_MAX], const char *folder, const char *name);

/* The nearest folder for which accept() is true: folder, which is absolute, or one that contains it.
 * Context: cli, launcher. */
bool pie_folder_upwards(const char *folder, bool (*accept)(void *context, const char *folder), void *context,
                        char ret_folder[PATH_MAX]);
