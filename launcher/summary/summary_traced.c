/* SPDX-License-Identifier: Apache-2.0 */
#include "launcher/summary/summary_traced.h"

#include <math.h>
#include <stdlib.h>

#include "launcher/answers/traced_print.h"
#include "launcher/text/text.h"
#include "storage/read/reader.h"

/* Lines that are not calls: a blank, what is known, the head of the table. */
enum { CALLS_SHOWN = 5, LINES_AROUND = 3, PLACE_COLUMNS = 32, FUNCTION_COLUMNS = 24 };

static void print_cut(const struct pie_finding_screen *screen, const char *style, const char *text) {
    char *cut = text ? pie_text_cut_end(text, screen->columns) : NULL;
    if (cut)
        fprintf(screen->out, "%s%s%s\n", style, cut, *style ? screen->style.plain : "");
    free(cut);
}

/* Loop parse.py:7 in parse, 930 ms: sure at 95 % after 41 of 10000 iterations (2 more loops) */
static void print_heading(const struct pie_finding_screen *screen, const struct pie_traced_loop *loop) {
    char *place = pie_traced_place(loop->file, loop->line, PIE_TRACED_BASE_NAMES), *text = NULL;
    char *cut_place = place ? pie_text_cut_start(place, PLACE_COLUMNS) : NULL;
    char *function = loop->function ? pie_text_cut_end(loop->function, FUNCTION_COLUMNS) : NULL;
    char *verdict = pie_traced_verdict(loop), more[48] = "", seconds[PIE_TEXT_SECONDS_SIZE] = "unknown time";
    if (loop->count > 1)
        snprintf(more, sizeof more, " (%lld more loop%s)", (long long)loop->count - 1,
                 loop->count == 2 ? "" : "s");
    if (!isnan(loop->body_s))
        pie_text_seconds(loop->body_s, seconds);
    if (asprintf(&text, "Loop %s in %s, %s: %s%s", cut_place ? cut_place : "?", function ? function : "?",
                 seconds, verdict ? verdict : "?", more) < 0)
        text = NULL;
    fputc('\n', screen->out);
    print_cut(screen, screen->style.bold, text);
    free(place);
    free(cut_place);
    free(function);
    free(verdict);
    free(text);
}

static int print_loop(const struct pie_finding_screen *screen, const struct pie_traced_loop *loop,
                      size_t lines, char **ret_message) {
    size_t around = LINES_AROUND + (loop->note ? 1 : 0), calls = lines > around ? lines - around : 0, more;
    print_heading(screen, loop);
    if (loop->note)
        print_cut(screen, "", loop->note);
    if (calls == 0)
        return 0;
    return pie_traced_calls_print(screen, loop, PIE_TRACED_BASE_NAMES,
                                  calls < CALLS_SHOWN ? calls : CALLS_SHOWN, &more, ret_message);
}

int pie_summary_traced_print(const struct pie_finding_screen *screen, size_t lines, char **ret_message) {
    struct pie_cursor *cursor;
    int r = pie_cursor_open_once(screen->reader, pie_traced_loops_sql, &cursor, ret_message);
    if (r < 0)
        return r;
    pie_cursor_bind_int(cursor, ":run", screen->run);
    r = pie_cursor_next(cursor, ret_message);
    if (r > 0) {
        struct pie_traced_loop loop;
        pie_traced_loop_read(cursor, &loop);
        r = print_loop(screen, &loop, lines, ret_message);
        pie_traced_loop_finish(&loop);
    }
    pie_cursor_close(cursor);
    return r;
}
