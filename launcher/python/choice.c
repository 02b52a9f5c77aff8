/* SPDX-License-Identifier: Apache-2.0 */
#include "launcher/python/choice.h"

#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launcher/python/pyenv.h"
#include "launcher/python/folders.h"
#include "runtime/interpreter/replaced.h"
#include "runtime/interpreter/target.h"

struct choosing {
    const struct pie_python_wish *wish;
    struct pie_python_choice *choice;
    char *why;
    int result; /* of the search on the PATH */
};

struct pie_python_wish pie_python_wish(const char *option, const char *folder, const char *self) {
    return (struct pie_python_wish){
        .option = option,
        .virtual_env = getenv("VIRTUAL_ENV"),
        .conda_prefix = getenv("CONDA_PREFIX"),
        .search_path = getenv("PATH"),
        .pyenv_version = getenv("PYENV_VERSION"),
        .folder = folder,
        .self = self,
    };
}

static bool is_there(const char *path) {
    struct stat st;
    return lstat(path, &st) == 0; /* a link to nothing is there, and will be refused */
}

bool pie_python_is_pieprof(const char *path, const char *self) {
    struct stat own, other;

    return (self && stat(self, &own) == 0 && stat(path, &other) == 0 && own.st_dev == other.st_dev &&
            own.st_ino == other.st_ino) ||
           pie_replaced_is_pieprof(path);
}

/* Only the first is kept: it is the one that was expected to run. */
static void pass_over(struct choosing *choosing, const char *path, const char *reason) {
    if (!choosing->choice->passed[0])
        snprintf(choosing->choice->passed, sizeof choosing->choice->passed, "%s %s", path, reason);
}

/* The named program, or what pyenv would start in its place. Returns 0, -EAGAIN where pyenv means another one on the
 * PATH, or as pie_python_choose(). */
static int take(struct choosing *choosing, const char *path, enum pie_python_source source) {
    char program[PATH_MAX], reason[128];
    struct pie_pyenv_version version;
    const struct pie_python_wish *wish = choosing->wish;

    choosing->choice->source = source;
    switch (pie_pyenv_resolve(path, wish->folder, wish->pyenv_version, program, &version)) {
    case PIE_PYENV_SYSTEM:
        return -EAGAIN;
    case PIE_PYENV_MISSING:
        snprintf(reason, sizeof reason, "is pyenv's, whose version %s is not installed", version.text);
        pass_over(choosing, path, reason);
        return -EAGAIN;
    case PIE_PYENV_FOUND:
        return pie_python_read(program, &choosing->choice->python, choosing->why);
    case PIE_PYENV_NO_SHIM:
        break;
    }
    if (pie_python_is_pieprof(path, choosing->wish->self)) {
        snprintf(
            choosing->why, PIE_PYTHON_WHY_BYTES,
            "%s is pieprof in place of python; start that one with PIEPROF=1, or name another with --python",
            path);
        return -EEXIST;
    }
    return pie_python_read(path, &choosing->choice->python, choosing->why);
}

/* Scripts other than pyenv's are passed over: what they would start is not in their bytes. */
static bool take_on_path(const void *context, const char *path) {
    struct choosing *choosing = (struct choosing *)(uintptr_t)context;
    struct stat st;

    if (path[0] != '/' || stat(path, &st) < 0 || !S_ISREG(st.st_mode) || access(path, X_OK) < 0)
        return false;
    int r = take(choosing, path, PIE_PYTHON_BY_PATH);
    if (r == -ENOEXEC && !choosing->choice->passed[0])
        snprintf(choosing->choice->passed, sizeof choosing->choice->passed, "%s", choosing->why);
    if (r == -EAGAIN || r == -EEXIST || r == -ENOEXEC)
        return false;
    choosing->result = r;
    return true;
}

static int search(struct choosing *choosing, const char *name) {
    char path[PATH_MAX];
    const char *folders = choosing->wish->search_path;

    if (folders && pie_target_search_for(name, folders, path, take_on_path, choosing))
        return choosing->result;
    const char *passed = choosing->choice->passed;
    snprintf(choosing->why, PIE_PYTHON_WHY_BYTES, "there is no %s on the PATH%s%.*s; name one with --python",
             name, *passed ? ": " : "", PATH_MAX, passed);
    return -ENOENT;
}

static int take_option(struct choosing *choosing) {
    char path[PATH_MAX];
    struct stat st;
    const char *option = choosing->wish->option;

    if (stat(option, &st) == 0 && S_ISDIR(st.st_mode) && pie_folder_join(path, option, "bin/python3"))
        return take(choosing, path, PIE_PYTHON_BY_OPTION);
    if (strchr(option, '/')) {
        int r = take(choosing, option, PIE_PYTHON_BY_OPTION);
        if (r == -EAGAIN)
            snprintf(choosing->why, PIE_PYTHON_WHY_BYTES,
                     "%s is pyenv's, which starts no version of its own here", option);
        return r == -EAGAIN ? -ENOENT : r;
    }
    snprintf(path, sizeof path, "%s%s", isdigit((unsigned char)option[0]) ? "python" : "", option);
    int r = search(choosing, path);
    choosing->choice->source = PIE_PYTHON_BY_OPTION;
    return r;
}

/* Where somebody else could have put it, as in /tmp, it is not what the user means. */
static bool has_venv(void *context, const char *folder) {
    struct choosing *choosing = context;
    char venv[PATH_MAX], python[PATH_MAX];
    struct stat st;

    if (!pie_folder_join(venv, folder, ".venv") || !pie_folder_join(python, venv, "bin/python") ||
        stat(venv, &st) < 0 || !is_there(python))
        return false;
    if (st.st_uid == geteuid() || st.st_uid == 0)
        return true;
    pass_over(choosing, venv, "belongs to another user");
    return false;
}

int pie_python_choose(const struct pie_python_wish *wish, struct pie_python_choice *ret_choice,
                      char ret_why[PIE_PYTHON_WHY_BYTES]) {
    struct choosing choosing = {.wish = wish, .choice = ret_choice, .why = ret_why};
    char path[PATH_MAX], folder[PATH_MAX];

    ret_choice->passed[0] = '\0';
    if (wish->option)
        return take_option(&choosing);
    if (wish->virtual_env && *wish->virtual_env && pie_folder_join(path, wish->virtual_env, "bin/python"))
        return take(&choosing, path, PIE_PYTHON_BY_VIRTUAL_ENV);
    if (pie_folder_upwards(wish->folder, has_venv, &choosing, folder) &&
        pie_folder_join(path, folder, ".venv/bin/python"))
        return take(&choosing, path, PIE_PYTHON_BY_FOLDER);
    if (wish->conda_prefix && *wish->conda_prefix &&
        pie_folder_join(path, wish->conda_prefix, "bin/python") && is_there(path))
        return take(&choosing, path, PIE_PYTHON_BY_CONDA);
    return search(&choosing, "python3");
}
