/* SPDX-License-Identifier: Apache-2.0 */
#include "launcher/summary/summary.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launcher/answers/profile.h"
#include "launcher/summary/summary_findings.h"
#include "launcher/summary/summary_lines.h"
#include "launcher/summary/summary_memory.h"
#include "launcher/summary/summary_traced.h"
#include "launcher/summary/summary_waits.h"
#include "launcher/summary/summary_worked.h"
#include "launcher/text/off_times.h"
#include "launcher/text/style.h"
#include "launcher/text/text.h"
#include "launcher/text/wrap.h"
#include "storage/ask/hints.h"
#include "storage/base/message.h"
#include "storage/read/reader.h"

/* At most 25 lines: title 2, findings and hints 6, source lines 2 + 8, libraries 2, a blank, memory 1, threads 1,
 * samples 1, file 1. Where a note or a traced loop takes more, there are less source lines; of a loop, less calls. */
enum {
    LINES_MAX = 25,
    LINES_AROUND = 2 + 7,
    LINES_SHOWN = 8,
    LINES_SHOWN_MIN = 3,
    LIBRARIES_SHOWN = 4,
    THREADS_SHOWN = 4,
    COLUMNS_MIN = 60,
    HINT_INDENT = 4
};

/* From so much CPU time on, the overhead is printed as a share of it. */
static const double SHARE_CPU_MIN_S = 1;

/* From this multiple of the period that was asked for, the samples' mean distance stands in its place. */
static const double STRETCHED = 1.25;

/* The figures of the last line. The view of the run is a costly one: it is asked once. */
struct samples {
    bool is_known, has_period, has_overhead, has_free;
    int64_t count;
    double period_s, overhead_s, cpu_s;
    double fixed_s;           /* of overhead_s: start and end */
    double budget;            /* 0: rates were fixed */
    double free_s;            /* CPU time at the beginning that it did not limit, with has_free */
    char *clock, *clock_note; /* heap, or NULL */
};

struct summary {
    FILE *out;
    FILE *target; /* of the screen once it is whole; NULL: standard error */
    char *text;   /* what has been printed, as far as it was flushed */
    size_t text_size;
    struct pie_reader *reader;
    const char *path;
    int64_t run;
    bool is_last; /* nothing was appended since: the next command need not name the run */
    size_t columns;
    struct pie_style style;
    bool has_no_parts; /* of threads only the CPU time is printed */
    uint64_t (*unwritten_ns)(
        void);           /* CPU time of the profiler's that came too late for the file; NULL: none */
    int64_t lines_shown; /* source lines, at most */
    struct samples samples;
};

/* Runs one query and hands each row to `print`; what cannot be read is left out of the summary. */
static void each_row(struct summary *summary, const char *sql,
                     void (*print)(struct summary *, struct pie_cursor *)) {
    struct pie_cursor *cursor;
    char *message = NULL;
    int r = pie_cursor_open_once(summary->reader, sql, &cursor, &message);
    if (r == 0) {
        pie_cursor_bind_int(cursor, ":run", summary->run);
        pie_cursor_bind_int(cursor, ":limit", summary->lines_shown);
        while ((r = pie_cursor_next(cursor, &message)) > 0)
            print(summary, cursor);
        pie_cursor_close(cursor);
    }
    if (r < 0)
        (void)pie_profile_complain(message);
}

static void print_text(struct summary *summary, const char *text, size_t width) {
    char *clean = pie_text_printable(text ? text : "");
    char *cut = clean ? pie_text_cut_end(clean, width) : NULL;
    fputs(cut ? cut : "", summary->out);
    free(clean);
    free(cut);
}

/* "the CPU time", or of more than one thread "20.1 s CPU of 8 threads, 2 processes" */
static void print_whose_cpu(struct summary *summary, struct pie_cursor *row) {
    int64_t processes = pie_cursor_int(row, 6), threads = pie_cursor_int(row, 7);
    if (processes < 2 && threads < 2) {
        fputs("the CPU time\n", summary->out);
        return;
    }
    fprintf(summary->out, "%.2f s CPU of %lld thread%s", pie_cursor_real(row, 2), (long long)threads,
            threads == 1 ? "" : "s");
    if (processes > 1)
        fprintf(summary->out, "; %lld processes", (long long)processes);
    fputs("\n", summary->out);
}

