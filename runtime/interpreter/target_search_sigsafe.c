/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/interpreter/target.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool pie_target_is_python_name(const char *argv0) {
    const char *slash = strrchr(argv0, '/');
    const char *name = slash ? slash + 1 : argv0;
    if (strncmp(name, "python", 6) != 0)
        return false;
    name += 6;
    if (*name == '\0')
        return true;
    if (*name++ != '3')
        return false;
    if (*name == '\0')
        return true;
    return *name == '.' && name[1] != '\0' && strspn(name + 1, "0123456789") == strlen(name + 1);
}

static bool is_program(const char *path) {
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

bool pie_target_search_for(const char *name, const char *search_path, char ret_path[PATH_MAX],
                           bool (*accept)(const void *context, const char *path), const void *context) {
    size_t name_length = strlen(name);
    for (const char *p = search_path, *end;; p = end + 1) {
        end = strchrnul(p, ':');
        size_t length = (size_t)(end - p);
        if (length + 1 + name_length + 1 <= PATH_MAX) {
            memcpy(ret_path, p, length);
            if (length > 0) /* an empty folder is the current one */
                ret_path[length++] = '/';
            memcpy(ret_path + length, name, name_length + 1);
            if (accept(context, ret_path))
                return true;
        }
        if (*end == '\0')
            return false;
    }
}

static bool accept_program(const void *context, const char *path) {
    return is_program(path);
}

int pie_target_search(const char *name, const char *search_path, char ret_path[PATH_MAX]) {
    return pie_target_search_for(name, search_path, ret_path, accept_program, NULL) ? 0 : -ENOENT;
}
