/* SPDX-License-Identifier: Apache-2.0 */

#include "profiler/symbols/source_path.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

struct path {
    char *text;
    size_t length, size;
    size_t fixed; /* what ".." cannot take away: "/" or leading "../" */
};

static int append(struct path *path, const char *part, size_t length) {
    bool needs_slash = path->length > 0 && path->text[path->length - 1] != '/';
    if (path->length + needs_slash + length >= path->size)
        return -ENAMETOOLONG;
    if (needs_slash)
        path->text[path->length++] = '/';
    memcpy(path->text + path->length, part, length);
    path->length += length;
    path->text[path->length] = '\0';
    return 0;
}

/* Takes the last component away, if there is one to take. */
static bool go_up(struct path *path) {
    if (path->length <= path->fixed)
        return path->fixed > 0 && path->text[0] == '/'; /* above the root is the root */
    while (path->length > path->fixed && path->text[path->length - 1] != '/')
        path->length--;
    if (path->length > path->fixed)
        path->length--;
    path->text[path->length] = '\0';
    return true;
}

static int append_all(struct path *path, const char *text) {
    int r = 0;
    while (*text && r == 0) {
        text += strspn(text, "/");
        size_t length = strcspn(text, "/");
        bool is_up = length == 2 && text[0] == '.' && text[1] == '.';
        bool is_here = length == 0 || (length == 1 && text[0] == '.');
        if (is_up && !go_up(path)) {
            r = append(path, text, length);
            path->fixed = path->length;
        } else if (!is_up && !is_here) {
            r = append(path, text, length);
        }
        text += length;
    }
    return r;
}

int pie_source_path(const char *directory, const char *file, char *ret_path, size_t size) {
    struct path path = {.text = ret_path, .size = size};
    bool use_directory = *file != '/' && directory && *directory == '/';
    if (size < 2)
        return -ENAMETOOLONG;
    ret_path[0] = '\0';
    if (*file == '/' || use_directory) {
        strcpy(ret_path, "/");
        path.length = path.fixed = 1;
    }
    int r = use_directory ? append_all(&path, directory) : 0;
    return r < 0 ? r : append_all(&path, file);
}
