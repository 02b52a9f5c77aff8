/* SPDX-License-Identifier: Apache-2.0 */
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "launcher/answers/profile.h"
#include "launcher/answers/running.h"
#include "launcher/command/command.h"
#include "launcher/text/messages.h"
#include "launcher/text/text.h"
#include "launcher/text/wrap.h"
#include "launcher/top/canvas.h"
#include "launcher/top/state.h"
#include "launcher/top/terminal.h"
#include "profiler/base/clocks.h"
#include "storage/read/reader.h"

/* A run writes once a second. After each reading there is none for REST times as long as it took. */
static const double REFRESH_S = 1, REST = 4;
/* No key is heard while the file is read: it is given up after LIMIT_S, or PATIENCE times as long as it took before. */
static const double LIMIT_S = 10, PATIENCE = 4;
enum { ONCE_LINES = 24, COLUMNS_MIN = 40 };

struct top {
    struct pie_top_source source;
    struct pie_top_state state;
    char *path; /* heap */
    enum pie_top_view_id view;
    bool is_once;
    struct timespec written[2]; /* the file and its log, at the last reading */
    double next_s;              /* by CLOCK_MONOTONIC */
};

static double now_s(void) {
    return (double)pie_monotonic_ns() / PIE_NS_PER_S;
}

/* --- Reading --- */

/* Has the file or its log changed since the last look? */
static bool has_changed(struct top *top) {
    static const char *const suffixes[] = {"", "-wal"};
    bool has = false;
    for (size_t i = 0; i < 2; i++) {
        char name[PATH_MAX];
        struct stat status = {0};
        if (snprintf(name, sizeof name, "%s%s", top->path, suffixes[i]) < (int)sizeof name)
            (void)stat(name, &status);
        has = has || status.st_mtim.tv_sec != top->written[i].tv_sec ||
              status.st_mtim.tv_nsec != top->written[i].tv_nsec;
        top->written[i] = status.st_mtim;
    }
    return has;
}

/* Returns 0, or -errno and a message. */
static int read_frame(struct top *top, enum pie_top_view_id view, char **ret_message) {
    struct pie_top_frame frame;
    double began_s = now_s();
    (void)has_changed(top);
    int r = pie_top_frame_read(&top->source, view, &frame, ret_message);
    double took_s = now_s() - began_s;
    top->next_s = now_s() + (REST * took_s > REFRESH_S ? REST * took_s : REFRESH_S);
    if (r < 0)
        return r;
    top->source.limit_s = PATIENCE * took_s > LIMIT_S ? PATIENCE * took_s : LIMIT_S;
    pie_top_state_take(&top->state, &frame);
    return 0;
}

/* On the screen, a failure is a line of it: the next time may do. */
static void refresh(struct top *top, enum pie_top_view_id view) {
    char *message = NULL;
    if (read_frame(top, view, &message) == 0)
        return;
    free(top->state.trouble);
    top->state.trouble = message ? pie_text_printable(message) : NULL;
    free(message);
}

/* A process may have been killed: then nothing is written, and it does not run any more. */
static void refresh_if_due(struct top *top) {
    if (top->state.is_paused || now_s() < top->next_s)
        return;
    if (top->state.frame.header.is_running || has_changed(top))
        refresh(top, top->state.frame.view);
    else
        top->next_s = now_s() + REFRESH_S;
}

/* --- The screen --- */

static int run_screen(struct top *top, struct pie_top_canvas *canvas) {
    enum pie_top_next next = PIE_TOP_GO_ON;
    while (next != PIE_TOP_QUIT && pie_top_terminal_signal() == 0) {
        pie_top_terminal_begin();
        pie_top_draw(canvas, &top->state, &top->source);
        pie_top_terminal_show();
        double wait_s = top->next_s - now_s();
        unsigned key = pie_top_terminal_key(top->state.is_paused ? -1 : wait_s > 0 ? wait_s : 0);
        next = key == PIE_TOP_KEY_NONE ? PIE_TOP_GO_ON : pie_top_key(&top->state, &top->source, key);
        if (next == PIE_TOP_READ)
            refresh(top, top->state.wanted);
        else
            refresh_if_due(top);
    }
    return pie_top_terminal_signal();
}

