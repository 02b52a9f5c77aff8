/* SPDX-License-Identifier: Apache-2.0 */
#include "launcher/answers/report_traced.h"

#include <math.h>
#include <stdlib.h>

#include "launcher/answers/traced_print.h"
#include "launcher/text/text.h"
#include "launcher/text/wrap.h"
#include "storage/read/reader.h"

/* Loops of a pool of processes are many, and alike. */
enum { LOOPS_SHOWN = 5, CALLS_SHOWN = 10, ALL = 1000000, INDENT = 2 };

/* "Loop parse.py:7 in parse of process 4102"; heap, or NULL. */
static char *name_of(const struct pie_traced_loop *loop) {
    char *place = pie_traced_place(loop->file, loop->line, PIE_TRACED_SHORT_PATHS), *text = NULL;
    char process[48] = "";
    if (loop->is_one_of_processes)
        snprintf(process, sizeof process, " of process %lld", (long long)loop->pid);
    if (asprintf(&text, "Loop %s in %s%s", place ? place : "?", loop->function ? loop->function : "?",
                 process) < 0)
        text = NULL;
    free(place);
    return text;
}

/* 930 ms in the body, entered 4 times; sure at 95 % after 41 of 10000 iterations */
static void print_facts(const struct pie_finding_screen *screen, const struct pie_traced_loop *loop,
                        size_t at) {
    char *verdict = pie_traced_verdict(loop), *entered = pie_traced_count(loop->entries, "time"), *text;
    char seconds[PIE_TEXT_SECONDS_SIZE] = "unknown time";
    if (!isnan(loop->body_s))
        pie_text_seconds(loop->body_s, seconds);
    if (asprintf(&text, "%s in the body%s%s; %s", seconds, loop->entries > 1 ? ", entered " : "",
                 loop->entries > 1 && entered ? entered : "", verdict ? verdict : "?") < 0)
        text = NULL;
    pie_wrap_print(screen->out, text ? text : "?", at, INDENT, screen->columns);
    free(verdict);
    free(entered);
    free(text);
}

static void print_source(const struct pie_finding_screen *screen, const struct pie_traced_loop *loop) {
    char *source =
        loop->file ? pie_finding_source(screen->reader, screen->run, loop->file, loop->line) : NULL;
    char *cut =
        source && screen->columns > INDENT ? pie_text_cut_end(source, screen->columns - INDENT) : NULL;
    if (source)
        fprintf(screen->out, "%*s%s%s%s\n", INDENT, "", screen->style.dim, cut ? cut : source,
                screen->style.plain);
    free(source);
    free(cut);
}

static int print_loop(const struct pie_finding_screen *screen, const struct pie_traced_loop *loop, bool all,
                      char **ret_message) {
    char *name = name_of(loop);
    size_t more = 0;
    fprintf(screen->out, "\n%s%s%s:", screen->style.bold, name ? name : "Loop", screen->style.plain);
    print_facts(screen, loop, pie_text_width(name ? name : "Loop") + 1);
    print_source(screen, loop);
    free(name);
    if (loop->note) {
        fprintf(screen->out, "%*s", INDENT, "");
        pie_wrap_print(screen->out, loop->note, INDENT, INDENT, screen->columns);
    }
    int r = pie_traced_calls_print(screen, loop, PIE_TRACED_SHORT_PATHS, all ? ALL : CALLS_SHOWN, &more,
                                   ret_message);
    if (more > 0)
        fprintf(screen->out, "%zu more: --all shows them\n", more);
    return r;
}

int pie_report_traced_print(const struct pie_finding_screen *screen, bool all, char **ret_message) {
    struct pie_cursor *cursor;
    int64_t left_out = 0;
    int next = 0, r = pie_cursor_open(screen->reader, pie_traced_loops_sql, &cursor, ret_message);
    if (r < 0)
        return r;
    pie_cursor_bind_int(cursor, ":run", screen->run);
    while (r == 0 && left_out == 0 && (next = pie_cursor_next(cursor, ret_message)) > 0) {
        struct pie_traced_loop loop;
        pie_traced_loop_read(cursor, &loop);
        if (all || loop.nth <= LOOPS_SHOWN)
            r = print_loop(screen, &loop, all, ret_message);
        else
            left_out = loop.count - LOOPS_SHOWN;
        pie_traced_loop_finish(&loop);
    }
    pie_cursor_close(cursor);
    if (left_out > 0)
        fprintf(screen->out, "\n%lld more traced loop%s: --all shows %s\n", (long long)left_out,
                left_out == 1 ? "" : "s", left_out == 1 ? "it" : "them");
    return r < 0 ? r : next < 0 ? next : 0;
}