static char *copy_of(const char *text) {
    return text ? strdup(text) : NULL;
}

static void keep_samples(struct summary *summary, struct pie_cursor *row, int column) {
    summary->samples = (struct samples){
        .is_known = true,
        .count = pie_cursor_int(row, column),
        .has_period = pie_cursor_type(row, column + 1) != PIE_VALUE_NULL,
        .period_s = pie_cursor_real(row, column + 1),
        .has_overhead = pie_cursor_type(row, column + 2) != PIE_VALUE_NULL,
        .overhead_s = pie_cursor_real(row, column + 2),
        .cpu_s = pie_cursor_real(row, pie_cursor_type(row, column + 6) != PIE_VALUE_NULL ? column + 6 : 2),
        .budget = pie_cursor_real(row, column + 7),
        .fixed_s = pie_cursor_real(row, column + 8),
        .has_free = pie_cursor_type(row, column + 9) != PIE_VALUE_NULL,
        .free_s = pie_cursor_text(row, column + 9) ? atof(pie_cursor_text(row, column + 9)) : 0,
        .clock = copy_of(pie_cursor_text(row, column + 3)),
        .clock_note = copy_of(pie_cursor_text(row, column + 4)),
    };
}

/* Column of title_sql: NULL where all of the run is kept. */
enum { WHOLE_WALL = 17 };

static void print_title(struct summary *summary, struct pie_cursor *row) {
    keep_samples(summary, row, 12);
    const struct pie_style *style = &summary->style;
    double cpu = pie_cursor_real(row, 2);
    const char *command = pie_cursor_text(row, 0);
    fprintf(summary->out, "%spieprof: ", style->bold);
    print_text(summary, command ? command : "(command line not kept)",
               summary->columns > 40 ? summary->columns - 40 : 20);
    fprintf(summary->out, "%s: ", style->plain);
    if (pie_cursor_type(row, WHOLE_WALL) != PIE_VALUE_NULL)
        fprintf(summary->out, "the last %.0f s of ", pie_cursor_real(row, 1));
    fprintf(summary->out, "%.2f s",
            pie_cursor_real(row, pie_cursor_type(row, WHOLE_WALL) != PIE_VALUE_NULL ? WHOLE_WALL : 1));
    if (pie_cursor_type(row, 2) == PIE_VALUE_NULL || cpu <= 0) {
        fputs(pie_cursor_type(row, 2) == PIE_VALUE_NULL ? ", CPU time not measured\n"
                                                        : ", no CPU time sampled\n",
              summary->out);
        return;
    }
    bool has_main = pie_cursor_type(row, 9) != PIE_VALUE_NULL;
    fprintf(summary->out, "%s %.2f s CPU", has_main ? ":" : ",", has_main ? pie_cursor_real(row, 8) : cpu);
    if (has_main) {
        fputs(", ", summary->out);
        pie_off_times_print(summary->out, row, 8);
    }
    fprintf(summary->out, "\n         Python %.0f %%, native %.0f %%, system %.0f %% of ",
            100 * pie_cursor_real(row, 3) / cpu, 100 * pie_cursor_real(row, 4) / cpu,
            100 * pie_cursor_real(row, 5) / cpu);
    print_whose_cpu(summary, row);
}

/* The first line is the main thread's: its parts add up to the program's time. */
static const char title_sql[] =
    "SELECT v.command, v.wall_s, v.cpu_s, v.python_s, v.native_s, v.system_s, v.processes,"
    " v.threads," PIE_OFF_TIMES_COLUMNS
    ", v.samples, v.period_s, v.overhead_s, v.clock, v.clock_note, (SELECT iif(max(p.forgotten_s) > 0,"
    " (max(coalesce(p.ended_ns, p.seen_ns)) - min(p.started_ns)) / 1e9, NULL) FROM process p WHERE p.run = "
    "v.run),"
    " v.overhead_s / nullif(v.overhead_share, 0), (SELECT r.overhead_budget FROM run r WHERE r.id = v.run),"
    " (SELECT sum(o.cpu_ns) / 1e9 FROM process p JOIN overhead o ON o.process = p.id"
    " WHERE p.run = v.run AND o.collector IN ('start', 'end')),"
    " (SELECT e.value FROM environment e WHERE e.run = v.run AND e.key = 'overhead_free_cpu_s')"
    " FROM v_run v" PIE_OFF_TIMES_JOIN " WHERE v.run = :run";

