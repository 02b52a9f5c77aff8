/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* One of a subcommand's words or options: "DB", "-o, --output FILE", "--all". */
struct pie_command_word {
    const char *word, *meaning;
};

/* A subcommand. A new one is one file (cmd_<name>.c) and one line in run/commands.c. */
struct pie_command {
    const char *name;     /* as typed: pieprof NAME … */
    const char *synopsis; /* what follows the name in the help of all: "[DB] [--all]" */
    const char *summary;  /* one line for the help */
    const char *options;  /* options, printed after the synopsis: "[--run N] [--process ID|PID]", or "" */
    const struct pie_command_word *words; /* a line of pieprof NAME --help for each; the last one is empty */
    void (*print_more)(FILE *out);        /* prints text after the words, or NULL */
    /* argv[0] is the name, argv[1…argc-1] are its own words, argv[argc] is NULL. Prints its results to stdout
     * and its complaints through launcher/text/messages.h. Returns the exit status. */
    int (*run)(int argc, char **argv);
};

/* Runs one with its words. Returns its exit status. Context: cli. */
int pie_command_run(const struct pie_command *command, int argc, char **argv);

/* Does one of a command's words ask for its help? Context: cli. */
bool pie_command_is_help_wanted(int argc, char **argv);

/* Prints an error about the words of the current command, and its usage. Returns PIE_PROFILE_USAGE
 * (launcher/answers/profile.h). Context: cli. */
int pie_command_bad_words(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The same of an option that is unknown or lacks its value: getopt_long() has just said so, with opterr off. */
int pie_command_bad_option(int argc, char **argv);

/* Exit statuses of the program's own, as env, nice and timeout use them. */
enum {
    PIE_EXIT_USAGE = 125, /* bad option, unwritable output: nothing was started */
};

int pie_cmd_query(int argc, char **argv);
void pie_cmd_query_print_questions(FILE *out);
int pie_cmd_report(int argc, char **argv);
int pie_cmd_serve(int argc, char **argv);
int pie_cmd_export(int argc, char **argv);
int pie_cmd_top(int argc, char **argv);
void pie_cmd_top_print_keys(FILE *out);
int pie_cmd_snapshot(int argc, char **argv);
int pie_cmd_merge(int argc, char **argv);
int pie_cmd_runs(int argc, char **argv);
int pie_cmd_debug(int argc, char **argv);
int pie_cmd_confirm(int argc, char **argv);
int pie_cmd_doctor(int argc, char **argv);
int pie_cmd_install(int argc, char **argv);
int pie_cmd_uninstall(int argc, char **argv);
