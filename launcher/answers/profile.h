/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>
#include <stdio.h>

/* Shared by the subcommands that read a profile. Context: cli. */

struct pie_reader;

#define PIE_PROFILE_DEFAULT "pieprof.db"

enum {
    PIE_PROFILE_FAILED = 1, /* exit status: the file or the question was at fault */
    PIE_PROFILE_USAGE = 2,  /* exit status: the command line was */
};

/* Opens a profile. Returns NULL, after an error message, if it cannot be read. */
struct pie_reader *pie_profile_open(const char *path);
/* The same of the profile that this process has just written. */
struct pie_reader *pie_profile_open_written(const char *path);

/* Prints one line to stderr and frees it; the text may come from the file. Returns PIE_PROFILE_FAILED. */
int pie_profile_complain(char *message);

/* The same of a process, its number or pid ("1234"). */
int pie_profile_parse_process(const char *text, int64_t *ret_process);

/* Parses the number of a run ("3"). Returns 0, or -EINVAL after an error message. */
int pie_profile_parse_run(const char *text, int64_t *ret_run);

/* Writes out the buffer. Returns `status`, or PIE_PROFILE_FAILED after an error message. There is no message if the
 * reader of a pipe is gone. */
int pie_profile_close_output(FILE *out, const char *name, int status);