static int print_lines(struct summary *summary, char **ret_message) {
    struct pie_summary_lines lines = {
        .out = summary->out, .columns = summary->columns, .style = summary->style};
    struct pie_cursor *cursor;
    int r = pie_cursor_open_once(summary->reader, pie_summary_lines_sql, &cursor, ret_message);
    if (r < 0)
        return r;
    pie_cursor_bind_int(cursor, ":run", summary->run);
    pie_cursor_bind_int(cursor, ":limit", summary->lines_shown);
    while ((r = pie_cursor_next(cursor, ret_message)) > 0)
        pie_summary_lines_add(&lines, cursor);
    pie_cursor_close(cursor);
    pie_summary_lines_print(&lines);
    return r;
}

/* What most of the time went to comes before what part of it a fix may save. */
static const double FIRST_SHARE = 0.5;

struct hints {
    const struct summary *summary;
    FILE *out;
    double share; /* the greatest of a wait */
};

static void print_hint(void *data, const struct pie_hint *hint) {
    struct hints *hints = data;
    char *clean = pie_text_printable(hint->text);
    bool is_wait = strcmp(hint->kind, "waiting") == 0 || strcmp(hint->kind, "input bound") == 0;
    if (clean)
        pie_wrap_print(hints->out, clean, 0, HINT_INDENT, hints->summary->columns);
    if (is_wait && hint->share > hints->share)
        hints->share = hint->share;
    free(clean);
}

/* The hints' lines (heap), or NULL: there are none. */
static char *read_hints(const struct summary *summary, bool *ret_is_first, char **ret_message) {
    struct hints hints = {.summary = summary};
    char *text = NULL;
    size_t size = 0;
    hints.out = open_memstream(&text, &size);
    int r = hints.out ? pie_hints_each(summary->reader, summary->run, &hints, print_hint, ret_message) : 0;
    if (hints.out && fclose(hints.out) == 0 && r == 0 && size > 0) {
        *ret_is_first = hints.share >= FIRST_SHARE;
        return text;
    }
    free(text);
    return NULL;
}

static void print_library(struct summary *summary, struct pie_cursor *row) {
    fputs(pie_cursor_int(row, 3) == 1 ? "\nLibraries below: " : ", ", summary->out);
    print_text(summary, pie_cursor_text(row, 0), 40);
    fprintf(summary->out, " %.2f s (%.0f %%)", pie_cursor_real(row, 1), 100 * pie_cursor_real(row, 2));
    fputs(pie_cursor_int(row, 3) == pie_cursor_int(row, 4) ? "\n" : "", summary->out);
}

static const char libraries_sql[] =
    "SELECT *, row_number() OVER (), count(*) OVER () FROM (SELECT library, cpu_s, cpu_share FROM v_library"
    " WHERE run = :run AND cpu_share >= 0.005 ORDER BY cpu_s DESC, library LIMIT 4)";
static_assert(LIBRARIES_SHOWN == 4, "as in libraries_sql");

static void print_part(struct summary *summary, struct pie_cursor *row, int column, const char *of_what) {
    if (pie_cursor_real(row, column) >= 0.01)
        fprintf(summary->out, " + %.2f s %s", pie_cursor_real(row, column), of_what);
}

