/* SPDX-License-Identifier: Apache-2.0 */
#include "launcher/summary/summary_memory.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "launcher/text/text.h"
#include "launcher/text/wrap.h"
#include "storage/read/reader.h"

enum { INDENT = 9, LEAKS_SHOWN = 2, PLACE_COLUMNS = 40, HOLDER_COLUMNS_MIN = 12, NEEDLESS_INDENT = 4 };

/* Files are printed without their folders here, as in the rest of the summary; what has no line has a name as it is.
 * Heap, or NULL. */
static char *place_of(struct pie_cursor *row, int file_column) {
    const char *file = pie_cursor_text(row, file_column), *slash = file ? strrchr(file, '/') : NULL;
    bool has_line = pie_cursor_type(row, file_column + 1) != PIE_VALUE_NULL;
    char *clean = pie_text_printable(slash ? slash + 1 : file ? file : "?"), *place = NULL, *cut = NULL;
    if (clean && !has_line)
        cut = pie_text_cut_start(clean, PLACE_COLUMNS);
    else if (clean &&
             asprintf(&place, "%s:%lld", clean, (long long)pie_cursor_int(row, file_column + 1)) >= 0)
        cut = pie_text_cut_start(place, PLACE_COLUMNS);
    free(clean);
    free(place);
    return cut;
}

/* Lines are made in memory, and cut to the screen. */
struct line {
    FILE *out;
    char *text;
    size_t size;
};

static int line_init(struct line *line) {
    *line = (struct line){.text = NULL};
    line->out = open_memstream(&line->text, &line->size);
    return line->out ? 0 : -ENOMEM;
}

static void line_print(struct line *line, const struct pie_finding_screen *screen, const char *style) {
    int r = fclose(line->out);
    char *cut = r == 0 ? pie_text_cut_end(line->text, screen->columns) : NULL;
    if (cut)
        fprintf(screen->out, "%s%s%s\n", style, cut, *style ? screen->style.plain : "");
    free(cut);
    free(line->text);
}

/* Runs one query and hands each row to `print`. */
static int each_row(const struct pie_finding_screen *screen, const char *sql, int64_t process,
                    void (*print)(void *data, struct pie_cursor *), void *data, char **ret_message) {
    struct pie_cursor *cursor;
    int r = pie_cursor_open_once(screen->reader, sql, &cursor, ret_message);
    if (r < 0)
        return r;
    pie_cursor_bind_int(cursor, ":run", screen->run);
    pie_cursor_bind_int(cursor, ":process", process);
    while ((r = pie_cursor_next(cursor, ret_message)) > 0)
        print(data, cursor);
    pie_cursor_close(cursor);
    return r;
}

/* What the line of memory is made of. */
struct peak {
    const struct pie_finding_screen *screen;
    FILE *out;
    int lines, result;
    char **ret_message;
};

static const char lines_sql[] =
    "SELECT coalesce(own_file, nameless), own_line, sum(peak_bytes) FROM x_memory_place"
    " WHERE run = :run AND process = :process AND estimate = 0 AND coalesce(own_file, nameless) IS NOT NULL"
    " GROUP BY 1, 2 HAVING sum(peak_bytes) >= 0.05 *"
    " (SELECT peak_bytes FROM v_heap WHERE run = :run AND process = :process)"
    " ORDER BY 3 DESC, 1, 2 LIMIT 3";

static void print_peak_line(void *data, struct pie_cursor *row) {
    struct peak *peak = data;
    char bytes[PIE_TEXT_BYTES_SIZE], *place = place_of(row, 0);
    pie_text_bytes(pie_cursor_real(row, 2), bytes);
    fprintf(peak->out, "%s%s %s", peak->lines++ == 0 ? ": " : ", ", place ? place : "?", bytes);
    free(place);
}

/* Of several processes the one that had most. */
static const char heap_sql[] =
    "SELECT process, pid, peak_bytes, peak_python_bytes, peak_t_s, rss_peak_bytes, "
    "note, count(*) OVER () FROM v_heap WHERE run = :run"
    " ORDER BY peak_bytes DESC, process LIMIT 1";

