/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

/* The subcommands: a table, so that a new one is one file (cmd_<name>.c) and one line in commands.c. */
struct pie_command {
    const char *name;     /* as typed: pieprof NAME … */
    const char *synopsis; /* what follows the name in the help: "DB [-f FORMAT] [-o FILE]" */
    const char *summary;  /* one line for the help */
    /* argv[0] is the name, argv[1…argc-1] are its own words, argv[argc] is NULL. Prints its results to stdout
     * and its complaints through launcher/messages.h. Returns the exit status. */
    int (*run)(int argc, char **argv);
};

/* The command of this name, or NULL. Context: cli. */
const struct pie_command *pie_command_find(const char *name);
/* All commands in the order of the help. Context: cli. */
const struct pie_command *pie_command_all(size_t *ret_count);

/* Exit statuses of the program's own, as env, nice and timeout use them. */
enum {
    PIE_EXIT_USAGE = 125, /* bad option, unwritable output: nothing was started */
};

int pie_cmd_query(int argc, char **argv);
int pie_cmd_report(int argc, char **argv);
int pie_cmd_export(int argc, char **argv);
int pie_cmd_merge(int argc, char **argv);
int pie_cmd_runs(int argc, char **argv);
int pie_cmd_doctor(int argc, char **argv);
int pie_cmd_install(int argc, char **argv);
int pie_cmd_uninstall(int argc, char **argv);