/* Where the parts of all threads do not fit, only the CPU time. */
static void print_thread(struct summary *summary, struct pie_cursor *row) {
    int64_t nth = pie_cursor_int(row, 0), count = pie_cursor_int(row, 1), shorts = pie_cursor_int(row, 2);
    if ((count < 2 && !shorts) || nth > THREADS_SHOWN)
        return;
    fputs(nth == 1 ? "Threads: " : ", ", summary->out);
    print_text(summary, pie_cursor_text(row, 4) ? pie_cursor_text(row, 4) : "(no name)", 24);
    if (pie_cursor_int(row, 9) > 1) /* each has a thread of this name */
        fprintf(summary->out, " (process %lld)", (long long)pie_cursor_int(row, 10));
    fprintf(summary->out, " %.2f s", pie_cursor_real(row, 5));
    if (!summary->has_no_parts) {
        print_part(summary, row, 6, "waiting");
        print_part(summary, row, 7, "ready to run");
        print_part(summary, row, 8, "throttled");
    }
    if (nth == THREADS_SHOWN && count > nth)
        fprintf(summary->out, ", %lld more", (long long)(count - nth));
    if ((nth == count || nth == THREADS_SHOWN) && shorts)
        fprintf(summary->out, ", %lld short ones %.2f s", (long long)shorts, pie_cursor_real(row, 3));
    fputs(nth == count || nth == THREADS_SHOWN ? "\n" : "", summary->out);
}

static const char threads_sql[] =
    "SELECT row_number() OVER (ORDER BY cpu_s DESC, wait_s DESC, process, thread), count(*) OVER (),"
    " s.count, s.clock_s, name, cpu_s, wait_s, runnable_s, throttled_s,"
    " (SELECT count(DISTINCT t.process) FROM thread t JOIN process p ON p.id = t.process"
    " WHERE p.run = :run AND t.id > 0), pid"
    " FROM v_thread, (SELECT sum(threads) AS count, sum(clock_cpu_s) AS clock_s"
    " FROM v_thread WHERE run = :run AND thread = 0) s WHERE run = :run AND thread > 0";

static void print_threads(struct summary *summary) {
    FILE *screen = summary->out;
    for (int turn = 0; turn < 2; turn++) {
        char *text = NULL;
        size_t size;
        summary->has_no_parts = turn > 0;
        summary->out = open_memstream(&text, &size);
        if (summary->out)
            each_row(summary, threads_sql, print_thread);
        int r = summary->out ? fclose(summary->out) : -1;
        summary->out = screen;
        bool fits = r == 0 && pie_text_width(text) <= summary->columns;
        if (r == 0 && (fits || turn > 0))
            fputs(text, screen);
        free(text);
        if (fits)
            return;
    }
}

/* Every loss is named. */
static void print_drop(struct summary *summary, struct pie_cursor *row) {
    fputs(pie_cursor_int(row, 2) == 1 ? "; lost: " : ", ", summary->out);
    fprintf(summary->out, "%lld ", (long long)pie_cursor_int(row, 1));
    print_text(summary, pie_cursor_text(row, 0), 40);
}

static const char drops_sql[] = "SELECT counter, drops, row_number() OVER (ORDER BY drops DESC, counter) "
                                "FROM (SELECT counter, sum(drops) AS drops"
                                " FROM v_drop WHERE run = :run GROUP BY counter HAVING sum(drops) > 0)";

/* "4 processes wrote nothing: Permission denied": what a process says where its clock should be. */
static void print_lost(struct summary *summary, struct pie_cursor *row) {
    int64_t count = pie_cursor_int(row, 1);
    fprintf(summary->out, "%lld %s ", (long long)count, count == 1 ? "process" : "processes");
    print_text(summary, pie_cursor_text(row, 0), 120);
    fputs("\n", summary->out);
}

static const char lost_sql[] =
    "SELECT clock_note, count(*) FROM process p WHERE run = :run AND clock = 'none' AND clock_note IS NOT "
    "NULL"
    " AND cause IS NOT NULL AND NOT EXISTS (SELECT 1 FROM thread t WHERE t.process = p.id AND t.threads > 0)"
    " GROUP BY clock_note ORDER BY 2 DESC, 1 LIMIT 3";

/* Time that is right, at a name that says little. */
static void print_full(struct summary *summary, struct pie_cursor *row) {
    fprintf(summary->out,
            "Tables full: %lld contexts and functions had no room; their time is at \"(table full)\"\n",
            (long long)pie_cursor_int(row, 0));
}

static void print_folded(struct summary *summary, struct pie_cursor *row) {
    fprintf(summary->out,
            "Folded: %lld call paths of little weight that had not been seen for long are in \"(other)\" "
            "(--max-size)\n",
            (long long)pie_cursor_int(row, 0));
}

