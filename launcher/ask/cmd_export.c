/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launcher/command/command.h"
#include "launcher/text/messages.h"
#include "launcher/answers/profile.h"
#include "storage/formats/export.h"
#include "storage/read/reader.h"
#include "storage/file/temporary.h"

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

/* Where the export goes. A file appears under its name when it is whole; a device or a pipe is written as it is. */
struct target {
    FILE *out;
    const char *name;
    char *real;      /* where a link leads; NULL: nothing is there, or no room */
    char *temporary; /* NULL: written in place */
};

static bool is_profile_itself(const struct options *options, const struct stat *output) {
    struct stat database;
    return stat(options->path, &database) == 0 && database.st_dev == output->st_dev &&
           database.st_ino == output->st_ino;
}

static int open_target(const struct options *options, struct target *target) {
    struct stat status;
    *target = (struct target){.out = stdout, .name = options->output ? options->output : "the export"};
    if (!options->output)
        return 0;
    bool exists = stat(options->output, &status) == 0;
    if (exists && is_profile_itself(options, &status)) {
        pie_message_error("export: %s is the profile itself; name another file with -o", options->output);
        return -EEXIST;
    }
    if (!exists || S_ISREG(status.st_mode)) {
        target->real = exists ? realpath(options->output, NULL) : NULL;
        int fd = pie_temporary_open(target->real ? target->real : options->output, &target->temporary);
        errno = fd < 0 ? -fd : 0;
        target->out = fd < 0 ? NULL : fdopen(fd, "w");
    } else {
        target->out = fopen(options->output, "we");
    }
    if (target->out)
        return 0;
    pie_message_error("cannot write %s: %s; name another file with -o", options->output, strerror(errno));
    free(target->temporary);
    free(target->real);
    return -EIO;
}

static int close_target(struct target *target, int status) {
    status = pie_profile_close_output(target->out, target->name, status);
    if (target->out != stdout)
        fclose(target->out);
    if (status == 0 && target->temporary &&
        rename(target->temporary, target->real ? target->real : target->name) < 0) {
        pie_message_error("cannot write %s: %s; name another file with -o", target->name, strerror(errno));
        status = PIE_PROFILE_FAILED;
    }
    if (status != 0 && target->temporary)
        unlink(target->temporary);
    free(target->temporary);
    free(target->real);
    return status;
}

/* A statement lasts as long as its rows are written: a million contexts take a minute on a busy machine. */
enum { TIME_LIMIT_S = 600 };

static int export_run(struct pie_reader *reader, const struct options *options) {
    struct target target;
    struct pie_export_choice choice = options->choice;
    char *message = NULL;
    choice.is_one_run = choice.run > 0;
    pie_reader_set_time_limit(reader, TIME_LIMIT_S);
    if ((options->process && pie_reader_cut(reader, choice.run, options->process, &message) < 0) ||
        pie_reader_get_run(reader, choice.run, &choice.run, &message) < 0)
        return pie_profile_complain(message);
    if (open_target(options, &target) < 0)
        return PIE_PROFILE_FAILED;
    int r = options->format->write(target.out, reader, &choice, &message);
    return close_target(&target, r < 0 ? pie_profile_complain(message) : 0);
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
