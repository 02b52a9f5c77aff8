/* SPDX-License-Identifier: Apache-2.0 */
#include <getopt.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "launcher/command/command.h"
#include "launcher/command/target.h"
#include "launcher/text/messages.h"
#include "launcher/answers/profile.h"
#include "storage/formats/export.h"
#include "storage/read/reader.h"

struct options {
    const struct pie_export_format *format;
    const char *format_name, *metric_name, *output, *path;
    struct pie_export_choice choice;
    int64_t process;
};

static int parse_options(int argc, char **argv, struct options *options) {
    static const struct option names[] = {
        {"all", no_argument, NULL, 'a'},           {"format", required_argument, NULL, 'f'},
        {"output", required_argument, NULL, 'o'},  {"run", required_argument, NULL, 'r'},
        {"process", required_argument, NULL, 'p'}, {"metric", required_argument, NULL, 'm'},
        {"threads", no_argument, NULL, 't'},       {0},
    };
    opterr = 0;
    optind = 0;
    for (int option; (option = getopt_long(argc, argv, "f:o:", names, NULL)) != -1;) {
        if (option == 'f')
            options->format_name = optarg;
        else if (option == 'o')
            options->output = strcmp(optarg, "-") == 0 ? NULL : optarg;
        else if (option == 'a')
            options->choice.detail = PIE_CALLTREE_FULL;
        else if (option == 't')
            options->choice.has_threads = true;
        else if (option == 'm')
            options->metric_name = optarg;
        else if (option == 'r' && pie_profile_parse_run(optarg, &options->choice.run) < 0)
            return PIE_PROFILE_USAGE;
        else if (option == 'p' && pie_profile_parse_process(optarg, &options->process) < 0)
            return PIE_PROFILE_USAGE;
        else if (option == '?')
            return pie_command_bad_option(argc, argv);
    }
    if (argc - optind > 1)
        return pie_command_bad_words("one file at a time");
    options->path = argc > optind ? argv[optind] : PIE_PROFILE_DEFAULT;
    return 0;
}

static void say_no_format(const char *given, const char *names) {
    const struct pie_export_format *nearest = given ? pie_export_find_nearest(given) : NULL;
    if (!given)
        pie_message_error("export: which format? Choose one with -f: %s", names);
    else if (nearest)
        pie_message_error("export: unknown format %s; did you mean %s? Formats: %s", given, nearest->name,
                          names);
    else
        pie_message_error("export: unknown format %s; choose one with -f: %s", given, names);
}

static int choose_format(struct options *options) {
    char *names = pie_export_names();
    if (options->format_name)
        options->format = pie_export_find(options->format_name);
    else if (options->output)
        options->format = pie_export_find_for_file(options->output);
    if (!options->format)
        say_no_format(options->format_name, names ? names : "");
    free(names);
    if (!options->format)
        return PIE_PROFILE_USAGE;
    if (!options->format->missing)
        return 0;
    pie_message_error("export: this build of pieprof has no %s, it was built without %s",
                      options->format->name, options->format->missing);
    return PIE_PROFILE_USAGE;
}

static int choose_metric(struct options *options) {
    const struct pie_export_format *format = options->format;
    if (options->choice.has_threads && !format->takes_threads) {
        pie_message_error("export: %s has no frames of threads; leave out --threads", format->name);
        return PIE_PROFILE_USAGE;
    }
    if (!options->metric_name)
        return 0;
    if (!format->takes_metric) {
        pie_message_error("export: %s has no choice of a metric; leave out --metric", format->name);
        return PIE_PROFILE_USAGE;
    }
    options->choice.metric = pie_metric_find(options->metric_name);
    if (options->choice.metric)
        return 0;
    char *names = pie_metric_names();
    pie_message_error("export: unknown metric %s; choose one of %s", options->metric_name,
                      names ? names : "");
    free(names);
    return PIE_PROFILE_USAGE;
}

/* A statement lasts as long as its rows are written: a million contexts take a minute on a busy machine. */
enum { TIME_LIMIT_S = 600 };

static int export_run(struct pie_reader *reader, const struct options *options) {
    struct pie_target target;
    struct pie_export_choice choice = options->choice;
    char *message = NULL;
    choice.is_one_run = choice.run > 0;
    pie_reader_set_time_limit(reader, TIME_LIMIT_S);
    if ((options->process && pie_reader_cut(reader, choice.run, options->process, &message) < 0) ||
        pie_reader_get_run(reader, choice.run, &choice.run, &message) < 0)
        return pie_profile_complain(message);
    if (pie_target_open(options->output, options->path, &target) < 0)
        return PIE_PROFILE_FAILED;
    int r = options->format->write(target.out, reader, &choice, &message);
    return pie_target_close(&target, r < 0 ? pie_profile_complain(message) : 0);
}

int pie_cmd_export(int argc, char **argv) {
    struct options options = {.choice = {.run = 0, .detail = PIE_CALLTREE_READABLE}};
    int status = parse_options(argc, argv, &options);
    if (status == 0)
        status = choose_format(&options);
    if (status == 0)
        status = choose_metric(&options);
    if (status != 0)
        return status;
    struct pie_reader *reader = pie_profile_open(options.path);
    status = reader ? export_run(reader, &options) : PIE_PROFILE_FAILED;
    pie_reader_close(reader);
    return status;
}
