/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

struct pie_options;

/* Reads the command line of pieprof, without a subcommand, and PIEPROF_OPTS. Returns whether that is the end, as after
 * --help or a wrong option, with the exit status; else a program is to run. Context: launcher. */
bool pie_command_line_ends(char **argv, struct pie_options *options, int *ret_status);
