/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Joins files into one. Processes of runs of the same identity become one run again, in the order in which they
 * started, with their parents linked; other runs stay as they are. One input is open at a time and none is changed.
 * Context: cli. */
struct pie_merge {
    bool skip_bad;                  /* go on without inputs that cannot be read */
    bool (*is_interrupted)(void);   /* asked often; NULL: never */
    void (*warn)(const char *line); /* a bad input that was skipped */
    size_t skipped;                 /* inputs; set by pie_merge_files() */
    int64_t runs, processes,
        doubles; /* what OUT has now, and processes that came more than once and were taken once */
};

/* If `out` exists its runs come first and keep their numbers. The result appears under its name when it is whole.
 * Returns 0, or -errno and a line for people (heap), and `out` as it was: -EINTR interrupted, -EBUSY `out` is being
 * written to, or what was wrong with an input. */
int pie_merge_files(struct pie_merge *merge, const char *out, char *const *inputs, size_t count,
                    char **ret_message);