static int show(struct top *top) {
    struct pie_top_canvas *canvas;
    char *message = NULL;
    if (pie_top_terminal_open(&canvas, &message) < 0)
        return pie_profile_complain(message);
    int signal_number = run_screen(top, canvas);
    pie_top_terminal_close();
    if (signal_number) { /* who waits for this process learns how it ended */
        signal(signal_number, SIG_DFL);
        raise(signal_number);
    }
    return 0;
}

static int show_once(struct top *top) {
    size_t columns = pie_text_columns(stdout);
    columns = columns ? columns : PIE_WRAP_COLUMNS_OF_A_FILE;
    struct pie_top_canvas *canvas =
        pie_top_page_create(ONCE_LINES, columns > COLUMNS_MIN ? columns : COLUMNS_MIN);
    if (!canvas)
        return pie_profile_complain(NULL);
    pie_top_draw_once(canvas, &top->state, &top->source);
    pie_top_page_write(canvas, stdout);
    return pie_profile_close_output(stdout, "the screen", 0);
}

/* --- The command line --- */

static int take_filter(struct top *top, const char *text) {
    char *clean = pie_text_printable(text);
    bool fits = clean && strlen(clean) < sizeof top->state.filter;
    if (fits)
        strcpy(top->state.filter, clean);
    free(clean);
    return fits ? 0 : -EINVAL;
}

static int parse_options(int argc, char **argv, struct top *top) {
    static const struct option names[] = {
        {"once", no_argument, NULL, '1'},         {"view", required_argument, NULL, 'v'},
        {"run", required_argument, NULL, 'r'},    {"process", required_argument, NULL, 'p'},
        {"filter", required_argument, NULL, 'f'}, {0},
    };
    int view = PIE_TOP_FUNCTIONS;
    opterr = 0;
    optind = 0;
    for (int option; (option = getopt_long(argc, argv, "", names, NULL)) != -1;) {
        if (option == '1')
            top->is_once = true;
        else if (option == 'v' && (view = pie_top_view_find(optarg)) < 0)
            return pie_command_bad_words(
                "there is no view %.40s: functions, lines, threads, memory, findings", optarg);
        else if (option == 'f' && take_filter(top, optarg) < 0)
            return pie_command_bad_words("the filter is too long");
        else if (option == 'r' && pie_profile_parse_run(optarg, &top->source.run) < 0)
            return PIE_PROFILE_USAGE;
        else if (option == 'p' && pie_profile_parse_process(optarg, &top->source.process) < 0)
            return PIE_PROFILE_USAGE;
        else if (option == '?')
            return pie_command_bad_option(argc, argv);
    }
    top->view = (enum pie_top_view_id)view;
    return argc - optind > 1 ? pie_command_bad_words("one profile or process at a time") : 0;
}

static bool is_pid(const char *word) {
    return isdigit((unsigned char)*word) && word[strspn(word, "0123456789")] == 0 && access(word, F_OK) < 0;
}

static int find_profile(struct top *top, const char *word) {
    top->path = pie_running_find("top", word);
    if (!top->path)
        return PIE_PROFILE_FAILED;
    top->source.path = top->path;
    top->source.pid = is_pid(word) ? strtol(word, NULL, 10) : 0;
    return 0;
}

int pie_cmd_top(int argc, char **argv) {
    struct top top = {.view = PIE_TOP_FUNCTIONS, .source.limit_s = PIE_READER_TIME_LIMIT_S};
    char *message = NULL;
    pie_text_set_locale();
    pie_top_state_init(&top.state);
    int status = parse_options(argc, argv, &top);
    if (status == 0)
        status = find_profile(&top, optind < argc ? argv[optind] : PIE_PROFILE_DEFAULT);
    if (status == 0 && read_frame(&top, top.view, &message) < 0)
        status = pie_profile_complain(message);
    if (status == 0)
        status = top.is_once ? show_once(&top) : show(&top);
    pie_top_state_finish(&top.state);
    free(top.path);
    return status;
}
