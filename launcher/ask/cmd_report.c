/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "launcher/answers/profile.h"
#include "launcher/answers/report_findings.h"
#include "launcher/answers/report_memory.h"
#include "launcher/answers/report_traced.h"
#include "launcher/answers/tree_out.h"
#include "launcher/command/command.h"
#include "launcher/page/page_file.h"
#include "launcher/text/messages.h"
#include "launcher/text/off_times.h"
#include "launcher/text/style.h"
#include "launcher/text/text.h"
#include "launcher/text/wrap.h"
#include "storage/ask/hints.h"
#include "storage/ask/query.h"
#include "storage/read/reader.h"

/* As a page (launcher/page/), or on the terminal: traced loops, memory, leaks and findings of redundancy, then the
 * source with what each line cost: the user's own files first, the costliest of them first; of the libraries one line
 * each, or with --all their lines too. */

struct report {
    FILE *out;
    struct pie_reader *reader;
    struct pie_style style;
    size_t columns;                           /* 0: no limit */
    bool has_allocated, has_peak, has_copied; /* columns of memory */
    bool has_parts[3], has_wait;              /* Python, native, system: columns in which there is anything */
    bool all;
    int64_t run, process;
    struct pie_page_wish page;
    char *file; /* whose lines are being printed */
    int64_t line;
};

/* What columns take. Of memory there are only as many as leave SOURCE_MIN to the source, or the peak alone where it
 * leaves SOURCE_LITTLE; what stands behind the source leaves it SOURCE_LEAST. */
enum {
    TIME_WIDTH = 16,
    PARTS = 3,
    PART_WIDTH = 6,
    WAIT_WIDTH = 8,
    BYTES_WIDTH = 7,
    NUMBER_WIDTH = 10,
    SOURCE_MIN = 60,
    SOURCE_LITTLE = 30,
    SOURCE_LEAST = 12
};

/* Fewer say little of a line. */
static const double SAMPLES_MIN = 5;

static int bytes_columns(const struct report *report) {
    return report->has_allocated + report->has_peak + report->has_copied;
}

static int cost_width(const struct report *report) {
    int width = TIME_WIDTH + (report->has_wait ? WAIT_WIDTH : 0);
    for (int i = 0; i < PARTS; i++)
        width += report->has_parts[i] ? PART_WIDTH : 0;
    return width;
}

static int line_width(const struct report *report) {
    return cost_width(report) + BYTES_WIDTH * bytes_columns(report);
}

static int each_row(struct report *report, const char *sql,
                    void (*print)(struct report *, struct pie_cursor *)) {
    struct pie_cursor *cursor;
    char *message = NULL;
    int r = pie_cursor_open(report->reader, sql, &cursor, &message);
    if (r == 0) {
        pie_cursor_bind_int(cursor, ":run", report->run);
        pie_cursor_bind_int(cursor, ":all", report->all);
        while ((r = pie_cursor_next(cursor, &message)) > 0)
            print(report, cursor);
        pie_cursor_close(cursor);
    }
    return r < 0 ? pie_profile_complain(message) : 0;
}

static void print_text(struct report *report, const char *text, size_t width) {
    char *clean = pie_text_printable(text ? text : "");
    char *cut = clean ? pie_text_cut_end(clean, width) : NULL;
    fputs(cut ? cut : "", report->out);
    free(clean);
    free(cut);
}

static void print_title(struct report *report, struct pie_cursor *row) {
    double cpu = pie_cursor_real(row, 3);
    const char *command = pie_cursor_text(row, 1);
    fprintf(report->out, "%sRun %lld: ", report->style.bold, (long long)report->run);
    print_text(report, command ? command : "(command line not kept)", report->columns ? 200 : 1 << 20);
    fprintf(report->out, "%s\n%s, %.2f s", report->style.plain, pie_cursor_text(row, 0),
            pie_cursor_real(row, 2));
    if (pie_cursor_type(row, 3) == PIE_VALUE_NULL || cpu <= 0)
        fputs("; no CPU time was sampled", report->out);
    else
        fprintf(report->out, ", %.2f s of CPU (Python %.0f %%, native %.0f %%, system %.0f %%)", cpu,
                100 * pie_cursor_real(row, 4) / cpu, 100 * pie_cursor_real(row, 5) / cpu,
                100 * pie_cursor_real(row, 6) / cpu);
    fputs("; main thread: ", report->out);
    pie_off_times_print(report->out, row, 7);
    fputs("\n", report->out);
}

