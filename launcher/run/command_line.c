/* SPDX-License-Identifier: Apache-2.0 */
#include "launcher/run/command_line.h"

#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "launcher/answers/profile.h"
#include "launcher/command/command.h"
#include "launcher/options/options.h"
#include "launcher/run/help.h"
#include "launcher/run/script_word.h"
#include "launcher/text/messages.h"

/* Returns -1 where a program is to run, else the exit status. */
static int read_words(char **words, struct pie_options *options) {
    pie_options_init(options);
    if ((!getauxval(AT_SECURE) && pie_options_from_environment(options) < 0) ||
        pie_options_from_words(options, words) < 0) {
        pie_message_error("%s", options->error);
        return PIE_EXIT_USAGE;
    }
    pie_messages_set_verbose(options->config.is_verbose);
    if (options->action == PIE_ACTION_HELP)
        return pie_help_print(stdout), 0;
    if (options->action == PIE_ACTION_VERSION)
        return pie_help_print_version(stdout), 0;
    if (options->is_bare && isatty(STDIN_FILENO)) {
        pie_help_print_usage(stderr);
        return PIE_EXIT_USAGE;
    }
    return -1;
}

bool pie_command_line_ends(char **argv, struct pie_options *options, int *ret_status) {
    char **words = argv[0] ? argv + 1 : argv;
    if (words[0] && strcmp(words[0], "run") == 0)
        words++;
    *ret_status = read_words(words, options);
    if (*ret_status >= 0)
        return true;
    if (pie_script_word_is_wrong(options)) {
        *ret_status = PIE_PROFILE_USAGE;
        return true;
    }
    if (pie_options_complete(options) < 0) {
        pie_message_error("%s", options->error);
        *ret_status = PIE_EXIT_USAGE;
        return true;
    }
    if (!options->config.is_quiet)
        pie_script_word_find_late(options);
    return false;
}
