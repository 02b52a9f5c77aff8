/* SPDX-License-Identifier: Apache-2.0 */
#include "launcher/summary/summary_worked.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "launcher/text/text.h"
#include "storage/base/message.h"
#include "storage/read/reader.h"

enum { PLACES_SHOWN = 3, PLACE_COLUMNS = 32 };

/* Of the run's CPU time; less of it says little. */
#define PART_MIN "0.05"

/* The lines of own code for which most was worked, with the sums of all lines. */
static const char worked_sql[] =
    "SELECT file, line, worked_s, all_s, all_share FROM ("
    "SELECT iif(library IS NULL, file, user_file) AS file, iif(library IS NULL, line, user_line) AS line,"
    " sum(worked_s) AS worked_s, sum(sum(worked_s)) OVER () AS all_s,"
    " sum(sum(worked_share)) OVER () AS all_share FROM v_worked WHERE run = :run GROUP BY 1, 2)"
    " WHERE all_share >= " PART_MIN " ORDER BY file IS NULL, worked_s DESC, file, line LIMIT :limit";

/* ", app.py:12 3.08 s" */
static void print_place(FILE *out, struct pie_cursor *row, bool is_first) {
    const char *path = pie_cursor_text(row, 0), *slash = path ? strrchr(path, '/') : NULL;
    char *clean = path ? pie_text_printable(slash ? slash + 1 : path) : NULL;
    char *cut = clean ? pie_text_cut_start(clean, PLACE_COLUMNS) : NULL;
    if (cut)
        fprintf(out, "%s%s:%lld %.2f s", is_first ? " for " : ", ", cut, (long long)pie_cursor_int(row, 1),
                pie_cursor_real(row, 2));
    free(clean);
    free(cut);
}

static int write_places(const struct pie_finding_screen *screen, FILE *out, char **ret_message) {
    struct pie_cursor *cursor;
    int r = pie_cursor_open_once(screen->reader, worked_sql, &cursor, ret_message), count = 0;
    if (r < 0)
        return r;
    pie_cursor_bind_int(cursor, ":run", screen->run);
    pie_cursor_bind_int(cursor, ":limit", PLACES_SHOWN);
    while ((r = pie_cursor_next(cursor, ret_message)) > 0) {
        if (count == 0)
            fprintf(out, "Native threads worked %.2f s (%.0f %% of the CPU time)", pie_cursor_real(cursor, 3),
                    100 * pie_cursor_real(cursor, 4));
        print_place(out, cursor, count++ == 0);
    }
    pie_cursor_close(cursor);
    return r;
}

int pie_summary_worked_text(const struct pie_finding_screen *screen, char **ret_text, char **ret_message) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    *ret_text = NULL;
    int r = out ? write_places(screen, out, ret_message) : 0;
    if (!out || fclose(out) != 0)
        r = r < 0 ? r : pie_message(-ENOMEM, ret_message, "out of memory");
    if (r == 0 && size > 0)
        *ret_text = pie_text_cut_end(text, screen->columns);
    free(text);
    return r;
}