static const char title_sql[] =
    "SELECT v.started, v.command, v.wall_s, v.cpu_s, v.python_s, v.native_s, "
    "v.system_s," PIE_OFF_TIMES_COLUMNS " FROM v_run v" PIE_OFF_TIMES_JOIN " WHERE v.run = :run";

static void print_cost_head(struct report *report) {
    static const char *const names[PARTS] = {"py", "nat", "sys"};
    fprintf(report->out, "\n%s   CPU s   share", report->style.dim);
    for (int i = 0; i < PARTS; i++)
        if (report->has_parts[i])
            fprintf(report->out, "%*s", PART_WIDTH, names[i]);
    fputs(report->has_wait ? "  wait s" : "", report->out);
}

static void print_file_head(struct report *report, struct pie_cursor *row) {
    const char *file = pie_cursor_text(row, 0), *library = pie_cursor_text(row, 4);
    free(report->file);
    report->file = strdup(file);
    report->line = 0;
    fprintf(report->out, "\n%s", report->style.bold);
    print_text(report, pie_text_short_path(file), 4096);
    fprintf(report->out, "%s  ", report->style.plain);
    if (library) {
        print_text(report, library, 60);
        fputs(", ", report->out);
    }
    fprintf(report->out, "%.3f s (%.1f %%)", pie_cursor_real(row, 1), 100 * pie_cursor_real(row, 2));
    if (pie_cursor_real(row, 3) >= 0.001)
        fprintf(report->out, ", waiting %.3f s", pie_cursor_real(row, 3));
    print_cost_head(report);
    fprintf(report->out, "%s%s%s    line  source%s\n", report->has_allocated ? "  alloc" : "",
            report->has_peak ? "   peak" : "", report->has_copied ? " copied" : "", report->style.plain);
}

static void print_part(struct report *report, double part, double whole) {
    char text[16] = "-";
    if (whole > 0)
        snprintf(text, sizeof text, "%.0f %%", 100 * part / whole);
    fprintf(report->out, "%*s", PART_WIDTH, text);
}

enum { SAMPLES_COLUMN = 19 };

static void print_cost(struct report *report, struct pie_cursor *row) {
    double cpu = pie_cursor_real(row, 7), share = pie_cursor_real(row, 8);
    const char *colour = share >= 0.2 ? report->style.hot : share >= 0.05 ? report->style.warm : "";
    bool is_little = pie_cursor_type(row, SAMPLES_COLUMN) != PIE_VALUE_NULL &&
                     pie_cursor_real(row, SAMPLES_COLUMN) < SAMPLES_MIN && !report->all;
    bool is_nothing = is_little || pie_cursor_type(row, 7) == PIE_VALUE_NULL;
    if (is_nothing && pie_cursor_real(row, 12) < (is_little ? 0.005 : 1e-9)) {
        fprintf(report->out, "%*s", cost_width(report), "");
        return;
    }
    fprintf(report->out, "%s%8.3f  %4.1f %%%s", colour, cpu, 100 * share, *colour ? report->style.plain : "");
    for (int i = 0; i < PARTS; i++)
        if (report->has_parts[i])
            print_part(report, pie_cursor_real(row, 9 + i), cpu);
    if (report->has_wait)
        fprintf(report->out, "%*.2f", WAIT_WIDTH, pie_cursor_real(row, 12));
}

/* "400M", "21.0M", "1.23G" */
static void print_bytes(struct report *report, struct pie_cursor *row, int column) {
    char bytes[PIE_TEXT_BYTES_SIZE] = "", *blank;
    if (pie_cursor_real(row, column) > 0)
        pie_text_bytes(pie_cursor_real(row, column), bytes);
    if ((blank = strchr(bytes, ' ')))
        snprintf(blank, 3, "%.1s", blank[1] == 'B' ? "" : blank + 1);
    fprintf(report->out, "%*s", BYTES_WIDTH, bytes);
}

static void print_memory(struct report *report, struct pie_cursor *row) {
    if (report->has_allocated)
        print_bytes(report, row, 16);
    if (report->has_peak)
        print_bytes(report, row, 17);
    if (report->has_copied)
        print_bytes(report, row, 18);
}

