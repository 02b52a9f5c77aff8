/* SPDX-License-Identifier: Apache-2.0 */
#include <getopt.h>
#include <stdarg.h>
#include <string.h>

#include "launcher/command/command.h"
#include "launcher/text/messages.h"
#include "launcher/answers/profile.h"

bool pie_command_is_help_wanted(int argc, char **argv) {
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            return true;
    }
    return false;
}

static const struct pie_command *running; /* one in a process */

int pie_command_run(const struct pie_command *command, int argc, char **argv) {
    running = command;
    return command->run(argc, argv);
}

int pie_command_bad_words(const char *format, ...) {
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    pie_message_error("%s: %s; usage: pieprof %s %s%s%s", running->name, text, running->name,
                      running->synopsis, *running->options ? " " : "", running->options);
    return PIE_PROFILE_USAGE;
}

int pie_command_bad_option(int argc, char **argv) {
    return pie_command_bad_words("bad option or missing value at %s",
                                 optind > 0 && optind <= argc ? argv[optind - 1] : argv[0]);
}
