/* SPDX-License-Identifier: Apache-2.0 */

/* Prints the tables of the command line, for scripts/cli-page: a record for each option, command and word of a command.
 * Records end with RS, their fields with US. */

#include <stdio.h>

#include "launcher/options/options.h"
#include "launcher/run/commands.h"

/* The table of commands names their functions; none is called here. */
#define NEVER_CALLED(name)                                                                                   \
    int pie_cmd_##name(int argc, char **argv) {                                                              \
        return argc > 0 && argv ? 0 : 1;                                                                     \
    }
NEVER_CALLED(query)
NEVER_CALLED(confirm)
NEVER_CALLED(report)
NEVER_CALLED(serve)
NEVER_CALLED(export)
NEVER_CALLED(top)
NEVER_CALLED(snapshot)
NEVER_CALLED(merge)
NEVER_CALLED(runs)
NEVER_CALLED(debug)
NEVER_CALLED(doctor)
NEVER_CALLED(install)
NEVER_CALLED(uninstall)

void pie_cmd_query_print_questions(FILE *out) {
    fputs("", out);
}

void pie_cmd_top_print_keys(FILE *out) {
    fputs("", out);
}

static void field(const char *text) {
    printf("%s\x1f", text ? text : "");
}

static void end(void) {
    putchar('\x1e');
}

static const char *kind_of(const struct pie_option *option) {
    switch (option->kind) {
    case PIE_OPTION_FLAG:
        return "flag";
    case PIE_OPTION_TEXT:
        return "text";
    case PIE_OPTION_PATH:
        return "path";
    case PIE_OPTION_LIST:
        return "list";
    case PIE_OPTION_CHOICE:
    case PIE_OPTION_NUMBER:
        return "choice";
    case PIE_OPTION_QUANTITY:
        return "quantity";
    case PIE_OPTION_ACTION:
        return "action";
    }
    return "";
}

static void print_option(const struct pie_option *option) {
    char letter[2] = {option->letter, '\0'};
    field("option");
    field(option->name);
    field(letter);
    field(option->value);
    field(kind_of(option));
    field(option->help);
    field(option->right);
    field(option->unset ? option->unset : option->fallback);
    field(option->environment);
    field(option->is_default ? "default" : "");
    end();
}

static void print_command(const struct pie_command *command) {
    field("command");
    field(command->name);
    field(command->synopsis);
    field(command->options);
    field(command->summary);
    end();
    for (const struct pie_command_word *word = command->words; word->word; word++) {
        field("word");
        field(word->word);
        field(word->meaning);
        end();
    }
}

int main(void) {
    size_t n;
    const struct pie_option *options = pie_option_all(&n);
    for (size_t i = 0; i < n; i++)
        print_option(&options[i]);
    const struct pie_command *commands = pie_command_all(&n);
    for (size_t i = 0; i < n; i++)
        print_command(&commands[i]);
    printf("end");
    return ferror(stdout) || fflush(stdout) != 0;
}
