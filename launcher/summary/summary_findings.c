/* SPDX-License-Identifier: Apache-2.0 */
#include "launcher/summary/summary_findings.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "launcher/summary/summary_together.h"
#include "launcher/text/text.h"
#include "launcher/text/wrap.h"
#include "profiler/ports/sink.h"
#include "profiler/watch/watch.h"
#include "storage/read/reader.h"
#include "storage/read/shared_waste.h"

/* Lines: the findings, and the advice for the first of them. */
enum { FINDINGS_SHOWN = 3, ADVICE_LINES = 2, UNDECIDED_SHOWN = 2, INDENT = 4, PLACE_COLUMNS = 40 };

/* Bytes of the beginning of `text` that ends at a blank and takes at most `width` columns; all of it where there is no
 * such blank. */
static size_t fitting_words(const char *text, size_t width) {
    size_t size = 0, next = 0;
    do {
        next += text[next] == ' ';
        next += strcspn(text + next, " ");
        char *head = strndup(text, next);
        bool fits = head && pie_text_width(head) <= width;
        free(head);
        if (!fits)
            break;
        size = next;
    } while (text[next]);
    return size ? size : strlen(text);
}

/* The last line is cut where the text does not fit. */
static void print_advice(const struct pie_finding_screen *screen, const char *text, int lines) {
    size_t width = screen->columns - INDENT;
    size_t wrapped = screen->columns == PIE_WRAP_UNCUT ? PIE_WRAP_COLUMNS_OF_A_FILE - INDENT : width;
    for (int line = 1; *text; line++) {
        size_t size = line < lines ? fitting_words(text, wrapped) : strlen(text);
        char *head = strndup(text, size), *cut = head ? pie_text_cut_end(head, width) : NULL;
        fprintf(screen->out, "%*s%s\n", INDENT, "", cut ? cut : "");
        free(head);
        free(cut);
        text += size;
        text += strspn(text, " ");
    }
}

/* Files are printed without their folders here, as in the rest of the summary. */
static const char *base_name(const char *path) {
    const char *slash = path ? strrchr(path, '/') : NULL;
    return slash ? slash + 1 : path;
}

/* "example.py:12", "transforms.py:1973 of matplotlib, called from plot.py:7"; heap, or NULL. */
static char *place_of(const struct pie_finding *finding) {
    char *place = pie_finding_place(base_name(finding->file), finding->line), *user = NULL, *text = NULL;
    char *cut = place ? pie_text_cut_start(place, PLACE_COLUMNS) : NULL;
    if (finding->library && finding->user_file)
        user = pie_finding_place(base_name(finding->user_file), finding->user_line);
    if (cut && asprintf(&text, "%s%s%s%s%s", cut, finding->library ? " of " : "",
                        finding->library ? finding->library : "", user ? ", called from " : "",
                        user ? user : "") < 0)
        text = NULL;
    free(place);
    free(cut);
    free(user);
    return text;
}

/* example.py:12: 42 % of the run wasted: slice underutilization (2.10 s, 0.84 s looked up again) */
static void print_finding(const struct pie_finding_screen *screen, const struct pie_finding *finding) {
    char *place = place_of(finding), *line = NULL, part[32] = "";
    if (pie_finding_has_two_figures(finding))
        snprintf(part, sizeof part, ", %.2f s", finding->again_s);
    if (place &&
        asprintf(&line, "%s: %.0f %% of the run wasted: %s (%.2f s%s %s)", place, 100 * finding->wasted_share,
                 finding->category ? finding->category : "category unknown", finding->wasted_s, part,
                 pie_finding_again(finding)) < 0)
        line = NULL;
    char *cut = line ? pie_text_cut_end(line, screen->columns) : NULL;
    if (cut)
        fprintf(screen->out, "%s%s%s\n", screen->style.bold, cut, screen->style.plain);
    free(line);
    free(cut);
    free(place);
}

