/* SPDX-License-Identifier: Apache-2.0 */
#include "launcher/summary/summary_waits.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "launcher/text/text.h"
#include "storage/ask/hints.h"
#include "storage/base/message.h"
#include "storage/read/reader.h"

enum { CAUSES_SHOWN = 3, PLACE_COLUMNS = 32 };

/* Of all that was waited; less than that part says little. */
#define PART_MIN "0.05"

/* In the words of the page (web/src/data/waits.ts). */
static const struct {
    const char *cause, *words;
} causes[] = {
    {"gil", "for the GIL"},           {"lock", "for a lock"},
    {"socket", "for a socket"},       {"pipe", "for a pipe"},
    {"file", "for a file"},           {"terminal", "for a terminal"},
    {"poll", "for events"},           {"sleep", "asleep"},
    {"child", "for a child process"}, {"gpu", "for a GPU"},
    {"disk", "for the disk"},         {"signal", "for a signal"},
    {"other", "in a system call"},    {"unknown", "for an unknown reason"},
};

static const char *words_of(const char *cause) {
    for (size_t i = 0; i < sizeof causes / sizeof *causes; i++)
        if (cause && strcmp(cause, causes[i].cause) == 0)
            return causes[i].words;
    return "for an unknown reason";
}

/* Each cause with the line of own code that waited most for it, if any did, and where its lock was held meanwhile. */
static const char causes_sql[] =
    "SELECT cause, cause_s, file, line, holder_file, holder_line, max(iif(file IS NULL, -1, place_s)) FROM ("
    "SELECT *, sum(place_s) OVER (PARTITION BY cause) AS cause_s, sum(place_s) OVER () AS all_s FROM ("
    "SELECT cause, iif(library IS NULL, file, user_file) AS file, iif(library IS NULL, line, user_line) AS "
    "line,"
    " holder_file, holder_line, sum(wait_s) AS place_s FROM v_wait WHERE run = :run GROUP BY 1, 2, 3, 4, 5))"
    " WHERE cause_s >= " PART_MIN " * all_s GROUP BY cause ORDER BY cause_s DESC, cause LIMIT :limit";

/* app.py:12 */
static void print_place(FILE *out, struct pie_cursor *row, int column) {
    const char *path = pie_cursor_text(row, column), *slash = path ? strrchr(path, '/') : NULL;
    char *clean = path ? pie_text_printable(slash ? slash + 1 : path) : NULL;
    char *cut = clean ? pie_text_cut_start(clean, PLACE_COLUMNS) : NULL;
    fprintf(out, "%s:%lld", cut ? cut : "?", (long long)pie_cursor_int(row, column + 1));
    free(clean);
    free(cut);
}

static bool has_place(struct pie_cursor *row, int column) {
    return pie_cursor_type(row, column) != PIE_VALUE_NULL &&
           pie_cursor_type(row, column + 1) != PIE_VALUE_NULL;
}

/* "9.02 s for a lock (app.py:12, held at app.py:30)" */
static void print_cause(FILE *out, struct pie_cursor *row, bool has_places) {
    fprintf(out, "%.2f s %s", pie_cursor_real(row, 1), words_of(pie_cursor_text(row, 0)));
    if (!has_places || !has_place(row, 2))
        return;
    fputs(" (", out);
    print_place(out, row, 2);
    if (has_place(row, 4)) {
        fputs(", held at ", out);
        print_place(out, row, 4);
    }
    fputs(")", out);
}

/* The line (heap); *ret_text is NULL where there is no cause. */
static int write_causes(const struct pie_finding_screen *screen, bool has_places, char **ret_text,
                        char **ret_message) {
    struct pie_cursor *cursor;
    size_t size, count = 0;
    int r = pie_cursor_open(screen->reader, causes_sql, &cursor, ret_message);
    if (r < 0)
        return r;
    FILE *out = open_memstream(ret_text, &size);
    pie_cursor_bind_int(cursor, ":run", screen->run);
    pie_cursor_bind_int(cursor, ":limit", CAUSES_SHOWN);
    while (out && (r = pie_cursor_next(cursor, ret_message)) > 0) {
        fputs(count++ ? ", " : "Threads waited: ", out);
        print_cause(out, cursor, has_places);
    }
    pie_cursor_close(cursor);
    if (!out || fclose(out) != 0)
        return pie_message(-ENOMEM, ret_message, "out of memory");
    return r;
}

int pie_summary_waits_text(const struct pie_finding_screen *screen, char **ret_text, char **ret_message) {
    char *text = NULL;
    bool matters;
    *ret_text = NULL;
    int r = pie_hints_waiting_matters(screen->reader, screen->run, &matters, ret_message);
    for (int places = 1; r == 0 && matters && places >= 0;
         places--) { /* without them where they do not fit */
        free(text);
        text = NULL;
        r = write_causes(screen, places, &text, ret_message);
        if (r < 0 || pie_text_width(text) <= screen->columns)
            break;
    }
    if (r == 0 && text && *text)
        *ret_text = pie_text_cut_end(text, screen->columns);
    free(text);
    return r;
}
