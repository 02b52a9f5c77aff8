/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdio.h>

/* The text of --help, and the two lines for a call without any words. Context: cli. */
void pie_help_print(FILE *out);
void pie_help_print_usage(FILE *out);
/* Prints the usage, the purpose and the words of one command. Context: cli. */
struct pie_command;
void pie_help_print_command(const struct pie_command *command, FILE *out);
/* "pieprof 0.1.0 (Python 3.11.2, static libpython)"; without a Python of its own "pieprof 0.1.0 (cores for Python 3.11,
 * 3.12)". Context: cli. */
void pie_help_print_version(FILE *out);
