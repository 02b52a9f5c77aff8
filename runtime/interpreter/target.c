/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/interpreter/target.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/interpreter/image.h"
#include "runtime/interpreter/replaced.h"

/* The images that fit: the interpreter we are built with (where this machine has it) and ourselves. */
struct fitting {
    struct pie_image built_with, self;
    bool has_built_with, has_self;
};

/* Where there is no /proc: the name that the kernel was given, which is a script's where one began us. Keeps errno. */
static bool self_without_proc(char ret_path[PATH_MAX]) {
    const char *executed = (const char *)getauxval(AT_EXECFN);
    int saved_errno = errno;
    struct stat ours = {0};
    char magic[SELFMAG] = "";
    int fd = executed ? open(executed, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
    bool is_program = fd >= 0 && fstat(fd, &ours) == 0 && S_ISREG(ours.st_mode) &&
                      read(fd, magic, sizeof magic) == SELFMAG && memcmp(magic, ELFMAG, SELFMAG) == 0 &&
                      realpath(executed, ret_path);
    if (fd >= 0)
        close(fd);
    errno = saved_errno;
    return is_program;
}

int pie_target_self(char ret_path[PATH_MAX]) {
    char path[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path);
    if (n < 0)
        return self_without_proc(ret_path) ? 0 : -errno;
    if ((size_t)n == sizeof path)
        return -ENAMETOOLONG;
    memcpy(ret_path, path, (size_t)n);
    ret_path[n] = '\0';
    return 0;
}

/* Where the interpreter that path stands for is, though `pieprof install` has been there. */
static void find_original(const char *path, char ret_path[PATH_MAX]) {
    struct pie_replaced replaced;
    bool is_replaced = pie_replaced_follow(path, &replaced) == 0 && replaced.is_replaced;
    snprintf(ret_path, PATH_MAX, "%s", is_replaced ? replaced.content : path);
}

static void fitting_init(struct fitting *fitting, const char *self) {
    char built_with[PATH_MAX];
    find_original(PIE_PYTHON, built_with);
    fitting->has_built_with = pie_image_read(built_with, &fitting->built_with) == 0;
    fitting->has_self = pie_image_read(self, &fitting->self) == 0;
}

static bool fits(const struct fitting *fitting, const char *path) {
    if (access(path, X_OK) < 0)
        return false;
    return (fitting->has_built_with && pie_image_is_at(&fitting->built_with, path)) ||
           (fitting->has_self && pie_image_is_at(&fitting->self, path));
}

static bool join(char ret_path[PATH_MAX], const char *folder, const char *name) {
    int n = snprintf(ret_path, PATH_MAX, "%s%s%s", folder, *folder ? "/" : "", name);
    return n > 0 && n < PATH_MAX;
}

static bool accept_fitting(const void *context, const char *path) {
    return path[0] == '/' && fits(context, path);
}

/* The activated environment's own interpreter. Returns false, with foreign_venv set, if it does not fit. */
static bool find_in_venv(const struct fitting *fitting, struct pie_target *target) {
    const char *venv = getenv("VIRTUAL_ENV");
    if (!venv || venv[0] != '/')
        return false;
    if (join(target->path, venv, "bin/python") && fits(fitting, target->path))
        return true;
    snprintf(target->foreign_venv, sizeof target->foreign_venv, "%s", venv);
    return false;
}

void pie_target_find(const char *self, struct pie_target *ret_target) {
    struct fitting fitting = {0};
    fitting_init(&fitting, self);
    ret_target->foreign_venv[0] = '\0';
    const char *search_path = getenv("PATH");
    if (!find_in_venv(&fitting, ret_target) &&
        !(search_path &&
          pie_target_search_for("python3", search_path, ret_target->path, accept_fitting, &fitting)))
        snprintf(ret_target->path, sizeof ret_target->path, "%s", PIE_PYTHON);
    find_original(ret_target->path, ret_target->children);
}

/* As getpath.py: a name with a slash is a path, any other is searched on the PATH. */
static bool resolve_name(const char *argv0, char ret_path[PATH_MAX]) {
    if (argv0[0] == '/')
        return join(ret_path, "", argv0);
    char folder[PATH_MAX];
    if (strchr(argv0, '/'))
        return getcwd(folder, sizeof folder) && join(ret_path, folder, argv0);
    const char *search_path = getenv("PATH");
    return search_path && pie_target_search(argv0, search_path, ret_path) == 0;
}

void pie_target_from_name(const char *argv0, const char *self, struct pie_target *ret_target) {
    struct fitting fitting = {0};
    fitting_init(&fitting, self);
    ret_target->foreign_venv[0] = '\0';
    const char *found = PIE_PYTHON;
    if (!resolve_name(argv0, ret_target->path))
        ret_target->path[0] = '\0';
    else if (fits(&fitting, ret_target->path))
        found = ret_target->path;
    find_original(found, ret_target->children);
}

bool pie_target_find_named(const char *name, const char *self, struct pie_target *ret_target) {
    struct fitting fitting = {0};
    struct pie_target target = {0};
    fitting_init(&fitting, self);
    if (!resolve_name(name, target.path) || !fits(&fitting, target.path))
        return false;
    find_original(target.path, target.children);
    *ret_target = target;
    return true;
}

bool pie_target_is_built_for(const char *path) {
    struct fitting fitting = {0};
    struct pie_replaced replaced;
    char built_with[PATH_MAX];
    find_original(PIE_PYTHON, built_with);
    fitting.has_built_with = pie_image_read(built_with, &fitting.built_with) == 0;
    return pie_replaced_follow(path, &replaced) == 0 && fits(&fitting, replaced.content);
}

/* Beside the interpreter or above its folder, as getpath.py looks for it. */
static bool is_in_venv(const char *executable) {
    char folder[PATH_MAX], config[PATH_MAX];
    snprintf(folder, sizeof folder, "%s", executable);
    for (int i = 0; i < 2; i++) {
        char *slash = strrchr(folder, '/');
        if (!slash)
            return false;
        *slash = '\0';
        if (join(config, folder, "pyvenv.cfg") && access(config, F_OK) == 0)
            return true;
    }
    return false;
}

bool pie_target_base_executable(const char *argv0, char ret_path[PATH_MAX]) {
    char executable[PATH_MAX], now[PATH_MAX];
    struct pie_replaced replaced;
    if (getenv("PYTHONEXECUTABLE") || getenv("__PYVENV_LAUNCHER__") || !resolve_name(argv0, executable))
        return false;
    if (!is_in_venv(executable) || pie_replaced_follow(executable, &replaced) < 0 || !replaced.is_replaced)
        return false;
    if (!realpath(executable, now) || strcmp(now, replaced.real) == 0)
        return false;
    memcpy(ret_path, replaced.real, PATH_MAX);
    return true;
}
