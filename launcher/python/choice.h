/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "launcher/python/python.h"

/* Whose Python a run takes: the one that the user would get in this folder and environment. */

enum pie_python_source {
    PIE_PYTHON_BY_OPTION,      /* --python */
    PIE_PYTHON_BY_VIRTUAL_ENV, /* $VIRTUAL_ENV */
    PIE_PYTHON_BY_FOLDER,      /* the nearest .venv upwards */
    PIE_PYTHON_BY_CONDA,       /* $CONDA_PREFIX */
    PIE_PYTHON_BY_PATH,        /* python3 on the PATH */
};

/* What there is to choose by; NULL: not given or not set. The strings are borrowed. */
struct pie_python_wish {
    const char *option; /* a path, a folder of an environment, a name on the PATH, or a version as 3.12 */
    const char *virtual_env, *conda_prefix, *search_path, *pyenv_version;
    const char *folder; /* absolute; where the search for .venv begins */
    const char *self;   /* this program, which is never chosen */
};

struct pie_python_choice {
    struct pie_python python;
    enum pie_python_source source;
    char passed[PIE_PYTHON_WHY_BYTES]; /* one line about what came first and was passed over; "": nothing */
};

/* Takes all but option, folder and self from the environment. Context: cli, launcher. */
struct pie_python_wish pie_python_wish(const char *option, const char *folder, const char *self);

/* Is the program at path this one, or another pieprof in place of a python? self: path of this program, or NULL.
 * Context: cli, launcher. */
bool pie_python_is_pieprof(const char *path, const char *self);

/* Returns 0, or a negative errno with one line in ret_why: as pie_python_read(), or -ENOENT: there is none. What is
 * named by an option, by $VIRTUAL_ENV or by a .venv with a python is taken or refused, never passed over.
 * Context: cli, launcher. */
int pie_python_choose(const struct pie_python_wish *wish, struct pie_python_choice *ret_choice,
                      char ret_why[PIE_PYTHON_WHY_BYTES]);