/* Columns: 0 file, 1-3 its CPU time, share and waiting, 4 library, 5 line, 6 text, 7 CPU time, 8 share, 9 Python,
 * 10 native, 11 system, 12 waiting, 13 library below, 14 its CPU time, 15 is there a finding of severity high?, 16
 * bytes allocated, 17 at the peak, 18 copied, 19 samples */
static void print_line(struct report *report, struct pie_cursor *row) {
    int64_t line = pie_cursor_int(row, 5);
    char library[80] = "";
    if (!report->file || strcmp(report->file, pie_cursor_text(row, 0)) != 0)
        print_file_head(report, row);
    else if (line != report->line + 1)
        fprintf(report->out, "%*s\n", line_width(report) + 8, "...");
    report->line = line;
    print_cost(report, row);
    print_memory(report, row);
    if (pie_cursor_text(row, 13) && pie_cursor_real(row, 14) >= 0.005 + 0.1 * pie_cursor_real(row, 7))
        snprintf(library, sizeof library, "  [%.40s %.2f s]", pie_cursor_text(row, 13),
                 pie_cursor_real(row, 14));
    bool is_marked = pie_cursor_int(row, 15) > 0;
    fprintf(report->out, "%8lld%s%c%s", (long long)line, is_marked ? report->style.hot : "",
            is_marked ? '!' : ' ', is_marked ? report->style.plain : "");
    fputc(' ', report->out);
    size_t used = (size_t)line_width(report) + NUMBER_WIDTH, library_width = pie_text_width(library);
    if (report->columns > 0 && report->columns < used + library_width + SOURCE_LEAST) {
        library[0] = '\0';
        library_width = 0;
    }
    size_t room = report->columns > used + library_width + SOURCE_LEAST
                      ? report->columns - used - library_width
                      : SOURCE_LEAST;
    print_text(report, pie_cursor_text(row, 6), report->columns > 0 ? room : 4096);
    print_text(report, library, sizeof library);
    fputc('\n', report->out);
}

/* A file is shown for its time, or for a hundredth of the memory. */
#define LINES_SQL(costs, memories, library_columns)                                                          \
    "WITH cost AS MATERIALIZED (" costs "), memory AS MATERIALIZED (" memories "),"                          \
    " files AS MATERIALIZED (SELECT file, sum(cpu_s) AS cpu_s, sum(cpu_share) AS cpu_share,"                 \
    " sum(wait_s) AS wait_s, max(library) AS library FROM (SELECT file, cpu_s, cpu_share, wait_s, library,"  \
    " NULL AS part FROM cost UNION ALL SELECT file, NULL, NULL, NULL, NULL,"                                 \
    " max(coalesce(allocated_bytes * 1.0 / nullif(sum(allocated_bytes) OVER (), 0), 0),"                     \
    " coalesce(peak_bytes * 1.0 / nullif(sum(peak_bytes) OVER (), 0), 0)) FROM memory) GROUP BY file"        \
    " HAVING :all OR sum(cpu_share) >= 0.001 OR sum(wait_s) >= 0.01 OR sum(part) >= 0.01),"                  \
    " text AS MATERIALIZED (SELECT file, line, text FROM v_source WHERE run = :run"                          \
    " AND file IN (SELECT file FROM files)),"                                                                \
    " high AS MATERIALIZED (SELECT DISTINCT file, line FROM v_redundancy WHERE run = :run"                   \
    " AND severity = 'high'),"                                                                               \
    " lines AS (SELECT file, line FROM text UNION SELECT file, line FROM cost"                               \
    " UNION SELECT file, line FROM memory)"                                                                  \
    " SELECT f.file, f.cpu_s, f.cpu_share, f.wait_s, " library_columns ","                                   \
    " EXISTS (SELECT 1 FROM high h WHERE h.file = l.file AND h.line = l.line),"                              \
    " m.allocated_bytes, m.peak_bytes, m.copy_bytes, c.samples"                                              \
    " FROM files f JOIN lines l ON l.file = f.file LEFT JOIN cost c ON c.file = l.file AND c.line = l.line"  \
    " LEFT JOIN text t ON t.file = l.file AND t.line = l.line"                                               \
    " LEFT JOIN memory m ON m.file = l.file AND m.line = l.line"                                             \
    " WHERE l.line IS NOT NULL ORDER BY f.cpu_s DESC, f.wait_s DESC, f.file, l.line"

#define COST_COLUMNS "c.cpu_s, c.cpu_share, c.python_s, c.native_s, c.system_s, c.wait_s"