/* The findings; where there are none, what is undecided. Each line once, by its costliest finding. A library's line is
 * printed unless the user's own line, which represents it too, is.
 *
 * What may be a tenth of the run is undecided, by the upper end of its interval; of what has the category, by that of
 * the comparisons, since otherwise each costly line with a comparison would be named. Fewer than three are a
 * coincidence, as at imports. Where no call is made again, that is said instead (heavy_sql).
 *
 * One statement: to prepare and to work out all findings is half of what the summary takes. */
static_assert(FINDINGS_SHOWN == 3 && UNDECIDED_SHOWN == 2, "as in the statement");
static const char
    findings_begin[] =
        "WITH high AS MATERIALIZED (SELECT *, 0 AS is_thin, 1 AS is_high FROM x_high_finding WHERE run = "
        ":run),"
        " low AS MATERIALIZED (SELECT v.*, NULL AS own_file, NULL AS own_line, NULL AS nth, NULL AS has_own,"
        " v.traps < t.high_traps AS is_thin, 0 AS is_high, min(v.rank)"
        " FROM v_redundancy v JOIN x_threshold t JOIN x_total a ON a.run = v.run WHERE v.run = :run"
        " AND v.severity = 'low' AND v.library IS NULL AND (v.traps >= t.category_traps_min OR v.is_known)"
        " AND 1e9 * iif(v.category = 'undecided', v.again_s_high, v.wasted_s_high) >= 0.1 * a.cpu_ns"
        " AND NOT EXISTS (SELECT 1 FROM high) GROUP BY v.file, v.line),"
        " wasteful AS MATERIALIZED (SELECT * FROM x_wasteful_line WHERE run = :run"
        " AND (SELECT count(*) FROM high) > 1),",
    findings_end[] =
        ", heavy AS MATERIALIZED (SELECT file, line FROM x_heavy_line WHERE run = :run AND new_calls > 0)"
        " SELECT s.*, NULL, t.all_lines, t.all_s, t.all_s_low, t.all_s_high, t.all_share, t.is_shared"
        " FROM (SELECT * FROM high ORDER BY rank LIMIT :limit) s"
        " LEFT JOIN wasted_together t ON t.all_lines > 1"
        " UNION ALL SELECT *, NULL, NULL, NULL, NULL, NULL, NULL FROM"
        " (SELECT * FROM low f WHERE NOT (category = 'undecided' AND EXISTS (SELECT 1 FROM heavy h"
        " WHERE h.file = f.file AND h.line = f.line)) ORDER BY rank LIMIT iif(:limit = 3, 2, 1))";

/* A column of findings_sql that a finding has not. */
static bool is_true_in(struct pie_cursor *row, const char *name) {
    for (int i = 0; i < pie_cursor_column_count(row); i++)
        if (strcmp(pie_cursor_column_name(row, i), name) == 0)
            return pie_cursor_int(row, i) != 0;
    return false;
}

/* What is made of the format, wrapped; all lines but the first are indented. */
__attribute__((format(printf, 2, 3))) static void print_sentence(const struct pie_finding_screen *screen,
                                                                 const char *format, ...) {
    va_list values;
    char *text = NULL;

    va_start(values, format);
    int size = vasprintf(&text, format, values);
    va_end(values);
    if (size < 0)
        return;
    pie_wrap_print(screen->out, text, 0, INDENT, screen->columns);
    free(text);
}

/* How to decide. Heap, or NULL. A second run counts calls; with which Pythons it can, it reports itself. */
static char *what_decides(const struct pie_finding_screen *screen, const struct pie_finding *finding,
                          bool is_thin) {
    const char *base = base_name(finding->file);
    char *path = pie_text_printable(pie_text_short_path(screen->path)), *text = NULL;
    int size =
        is_thin
            ? asprintf(&text, "only %.0f comparison%s tell%s of it: profile a longer run, with more data",
                       finding->traps, finding->traps == 1 ? "" : "s", finding->traps == 1 ? "s" : "")
            : asprintf(&text,
                       "%.0f comparisons do not decide: count its calls with \"pieprof confirm "
                       "%s --finding %.0f\", or see \"pairs of %s:%.0f\"",
                       finding->traps, path ? path : "?", finding->rank, base ? base : "?", finding->line);
    free(path);
    return size < 0 ? NULL : text;
}

