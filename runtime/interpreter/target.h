/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <limits.h>
#include <stdbool.h>

/* The interpreter that this process stands for. The search looks at files and never runs one: `python3` on the PATH may
 * be a shell script or another version, and a started program has effects. An interpreter fits when it is the one this
 * program was built with (PIE_PYTHON), by inode or as a copy, or this program itself under another name. Only then does
 * its standard library match our libpython. */
struct pie_target {
    char path[PATH_MAX]; /* absolute: the later sys.executable */
    /* The interpreter whose starts are redirected to us: path, or its original if it was replaced
     * (runtime/interpreter/replaced.h). Where path is neither that nor us (exec -a): the one that we are built with. */
    char children[PATH_MAX];
    char foreign_venv[PATH_MAX]; /* $VIRTUAL_ENV if it is for another interpreter, else "" */
};

/* Is this the name of a Python interpreter (python, python3, python3.N), with or without folders? */
bool pie_target_is_python_name(const char *argv0);

/* Absolute path of the running image. Returns 0 or -errno. Context: launcher. */
int pie_target_self(char ret_path[PATH_MAX]);

/* Called as pieprof: the active virtual environment's interpreter, else python3 on the PATH, else the one we
 * are built with; the first that fits. Context: launcher. */
void pie_target_find(const char *self, struct pie_target *ret_target);

/* The interpreter `name`, a path or a name to be searched on the PATH. Returns false, with target as it was, if it does
 * not fit. Context: launcher. */
bool pie_target_find_named(const char *name, const char *self, struct pie_target *ret_target);

/* Called as python: the interpreter that argv0 names, as CPython's getpath.py resolves it. Context: launcher.
 */
void pie_target_from_name(const char *argv0, const char *self, struct pie_target *ret_target);

/* Is the program at path (links are followed as they were before `pieprof install`) the interpreter we are built with,
 * or a copy of it? Context: cli. */
bool pie_target_is_built_for(const char *path);

/* In a virtual environment, getpath.py takes the target of its interpreter's links for the interpreter that made it
 * (sys._base_executable). Where links to us have replaced these links: their former target. Returns false where
 * getpath.py finds out by itself. argv0 is the name that getpath.py goes by. Context: launcher. */
bool pie_target_base_executable(const char *argv0, char ret_path[PATH_MAX]);

/* The first file called name in the folders of search_path that may be executed. Writes its path, absolute
 * unless the folder is not. No allocation, no locks. Returns 0 or -ENOENT. Context: hook, vfork child,
 * launcher. */
int pie_target_search(const char *name, const char *search_path, char ret_path[PATH_MAX]);

/* As pie_target_search() with a condition of the caller's: the first for which accept() is true. */
bool pie_target_search_for(const char *name, const char *search_path, char ret_path[PATH_MAX],
                           bool (*accept)(const void *context, const char *path), const void *context);
