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
    "SELECT cause, iif(library IS NULL, file, user_file) AS file,"
    " iif(library IS NULL, line, user_line) AS line, holder_file, holder_line, sum(wait_s) AS place_s"
    " FROM v_wait WHERE run = :run GROUP BY 1, 2, 3, 4, 5))"
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

/* "(app.py:12, held at app.py:30)" */
static void print_places(FILE *out, struct pie_cursor *row) {
    if (!has_place(row, 2))
        return;
    fputs(" (", out);
    print_place(out, row, 2);
    if (has_place(row, 4)) {
        fputs(", held at ", out);
        print_place(out, row, 4);
    }
    fputs(")", out);
}

/* The line, with places and without, as the view is a costly one: it is asked once. */
enum { WITH_PLACES, PLAIN, FORMS };

struct forms {
    FILE *out[FORMS];
    char *texts[FORMS]; /* heap, once the streams are closed */
    size_t sizes[FORMS];
};

static void print_cause(const struct forms *forms, struct pie_cursor *row, bool is_first) {
    for (int i = 0; i < FORMS; i++) {
        fprintf(forms->out[i], "%s%.2f s %s", is_first ? "Threads waited: " : ", ", pie_cursor_real(row, 1),
                words_of(pie_cursor_text(row, 0)));
        if (i == WITH_PLACES)
            print_places(forms->out[i], row);
    }
}

static int write_causes(const struct pie_finding_screen *screen, const struct forms *forms,
                        char **ret_message) {
    struct pie_cursor *cursor;
    int r = pie_cursor_open_once(screen->reader, causes_sql, &cursor, ret_message), count = 0;
    if (r < 0)
        return r;
    pie_cursor_bind_int(cursor, ":run", screen->run);
    pie_cursor_bind_int(cursor, ":limit", CAUSES_SHOWN);
    while ((r = pie_cursor_next(cursor, ret_message)) > 0)
        print_cause(forms, cursor, count++ == 0);
    pie_cursor_close(cursor);
    return r;
}

static int open_forms(struct forms *ret_forms) {
    *ret_forms = (struct forms){.sizes = {0}};
    for (int i = 0; i < FORMS; i++)
        if (!(ret_forms->out[i] = open_memstream(&ret_forms->texts[i], &ret_forms->sizes[i])))
            return -ENOMEM;
    return 0;
}

static int close_forms(struct forms *forms) {
    int r = 0;
    for (int i = 0; i < FORMS; i++)
        if (!forms->out[i] || fclose(forms->out[i]) != 0)
            r = -ENOMEM;
    return r;
}

/* Heap, or NULL: there is no cause, or no memory. */
static char *choose_form(const struct forms *forms, size_t columns) {
    bool fits = pie_text_width(forms->texts[WITH_PLACES]) <= columns;
    const char *text = forms->texts[fits ? WITH_PLACES : PLAIN];
    return *text ? pie_text_cut_end(text, columns) : NULL;
}

int pie_summary_waits_text(const struct pie_finding_screen *screen, char **ret_text, char **ret_message) {
    struct forms forms;
    bool matters;
    *ret_text = NULL;
    int r = pie_hints_waiting_matters(screen->reader, screen->run, &matters, ret_message);
    if (r < 0 || !matters)
        return r;
    if (open_forms(&forms) == 0)
        r = write_causes(screen, &forms, ret_message);
    if (close_forms(&forms) < 0 && r == 0)
        r = pie_message(-ENOMEM, ret_message, "out of memory");
    if (r == 0)
        *ret_text = choose_form(&forms, screen->columns);
    for (int i = 0; i < FORMS; i++)
        free(forms.texts[i]);
    return r;
}