/* example.py:12 may waste up to 42 % of the run, but only 7 comparisons tell of it: profile a longer run, … */
static void print_undecided_line(const struct pie_finding_screen *screen, const struct pie_finding *finding,
                                 bool is_thin) {
    char *place = place_of(finding), *how = what_decides(screen, finding, is_thin), share[32] = "a part";

    if (finding->wasted_s > 0) /* the only figure of the run's time that there is here */
        snprintf(share, sizeof share, "up to %.0f %%",
                 fmin(100, 100 * finding->wasted_share * finding->wasted_s_high / finding->wasted_s));
    print_sentence(screen, "%s may waste %s of the run, but %s", place ? place : "?", share, how ? how : "?");
    free(place);
    free(how);
}

/* example.py:12 takes 42 % of the run: 97 % of its time is in convolve() of numpy, for which there often is … */
static void print_known_line(const struct pie_finding_screen *screen, const struct pie_finding *finding) {
    const char *evidence = finding->evidence ? finding->evidence : "?";
    char *place = place_of(finding);

    print_sentence(screen, "%s takes %.0f %% of the run: %.*s", place ? place : "?",
                   100 * finding->wasted_share * finding->cpu_s / finding->wasted_s,
                   (int)strcspn(evidence, ";"), evidence);
    if (finding->advice)
        print_advice(screen, finding->advice, ADVICE_LINES);
    free(place);
}

/* What is being printed, below `above` lines of other findings. */
struct part {
    const struct pie_finding_screen *screen;
    size_t above;
    int count;
    char *together; /* of all findings; heap, or NULL */
    bool has_high;
};

static void begin_finding(struct part *part) {
    fputs(part->count++ == 0 && part->above == 0 ? "\n" : "", part->screen->out);
}

/* How many were printed, or -errno. */
static int print_part(struct part *part, const char *sql, int64_t limit, pie_finding_visit *print,
                      char **ret_message) {
    int r = pie_finding_each(part->screen->reader, sql, part->screen->run, limit, print, part, ret_message);

    return r < 0 ? r : part->count;
}

static_assert(PIE_WATCH_REDUNDANT == 1 && PIE_WATCH_CHANGED == 2 && PIE_COPY_SHIFT == 4,
              "as in seen_sql, copies_sql and state_sql");

/* Watches that can count for a finding, each for two lines at most, and how many a line needs. */
static const char seen_sql[] = "SELECT 2 * sum(w.watches) >= t.high_traps FROM x_threshold t JOIN process p "
                               "JOIN watch w ON w.process = p.id"
                               " WHERE p.run = :run AND w.outcome IN (1, 2)";

/* Blocks that may grow and copies that shift, for which no watch is needed. */
static const char copies_sql[] = "SELECT (SELECT sum(a.rises) FROM process p JOIN allocation a ON a.process "
                                 "= p.id WHERE p.run = :run) >= line_rises"
                                 " OR EXISTS (SELECT 1 FROM process p JOIN copy c ON c.process = p.id WHERE "
                                 "p.run = :run AND c.estimate & 4)"
                                 " FROM x_growth_threshold";

/* Lists that are searched, and arguments that grow: samples of time tell them. */
static const char reads_sql[] =
    "SELECT EXISTS (SELECT 1 FROM process p JOIN reading r ON r.process = p.id"
    " JOIN x_reading_threshold t WHERE p.run = :run AND r.same + r.rises >= t.samples)";

