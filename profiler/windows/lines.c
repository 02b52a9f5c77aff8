/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/windows/lines.h"

#include <string.h>

/* Of the thread's CPU time. A line that had it once is counted for good. */
static const double HOT_SHARE = 0.1;
/* Time of late is halved at this sum. */
static const uint64_t LATE_NS = 400000000;
/* So little time says nothing of shares. */
static const uint64_t KNOWN_NS = 200000000;

static bool is_at(const struct pie_window_line *at, const char *file, int32_t line, int32_t function_line) {
    return at->line == line && at->function_line == function_line && strcmp(at->file, file) == 0;
}

const struct pie_window_line *pie_window_lines_find(const struct pie_window_lines *lines, const char *file,
                                                    int32_t line, int32_t function_line) {
    for (unsigned i = 0; i < lines->count; i++)
        if (is_at(&lines->lines[i], file, line, function_line))
            return &lines->lines[i];
    return NULL;
}

/* Of those that are not counted. */
static struct pie_window_line *coldest(struct pie_window_lines *lines) {
    struct pie_window_line *cold = NULL;

    for (unsigned i = 0; i < lines->count; i++)
        if (lines->lines[i].number == -1 && (!cold || lines->lines[i].cpu_ns < cold->cpu_ns))
            cold = &lines->lines[i];
    return cold;
}

void pie_window_lines_sample(struct pie_window_lines *lines, uint64_t cpu_ns) {
    if (lines->late_ns >= LATE_NS) {
        lines->late_ns /= 2;
        for (unsigned i = 0; i < lines->count; i++)
            lines->lines[i].late_ns /= 2;
    }
    lines->cpu_ns += cpu_ns;
    lines->late_ns += cpu_ns;
    lines->sample_ns = cpu_ns;
    lines->samples++;
}

static struct pie_window_line *make(struct pie_window_lines *lines, const struct pie_window_place *place) {
    struct pie_window_line *at =
        lines->count < PIE_WINDOW_LINES_MAX ? &lines->lines[lines->count++] : coldest(lines);

    if (!at)
        return NULL;
    *at = (struct pie_window_line){.line = place->line, .function_line = place->function_line, .number = -1};
    strcpy(at->file, place->file);
    strncpy(at->function, place->function, sizeof at->function - 1);
    return at;
}

void pie_window_lines_add(struct pie_window_lines *lines, const struct pie_window_place *place) {
    if (strlen(place->file) >= PIE_WINDOW_FILE_BYTES)
        return;
    struct pie_window_line *at = NULL;
    for (unsigned i = 0; i < lines->count && !at; i++)
        if (is_at(&lines->lines[i], place->file, place->line, place->function_line))
            at = &lines->lines[i];
    if (!at)
        at = make(lines, place);
    if (!at || at->sample == lines->samples)
        return;
    at->sample = lines->samples;
    at->cpu_ns += lines->sample_ns;
    at->late_ns += lines->sample_ns;
    at->loop_ns += place->is_in_loop ? lines->sample_ns : 0;
}

static bool is_hot(const struct pie_window_lines *lines, const struct pie_window_line *line) {
    return lines->cpu_ns >= KNOWN_NS && (double)line->cpu_ns >= HOT_SHARE * (double)lines->cpu_ns;
}

struct pie_window_line *pie_window_lines_next(struct pie_window_lines *lines) {
    for (unsigned i = 0; i < lines->count; i++)
        if (lines->lines[i].number == -1 && lines->lines[i].line > 0 && is_hot(lines, &lines->lines[i]))
            return &lines->lines[i];
    return NULL;
}

bool pie_window_line_is_in_loop(const struct pie_window_line *line) {
    return line && 2 * line->loop_ns > line->cpu_ns;
}

static bool is_counted(const struct pie_window_lines *lines, const struct pie_window_line *line) {
    return line->number >= 0 && is_hot(lines, line) &&
           (double)line->late_ns >= HOT_SHARE * (double)lines->late_ns;
}

static bool is_before(const struct pie_window_line *a, const struct pie_window_line *b) {
    bool loops_a = pie_window_line_is_in_loop(a), loops_b = pie_window_line_is_in_loop(b);

    return a->windows < b->windows || (a->windows == b->windows && loops_a && !loops_b);
}

bool pie_window_lines_turn(const struct pie_window_lines *lines, int32_t *ret_function_line) {
    const struct pie_window_line *next = NULL;

    for (unsigned i = 0; i < lines->count; i++)
        if (is_counted(lines, &lines->lines[i]) && (!next || is_before(&lines->lines[i], next)))
            next = &lines->lines[i];
    if (next)
        *ret_function_line = next->function_line;
    return next;
}

void pie_window_lines_opened(struct pie_window_lines *lines, int32_t function_line) {
    for (unsigned i = 0; i < lines->count; i++) {
        struct pie_window_line *line = &lines->lines[i];
        line->windows += line->function_line == function_line && is_counted(lines, line);
    }
}
