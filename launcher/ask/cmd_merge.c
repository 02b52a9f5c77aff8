/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "launcher/command/command.h"
#include "launcher/ask/copied.h"
#include "launcher/text/messages.h"
#include "launcher/answers/profile.h"
#include "launcher/text/text.h"
#include "storage/merge/merge.h"

static volatile sig_atomic_t interrupted;

static void on_signal(int signal_number) {
    interrupted = signal_number;
}

static bool is_interrupted(void) {
    return interrupted != 0;
}

/* What was begun is taken away again before the signal ends the program. */
static void catch_signals(void) {
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action;
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        if (sigaction(signals[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN)
            sigaction(signals[i], &(struct sigaction){.sa_handler = on_signal}, NULL);
    }
}

static void warn(const char *line) {
    char *clean = pie_text_printable(line);
    pie_message_warning("skipped: %s", clean ? clean : "a bad input");
    free(clean);
}

static void tell(const struct pie_merge *merge, const char *out) {
    pie_print_copied(out, merge);
    if (merge->doubles > 0)
        printf(", %lld that came twice taken once", (long long)merge->doubles);
    if (merge->skipped > 0)
        printf(", %zu bad %s skipped", merge->skipped, merge->skipped == 1 ? "input" : "inputs");
    printf("\n");
}

int pie_cmd_merge(int argc, char **argv) {
    static const struct option names[] = {{"skip-bad", no_argument, NULL, 's'}, {0}};
    struct pie_merge merge = {.is_interrupted = is_interrupted, .warn = warn};
    char *message = NULL;
    opterr = 0;
    optind = 0;
    pie_text_set_locale();
    for (int option; (option = getopt_long(argc, argv, "", names, NULL)) != -1;) {
        if (option == '?')
            return pie_command_bad_option(argc, argv);
        merge.skip_bad = true;
    }
    if (argc - optind < 2)
        return pie_command_bad_words("a file to write and files to read are needed");
    catch_signals();
    int r = pie_merge_files(&merge, argv[optind], argv + optind + 1, (size_t)(argc - optind - 1), &message);
    if (r < 0) {
        (void)pie_profile_complain(message);
        return r == -EINTR ? 128 + interrupted : PIE_PROFILE_USAGE;
    }
    tell(&merge, argv[optind]);
    return pie_profile_close_output(stdout, "the answer", 0);
}