/* What the findings are made of; most of their views are above it. */
static const char told_sql[] = "SELECT EXISTS (SELECT 1 FROM x_told_finding WHERE run = :run)";

/* To find out that there are none takes as long as to find some, and a short run has not seen enough. 1, 0 or
 * -errno. */
static int is_true(const struct pie_finding_screen *screen, const char *sql, char **ret_message) {
    struct pie_cursor *cursor;
    int r = pie_cursor_open_once(screen->reader, sql, &cursor, ret_message);
    if (r < 0)
        return r;
    pie_cursor_bind_int(cursor, ":run", screen->run);
    r = pie_cursor_next(cursor, ret_message);
    if (r > 0)
        r = pie_cursor_int(cursor, 0) != 0;
    pie_cursor_close(cursor);
    return r;
}

static void print_one_finding(void *context, const struct pie_finding *finding, struct pie_cursor *row) {
    struct part *part = context;

    begin_finding(part);
    if (is_true_in(row, "is_known")) {
        print_known_line(part->screen, finding);
        return;
    }
    if (!is_true_in(row, "is_high")) {
        print_undecided_line(part->screen, finding, is_true_in(row, "is_thin"));
        return;
    }
    part->has_high = true;
    print_finding(part->screen, finding);
    if (part->count == 1)
        part->together = pie_summary_together_text(part->screen, row);
    if (part->count == 1 && finding->advice)
        print_advice(part->screen, finding->advice, part->above < FINDINGS_SHOWN ? ADVICE_LINES : 1);
}

/* As print_part(). */
static int print_told(struct part *part, char **ret_message) {
    int64_t limit = part->above < FINDINGS_SHOWN ? FINDINGS_SHOWN - (int64_t)part->above : 1;
    char *sql = NULL;

    if (asprintf(&sql, "%s%s%s", findings_begin, pie_shared_waste_sql, findings_end) < 0)
        return -ENOMEM;
    int r = print_part(part, sql, limit, print_one_finding, ret_message);
    free(sql);
    return r;
}

/* How many were printed, or -errno. */
static int print_findings(const struct pie_finding_screen *screen, size_t above, bool *ret_has_high,
                          char **ret_message) {
    struct part part = {.screen = screen, .above = above};
    int r = is_true(screen, seen_sql, ret_message);
    if (r == 0)
        r = is_true(screen, copies_sql, ret_message);
    if (r == 0)
        r = is_true(screen, reads_sql, ret_message);
    if (r > 0)
        r = is_true(screen, told_sql, ret_message);
    if (r > 0)
        r = print_told(&part, ret_message);
    if (part.together)
        fprintf(screen->out, "%s\n", part.together);
    free(part.together);
    *ret_has_high = part.has_high;
    return r;
}

/* To look for them costs little where there are none. */
static const char passes_sql[] = "SELECT EXISTS (SELECT 1 FROM x_passing_finding WHERE run = :run)";

static const char maybe_sql[] =
    "WITH found AS MATERIALIZED (SELECT * FROM v_redundancy WHERE run = :run AND severity IN ('high', "
    "'maybe'))"
    " SELECT * FROM found f WHERE severity = 'maybe' AND NOT EXISTS (SELECT 1 FROM found h WHERE"
    " h.severity = 'high' AND (h.file = f.file AND h.line = f.line OR h.user_file = f.file AND h.user_line = "
    "f.line))"
    " ORDER BY rank LIMIT 1";

/* example.py:7: perhaps needless: about 3000 passes over the same 4 MB, which did not change */
static void print_maybe_line(const struct pie_finding_screen *screen, const struct pie_finding *finding) {
    char *place = place_of(finding), *line = NULL;
    const char *evidence = finding->evidence ? finding->evidence : "";
    if (place &&
        asprintf(&line, "%s: perhaps needless: %.*s", place, (int)strcspn(evidence, ":"), evidence) < 0)
        line = NULL;
    char *cut = line ? pie_text_cut_end(line, screen->columns) : NULL;
    if (cut)
        fprintf(screen->out, "%s\n", cut);
    if (finding->advice)
        print_advice(screen, finding->advice, ADVICE_LINES);
    free(line);
    free(cut);
    free(place);
}