static const char own_sql[] =
    LINES_SQL("SELECT * FROM v_own_line WHERE run = :run", "SELECT * FROM v_own_memory WHERE run = :run",
              "NULL, l.line, t.text, " COST_COLUMNS ", c.library, c.library_cpu_s");
static const char library_lines_sql[] = LINES_SQL(
    "SELECT * FROM v_line WHERE run = :run AND library IS NOT NULL",
    "SELECT file, line, sum(allocated_bytes) AS allocated_bytes, sum(peak_bytes) AS peak_bytes,"
    " sum(copy_bytes) AS copy_bytes FROM (SELECT file, line, allocated_bytes, peak_bytes, NULL AS copy_bytes"
    " FROM v_memory WHERE run = :run AND library IS NOT NULL UNION ALL SELECT file, line, NULL, NULL, bytes"
    " FROM v_copy WHERE run = :run AND library IS NOT NULL) GROUP BY file, line",
    "f.library, l.line, t.text, " COST_COLUMNS ", NULL, NULL");

static void print_library(struct report *report, struct pie_cursor *row) {
    if (!report->file) {
        fprintf(report->out, "\n%sLibraries%s", report->style.bold, report->style.plain);
        print_cost_head(report);
        fprintf(report->out, "%s\n", report->style.plain);
        report->file = strdup("");
    }
    print_cost(report, row);
    fputs("  ", report->out);
    print_text(report, pie_cursor_text(row, 4), 60);
    fputc('\n', report->out);
}

static const char libraries_sql[] =
    "SELECT NULL, NULL, NULL, NULL, library, NULL, NULL, cpu_s, cpu_share, "
    "python_s, native_s, system_s, wait_s, NULL, NULL, NULL, NULL, NULL, NULL, NULL"
    " FROM v_library WHERE run = :run AND (:all OR cpu_share >= 0.001) ORDER "
    "BY cpu_s DESC, wait_s DESC, library";

static int print_findings(struct report *report) {
    struct pie_finding_screen screen = {
        .out = report->out,
        .reader = report->reader,
        .run = report->run,
        .columns = report->columns,
        .style = report->style,
    };
    char *message = NULL;
    int r = pie_report_traced_print(&screen, report->all, &message);
    if (r == 0)
        r = pie_report_memory_print(&screen, &message);
    if (r == 0)
        r = pie_report_findings_print(&screen, report->all, &message);
    return r < 0 ? pie_profile_complain(message) : 0;
}

/* Columns of time are those in which some line has anything. Those of memory were measured and, on a narrow screen,
 * leave room for the source: peak first. */
static void choose_columns(struct report *report, struct pie_cursor *row) {
    int room = 3 * BYTES_WIDTH + SOURCE_MIN, is_memory = pie_cursor_int(row, 0) != 0;
    for (int i = 0; i < PARTS; i++)
        report->has_parts[i] = pie_cursor_int(row, 2 + i);
    report->has_wait = pie_cursor_int(row, 2 + PARTS);
    if (report->columns > 0)
        room = (int)report->columns - cost_width(report) - NUMBER_WIDTH;
    report->has_peak = is_memory && room >= BYTES_WIDTH + SOURCE_LITTLE;
    room -= report->has_peak ? BYTES_WIDTH : 0;
    report->has_allocated = is_memory && room >= BYTES_WIDTH + SOURCE_MIN;
    room -= report->has_allocated ? BYTES_WIDTH : 0;
    report->has_copied = pie_cursor_int(row, 1) && room >= BYTES_WIDTH + SOURCE_MIN;
}

/* Own functions with all below them: where to read first. */
static int print_tree(struct report *report) {
    struct pie_query query;
    char *message = NULL, *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    int r = out ? pie_query_open(report->reader, "tree", report->run, &query, &message) : -ENOMEM;
    if (r == 0) {
        r = pie_tree_print_rows(out, query.cursor, report->columns, &report->style, &message);
        pie_query_close(&query);
    }
    if (out && fclose(out) == 0 && r > 0)
        fprintf(report->out, "\n%sWhere the time goes%s\n%s", report->style.bold, report->style.plain, text);
    free(text);
    return r < 0 ? pie_profile_complain(message) : 0;
}

static void print_hint(void *data, const struct pie_hint *hint) {
    struct report *report = data;
    char *clean = pie_text_printable(hint->text);
    if (clean)
        pie_wrap_print(report->out, clean, 0, 0, report->columns);
    free(clean);
}

