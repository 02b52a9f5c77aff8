/* SPDX-License-Identifier: Apache-2.0 */
#include "launcher/answers/report_memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "launcher/text/text.h"
#include "launcher/text/wrap.h"
#include "storage/read/reader.h"

/* A curve is drawn in one line of blocks, each as high as the highest value of its part of the time. Both curves have
 * the same scale, so that one sees what of the heap is not resident. */

enum { SPARK_MAX = 60, SPARK_MIN = 16, NAME_WIDTH = 10, AMOUNT_WIDTH = 12, POINTS_MAX = 128 };

static const char *const blocks[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
enum { BLOCKS = sizeof blocks / sizeof *blocks };

struct point {
    double t_s, heap, rss;
    bool has_rss;
};

struct memory {
    const struct pie_finding_screen *screen;
    int64_t process;
    double started_s, ended_s; /* of the process, since the run's start */
    struct point points[POINTS_MAX];
    size_t count;
    size_t leaks, needless;
};

static int each_row(struct memory *memory, const char *sql,
                    void (*print)(struct memory *, struct pie_cursor *), char **ret_message) {
    struct pie_cursor *cursor;
    int r = pie_cursor_open(memory->screen->reader, sql, &cursor, ret_message);
    if (r < 0)
        return r;
    pie_cursor_bind_int(cursor, ":run", memory->screen->run);
    pie_cursor_bind_int(cursor, ":process", memory->process);
    while ((r = pie_cursor_next(cursor, ret_message)) > 0)
        print(memory, cursor);
    pie_cursor_close(cursor);
    return r;
}

static void print_wrapped(const struct memory *memory, const char *text, size_t indent) {
    char *clean = text ? pie_text_printable(text) : NULL;
    if (clean)
        pie_wrap_print(memory->screen->out, clean, indent, indent, memory->screen->columns);
    free(clean);
}

static const char heap_sql[] =
    "SELECT h.process, h.pid, h.peak_bytes, h.peak_python_bytes, h.peak_t_s, h.rss_peak_bytes, "
    "h.allocated_bytes,"
    " h.profiler_bytes, h.allocator, h.note, count(*) OVER (), (p.started_ns - r.started_ns) / 1e9,"
    " (coalesce(p.ended_ns, p.seen_ns) - r.started_ns) / 1e9"
    " FROM v_heap h JOIN process p ON p.id = h.process JOIN run r ON r.id = p.run WHERE h.run = :run"
    " ORDER BY h.peak_bytes DESC, h.process LIMIT 1";

/* The text of the heading; heap, or NULL. */
static char *tell_heap(struct pie_cursor *row) {
    char heap[PIE_TEXT_BYTES_SIZE], rss[PIE_TEXT_BYTES_SIZE], all[PIE_TEXT_BYTES_SIZE],
        own[PIE_TEXT_BYTES_SIZE];
    double peak = pie_cursor_real(row, 2);
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    pie_text_bytes(peak, heap);
    pie_text_bytes(pie_cursor_real(row, 5), rss);
    pie_text_bytes(pie_cursor_real(row, 6), all);
    pie_text_bytes(pie_cursor_real(row, 7), own);
    if (pie_cursor_int(row, 10) > 1)
        fprintf(out, "process %lld, ", (long long)pie_cursor_int(row, 1));
    fprintf(out, "peak %s", heap);
    if (peak > 0)
        fprintf(out, " (Python %.0f %%)", 100 * pie_cursor_real(row, 3) / peak);
    if (pie_cursor_type(row, 4) != PIE_VALUE_NULL)
        fprintf(out, " at %.1f s", pie_cursor_real(row, 4));
    if (pie_cursor_type(row, 5) != PIE_VALUE_NULL)
        fprintf(out, ", resident %s", rss);
    fprintf(out, "; %s allocated in all; the profiler's own %s", all, own);
    if (pie_cursor_text(row, 8))
        fprintf(out, "; malloc() is %s's", pie_cursor_text(row, 8));
    if (pie_cursor_text(row, 9))
        fprintf(out, "; %s", pie_cursor_text(row, 9));
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

static void print_heap(struct memory *memory, struct pie_cursor *row) {
    char *text = tell_heap(row);
    memory->process = pie_cursor_int(row, 0);
    memory->started_s = pie_cursor_real(row, 11);
    memory->ended_s = pie_cursor_real(row, 12);
    fprintf(memory->screen->out, "\n%sMemory%s: ", memory->screen->style.bold, memory->screen->style.plain);
    print_wrapped(memory, text, strlen("Memory: "));
    free(text);
}

static const char points_sql[] = "SELECT t_s, heap_bytes, rss_bytes FROM v_memory_timeline"
                                 " WHERE run = :run AND process = :process ORDER BY t_s";

static void add_point(struct memory *memory, struct pie_cursor *row) {
    if (memory->count == POINTS_MAX)
        return;
    memory->points[memory->count++] = (struct point){.t_s = pie_cursor_real(row, 0),
                                                     .heap = pie_cursor_real(row, 1),
                                                     .rss = pie_cursor_real(row, 2),
                                                     .has_rss = pie_cursor_type(row, 2) != PIE_VALUE_NULL};
}

static double value_of(const struct point *point, bool is_rss) {
    return is_rss ? point->rss : point->heap;
}

/* On the line between its points; before the first one nothing, after the last one as there. */
static double value_at(const struct memory *memory, double t_s, bool is_rss) {
    const struct point *before = NULL, *after = NULL;
    for (size_t i = 0; i < memory->count && !after; i++) {
        if (memory->points[i].t_s <= t_s)
            before = &memory->points[i];
        else
            after = &memory->points[i];
    }
    if (!before || !after)
        return before ? value_of(before, is_rss) : 0;
    double part = (t_s - before->t_s) / (after->t_s - before->t_s);
    return value_of(before, is_rss) + part * (value_of(after, is_rss) - value_of(before, is_rss));
}

/* The highest between two times, ends included. */
static double highest(const struct memory *memory, double from_s, double to_s, bool is_rss) {
    double from = value_at(memory, from_s, is_rss), to = value_at(memory, to_s, is_rss);
    double most = from > to ? from : to;
    for (size_t i = 0; i < memory->count; i++) {
        double value = value_of(&memory->points[i], is_rss);
        bool is_inside = memory->points[i].t_s >= from_s && memory->points[i].t_s <= to_s;
        most = is_inside && value > most ? value : most;
    }
    return most;
}

static void print_curve(const struct memory *memory, bool is_rss, double scale, size_t width) {
    FILE *out = memory->screen->out;
    char bytes[PIE_TEXT_BYTES_SIZE];
    double span = memory->ended_s - memory->started_s;
    fprintf(out, "  %-*s", NAME_WIDTH, is_rss ? "resident" : "heap");
    for (size_t i = 0; i < width; i++) {
        double from = memory->started_s + span * (double)i / (double)width;
        double high = highest(memory, from, from + span / (double)width, is_rss);
        size_t block = (size_t)(high / scale * (BLOCKS - 1) + 0.999999);
        fputs(blocks[block < BLOCKS ? block : BLOCKS - 1], out);
    }
    pie_text_bytes(highest(memory, memory->started_s, memory->ended_s, is_rss), bytes);
    fprintf(out, "  %s\n", bytes);
}

static void print_curves(const struct memory *memory) {
    size_t columns = memory->screen->columns, width = SPARK_MAX, has_rss = 0;
    char end[32];
    if (columns > 0 && columns < SPARK_MAX + 2 + NAME_WIDTH + AMOUNT_WIDTH)
        width = columns < SPARK_MIN + 2 + NAME_WIDTH + AMOUNT_WIDTH ? SPARK_MIN
                                                                    : columns - 2 - NAME_WIDTH - AMOUNT_WIDTH;
    double heap = highest(memory, memory->started_s, memory->ended_s, false);
    double rss = highest(memory, memory->started_s, memory->ended_s, true), scale = heap > rss ? heap : rss;
    for (size_t i = 0; i < memory->count; i++)
        has_rss += memory->points[i].has_rss;
    if (memory->count < 2 || scale <= 0 || memory->ended_s <= memory->started_s)
        return;
    print_curve(memory, false, scale, width);
    if (has_rss > 0)
        print_curve(memory, true, scale, width);
    int start_width = snprintf(end, sizeof end, "%.1f s", memory->started_s);
    fprintf(memory->screen->out, "  %s%-*s%s", memory->screen->style.dim, NAME_WIDTH, "", end);
    snprintf(end, sizeof end, "%.1f s", memory->ended_s);
    fprintf(memory->screen->out, "%*s%s\n", (int)width - start_width, end, memory->screen->style.plain);
}

static const char leaks_sql[] =
    "SELECT file, line, function, score, frees, mallocs, rate_bytes_per_s, leaked_bytes, "
    "holder, library FROM v_leak WHERE run = :run ORDER BY rank";

/* 1. server.py:31 in handle, and below it the line's text */
static void print_place(const struct memory *memory, size_t number, struct pie_cursor *row) {
    const struct pie_finding_screen *screen = memory->screen;
    const char *file = pie_cursor_text(row, 0), *name = pie_cursor_text(row, 2);
    char *place = pie_finding_place(file, pie_cursor_real(row, 1));
    char *clean = place ? pie_text_printable(place) : NULL,
         *function = name ? pie_text_printable(name) : NULL;
    char *source = pie_finding_source(screen->reader, screen->run, file, pie_cursor_real(row, 1));
    char *cut = source && screen->columns > 3 ? pie_text_cut_end(source, screen->columns - 3) : NULL;
    fprintf(screen->out, "%s%zu. %s in %s%s\n", screen->style.bold, number, clean ? clean : "?",
            function ? function : "?", screen->style.plain);
    if (source)
        fprintf(screen->out, "   %s%s%s\n", screen->style.dim, cut ? cut : source, screen->style.plain);
    free(place);
    free(clean);
    free(function);
    free(source);
    free(cut);
}

static void print_leak(struct memory *memory, struct pie_cursor *row) {
    FILE *out = memory->screen->out;
    char rate[PIE_TEXT_BYTES_SIZE], bytes[PIE_TEXT_BYTES_SIZE], *text;
    if (memory->leaks++ == 0)
        fprintf(out, "\n%sLeaks%s\n", memory->screen->style.bold, memory->screen->style.plain);
    else
        fputc('\n', out);
    print_place(memory, memory->leaks, row);
    pie_text_bytes(pie_cursor_real(row, 6), rate);
    pie_text_bytes(pie_cursor_real(row, 7), bytes);
    if (asprintf(&text, "%s/s, %s by the end; score %.2f, %lld of %lld sampled allocations were freed", rate,
                 bytes, pie_cursor_real(row, 3), (long long)pie_cursor_int(row, 4),
                 (long long)pie_cursor_int(row, 5)) < 0)
        text = NULL;
    fputs("   leaks    ", out);
    print_wrapped(memory, text ? text : "?", 12);
    if (pie_cursor_text(row, 8)) {
        fputs("   held by  ", out);
        print_wrapped(memory, pie_cursor_text(row, 8), 12);
    }
    free(text);
}

/* Those that cost a hundredth of the run. */
static const char needless_sql[] =
    "SELECT file, line, function, cpu_s, cpu_share, bytes, needless_share, needless_low, needless_high, "
    "copies,"
    " watched FROM v_needless WHERE run = :run AND verdict = 'needless' AND cpu_share >= 0.01 ORDER BY rank";

static void print_needless(struct memory *memory, struct pie_cursor *row) {
    FILE *out = memory->screen->out;
    char bytes[PIE_TEXT_BYTES_SIZE], *text;
    if (memory->needless++ == 0)
        fprintf(out, "\n%sNeedless copies%s\n", memory->screen->style.bold, memory->screen->style.plain);
    else
        fputc('\n', out);
    print_place(memory, memory->needless, row);
    pie_text_bytes(pie_cursor_real(row, 5), bytes);
    fprintf(out, "   costs    %.2f s, %.1f %% of the run; %s are copied\n", pie_cursor_real(row, 3),
            100 * pie_cursor_real(row, 4), bytes);
    if (asprintf(&text,
                 "neither source nor copy was written before one of them was freed: a view would do; %.0f %% "
                 "(%.0f to %.0f %%) of %lld copies that were followed, %lld of them with a debug register",
                 100 * pie_cursor_real(row, 6), 100 * pie_cursor_real(row, 7), 100 * pie_cursor_real(row, 8),
                 (long long)pie_cursor_int(row, 9), (long long)pie_cursor_int(row, 10)) < 0)
        text = NULL;
    fputs("   because  ", out);
    print_wrapped(memory, text ? text : "?", 12);
    free(text);
}

int pie_report_memory_print(const struct pie_finding_screen *screen, char **ret_message) {
    struct memory *memory = calloc(1, sizeof *memory);
    if (!memory)
        return -ENOMEM;
    memory->screen = screen;
    int r = each_row(memory, heap_sql, print_heap, ret_message);
    if (r == 0)
        r = each_row(memory, points_sql, add_point, ret_message);
    if (r == 0) {
        print_curves(memory);
        r = each_row(memory, leaks_sql, print_leak, ret_message);
    }
    if (r == 0)
        r = each_row(memory, needless_sql, print_needless, ret_message);
    free(memory);
    return r;
}
