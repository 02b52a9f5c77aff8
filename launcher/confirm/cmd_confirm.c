/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launcher/answers/profile.h"
#include "launcher/command/command.h"
#include "launcher/confirm/confirm.h"
#include "launcher/session/board.h"
#include "launcher/text/messages.h"
#include "launcher/text/text.h"
#include "storage/read/reader.h"
#include "storage/write/counted.h"

/* A second run of the program that counts all calls of the lines that findings name. The exit status is the program's
 * own. What it counted goes into the profile, whose findings are then confirmed or refuted (views/confirm.sql). */

enum { NS_PER_S = 1000000000, SIGNAL_STATUS = 128 };

struct words {
    const char *path;
    int64_t run, finding;
    char **script; /* after "--", or NULL */
};

static int parse_finding(const char *text, int64_t *ret_finding) {
    char *end;

    errno = 0;
    long long finding = strtoll(text, &end, 10);
    if (errno != 0 || *end != 0 || end == text || finding < 1) {
        pie_message_error("%s is not the number of a finding; the question \"redundancy\" lists them", text);
        return -EINVAL;
    }
    *ret_finding = finding;
    return 0;
}

static int parse(int argc, char **argv, struct words *words) {
    static const struct option names[] = {
        {"run", required_argument, NULL, 'r'},
        {"finding", required_argument, NULL, 'f'},
        {0},
    };
    int ours = 1;

    while (ours < argc && strcmp(argv[ours], "--") != 0)
        ours++;
    words->script = ours < argc ? argv + ours + 1 : NULL;
    opterr = 0;
    optind = 0;
    for (int option; (option = getopt_long(ours, argv, "", names, NULL)) != -1;) {
        if (option == 'r' && pie_profile_parse_run(optarg, &words->run) < 0)
            return PIE_PROFILE_USAGE;
        else if (option == 'f' && parse_finding(optarg, &words->finding) < 0)
            return PIE_PROFILE_USAGE;
        else if (option == '?')
            return pie_command_bad_option(ours, argv);
    }
    if (ours - optind > 1)
        return pie_command_bad_words("one file at a time; the program's words stand behind --");
    if (words->script && !*words->script)
        return pie_command_bad_words("no script behind --");
    if (ours > optind)
        words->path = argv[optind];
    return 0;
}

/* --- What was counted, into the profile --- */

static uint64_t to_ns(double s) {
    return (uint64_t)(s * NS_PER_S);
}

static bool is_whole(const struct pie_confirm_board *board) {
    return board->is_counting && !board->has_others && !board->is_short && board->forks == 0;
}

static struct pie_counted of_line(const struct pie_confirm_board *board, uint32_t i, uint64_t run_ns) {
    return (struct pie_counted){.file = board->lines[i].file,
                                .line = board->lines[i].line,
                                .callee = "",
                                .is_whole = is_whole(board),
                                .run_ns = run_ns};
}

static struct pie_counted of_row(const struct pie_confirm_board *board, uint32_t i, uint64_t run_ns) {
    const struct pie_confirm_row *row = &board->rows[i];
    struct pie_counted counted = of_line(board, row->line, run_ns);

    counted.callee = row->callee;
    counted.is_item = row->is_item;
    counted.has_more = row->has_more;
    counted.calls = row->calls;
    counted.raised = row->raised;
    counted.compared = row->compared;
    counted.distinct_args = row->distinct_args;
    counted.distinct_results = row->distinct_results;
    counted.again = row->again;
    counted.alike = row->alike;
    counted.singles = row->singles;
    counted.call_ns = row->call_ns;
    counted.again_ns = row->again_ns;
    counted.alike_ns = row->alike_ns;
    counted.single_ns = row->single_ns;
    counted.bulk_ns = row->bulk_ns;
    counted.grew = row->grew;
    counted.arg_bytes = row->arg_bytes;
    return counted;
}

static int keep(const char *path, const struct pie_confirm_plan *plan, double cpu_s) {
    const struct pie_confirm_board *board = plan->board;
    struct pie_counted *rows = calloc(board->n_lines + board->n_rows, sizeof *rows);
    char *message = NULL;
    size_t count = 0;

    if (!rows)
        return pie_profile_complain(NULL);
    for (uint32_t i = 0; i < board->n_lines; i++)
        if (board->lines[i].has_code)
            rows[count++] = of_line(board, i, to_ns(cpu_s));
    for (uint32_t i = 0; i < board->n_rows; i++)
        rows[count++] = of_row(board, i, to_ns(cpu_s));
    int r = pie_counted_write(path, plan->process, rows, count, &message);
    free(rows);
    return r < 0 ? pie_profile_complain(message) : 0;
}

/* --- From the words to the verdict --- */

static int status_of(int wait_status) {
    return WIFSIGNALED(wait_status) ? SIGNAL_STATUS + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

static int run_and_tell(const char *path, const struct pie_confirm_plan *plan, int fd) {
    struct pie_confirm_end end = {0};

    pie_confirm_tell_cost(plan);
    int r = pie_confirm_start(plan, fd, &end);
    if (r < 0) {
        pie_message_error("cannot run the program: %s", strerror(-r));
        return PIE_PROFILE_FAILED;
    }
    if (!plan->board->is_counting)
        pie_message_error("the program's calls could not be counted; nothing is confirmed");
    else if (keep(path, plan, end.cpu_s) == 0 && pie_confirm_tell(path, plan) == 0) {
        pie_confirm_tell_absent(plan->board, status_of(end.wait_status));
        pie_confirm_tell_gaps(plan->board, status_of(end.wait_status));
    }
    return status_of(end.wait_status);
}

static int plan_of(const struct words *words, struct pie_confirm_plan *plan) {
    struct pie_reader *reader = pie_profile_open(words->path);
    char *message = NULL;

    if (!reader)
        return PIE_PROFILE_FAILED;
    int status = pie_reader_get_run(reader, words->run, &plan->run, &message) < 0
                     ? pie_profile_complain(message)
                     : pie_confirm_plan_make(reader, words->finding, words->script, plan);
    pie_reader_close(reader);
    if (status == 0 && pie_counted_check(words->path, &message) < 0)
        status = pie_profile_complain(message);
    return status;
}

int pie_cmd_confirm(int argc, char **argv) {
    struct words words = {.path = PIE_PROFILE_DEFAULT};
    struct pie_confirm_plan plan = {0};
    int fd = -1, status = parse(argc, argv, &words);

    pie_text_set_locale();
    if (status != 0)
        return status;
    int r = pie_confirm_board_create(&plan.board, &fd);
    if (r < 0) {
        pie_message_error("no memory for the counts: %s", strerror(-r));
        return PIE_PROFILE_FAILED;
    }
    status = plan_of(&words, &plan);
    if (status == 0)
        status = run_and_tell(words.path, &plan, fd);
    pie_confirm_plan_finish(&plan);
    return status;
}