static int print_hints(struct report *report) {
    char *message = NULL;
    int r = pie_hints_each(report->reader, report->run, report, print_hint, &message);
    return r < 0 ? pie_profile_complain(message) : 0;
}

static const char measured_sql[] =
    "SELECT m.is_memory, m.is_copies, v.is_python, v.is_native, v.is_system, v.is_wait FROM "
    "x_memory_measured m,"
    " (SELECT max(python_s >= 0.005 * cpu_s AND python_s > 0) AS is_python, max(native_s >= 0.005 * cpu_s AND"
    " native_s > 0) AS is_native, max(system_s >= 0.005 * cpu_s AND system_s > 0) AS is_system,"
    " max(wait_s >= 0.005) AS is_wait FROM v_own_line WHERE run = :run) v WHERE m.run = :run";

static void forget_file(struct report *report) {
    free(report->file);
    report->file = NULL;
}

static int print_report(struct report *report) {
    int status = each_row(report, title_sql, print_title);
    if (status == 0)
        status = print_hints(report);
    if (status == 0)
        status = print_tree(report);
    if (status == 0)
        status = each_row(report, measured_sql, choose_columns);
    if (status == 0)
        status = print_findings(report);
    if (status == 0)
        status = each_row(report, own_sql, print_line);
    if (status == 0 && !report->file)
        fputs("\nNo line of your own code was seen running; --all shows the libraries.\n", report->out);
    forget_file(report);
    if (status == 0)
        status = each_row(report, libraries_sql, print_library);
    forget_file(report);
    if (status == 0 && report->all)
        status = each_row(report, library_lines_sql, print_line);
    forget_file(report);
    return status;
}

static int parse_options(int argc, char **argv, struct report *report, const char **ret_path) {
    static const struct option names[] = {
        {"all", no_argument, NULL, 'a'},           {"html", required_argument, NULL, 'h'},
        {"open", no_argument, NULL, 'o'},          {"run", required_argument, NULL, 'r'},
        {"process", required_argument, NULL, 'p'}, {0},
    };
    opterr = 0;
    optind = 0;
    for (int option; (option = getopt_long(argc, argv, "", names, NULL)) != -1;) {
        if (option == 'a')
            report->all = true;
        else if (option == 'h')
            report->page.output = optarg;
        else if (option == 'o')
            report->page.is_open_wanted = true;
        else if (option == 'r' && pie_profile_parse_run(optarg, &report->run) < 0)
            return PIE_PROFILE_USAGE;
        else if (option == 'p' && pie_profile_parse_process(optarg, &report->process) < 0)
            return PIE_PROFILE_USAGE;
        else if (option == '?')
            return pie_command_bad_option(argc, argv);
    }
    if (argc - optind > 1)
        return pie_command_bad_words("one file at a time");
    if (report->page.is_open_wanted && (!report->page.output || strcmp(report->page.output, "-") == 0))
        return pie_command_bad_words("--open needs a file to open: --html FILE");
    if (argc > optind)
        *ret_path = argv[optind];
    return 0;
}

static int write_page(struct report *report, const char *path) {
    report->page.profile = path;
    report->page.run = report->run;
    report->page.process = report->process;
    return pie_page_file_write(&report->page, report->reader);
}

static int answer(struct report *report, const char *path) {
    char *message = NULL;
    if ((report->process && pie_reader_cut(report->reader, report->run, report->process, &message) < 0) ||
        pie_reader_get_run(report->reader, report->run, &report->run, &message) < 0)
        return pie_profile_complain(message);
    return report->page.output ? write_page(report, path) : print_report(report);
}

int pie_cmd_report(int argc, char **argv) {
    struct report report = {.out = stdout};
    const char *path = PIE_PROFILE_DEFAULT;
    pie_text_set_locale();
    int status = parse_options(argc, argv, &report, &path);
    if (status == 0 && report.page.output)
        status = pie_page_file_check("report");
    if (status != 0)
        return status;
    report.reader = pie_profile_open(path);
    if (!report.reader)
        return PIE_PROFILE_FAILED;
    report.columns = pie_text_columns(stdout);
    report.style = pie_style_for(stdout);
    status = answer(&report, path);
    pie_reader_close(report.reader);
    return pie_profile_close_output(stdout, "the report", status);
}