static void print_excess(struct summary *summary, struct pie_cursor *row) {
    char size[PIE_TEXT_BYTES_SIZE];
    pie_text_bytes(pie_cursor_real(row, 0), size);
    fprintf(summary->out, "File: %s larger than --max-size; what it holds is in use or too heavy to fold\n",
            size);
}

/* Lines are right, only their text is missing. */
static void print_unread(struct summary *summary, struct pie_cursor *row) {
    fprintf(summary->out,
            "Source: %lld texts of cells or generated code had no room; their lines are without text\n",
            (long long)pie_cursor_int(row, 0));
}

/* Of those that have any. */
static void print_put_off(struct summary *summary, struct pie_cursor *row) {
    int64_t count = pie_cursor_int(row, 0);

    fprintf(
        summary->out,
        "Native lines: not looked for in %lld %s, to keep --overhead; a longer run, or --overhead 0, does\n",
        (long long)count, count == 1 ? "library" : "libraries");
}

/* From one call path in twenty on: the lines that called are then not those that the program has. */
static void print_truncated(struct summary *summary, struct pie_cursor *row) {
    fprintf(summary->out,
            "Native stacks: %lld call paths could not be followed to their beginning (%lld samples)\n",
            (long long)pie_cursor_int(row, 0), (long long)pie_cursor_int(row, 1));
}

static const char truncated_sql[] =
    "SELECT truncated, samples FROM (SELECT"
    " sum(iif(c.name = 'native_stack_truncated', c.value, 0)) AS truncated,"
    " sum(iif(c.name = 'samples', c.value, 0)) AS samples"
    " FROM counter c JOIN process p ON p.id = c.process WHERE p.run = :run) WHERE truncated > samples / 20";

static const char full_sql[] =
    "SELECT total FROM (SELECT sum(c.value) AS total FROM counter c JOIN process p"
    " ON p.id = c.process WHERE p.run = :run AND c.name IN ('cct_full', 'code_registry_full'))"
    " WHERE total > 0";

static const char folded_sql[] =
    "SELECT total FROM (SELECT sum(c.value) AS total FROM counter c JOIN process p"
    " ON p.id = c.process WHERE p.run = :run AND c.name = 'contexts_folded')"
    " WHERE total > 0";

static const char excess_sql[] =
    "SELECT total FROM (SELECT max(c.value) AS total FROM counter c JOIN process p"
    " ON p.id = c.process WHERE p.run = :run AND c.name = 'bytes_over_max_size')"
    " WHERE total > 0";

static const char unread_sql[] =
    "SELECT total FROM (SELECT sum(c.value) AS total FROM counter c JOIN process p"
    " ON p.id = c.process WHERE p.run = :run AND c.name = 'cell_sources_dropped')"
    " WHERE total > 0";

static const char put_off_sql[] =
    "SELECT total FROM (SELECT sum(iif(c.name = 'debug_info_put_off', c.value, -c.value)) AS total"
    " FROM counter c JOIN process p ON p.id = c.process"
    " WHERE p.run = :run AND c.name IN ('debug_info_put_off', 'debug_info_read_later'))"
    " WHERE total > 0";

/* No rate changes what the start and the end cost: the budget is for the rest. */
static void print_budget(const struct summary *summary, double rest_s) {
    const struct samples *samples = &summary->samples;
    if (samples->fixed_s > 0)
        fprintf(summary->out, ", %.1f %% without start and end", 100 * rest_s / samples->cpu_s);
    if (samples->budget > 0)
        fprintf(summary->out, ", budget %.3g %%", 100 * samples->budget);
    if (samples->budget > 0 && samples->has_free && samples->free_s > 0)
        fprintf(summary->out, " after %.3g s", samples->free_s);
    else if (samples->budget > 0 && samples->has_free)
        fputs(" from the start", summary->out);
}

/* A share of next to nothing says nothing: a start of 15 ms is 30 % of a program of 50 ms. What comes after the last
 * write is in no file, so "overhead" and the page lack it. */