static void print_one_maybe(void *context, const struct pie_finding *finding, struct pie_cursor *row) {
    struct part *part = context;

    (void)row;
    begin_finding(part);
    print_maybe_line(part->screen, finding);
}

/* One line at most, of what may be waste. How many were printed, or -errno. */
static int print_maybe(const struct pie_finding_screen *screen, size_t above, char **ret_message) {
    struct part part = {.screen = screen, .above = above};
    int r = is_true(screen, passes_sql, ret_message);

    return r <= 0 ? r : print_part(&part, maybe_sql, 1, print_one_maybe, ret_message);
}

static const char state_sql[] =
    "SELECT sampler, sampler_note, (SELECT coalesce(sum(w.watches), 0) FROM watch w"
    " JOIN process p ON p.id = w.process WHERE p.run = :run AND w.outcome IN (1, 2)),"
    " (SELECT high_traps FROM x_threshold)"
    " FROM process WHERE id = (SELECT min(id) FROM process WHERE run = :run)";

/* Nothing is said where nothing was asked for: there is no sampler, and no reason why. A reason says what it means. */
static void print_state(const struct pie_finding_screen *screen, size_t above, struct pie_cursor *row) {
    const char *sampler = pie_cursor_text(row, 0);
    char *note = pie_cursor_text(row, 1) ? pie_text_printable(pie_cursor_text(row, 1)) : NULL;
    if (sampler && strcmp(sampler, "none") != 0) {
        long long watches = pie_cursor_int(row, 2);
        fputs(above == 0 ? "\n" : "", screen->out);
        fprintf(screen->out, "%s (%lld comparison%s).\n",
                watches >= pie_cursor_int(row, 3) ? "No work of weight was found that is done again"
                                                  : "Too little was compared to tell what is done again",
                watches, watches == 1 ? "" : "s");
    } else if (note) {
        fputs(above == 0 ? "\n" : "", screen->out);
        pie_wrap_print(screen->out, note, 0, 0, screen->columns);
    }
    free(note);
}

/* The lines of weight of which nothing is decided, where none is high. Those that may waste a part are left out, if
 * such lines were printed (:limit). */
static const char heavy_sql[] =
    "SELECT file, line, share, known, what_to_do, count_finding FROM x_undecided_line"
    " WHERE run = :run AND NOT (may_waste AND :limit < 2) ORDER BY share DESC LIMIT :limit";
enum { HEAVY_FILE, HEAVY_LINE, HEAVY_SHARE, HEAVY_KNOWN, HEAVY_WHAT_TO_DO, HEAVY_FINDING };

/* ": count its calls with …", or nothing. Heap, or NULL. */
static char *how_to_count(const struct pie_finding_screen *screen, long long finding) {
    char *path = pie_text_printable(pie_text_short_path(screen->path)), *text = NULL;

    if (finding == 0)
        text = strdup("");
    else if (asprintf(&text, ": count its calls with \"pieprof confirm %s --finding %lld\"",
                      path ? path : "?", finding) < 0)
        text = NULL;
    free(path);
    return text;
}

/* example.py:12 takes 89 % of the run, but no call is made again: 57 counted calls of convolve had … */
static void print_heavy_line(const struct pie_finding_screen *screen, struct pie_cursor *row, bool is_first) {
    char *place =
             pie_finding_place(base_name(pie_cursor_text(row, HEAVY_FILE)), pie_cursor_real(row, HEAVY_LINE)),
         *known = pie_text_printable(pie_cursor_text(row, HEAVY_KNOWN)),
         *how = how_to_count(screen, pie_cursor_int(row, HEAVY_FINDING));

    print_sentence(screen, "%s takes %.0f %% of the run, %s%s%s%s", place ? place : "?",
                   100 * pie_cursor_real(row, HEAVY_SHARE), known ? known : "?", how ? how : "",
                   is_first ? "; " : "", is_first ? pie_cursor_text(row, HEAVY_WHAT_TO_DO) : "");
    free(place);
    free(known);
    free(how);
}

