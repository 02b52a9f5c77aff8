/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <limits.h>

/* pyenv puts scripts named python3, python3.N, … into its folder "shims"; each starts the program of that name of the
 * version that is set for the folder. Context: cli, launcher. */

enum pie_pyenv_answer {
    PIE_PYENV_NO_SHIM,
    PIE_PYENV_FOUND,
    PIE_PYENV_SYSTEM,  /* no version is set, or "system": the next one on the PATH is meant */
    PIE_PYENV_MISSING, /* the versions that are set have no such program */
};

struct pie_pyenv_version {
    char text[64]; /* the first version that is set; for PIE_PYENV_MISSING */
};

/* The program that the script at path starts in the folder (absolute). pyenv_version: of $PYENV_VERSION, or NULL. */
enum pie_pyenv_answer pie_pyenv_resolve(const char *path, const char *folder, const char *pyenv_version,
                                        char ret_path[PATH_MAX], struct pie_pyenv_version *ret_version);
