/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdio.h>

/* Where a subcommand's result goes. A file appears under its name when it is whole; a device or a pipe is written as it
 * is. Context: cli. */
struct pie_target {
    FILE *out;
    const char *name;
    char *real;      /* where a link leads; NULL: nothing is there, or no room */
    char *temporary; /* NULL: written in place */
};

/* output: the file's name, NULL: standard output. profile: the profile that is read, which is not written over. Returns
 * 0, or -errno after an error message. */
int pie_target_open(const char *output, const char *profile, struct pie_target *target);
/* The file gets its name if `status` is 0, or goes. Returns `status`, or PIE_PROFILE_FAILED after an error message. */
int pie_target_close(struct pie_target *target, int status);