static void print_overhead(struct summary *summary) {
    const struct samples *samples = &summary->samples;
    double end_s = summary->unwritten_ns ? (double)summary->unwritten_ns() / 1e9 : 0;
    double overhead_s = samples->overhead_s + end_s;
    if (samples->cpu_s < SHARE_CPU_MIN_S) {
        fprintf(summary->out, "; overhead +%.0f ms", 1000 * overhead_s);
        return;
    }
    fprintf(summary->out, "; overhead %.1f %% (%.2f s)", 100 * overhead_s / samples->cpu_s, overhead_s);
    print_budget(summary, samples->overhead_s - samples->fixed_s);
}

/* In a long run samples are further apart than was asked for, so that they stay within the budget. */
static void print_period(struct summary *summary) {
    const struct samples *samples = &summary->samples;
    double mean_s = samples->count ? samples->cpu_s / (double)samples->count : 0;

    if (mean_s > STRETCHED * samples->period_s)
        fprintf(summary->out, " of %.3g ms on average", 1000 * mean_s);
    else
        fprintf(summary->out, " of %.3g ms", 1000 * samples->period_s);
}

static void print_samples(struct summary *summary) {
    const struct samples *samples = &summary->samples;
    if (!samples->is_known)
        return;
    fprintf(summary->out, "%lld samples", (long long)samples->count);
    if (samples->has_period)
        print_period(summary);
    each_row(summary, drops_sql, print_drop);
    if (samples->has_overhead)
        print_overhead(summary);
    else
        fputs("; overhead not measured", summary->out);
    fputs("; clock: ", summary->out);
    print_text(summary, samples->clock, 20);
    if (samples->clock_note) {
        fputs(" (", summary->out);
        print_text(summary, samples->clock_note, 160);
        fputs(")", summary->out);
    }
    fputs("\n", summary->out);
}

/* Beside what is printed whatever is found. */
static int64_t lines_left(struct summary *summary) {
    int64_t left = LINES_MAX - LINES_AROUND;
    fflush(summary->out);
    for (size_t i = 0; i < summary->text_size; i++)
        left -= summary->text[i] == '\n';
    return left;
}

static int print_traced(struct summary *summary, const struct pie_finding_screen *screen,
                        char **ret_message) {
    int64_t left = lines_left(summary) - LINES_SHOWN_MIN;
    return pie_summary_traced_print(screen, left > 0 ? (size_t)left : 0, ret_message);
}

static struct pie_finding_screen screen_of(const struct summary *summary) {
    return (struct pie_finding_screen){
        .out = summary->out,
        .reader = summary->reader,
        .path = summary->path,
        .run = summary->run,
        .columns = summary->columns,
        .style = summary->style,
    };
}

/* The lines about the run as a whole; heap, or NULL. */
struct whole {
    char *hints, *waits, *worked;
};

static void print_whole(struct summary *summary, const struct whole *whole) {
    if (whole->hints || whole->waits || whole->worked)
        fprintf(summary->out, "\n%s", whole->hints ? whole->hints : "");
    if (whole->waits)
        fprintf(summary->out, "%s\n", whole->waits);
    if (whole->worked)
        fprintf(summary->out, "%s\n", whole->worked);
}

static int print_found(const struct pie_finding_screen *screen, char **ret_message) {
    struct pie_summary_above above;
    int r = pie_summary_leaks_print(screen, &above, ret_message);
    return r < 0 ? r : pie_summary_findings_print(screen, above, ret_message);
}

static void print_findings(struct summary *summary) {
    const struct pie_finding_screen screen = screen_of(summary);
    struct whole whole = {.waits = NULL};
    char *message = NULL;
    bool is_first = false;
    whole.hints = read_hints(summary, &is_first, &message);
    int r = message ? -EIO : pie_summary_waits_text(&screen, &whole.waits, &message);
    if (r == 0)
        r = pie_summary_worked_text(&screen, &whole.worked, &message);
    if (is_first)
        print_whole(summary, &whole);
    if (r == 0)
        r = print_found(&screen, &message);
    if (!is_first)
        print_whole(summary, &whole);
    free(whole.hints);
    free(whole.waits);
    free(whole.worked);
    if (r == 0)
        r = print_traced(summary, &screen, &message);
    if (r < 0)
        (void)pie_profile_complain(message);
}

