/* SPDX-License-Identifier: Apache-2.0 */
#include "launcher/answers/finding.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "launcher/text/text.h"
#include "launcher/text/wrap.h"
#include "storage/read/reader.h"

enum { INDENT = 3, LABEL = 12 };

static const char source_sql[] =
    "SELECT text FROM v_source WHERE run = :run AND file = :file AND line = :line";

char *pie_finding_source(struct pie_reader *reader, int64_t run, const char *file, double line) {
    struct pie_cursor *cursor;
    char *message = NULL, *source = NULL;
    if (!reader || !file || isnan(line))
        return NULL;
    if (pie_cursor_open_once(reader, source_sql, &cursor, &message) < 0) {
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

/* What stands behind the name: "in backprop (numpy), called from train.py:7". Heap, or NULL. */
static char *title_rest(const struct pie_finding *finding) {
    bool is_function = !isnan(finding->worst_line);
    const char *function = finding->function && !is_function ? finding->function : NULL;
    const char *library = finding->library;
    char *user = NULL, *text;
    if (library && finding->user_file)
        user = pie_finding_place(finding->user_file, finding->user_line);
    text = format("%s%s%s%s%s%s%s", function ? "in " : "", function ? function : "", library ? " of " : "",
                  library ? library : "", user && (function || library) ? ", " : "",
                  user ? "called from " : "", user ? user : "");
    free(user);
    return text;
}

/* 1. conv.py:62 in backprop of numpy, called from train.py:7 */
static void print_title(const struct pie_finding_screen *screen, const struct pie_finding *finding,
                        size_t number) {
    char *whole = pie_finding_name(finding), *rest = title_rest(finding);
    size_t columns = screen->columns ? screen->columns : PIE_WRAP_UNCUT;
    int at = fprintf(screen->out, "%zu. ", number);
    char *name = whole ? pie_text_cut_start(whole, columns > (size_t)at ? columns - (size_t)at : 1) : NULL;
    fprintf(screen->out, "%s%s%s", screen->style.bold, name ? name : "?", screen->style.plain);
    pie_wrap_print(screen->out, rest ? rest : "", (size_t)at + pie_text_width(name ? name : "?"), INDENT,
                   screen->columns);
    free(whole);
    free(name);
    free(rest);
}

static void print_source(const struct pie_finding_screen *screen, const struct pie_finding *finding) {
    double line = isnan(finding->worst_line) ? finding->line : finding->worst_line;
    char *source = pie_finding_source(screen->reader, screen->run, finding->file, line);
    size_t width = screen->columns ? screen->columns : PIE_WRAP_UNCUT;
    char *cut = source ? pie_text_cut_end(source, width > 2 * INDENT ? width - INDENT : width) : NULL;
    if (cut && isnan(finding->worst_line))
        fprintf(screen->out, "%*s%s\n", INDENT, "", cut);
    else if (cut)
        print_taken(screen, "worst line", format("%.0f: %s", line, cut));
    free(cut);
    free(source);
}

enum { INTERVAL_SIZE = 64 };

/* " (2.90 to 3.40)" */
static const char *interval(double low, double high, char buffer[INTERVAL_SIZE]) {
    if (isnan(low) || isnan(high))
        return "";
    snprintf(buffer, INTERVAL_SIZE, " (%.2f to %.2f)", low, high);
    return buffer;
}

/* "3.21 s (2.90 to 3.40), 42.0 % of the run; 1.50 s (1.31 to 1.69) of it looked up again" */
static char *format_waste(const struct pie_finding *finding) {
    char waste[INTERVAL_SIZE], again[INTERVAL_SIZE];
    const char *around = interval(finding->wasted_s_low, finding->wasted_s_high, waste);
    if (isnan(finding->wasted_s))
        return format("unknown");
    if (!pie_finding_has_two_figures(finding))
        return format("%.2f s%s, %.1f %% of the run, %s", finding->wasted_s, around,
                      100 * finding->wasted_share, pie_finding_again(finding));
    return format("%.2f s%s, %.1f %% of the run; %.2f s%s of it %s", finding->wasted_s, around,
                  100 * finding->wasted_share, finding->again_s,
                  interval(finding->again_s_low, finding->again_s_high, again), pie_finding_again(finding));
}

/* What it costs, and how that is known. */
static char *figures(const struct pie_finding *finding) {
    char *waste = format_waste(finding), *text, fraction[32], traps[48] = "";
    pie_finding_fraction(finding, fraction, sizeof fraction);
    if (isnan(finding->traps) &&
        isnan(finding->redundant_fraction)) /* no watch told: the evidence says what did */
        return waste;
    if (finding->traps == 0 && isnan(finding->redundant_fraction) && finding->wasted_s == 0) {
        free(waste);
        return format("unknown: no access was watched");
    }
    if (!isnan(finding->traps))
        snprintf(traps, sizeof traps, "%.0f trap%s, ", finding->traps, finding->traps == 1 ? "" : "s");
    text = format("%s; %s of the %ss redundant (%s%s)", waste ? waste : "?", fraction,
                  finding->kind ? finding->kind : "access", traps,
                  finding->sampler ? finding->sampler : "sampler unknown");
    free(waste);
    return text;
}

/* The other end of the pairs with its source, where it is another line. */
static char *other_place(const struct pie_finding_screen *screen, const struct pie_finding *finding) {
    bool is_same = finding->file && finding->first_file && strcmp(finding->file, finding->first_file) == 0 &&
                   finding->line == finding->first_line;
    if (!finding->first_file || is_same)
        return NULL;
    char *place = pie_finding_place(finding->first_file, finding->first_line);
    char *source = pie_finding_source(screen->reader, screen->run, finding->first_file, finding->first_line);
    char *text = format("%s%s%s", place ? place : "?", source ? ": " : "", source ? source : "");
    free(place);
    free(source);
    return text;
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
    if (!pie_finding_is(finding,
                        "maybe")) /* the evidence says what it costs; what of it is waste nobody knows */
        print_taken(screen, "wasted", figures(finding));
    if (finding->verdict)
        print_taken(screen, finding->verdict, pie_finding_proof(finding));
    print_taken(screen, "paired with", other_place(screen, finding));
    print_taken(screen, "inside", native_place(finding));
    if (finding->category)
        print_labelled(screen, "category", finding->category);
    if (finding->evidence)
        print_labelled(screen, "evidence", finding->evidence);
    if (finding->advice)
        print_labelled(screen, "try", finding->advice);
}
