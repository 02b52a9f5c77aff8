/* SPDX-License-Identifier: Apache-2.0 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launcher/install/install.h"
#include "runtime/interpreter/replaced.h"
#include "runtime/interpreter/target.h"

static int compare_names(const void *a, const void *b) {
    return strcmp(a, b);
}

/* The interpreter's name that an entry with this suffix stands for, or false. */
static bool cut_name(const char *entry, const char *suffix, char ret_name[PIE_INSTALL_NAME_SIZE]) {
    size_t length = strlen(entry), rest = strlen(suffix);
    if (length <= rest || length - rest >= PIE_INSTALL_NAME_SIZE ||
        strcmp(entry + length - rest, suffix) != 0)
        return false;
    snprintf(ret_name, PIE_INSTALL_NAME_SIZE, "%.*s", (int)(length - rest), entry);
    return pie_target_is_python_name(ret_name);
}

static bool take_name(const char *entry, bool has_kept, char ret_name[PIE_INSTALL_NAME_SIZE]) {
    if (!has_kept)
        return cut_name(entry, "", ret_name);
    return cut_name(entry, PIE_REPLACED_SUFFIX, ret_name) ||
           cut_name(entry, PIE_INSTALL_NEW_SUFFIX, ret_name);
}

static void drop_doubles(struct pie_install_place *place) {
    size_t n = 0;
    for (size_t i = 0; i < place->count; i++) {
        if (n == 0 || strcmp(place->names[n - 1], place->names[i]) != 0)
            memmove(place->names[n++], place->names[i], sizeof *place->names);
    }
    place->count = n;
}

static int read_names(bool has_kept, struct pie_install_place *place) {
    DIR *folder = opendir(place->bin);
    if (!folder)
        return -errno;
    for (struct dirent *entry; place->count < PIE_INSTALL_NAMES_MAX && (entry = readdir(folder));)
        place->count += take_name(entry->d_name, has_kept, place->names[place->count]);
    closedir(folder);
    qsort(place->names, place->count, sizeof *place->names, compare_names);
    drop_doubles(place);
    return 0;
}

static bool has_file(const char *dir, const char *name) {
    char path[PATH_MAX];
    return snprintf(path, sizeof path, "%s/%s", dir, name) < (int)sizeof path && access(path, F_OK) == 0;
}

/* An environment or a prefix has them in bin; else DIR is that folder itself. */
int pie_install_find(const char *dir, bool has_kept, struct pie_install_place *ret_place) {
    struct pie_install_place place = {0};
    char real[PATH_MAX];
    if (!realpath(dir, real))
        return -errno;
    const char *root = strcmp(real, "/") == 0 ? "" : real;
    if (snprintf(place.bin, sizeof place.bin, "%s/bin", root) >= (int)sizeof place.bin)
        return -ENAMETOOLONG;
    bool is_venv = has_file(real, "pyvenv.cfg");
    int r = read_names(has_kept, &place);
    if (place.count == 0 && !is_venv) {
        snprintf(place.bin, sizeof place.bin, "%s", real);
        r = read_names(has_kept, &place);
    }
    if (r == 0 && place.count == 0)
        r = -ENOENT;
    if (r == 0)
        *ret_place = place;
    return r;
}