static void print_heap(struct peak *peak, struct pie_cursor *row) {
    char heap[PIE_TEXT_BYTES_SIZE], rss[PIE_TEXT_BYTES_SIZE];
    pie_text_bytes(pie_cursor_real(row, 2), heap);
    pie_text_bytes(pie_cursor_real(row, 5), rss);
    fprintf(peak->out, "%-*speak %s (Python %.0f %%)", INDENT, "Memory:", heap,
            100 * pie_cursor_real(row, 3) / pie_cursor_real(row, 2));
    if (pie_cursor_type(row, 4) != PIE_VALUE_NULL)
        fprintf(peak->out, " at %.1f s", pie_cursor_real(row, 4));
    if (pie_cursor_int(row, 7) > 1)
        fprintf(peak->out, " in process %lld", (long long)pie_cursor_int(row, 1));
    if (pie_cursor_type(row, 5) != PIE_VALUE_NULL)
        fprintf(peak->out, ", resident %s", rss);
}

static void print_memory(void *data, struct pie_cursor *row) {
    struct peak *peak = data;
    struct line line;
    if (pie_cursor_int(row, 2) > 0 && line_init(&line) == 0) {
        peak->out = line.out;
        print_heap(peak, row);
        peak->result = each_row(peak->screen, lines_sql, pie_cursor_int(row, 0), print_peak_line, peak,
                                peak->ret_message);
        line_print(&line, peak->screen, "");
    }
    char *note = pie_cursor_text(row, 6) ? pie_text_printable(pie_cursor_text(row, 6)) : NULL;
    if (note) {
        fprintf(peak->screen->out, "%-*s", INDENT, pie_cursor_int(row, 2) > 0 ? "" : "Memory:");
        pie_wrap_print(peak->screen->out, note, INDENT, INDENT, peak->screen->columns);
    }
    free(note);
}

int pie_summary_memory_print(const struct pie_finding_screen *screen, char **ret_message) {
    struct peak peak = {.screen = screen, .ret_message = ret_message};
    int r = each_row(screen, heap_sql, 0, print_memory, &peak, ret_message);
    return r < 0 ? r : peak.result;
}

struct printed {
    const struct pie_finding_screen *screen;
    size_t count;
};

static int begin_finding(struct printed *printed, struct line *line) {
    int r = line_init(line);
    if (r == 0)
        fputs(printed->count++ == 0 ? "\n" : "", printed->screen->out);
    return r;
}

static const char leaks_sql[] =
    "SELECT file, line, rate_bytes_per_s, leaked_bytes, score, holder, library FROM v_leak"
    " WHERE run = :run ORDER BY rank LIMIT 2";
static_assert(LEAKS_SHOWN == 2, "as in leaks_sql");

/* Who holds it ends with what matters most, the module, class or frame: it is cut at its beginning. */
static void print_holder(const struct line *line, const char *holder, size_t columns) {
    static const char held_by[] = "; held by ";
    fflush(line->out);
    size_t used = pie_text_width(line->text) + sizeof held_by - 1;
    char *cut = used + HOLDER_COLUMNS_MIN <= columns ? pie_text_cut_start(holder, columns - used) : NULL;
    if (cut)
        fprintf(line->out, "%s%s", held_by, cut);
    free(cut);
}

/* server.py:31: leaks 1.20 MB/s (48.0 MB, score 0.97); held by list -> module __main__.cache */
static void print_leak(void *data, struct pie_cursor *row) {
    struct printed *printed = data;
    char rate[PIE_TEXT_BYTES_SIZE], bytes[PIE_TEXT_BYTES_SIZE];
    struct line line;
    if (begin_finding(printed, &line) < 0)
        return;
    char *place = place_of(row, 0);
    char *holder = pie_cursor_text(row, 5) ? pie_text_printable(pie_cursor_text(row, 5)) : NULL;
    char *library = pie_cursor_text(row, 6) ? pie_text_printable(pie_cursor_text(row, 6)) : NULL;
    pie_text_bytes(pie_cursor_real(row, 2), rate);
    pie_text_bytes(pie_cursor_real(row, 3), bytes);
    fprintf(line.out, "%s%s%s: leaks %s/s (%s, score %.2f)", place ? place : "?", library ? " of " : "",
            library ? library : "", rate, bytes, pie_cursor_real(row, 4));
    if (holder)
        print_holder(&line, holder, printed->screen->columns);
    line_print(&line, printed->screen, printed->screen->style.bold);
    free(place);
    free(holder);
    free(library);
}

/* A processor copies about 10 GB in a second: less than a hundredth of that costs the program nothing worth telling. */
static const char copy_sql[] =
    "SELECT own_file, own_line, bytes, rate, share FROM (SELECT own_file, own_line, sum(bytes) AS bytes,"
    " sum(bytes_per_s) AS rate, sum(bytes) * 1.0 / sum(sum(bytes)) OVER () AS share FROM x_memory_place"
    " WHERE run = :run AND estimate <> 0 GROUP BY own_file, own_line)"
    " WHERE own_file IS NOT NULL AND rate >= 1e8 AND share >= 0.1 ORDER BY bytes DESC, 1, 2 LIMIT 1";

