/* SPDX-License-Identifier: Apache-2.0 */
#include "launcher/run/help.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "launcher/guest/cores.h"
#include "launcher/options/options.h"
#include "launcher/run/commands.h"
#include "runtime/embed/embed.h"
#include "runtime/interpreter/target.h"

static const char USAGE[] = "usage: pieprof [OPTIONS] script.py ARGS… | -m MODULE ARGS… | -c CODE ARGS… | -\n"
                            "       pieprof COMMAND …     (pieprof COMMAND --help says more)\n";

static const char ABOUT[] =
    "\n"
    "Runs a Python program as python3 would and writes where its time and its memory go, what leaks,\n"
    "what is copied, and which of its loads and stores are redundant, into a file.\n"
    "Options end where the program begins. Python's own options may stand among them and are\n"
    "handed on (-u, -X dev, -W error, -O, …); where Python has the same letter, put its option\n"
    "after --: pieprof -- -i script.py. A file with the name of a command: pieprof ./query.\n";

static const char END[] =
    "  PIEPROF=1                  also profile where this program is called python or python3 (a link);\n"
    "                             otherwise it is plain Python there\n"
    "\n"
    "Exit status: the program's own; 125 if pieprof could not start it. Ctrl-C ends the program,\n"
    "and the profile is still written.\n";

/* Prints the left column of a line, as wide as what is read (one column for each UTF-8 character), and the right
 * one. */
static void print_line(FILE *out, const char *left, const char *right) {
    int width = 0;
    for (const char *p = left; *p; p++)
        width += ((unsigned char)*p & 0xc0) != 0x80;
    fprintf(out, "  %s%*s %s\n", left, width < 26 ? 26 - width : 0, "", right);
}

static void print_commands(FILE *out) {
    size_t n;
    const struct pie_command *commands = pie_command_all(&n);
    fprintf(out, "\nCommands:\n");
    print_line(out, "run …", "profile a program: the word run may be left out");
    for (size_t i = 0; i < n; i++) {
        char left[128];
        snprintf(left, sizeof left, "%s %s", commands[i].name, commands[i].synopsis);
        print_line(out, left, commands[i].summary);
    }
}

/* The meaning of an option, followed by its default. */
static const char *with_default(char *buffer, size_t size, const struct pie_option *option) {
    if (option->is_default)
        snprintf(buffer, size, "%s (the default)", option->help);
    else if (option->fallback || option->unset)
        snprintf(buffer, size, "%s (default: %s)", option->help,
                 option->unset ? option->unset : option->fallback);
    else
        return option->help;
    return buffer;
}

static void print_options(FILE *out) {
    size_t n;
    const struct pie_option *options = pie_option_all(&n);
    fprintf(out, "\nOptions:\n");
    for (size_t i = 0; i < n; i++) {
        char letter[5] = "    ";
        if (options[i].letter)
            snprintf(letter, sizeof letter, "-%c, ", options[i].letter);
        char left[128], right[256];
        snprintf(left, sizeof left, "%s--%s%s%s", letter, options[i].name, options[i].value ? " " : "",
                 options[i].value ? options[i].value : "");
        print_line(out, left, with_default(right, sizeof right, &options[i]));
    }
}

static void print_environment(FILE *out) {
    size_t n;
    const struct pie_option *options = pie_option_all(&n);
    fprintf(out, "\nEnvironment:\n");
    print_line(out, "PIEPROF_OPTS='…'", "options, before those of the command line");
    for (size_t i = 0; i < n; i++) {
        if (!options[i].environment)
            continue;
        bool is_flag = options[i].kind == PIE_OPTION_FLAG;
        char left[128], right[128];
        snprintf(left, sizeof left, "%s=%s", options[i].environment, is_flag ? "0" : options[i].value);
        snprintf(right, sizeof right, "as --%s%s", is_flag ? "no-" : "", options[i].name);
        print_line(out, left, right);
    }
}

void pie_help_print_usage(FILE *out) {
    fputs(USAGE, out);
    fputs("pieprof --help says more.\n", out);
}

void pie_help_print(FILE *out) {
    fputs(USAGE, out);
    fputs(ABOUT, out);
    print_options(out);
    print_commands(out);
    print_environment(out);
    fputs(END, out);
}

void pie_help_print_command(const struct pie_command *command, FILE *out) {
    fprintf(out, "usage: pieprof %s %s%s%s\n\n%s\n\n", command->name, command->synopsis,
            *command->options ? " " : "", command->options, command->summary);
    for (const struct pie_command_word *word = command->words; word->word; word++) {
        char left[128];
        snprintf(left, sizeof left, "%s%s", strncmp(word->word, "--", 2) == 0 ? "    " : "", word->word);
        print_line(out, left, word->meaning);
    }
    if (command->print_more)
        command->print_more(out);
}

/* It runs the user's own Python: which ones it can. */
static void print_cores(FILE *out) {
    char self[PATH_MAX], *cores = pie_target_self(self) == 0 ? pie_cores_list(self) : NULL;
    fprintf(out, "pieprof %s (cores for Python %s)\n", PIEPROF_VERSION, cores ? cores : "none");
    free(cores);
}

void pie_help_print_version(FILE *out) {
    if (!pie_embed_has_python) {
        print_cores(out);
        return;
    }
    fprintf(out, "pieprof %s (Python %s, %s libpython)\n", PIEPROF_VERSION, pie_embed_python_version(),
            pie_embed_linkage());
}
