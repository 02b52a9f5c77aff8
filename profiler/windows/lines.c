/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/windows/lines.h"

#include <string.h>

/* Of the thread's CPU time. A line that had it once is counted for good. */
static const double HOT_SHARE = 0.1;
/* So little time says nothing of shares. */
static const uint64_t KNOWN_NS = 200000000;

static struct pie_window_line *find(struct pie_window_lines *lines, const char *file, int32_t line) {
    for (unsigned i = 0; i < lines->count; i++)
        if (lines->lines[i].line == line && strcmp(lines->lines[i].file, file) == 0)
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

void pie_window_lines_add(struct pie_window_lines *lines, const char *file, int32_t line, uint64_t cpu_ns,
                          bool is_in_loop) {
    lines->cpu_ns += cpu_ns;
    if (!file || line <= 0 || strlen(file) >= PIE_WINDOW_FILE_BYTES)
        return;
    struct pie_window_line *at = find(lines, file, line);
    if (!at) {
        at = lines->count < PIE_WINDOW_LINES_MAX ? &lines->lines[lines->count++] : coldest(lines);
        if (!at)
            return;
        strcpy(at->file, file);
        at->line = line;
        at->number = -1;
        at->cpu_ns = at->loop_ns = 0;
    }
    at->cpu_ns += cpu_ns;
    at->loop_ns += is_in_loop ? cpu_ns : 0;
}

static bool is_hot(const struct pie_window_lines *lines, const struct pie_window_line *line) {
    return lines->cpu_ns >= KNOWN_NS && (double)line->cpu_ns >= HOT_SHARE * (double)lines->cpu_ns;
}

struct pie_window_line *pie_window_lines_next(struct pie_window_lines *lines) {
    for (unsigned i = 0; i < lines->count; i++)
        if (lines->lines[i].number == -1 && is_hot(lines, &lines->lines[i]))
            return &lines->lines[i];
    return NULL;
}

bool pie_window_lines_is_in_loop(struct pie_window_lines *lines, const char *file, int32_t line) {
    const struct pie_window_line *at = find(lines, file, line);

    return at && 2 * at->loop_ns > at->cpu_ns;
}

bool pie_window_lines_are_hot(const struct pie_window_lines *lines) {
    for (unsigned i = 0; i < lines->count; i++)
        if (lines->lines[i].number >= 0 && is_hot(lines, &lines->lines[i]))
            return true;
    return false;
}
