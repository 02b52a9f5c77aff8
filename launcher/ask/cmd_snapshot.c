/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "launcher/command/command.h"
#include "launcher/ask/copied.h"
#include "launcher/text/messages.h"
#include "launcher/answers/profile.h"
#include "launcher/answers/running.h"
#include "launcher/text/text.h"
#include "storage/merge/merge.h"
#include "storage/read/reader.h"
#include "storage/merge/snapshot.h"

/* A running program writes once a second, so nothing has to be asked of it: the next write is waited for. Somewhat more
 * than a second, or a busy machine would be called silent. */
static const double WAIT_S = 3;

struct options {
    const char *what, *output;
};

static int parse(int argc, char **argv, struct options *options) {
    static const struct option names[] = {{"output", required_argument, NULL, 'o'}, {0}};
    opterr = 0;
    optind = 0;
    for (int option; (option = getopt_long(argc, argv, "o:", names, NULL)) != -1;) {
        if (option == '?')
            return pie_command_bad_option(argc, argv);
        options->output = optarg;
    }
    if (argc - optind > 1)
        return pie_command_bad_words("one process or file at a time");
    options->what = argc > optind ? argv[optind] : PIE_PROFILE_DEFAULT;
    return 0;
}

/* "pieprof-20261123-100000.db" beside the profile. Heap, or NULL. */
static char *default_output(const char *path) {
    char *output, stamp[32];
    time_t now = time(NULL);
    struct tm date;
    const char *dot = strrchr(path, '.');
    int stem = dot && strcmp(dot, ".db") == 0 ? (int)(dot - path) : (int)strlen(path);
    if (!localtime_r(&now, &date) || strftime(stamp, sizeof stamp, "%Y%m%d-%H%M%S", &date) == 0)
        return NULL;
    return asprintf(&output, "%.*s-%s.db", stem, path, stamp) < 0 ? NULL : output;
}

static void tell(const char *output, const struct pie_merge *merge, const struct pie_snapshot *state) {
    pie_print_copied(output, merge);
    if (state->running > 0)
        printf(", %lld of them running", (long long)state->running);
    if (state->silent > 0)
        printf(" (%lld wrote nothing for %.0f s: what it wrote last)", (long long)state->silent, WAIT_S);
    fputs("\n", stdout);
}

static int take(const char *path, const char *output) {
    struct pie_merge merge = {0};
    struct pie_snapshot state = {0};
    struct pie_reader *reader = NULL;
    char *message = NULL;
    if (access(output, F_OK) == 0) {
        pie_message_error("snapshot: %s is there already; name another file with -o", output);
        return PIE_PROFILE_USAGE;
    }
    int r = pie_snapshot_wait(path, WAIT_S, &state, &reader, &message);
    if (r == 0)
        r = pie_merge_files(&merge, output, (char *[]){(char *)path}, 1, &message);
    pie_reader_close(reader);
    if (r < 0)
        return pie_profile_complain(message);
    tell(output, &merge, &state);
    return pie_profile_close_output(stdout, "the answer", 0);
}

int pie_cmd_snapshot(int argc, char **argv) {
    struct options options = {0};
    pie_text_set_locale();
    int status = parse(argc, argv, &options);
    if (status != 0)
        return status;
    char *path = pie_running_find("snapshot", options.what);
    char *output = options.output ? strdup(options.output) : path ? default_output(path) : NULL;
    status = path && output ? take(path, output) : PIE_PROFILE_FAILED;
    free(path);
    free(output);
    return status;
}