/* train.py:12: copies 2.10 GB (1.40 GB/s), 60 % of all that is copied */
static void print_copy(void *data, struct pie_cursor *row) {
    struct printed *printed = data;
    char rate[PIE_TEXT_BYTES_SIZE], bytes[PIE_TEXT_BYTES_SIZE];
    struct line line;
    if (begin_finding(printed, &line) < 0)
        return;
    char *place = place_of(row, 0);
    pie_text_bytes(pie_cursor_real(row, 2), bytes);
    pie_text_bytes(pie_cursor_real(row, 3), rate);
    fprintf(line.out, "%s: copies %s (%s/s), %.0f %% of all that is copied", place ? place : "?", bytes, rate,
            100 * pie_cursor_real(row, 4));
    line_print(&line, printed->screen, printed->screen->style.bold);
    free(place);
}

/* What would be saved by a view is worth more than what is copied in all. */
static const char needless_sql[] =
    "SELECT file, line, cpu_s, bytes FROM v_needless v JOIN x_needless_threshold t WHERE v.run = :run"
    " AND verdict = 'needless' AND v.cpu_share >= t.run_share ORDER BY rank LIMIT 1";

/* train.py:12: needless copies (1.20 s, 3.40 GB): neither array was written before one died; a view would do */
static void print_needless(void *data, struct pie_cursor *row) {
    struct printed *printed = data;
    char bytes[PIE_TEXT_BYTES_SIZE], *text = NULL, *place;
    pie_text_bytes(pie_cursor_real(row, 3), bytes);
    place = place_of(row, 0);
    fputs(printed->count++ == 0 ? "\n" : "", printed->screen->out);
    if (asprintf(&text,
                 "%s: needless copies (%.2f s, %s): neither array was written before one died; a view would "
                 "do",
                 place ? place : "?", pie_cursor_real(row, 2), bytes) < 0)
        text = NULL;
    if (text) {
        fputs(printed->screen->style.bold, printed->screen->out);
        pie_wrap_print(printed->screen->out, text, 0, NEEDLESS_INDENT, printed->screen->columns);
        fputs(printed->screen->style.plain, printed->screen->out);
    }
    free(place);
    free(text);
}

/* Most that a line can have of what makes a leak or a costly copy: what all have together. To find out that there is
 * none takes as long as to find one. */
static const char most_sql[] =
    "SELECT (SELECT 1 - 1.0 / (sum(a.mallocs) + 2) > t.score FROM process p JOIN allocation a ON a.process = "
    "p.id"
    " WHERE p.run = :run),"
    " (SELECT sum(max(0, c.bytes * 1e9 / (coalesce(p.ended_ns, p.seen_ns) - p.started_ns))) >= 0.99e8"
    " FROM process p JOIN copy c ON c.process = p.id WHERE p.run = :run) FROM x_leak_threshold t";

struct most {
    bool may_leak, may_copy;
};

static void read_most(void *data, struct pie_cursor *row) {
    *(struct most *)data =
        (struct most){.may_leak = pie_cursor_int(row, 0) != 0, .may_copy = pie_cursor_int(row, 1) != 0};
}

int pie_summary_leaks_print(const struct pie_finding_screen *screen, struct pie_summary_above *ret_above,
                            char **ret_message) {
    struct printed printed = {.screen = screen};
    struct most most = {0};
    int r = each_row(screen, most_sql, 0, read_most, &most, ret_message);
    if (r == 0 && most.may_leak)
        r = each_row(screen, leaks_sql, 0, print_leak, &printed, ret_message);
    size_t leaks = printed.count;
    if (r == 0 && most.may_copy)
        r = each_row(screen, needless_sql, 0, print_needless, &printed, ret_message);
    *ret_above = (struct pie_summary_above){.count = printed.count,
                                            .may_copy = most.may_copy && printed.count == leaks};
    return r;
}

int pie_summary_copy_print(const struct pie_finding_screen *screen, struct pie_summary_above *above,
                           char **ret_message) {
    struct printed printed = {.screen = screen, .count = above->count};
    int r = above->may_copy ? each_row(screen, copy_sql, 0, print_copy, &printed, ret_message) : 0;

    above->count = printed.count;
    return r;
}
