/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launcher/commands.h"
#include "launcher/messages.h"
#include "launcher/output.h"
#include "launcher/profile.h"
#include "launcher/text.h"
#include "storage/query.h"
#include "storage/reader.h"
#include "storage/subjects.h"

struct options {
    const char *output;
    int64_t run, process;
    double timeout_s;
    const char *path;
    char *question;
};

static int parse_timeout(const char *text, double *ret_seconds) {
    char *end;
    double seconds = strtod(text, &end);
    if (*end != 0 || end == text || !(seconds > 0) || seconds > 1e6) {
        pie_message_error("--timeout takes seconds, not %s", text);
        return -EINVAL;
    }
    *ret_seconds = seconds;
    return 0;
}

/* One word each on the command line, as in one string; a word with blanks was quoted and stays together. */
static char *join(int count, char **words) {
    size_t size = 1;
    for (int i = 0; i < count; i++)
        size += strlen(words[i]) + 3;
    char *text = calloc(1, size), *end = text;
    for (int i = 0; text && i < count; i++) {
        const char *quote = count > 1 && strpbrk(words[i], " \t") ? strchr(words[i], '"') ? "'" : "\"" : "";
        end += sprintf(end, "%s%s%s%s", i ? " " : "", quote, words[i], quote);
    }
    return text;
}

static int parse_options(int argc, char **argv, struct options *options) {
    static const struct option names[] = {
        {"json", no_argument, NULL, 'j'},
        {"csv", no_argument, NULL, 'c'},
        {"table", no_argument, NULL, 't'},
        {"run", required_argument, NULL, 'r'},
        {"timeout", required_argument, NULL, 'T'},
        {"process", required_argument, NULL, 'p'},
        {0},
    };
    opterr = 0;
    optind = 0;
    for (int option; (option = getopt_long(argc, argv, "", names, NULL)) != -1;) {
        if (option == 'j' || option == 'c' || option == 't')
            options->output = option == 'j' ? "json" : option == 'c' ? "csv" : "table";
        else if (option == 'r' && pie_profile_parse_run(optarg, &options->run) < 0)
            return PIE_PROFILE_USAGE;
        else if (option == 'p' && pie_profile_parse_process(optarg, &options->process) < 0)
            return PIE_PROFILE_USAGE;
        else if (option == 'T' && parse_timeout(optarg, &options->timeout_s) < 0)
            return PIE_PROFILE_USAGE;
        else if (option == '?')
            return pie_command_bad_option(argc, argv);
    }
    return 0;
}

/* The file may be left out. A file that is not there is still meant as one where it looks like one, or where the
 * question follows in quotes. */
static bool is_path(int count, char **words) {
    if (count == 0)
        return false;
    const char *dot = strrchr(words[0], '.');
    return access(words[0], F_OK) == 0 || strchr(words[0], '/') || (dot && strcmp(dot, ".db") == 0) ||
           (count == 2 && strpbrk(words[1], " \t"));
}

static int parse(int argc, char **argv, struct options *options) {
    int status = parse_options(argc, argv, options);
    if (status != 0)
        return status;
    int count = argc - optind;
    char **words = argv + optind;
    bool is_file = is_path(count, words);
    options->path = is_file ? words[0] : PIE_PROFILE_DEFAULT;
    if (count - is_file < 1)
        return pie_command_bad_words(argv[0], "what is asked for? query --help lists what can be");
    options->question = join(count - is_file, words + is_file);
    return options->question ? 0 : PIE_PROFILE_FAILED;
}

static int answer(struct pie_reader *reader, const struct options *options) {
    struct pie_query query;
    char *message = NULL;
    pie_reader_set_time_limit(reader, options->timeout_s);
    int r = options->process ? pie_reader_cut(reader, options->run, options->process, &message) : 0;
    if (r == 0)
        r = pie_query_open(reader, options->question, options->run, &query, &message);
    if (r < 0)
        return pie_profile_complain(message);
    struct pie_answer about = {.query = &query, .reader = reader, .question = options->question};
    r = pie_output_find(options->output)->print(stdout, &about, &message);
    pie_query_close(&query);
    return pie_profile_close_output(stdout, "the answer", r < 0 ? pie_profile_complain(message) : 0);
}

void pie_cmd_query_print_subjects(FILE *out) {
    size_t count;
    const struct pie_subject *subjects = pie_subject_all(&count);
    fputs("\nQuestions: top N, all or nothing, one of\n", out);
    for (size_t i = 0; i < count; i++)
        fprintf(out, "  %s\n", subjects[i].name);
    fputs("and then: by function, in FILE, in FILE:LINE, of process ID|PID.\n\n"
          "  pieprof query pieprof.db \"top 10 hot lines in train.py\"\n"
          "  pieprof query pieprof.db \"redundant loads by function\" --json\n"
          "  pieprof query pieprof.db \"select * from v_process\"\n",
          out);
}

int pie_cmd_query(int argc, char **argv) {
    struct options options = {.output = "table", .timeout_s = PIE_READER_TIME_LIMIT_S};
    pie_text_set_locale();
    int status = parse(argc, argv, &options);
    if (status == 0) {
        struct pie_reader *reader = pie_profile_open(options.path);
        status = reader ? answer(reader, &options) : PIE_PROFILE_FAILED;
        pie_reader_close(reader);
    }
    free(options.question);
    return status;
}