/* How many were printed, or -errno. */
static int print_heavy(const struct pie_finding_screen *screen, size_t above, int64_t limit,
                       char **ret_message) {
    struct pie_cursor *cursor;
    int count = 0, r = pie_cursor_open_once(screen->reader, heavy_sql, &cursor, ret_message);
    if (r < 0)
        return r;
    pie_cursor_bind_int(cursor, ":run", screen->run);
    pie_cursor_bind_int(cursor, ":limit", limit);
    for (; (r = pie_cursor_next(cursor, ret_message)) > 0; count++) {
        fputs(count == 0 && above == 0 ? "\n" : "", screen->out);
        print_heavy_line(screen, cursor, count == 0);
    }
    pie_cursor_close(cursor);
    return r < 0 ? r : count;
}

static int print_state_of(const struct pie_finding_screen *screen, size_t above, char **ret_message) {
    struct pie_cursor *cursor;
    int r = pie_cursor_open_once(screen->reader, state_sql, &cursor, ret_message);
    if (r < 0)
        return r;
    pie_cursor_bind_int(cursor, ":run", screen->run);
    while ((r = pie_cursor_next(cursor, ret_message)) > 0)
        print_state(screen, above, cursor);
    pie_cursor_close(cursor);
    return r;
}

/* A budget that was asked for is kept from the start, and few watches were begun. */
static const char little_sql[] =
    "SELECT 100 * r.overhead_budget FROM run r JOIN environment e ON e.run = r.id JOIN x_threshold t"
    " WHERE r.id = :run AND e.key = 'overhead_free_cpu_s' AND e.value = '0'"
    " AND (SELECT sampler <> 'none' FROM process WHERE id = (SELECT min(id) FROM process WHERE run = :run))"
    " AND coalesce((SELECT 2 * sum(w.watches) FROM process p JOIN watch w ON w.process = p.id"
    " WHERE p.run = :run AND w.outcome IN (1, 2)), 0) < t.high_traps";

static int print_little(const struct pie_finding_screen *screen, char **ret_message) {
    struct pie_cursor *cursor;
    char text[160];
    int r = pie_cursor_open_once(screen->reader, little_sql, &cursor, ret_message);
    if (r < 0)
        return r;
    pie_cursor_bind_int(cursor, ":run", screen->run);
    while ((r = pie_cursor_next(cursor, ret_message)) > 0) {
        snprintf(text, sizeof text,
                 "The run was too short for a verdict within --overhead %.3g%%: a longer run, or "
                 "--overhead 0, compares more.",
                 pie_cursor_real(cursor, 0));
        pie_wrap_print(screen->out, text, 0, 0, screen->columns);
    }
    pie_cursor_close(cursor);
    return r;
}

int pie_summary_findings_print(const struct pie_finding_screen *screen, struct pie_summary_above above,
                               char **ret_message) {
    bool has_high;
    int found = print_findings(screen, above.count, &has_high, ret_message);
    if (found < 0)
        return found;
    above.count += (size_t)found;
    int r = pie_summary_copy_print(screen, &above, ret_message);
    if (r == 0)
        r = print_maybe(screen, above.count, ret_message);
    if (r == 0 && !has_high)
        r = print_heavy(screen, above.count, found == 0 ? UNDECIDED_SHOWN : 1, ret_message);
    if (r == 0 && found == 0)
        r = print_state_of(screen, above.count, ret_message);
    if (r == 0 && !has_high)
        r = print_little(screen, ret_message);
    return r < 0 ? r : 0;
}
