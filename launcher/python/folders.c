/* SPDX-License-Identifier: Apache-2.0 */
#include "launcher/python/folders.h"

#include <stdio.h>
#include <string.h>

bool pie_folder_join(char ret_path[PATH_MAX], const char *folder, const char *name) {
    int n = snprintf(ret_path, PATH_MAX, "%s/%s", folder, name);

    return n > 0 && n < PATH_MAX;
}

bool pie_folder_upwards(const char *folder, bool (*accept)(void *context, const char *folder), void *context,
                        char ret_folder[PATH_MAX]) {
    if (folder[0] != '/')
        return false;
    snprintf(ret_folder, PATH_MAX, "%s", folder);
    while (!accept(context, ret_folder)) {
        char *slash = strrchr(ret_folder, '/');
        if (!slash || ret_folder[1] == '\0')
            return false;
        slash[slash == ret_folder] = '\0'; /* the root keeps its slash */
    }
    return true;
}
