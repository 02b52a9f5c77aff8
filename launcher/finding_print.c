/* SPDX-License-Identifier: Apache-2.0 */
#include "launcher/finding.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "launcher/text.h"
#include "launcher/wrap.h"
#include "storage/reader.h"

enum { INDENT = 3, LABEL = 10 };

static const char source_sql[] =
    "SELECT text FROM v_source WHERE run = :run AND file = :file AND line = :line";

char *pie_finding_source(struct pie_reader *reader, int64_t run, const char *file, double line) {
    struct pie_cursor *cursor;
    char *message = NULL, *source = NULL;
    if (!reader || !file || isnan(line))
        return NULL;
    if (pie_cursor_open(reader, source_sql, &cursor, &message) < 0) {
        free(message);
        return NULL;
    }
    pie_cursor_bind_int(cursor, ":run", run);
    pie_cursor_bind_int(cursor, ":line", (int64_t)line);
    pie_cursor_bind_text(cursor, ":file", file);
    const char *text = pie_cursor_next(cursor, &message) > 0 ? pie_cursor_text(cursor, 0) : NULL;
    if (text)
        source = pie_text_printable(text + strspn(text, " \t"));
    free(message);
    pie_cursor_close(cursor);
    return source;
}

static void print_labelled(const struct pie_finding_screen *screen, const char *label, const char *text) {
    fprintf(screen->out, "%*s%s%-*s%s", INDENT, "", screen->style.dim, LABEL, label, screen->style.plain);
    pie_wrap_print(screen->out, text, INDENT + LABEL, INDENT + LABEL, screen->columns);
}

/* Takes `text`, heap or NULL. */
static void print_taken(const struct pie_finding_screen *screen, const char *label, char *text) {
    if (text)
        print_labelled(screen, label, text);
    free(text);
}

static char *format(const char *format, ...) __attribute__((format(printf, 1, 2)));

static char *format(const char *format, ...) {
    char *text;
    va_list args;
    va_start(args, format);
    int size = vasprintf(&text, format, args);
    va_end(args);
    return size < 0 ? NULL : text;
}

/* 1. conv.py:62 in backprop (numpy), called from train.py:7 */
static void print_title(const struct pie_finding_screen *screen, const struct pie_finding *finding,
                        size_t number) {
    char *place = pie_finding_place(finding->file, finding->line), *rest = NULL, *user = NULL;
    if (finding->user_file && finding->library)
        user = pie_finding_place(finding->user_file, finding->user_line);
    const char *function = finding->function ? finding->function : "";
    const char *library = finding->library ? finding->library : "";
    rest = format("%s%s%s%s%s%s%s", *function ? "in " : "", function, *library ? " (" : "", library,
                  *library ? ")" : "", user ? ", called from " : "", user ? user : "");
    int at = fprintf(screen->out, "%zu. ", number);
    fprintf(screen->out, "%s%s%s ", screen->style.bold, place ? place : "?", screen->style.plain);
    pie_wrap_print(screen->out, rest ? rest : "", (size_t)at + pie_text_width(place ? place : "?") + 1,
                   INDENT, screen->columns);
    free(place);
    free(rest);
    free(user);
}

static void print_source(const struct pie_finding_screen *screen, const struct pie_finding *finding) {
    char *source = pie_finding_source(screen->reader, screen->run, finding->file, finding->line);
    size_t width = screen->columns ? screen->columns : PIE_WRAP_COLUMNS_OF_A_FILE;
    char *cut = source ? pie_text_cut_end(source, width > 2 * INDENT ? width - INDENT : width) : NULL;
    if (cut)
        fprintf(screen->out, "%*s%s\n", INDENT, "", cut);
    free(cut);
    free(source);
}

/* What it costs, and how that is known. */
static char *figures(const struct pie_finding *finding) {
    char fraction[32], traps[48] = "";
    pie_finding_fraction(finding, fraction, sizeof fraction);
    if (!isnan(finding->traps))
        snprintf(traps, sizeof traps, "%.0f trap%s, ", finding->traps, finding->traps == 1 ? "" : "s");
    const char *kind = finding->kind ? finding->kind : "access";
    const char *sampler = finding->sampler ? finding->sampler : "unknown";
    if (isnan(finding->wasted_s))
        return format("%s of the %ss redundant (%s%s)", fraction, kind, traps, sampler);
    return format("%.3f s, %.1f %% of the run; %s of the %ss redundant (%s%s)", finding->wasted_s,
                  100 * finding->wasted_share, fraction, kind, traps, sampler);
}

/* The other end of the pair, where it is another line. */
static char *first_place(const struct pie_finding *finding) {
    bool is_same = finding->file && finding->first_file && strcmp(finding->file, finding->first_file) == 0 &&
                   finding->line == finding->first_line;
    return finding->first_file && !is_same ? pie_finding_place(finding->first_file, finding->first_line)
                                           : NULL;
}

static char *native_place(const struct pie_finding *finding) {
    const char *function = finding->native_function, *library = finding->native_library;
    if (!function && !library)
        return NULL;
    return format("%s%s%s%s", function ? function : "", function && library ? " (" : "",
                  library ? pie_text_short_path(library) : "", function && library ? ")" : "");
}

void pie_finding_print(const struct pie_finding_screen *screen, const struct pie_finding *finding,
                       size_t number) {
    print_title(screen, finding, number);
    print_source(screen, finding);
    print_taken(screen, "wasted", figures(finding));
    print_taken(screen, "first at", first_place(finding));
    print_taken(screen, "inside", native_place(finding));
    if (finding->category)
        print_labelled(screen, "category", finding->category);
    if (finding->evidence)
        print_labelled(screen, "evidence", finding->evidence);
    if (finding->advice)
        print_labelled(screen, "try", finding->advice);
}
