/* SPDX-License-Identifier: Apache-2.0 */

/* The order of pyenv: $PYENV_VERSION, else the nearest .python-version upwards, else the file "version" in its root.
 * Each may name several versions, of which the first that has the program counts, and "3.12" is the latest 3.12.N. */

#include "launcher/python/pyenv.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launcher/python/folders.h"

enum { VERSIONS_BYTES = 1024 };

/* ROOT of ROOT/shims/python3. Returns false if path does not look like that, or ROOT has no versions. */
static bool find_root(const char *path, char ret_root[PATH_MAX], const char **ret_name) {
    char versions[PATH_MAX];
    struct stat st;
    const char *slash = strrchr(path, '/');

    if (!slash || slash - path < 6 || strncmp(slash - 6, "/shims", 6) != 0)
        return false;
    snprintf(ret_root, PATH_MAX, "%.*s", (int)(slash - path - 6), path);
    *ret_name = slash + 1;
    return pie_folder_join(versions, ret_root, "versions") && stat(versions, &st) == 0 && S_ISDIR(st.st_mode);
}

/* The words of a file of versions, without comments, separated by ':'. Returns false if it has none. */
static bool read_versions(const char *path, char ret_versions[VERSIONS_BYTES]) {
    char line[256], *rest;
    size_t length = 0;
    FILE *file = fopen(path, "re");

    while (file && fgets(line, sizeof line, file)) {
        line[strcspn(line, "#\n")] = '\0';
        for (char *word = strtok_r(line, " \t\r", &rest); word; word = strtok_r(NULL, " \t\r", &rest)) {
            int n = snprintf(ret_versions + length, VERSIONS_BYTES - length, "%s:", word);
            if (n >= (int)(VERSIONS_BYTES - length))
                break;
            length += (size_t)n;
        }
    }
    if (file)
        fclose(file);
    ret_versions[length] = '\0';
    return length > 0;
}

static bool has_versions(void *versions, const char *folder) {
    char path[PATH_MAX];

    return pie_folder_join(path, folder, ".python-version") && read_versions(path, versions);
}

static void find_versions(const char *root, const char *folder, const char *pyenv_version,
                          char ret_versions[VERSIONS_BYTES]) {
    char path[PATH_MAX];

    if (pyenv_version && *pyenv_version)
        snprintf(ret_versions, VERSIONS_BYTES, "%s", pyenv_version);
    else if (!pie_folder_upwards(folder, has_versions, ret_versions, path) &&
             !(pie_folder_join(path, root, "version") && read_versions(path, ret_versions)))
        ret_versions[0] = '\0';
}

/* 3.12.7 for 3.12: of the folders that go on with a dot and only digits, the latest. */
static bool find_latest(const char *root, const char *prefix, char ret_name[NAME_MAX + 1]) {
    char versions[PATH_MAX];
    size_t length = strlen(prefix);
    DIR *folder = pie_folder_join(versions, root, "versions") ? opendir(versions) : NULL;
    const struct dirent *entry;

    ret_name[0] = '\0';
    while (folder && (entry = readdir(folder))) {
        const char *rest = entry->d_name + length;
        if (strncmp(entry->d_name, prefix, length) == 0 && *rest == '.' &&
            rest[1 + strspn(rest + 1, "0123456789")] == '\0' && strverscmp(entry->d_name, ret_name) > 0)
            snprintf(ret_name, NAME_MAX + 1, "%s", entry->d_name);
    }
    if (folder)
        closedir(folder);
    return ret_name[0];
}

static bool has_program(const char *root, const char *version, const char *name, char ret_path[PATH_MAX]) {
    int n = snprintf(ret_path, PATH_MAX, "%s/versions/%s/bin/%s", root, version, name);
    return n < PATH_MAX && access(ret_path, X_OK) == 0;
}

static bool find_program(const char *root, const char *version, const char *name, char ret_path[PATH_MAX]) {
    char latest[NAME_MAX + 1];

    if (strchr(version, '/') || version[0] == '.')
        return false;
    return has_program(root, version, name, ret_path) ||
           (find_latest(root, version, latest) && has_program(root, latest, name, ret_path));
}

enum pie_pyenv_answer pie_pyenv_resolve(const char *path, const char *folder, const char *pyenv_version,
                                        char ret_path[PATH_MAX], struct pie_pyenv_version *ret_version) {
    char root[PATH_MAX], versions[VERSIONS_BYTES], *rest;
    const char *name;

    if (!find_root(path, root, &name))
        return PIE_PYENV_NO_SHIM;
    find_versions(root, folder, pyenv_version, versions);
    ret_version->text[0] = '\0';
    for (char *version = strtok_r(versions, ":", &rest); version; version = strtok_r(NULL, ":", &rest)) {
        if (strcmp(version, "system") == 0)
            return PIE_PYENV_SYSTEM;
        if (find_program(root, version, name, ret_path))
            return PIE_PYENV_FOUND;
        if (!ret_version->text[0])
            snprintf(ret_version->text, sizeof ret_version->text, "%s", version);
    }
    return ret_version->text[0] ? PIE_PYENV_MISSING : PIE_PYENV_SYSTEM;
}
