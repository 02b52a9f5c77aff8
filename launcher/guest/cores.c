/* SPDX-License-Identifier: Apache-2.0 */
#include "launcher/guest/cores.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PREFIX "libpieprof-"
#define SUFFIX ".so"

enum { FOLDERS_MAX = 16 };

struct folders {
    char *paths[FOLDERS_MAX];
    size_t count;
};

/* NULL, without memory, counts for no folder. */
static void add(struct folders *folders, char *path) {
    if (path && folders->count < FOLDERS_MAX)
        folders->paths[folders->count++] = path;
    else
        free(path);
}

static void folders_init(struct folders *folders, const char *self) {
    const char *named = getenv("PIEPROF_CORES"), *slash = strrchr(self, '/');
    int beside = slash ? (int)(slash - self) : 0;
    char *path;
    *folders = (struct folders){0};
    for (const char *at = named; at && *at;) {
        size_t n = strcspn(at, ":");
        if (n > 0)
            add(folders, strndup(at, n));
        at += n + (at[n] == ':');
    }
    if (asprintf(&path, "%.*s", beside, self) >= 0)
        add(folders, path);
    if (asprintf(&path, "%.*s/%s", beside, self, PIE_CORES_FOLDER) >= 0)
        add(folders, path);
}

static void folders_finish(struct folders *folders) {
    for (size_t i = 0; i < folders->count; i++)
        free(folders->paths[i]);
}

bool pie_cores_find(const char *self, const char *abi, char ret_path[PATH_MAX]) {
    char path[PATH_MAX];
    struct folders folders;
    bool is_found = false;
    folders_init(&folders, self);
    for (size_t i = 0; i < folders.count && !is_found; i++) {
        int n = snprintf(path, sizeof path, "%s/" PREFIX "%s" SUFFIX, folders.paths[i], abi);
        is_found = n < PATH_MAX && access(path, R_OK) == 0 && realpath(path, ret_path);
    }
    folders_finish(&folders);
    return is_found;
}

/* glob(3) sorts. */
static void glob_all(const struct folders *folders, glob_t *found) {
    char pattern[PATH_MAX];
    int flags = 0;
    for (size_t i = 0; i < folders->count; i++) {
        if (snprintf(pattern, sizeof pattern, "%s/" PREFIX "3.*" SUFFIX, folders->paths[i]) < PATH_MAX &&
            glob(pattern, flags, NULL, found) == 0)
            flags = GLOB_APPEND;
    }
}

static char *append(char *list, const char *path) {
    const char *abi = strrchr(path, '/') + strlen("/" PREFIX);
    char *longer = NULL;
    int n = (int)(strlen(abi) - strlen(SUFFIX));
    if (asprintf(&longer, "%s%s%.*s", list ? list : "", list ? ", " : "", n, abi) < 0)
        longer = NULL;
    free(list);
    return longer;
}

char *pie_cores_list(const char *self) {
    struct folders folders;
    glob_t found = {0};
    char *list = NULL;
    folders_init(&folders, self);
    glob_all(&folders, &found);
    for (size_t i = 0; i < found.gl_pathc; i++)
        list = append(list, found.gl_pathv[i]);
    globfree(&found);
    folders_finish(&folders);
    return list ? list : strdup("none");
}
