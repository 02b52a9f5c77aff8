/* SPDX-License-Identifier: Apache-2.0 */
#include <getopt.h>
#include <stdarg.h>
#include <string.h>

#include "launcher/commands.h"
#include "launcher/messages.h"
#include "launcher/profile.h"

bool pie_command_is_help_wanted(int argc, char **argv) {
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            return true;
    }
    return false;
}

int pie_command_bad_words(const char *name, const char *format, ...) {
    const struct pie_command *command = pie_command_find(name);
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    pie_message_error("%s: %s; usage: pieprof %s %s%s%s", name, text, name, command->synopsis,
                      *command->options ? " " : "", command->options);
    return PIE_PROFILE_USAGE;
}

int pie_command_bad_option(int argc, char **argv) {
    return pie_command_bad_words(argv[0], "bad option or missing value at %s",
                                 optind > 0 && optind <= argc ? argv[optind - 1] : argv[0]);
}
