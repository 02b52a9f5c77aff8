/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launcher/answers/hard_end.h"
#include "launcher/answers/held.h"
#include "launcher/answers/output.h"
#include "launcher/answers/profile.h"
#include "launcher/command/command.h"
#include "launcher/summary/summary.h"
#include "launcher/summary/summary_json.h"
#include "launcher/text/messages.h"
#include "launcher/text/text.h"
#include "storage/ask/query.h"
#include "storage/ask/questions.h"
#include "storage/read/reader.h"

struct options {
    const char *output;
    int64_t run, process;
    double timeout_s;
    const char *path;
    char *question;
    bool is_json;
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

/* "hot lines" o.db: the file may stand behind the question, where it cannot be a part of it. */
static bool is_path_last(int count, char **words) {
    const char *last = count > 1 ? words[count - 1] : "", *dot = strrchr(last, '.');
    bool is_profile = dot && strcmp(dot, ".db") == 0;
    return count > 1 && access(words[0], F_OK) < 0 &&
           (is_profile || (count == 2 && access(last, F_OK) == 0 && strpbrk(words[0], " \t")));
}

/* SQL may begin with a comment, which looks like an option. */
static void hide_comments(int argc, char **argv) {
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        char *copy;
        if (strncmp(argv[i], "--", 2) == 0 && argv[i][strcspn(argv[i], " \t\n=")] &&
            argv[i][strcspn(argv[i], " \t\n=")] != '=' && asprintf(&copy, "\n%s", argv[i]) > 0)
            argv[i] = copy; /* for the life of the process */
    }
}

static int parse(int argc, char **argv, struct options *options) {
    hide_comments(argc, argv);
    int status = parse_options(argc, argv, options);
    if (status != 0)
        return status;
    int count = argc - optind;
    char **words = argv + optind;
    bool is_last = is_path_last(count, words), is_first = !is_last && is_path(count, words);
    options->path = is_first ? words[0] : is_last ? words[count - 1] : PIE_PROFILE_DEFAULT;
    count -= is_first || is_last;
    if (count < 1)
        return pie_command_bad_words("what is asked for? query --help lists what can be");
    options->question = join(count, words + is_first);
    if (options->question && options->question[0] == '\n')
        memmove(options->question, options->question + 1, strlen(options->question));
    return options->question ? 0 : PIE_PROFILE_FAILED;
}

/* A summary has forms of its own, but as CSV, where it is the row of the run. */
static int print(const struct options *options, const struct pie_answer *answer, char **ret_message) {
    const struct pie_question *question = answer->query->question;
    bool is_summary = question && question->is_summary;
    if (is_summary && strcmp(options->output, "json") == 0)
        return pie_summary_json_print(stdout, answer, ret_message);
    if (is_summary && pie_output_find(options->output)->is_for_people)
        return pie_summary_answer(stdout, answer->reader, options->path, answer->query->run, ret_message);
    return pie_output_find(options->output)->print(stdout, answer, ret_message);
}

static int answer(struct pie_reader *reader, const struct options *options) {
    struct pie_query query;
    char *message = NULL;
    pie_hard_end_start(reader, options->timeout_s, options->is_json);
    int r = options->process ? pie_reader_cut(reader, options->run, options->process, &message) : 0;
    if (r == 0)
        r = pie_query_open(reader, options->question, options->run, &query, &message);
    if (r < 0)
        return pie_profile_complain(message);
    const struct pie_answer about = {.query = &query, .reader = reader, .words = options->question};
    r = print(options, &about, &message);
    pie_hard_end_stop();
    pie_query_close(&query);
    return pie_profile_close_output(stdout, "the answer", r < 0 ? pie_profile_complain(message) : 0);
}

void pie_cmd_query_print_questions(FILE *out) {
    size_t count;
    const struct pie_question *questions = pie_question_all(&count);
    fputs("\nQuestions: top N, all or nothing, one of\n", out);
    for (size_t i = 0; i < count; i++)
        fprintf(out, "  %s%s\n", questions[i].name, questions[i].needs ? " of X" : "");
    fputs("and then: by function, in X (a file, FILE:LINE, function, library, thread or folder), of process "
          "ID|PID.\n"
          "\"top all hot lines\" tells those beyond the first 20.\n\n"
          "  pieprof query pieprof.db \"top 10 hot lines in train.py\"\n"
          "  pieprof query pieprof.db \"redundant loads by function\" --json\n"
          "  pieprof query pieprof.db \"select * from v_process\"\n",
          out);
}

int pie_cmd_query(int argc, char **argv) {
    struct options options = {.output = "table", .timeout_s = PIE_READER_TIME_LIMIT_S};
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        options.is_json |= strcmp(argv[i], "--json") == 0;
    pie_text_set_locale();
    int status = parse(argc, argv, &options);
    if (status == 0) {
        struct pie_reader *reader = pie_profile_open(options.path);
        status = reader ? answer(reader, &options) : PIE_PROFILE_FAILED;
        pie_reader_close(reader);
    }
    if (status != 0 && options.is_json && !pie_held_has_printed()) {
        pie_json_print_error(stdout, options.question, pie_message_last());
        status = pie_profile_close_output(stdout, "the answer", status);
    }
    free(options.question);
    return status;
}
