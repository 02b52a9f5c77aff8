/* SPDX-License-Identifier: Apache-2.0 */
#include "launcher/summary/summary_lines.h"

#include <stdlib.h>
#include <string.h>

#include "launcher/text/text.h"
#include "storage/read/reader.h"

enum { COST_WIDTH = 16, PART_WIDTH = 6, WAIT_WIDTH = 8, PLACE_MAX = 40, SOURCE_MIN = 10, PARTS = 3 };
enum { SOURCE_WANTED = 60 }; /* before it is cut to less, the library goes */

/* Fewer samples say little of a line, unless it is the costliest one or waits. */
const char pie_summary_lines_sql[] =
    "SELECT v.file, v.line, v.cpu_s, v.python_s, v.native_s, v.system_s, v.wait_s, v.cpu_share,"
    " (SELECT text FROM v_source s WHERE s.run = v.run AND s.file = v.file AND s.line = v.line), v.library,"
    " v.library_cpu_s FROM v_own_line v WHERE v.run = :run AND (v.cpu_share >= 0.001 OR v.wait_s >= 0.01)"
    " AND (v.samples >= 5 OR v.wait_s >= 0.01 OR v.rank = 1)"
    " ORDER BY v.cpu_s DESC, v.wait_s DESC, v.file, v.line LIMIT :limit";

/* file.py:12 */
static char *place_of(struct pie_cursor *row) {
    char place[256];
    const char *path = pie_cursor_text(row, 0), *slash = path ? strrchr(path, '/') : NULL;
    int end = snprintf(place, sizeof place, "%.200s", slash ? slash + 1 : path ? path : "?");
    if (pie_cursor_type(row, 1) != PIE_VALUE_NULL) /* "(table full)" has none */
        snprintf(place + end, sizeof place - (size_t)end, ":%lld", (long long)pie_cursor_int(row, 1));
    char *clean = pie_text_printable(place), *cut = clean ? pie_text_cut_start(clean, PLACE_MAX) : NULL;
    free(clean);
    return cut;
}

/* numpy 3.14 s, where it matters */
static char *library_of(struct pie_cursor *row) {
    char *clean, *text = NULL;
    if (!pie_cursor_text(row, 9) || pie_cursor_real(row, 10) < 0.005 + 0.1 * pie_cursor_real(row, 2))
        return NULL;
    clean = pie_text_printable(pie_cursor_text(row, 9));
    if (clean && asprintf(&text, "  [%.40s %.2f s]", clean, pie_cursor_real(row, 10)) < 0)
        text = NULL;
    free(clean);
    return text;
}

void pie_summary_lines_add(struct pie_summary_lines *lines, struct pie_cursor *row) {
    const char *source = pie_cursor_text(row, 8);
    double cpu_s = pie_cursor_real(row, 2);
    if (lines->count == PIE_SUMMARY_LINES_MAX)
        return;
    struct pie_summary_line *line = &lines->lines[lines->count++];
    *line = (struct pie_summary_line){.cpu_s = cpu_s,
                                      .share = pie_cursor_real(row, 7),
                                      .wait_s = pie_cursor_real(row, 6),
                                      .place = place_of(row),
                                      .source =
                                          source ? pie_text_printable(source + strspn(source, " \t")) : NULL,
                                      .library = library_of(row)};
    for (int i = 0; i < PARTS; i++)
        line->parts[i] = cpu_s > 0 ? pie_cursor_real(row, 3 + i) / cpu_s : 0;
}

/* Is there anything of it that would be printed other than 0? */
struct shown {
    bool parts[PARTS], wait;
    size_t place_width;
};

static struct shown what_is_shown(const struct pie_summary_lines *lines) {
    struct shown shown = {.wait = false};
    for (size_t i = 0; i < lines->count; i++) {
        const struct pie_summary_line *line = &lines->lines[i];
        size_t width = line->place ? pie_text_width(line->place) : 0;
        for (int part = 0; part < PARTS; part++)
            shown.parts[part] = shown.parts[part] || line->parts[part] >= 0.005;
        shown.wait = shown.wait || line->wait_s >= 0.005;
        shown.place_width = width > shown.place_width ? width : shown.place_width;
    }
    return shown;
}

static size_t width_of(const struct shown *shown) {
    size_t width = COST_WIDTH + (shown->wait ? WAIT_WIDTH : 0);
    for (int i = 0; i < PARTS; i++)
        width += shown->parts[i] ? PART_WIDTH : 0;
    return width;
}

static void print_head(const struct pie_summary_lines *lines, const struct shown *shown) {
    static const char *const names[PARTS] = {"py", "nat", "sys"};
    fprintf(lines->out, "\n%s   CPU s   share", lines->style.dim);
    for (int i = 0; i < PARTS; i++)
        if (shown->parts[i])
            fprintf(lines->out, "%*s", PART_WIDTH, names[i]);
    fprintf(lines->out, "%s  line of your code%s\n", shown->wait ? "  wait s" : "", lines->style.plain);
}

static void print_source(const struct pie_summary_lines *lines, const struct pie_summary_line *line,
                         const struct shown *shown) {
    size_t used = width_of(shown) + 4 + shown->place_width,
           library = line->library ? pie_text_width(line->library) : 0,
           source = line->source ? pie_text_width(line->source) : 0;
    bool has_library = lines->columns >= used + library + (source < SOURCE_WANTED ? source : SOURCE_WANTED);
    used += has_library ? library : 0;
    size_t room = lines->columns > used + SOURCE_MIN ? lines->columns - used : SOURCE_MIN;
    char *cut = line->source ? pie_text_cut_end(line->source, room) : NULL;
    int blanks = line->place ? (int)(shown->place_width - pie_text_width(line->place)) : 0;
    fprintf(lines->out, "  %s%*s  %s%s%s%s\n", line->place ? line->place : "?", blanks, "", lines->style.dim,
            cut ? cut : "", line->library && has_library ? line->library : "", lines->style.plain);
    free(cut);
}

static void print_line(const struct pie_summary_lines *lines, const struct pie_summary_line *line,
                       const struct shown *shown) {
    const char *colour = line->share >= 0.2 ? lines->style.hot : line->share >= 0.05 ? lines->style.warm : "";
    fprintf(lines->out, "%s%8.3f  %4.1f %%%s", colour, line->cpu_s, 100 * line->share,
            *colour ? lines->style.plain : "");
    for (int i = 0; i < PARTS; i++) {
        if (shown->parts[i] && line->cpu_s > 0)
            fprintf(lines->out, "%*.0f %%", PART_WIDTH - 2, 100 * line->parts[i]);
        else if (shown->parts[i])
            fprintf(lines->out, "%*s", PART_WIDTH, "-");
    }
    if (shown->wait)
        fprintf(lines->out, "%*.2f", WAIT_WIDTH, line->wait_s);
    print_source(lines, line, shown);
}

void pie_summary_lines_print(struct pie_summary_lines *lines) {
    const struct shown shown = what_is_shown(lines);
    if (lines->count == 0)
        fputs("\nNo line of your own code was seen running.\n", lines->out);
    else
        print_head(lines, &shown);
    for (size_t i = 0; i < lines->count; i++) {
        struct pie_summary_line *line = &lines->lines[i];
        print_line(lines, line, &shown);
        free(line->place);
        free(line->source);
        free(line->library);
    }
    lines->count = 0;
}