/* What is above decides how many source lines there is room for. */
static void count_lines(struct summary *summary) {
    int64_t left = lines_left(summary);
    summary->lines_shown = left < LINES_SHOWN_MIN ? LINES_SHOWN_MIN : left > LINES_SHOWN ? LINES_SHOWN : left;
}

static void print_measures(struct summary *summary) {
    const struct pie_finding_screen screen = screen_of(summary);
    char *message = NULL;
    if (print_lines(summary, &message) < 0)
        (void)pie_profile_complain(message);
    each_row(summary, libraries_sql, print_library);
    fputs("\n", summary->out);
    message = NULL;
    if (pie_summary_memory_print(&screen, &message) < 0)
        (void)pie_profile_complain(message);
}

static void print_all(struct summary *summary) {
    char *path = pie_text_printable(pie_text_short_path(summary->path));
    each_row(summary, title_sql, print_title);
    each_row(summary, lost_sql, print_lost);
    print_findings(summary);
    count_lines(summary);
    print_measures(summary);
    print_threads(summary);
    each_row(summary, full_sql, print_full);
    each_row(summary, folded_sql, print_folded);
    each_row(summary, excess_sql, print_excess);
    each_row(summary, unread_sql, print_unread);
    each_row(summary, put_off_sql, print_put_off);
    each_row(summary, truncated_sql, print_truncated);
    print_samples(summary);
    fprintf(summary->out, "Profile: %s, run %lld. Next: %spieprof report %s", path ? path : "",
            (long long)summary->run, summary->style.bold, path ? path : "");
    if (!summary->is_last)
        fprintf(summary->out, " --run %lld", (long long)summary->run);
    fprintf(summary->out, "%s\n", summary->style.plain);
    free(path);
    free(summary->samples.clock);
    free(summary->samples.clock_note);
}

/* At once, so that other output does not come between the lines, and past stdio, whose stderr is the program's. */
static void write_out(const char *text, size_t size) {
    while (size > 0) {
        ssize_t n = write(STDERR_FILENO, text, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return;
        text += n;
        size -= (size_t)n;
    }
}

static int print_to_memory(struct summary *summary) {
    summary->out = open_memstream(&summary->text, &summary->text_size);
    if (!summary->out)
        return -ENOMEM;
    print_all(summary);
    int r = fclose(summary->out) == 0 ? 0 : -ENOMEM;
    if (r == 0 && summary->target)
        fwrite(summary->text, 1, summary->text_size, summary->target);
    else if (r == 0)
        write_out(summary->text, summary->text_size);
    free(summary->text);
    return r;
}

static int begin(struct summary *summary, FILE *out, int64_t run, char **ret_message) {
    size_t columns = pie_text_columns(out);
    int64_t last = 0;
    int r = pie_reader_get_run(summary->reader, run, &summary->run, ret_message);
    if (r == 0)
        r = pie_reader_get_run(summary->reader, 0, &last, ret_message);
    if (r == 0)
        pie_reader_keep_run(summary->reader, summary->run);
    summary->is_last = last == summary->run;
    summary->columns = columns == 0 ? PIE_WRAP_UNCUT : columns < COLUMNS_MIN ? COLUMNS_MIN : columns;
    summary->style = pie_style_for(out);
    return r;
}

int pie_summary_answer(FILE *out, struct pie_reader *reader, const char *path, int64_t run,
                       char **ret_message) {
    struct summary summary = {.path = path, .reader = reader, .target = out};
    int r = begin(&summary, out, run, ret_message);
    if (r < 0)
        return r;
    return print_to_memory(&summary) < 0 ? pie_message(-ENOMEM, ret_message, "out of memory") : 0;
}

int pie_summary_print(const char *db_path, int64_t run_id, uint64_t (*unwritten_ns)(void)) {
    struct summary summary = {.path = db_path, .unwritten_ns = unwritten_ns};
    char *message = NULL;
    summary.reader = pie_profile_open_written(db_path);
    if (!summary.reader)
        return -EIO;
    int r = begin(&summary, stderr, run_id, &message);
    if (r < 0)
        (void)pie_profile_complain(message);
    else
        r = print_to_memory(&summary);
    pie_reader_close(summary.reader);
    return r;
}
