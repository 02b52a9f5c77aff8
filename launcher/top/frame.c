/* SPDX-License-Identifier: Apache-2.0 */
#include "launcher/top/frame.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launcher/text/text.h"
#include "storage/base/message.h"
#include "storage/read/period.h"
#include "storage/read/reader.h"

/* A program has thousands of lines, and who scrolls that far asks a question instead. */
enum { ROWS_MAX = 20000 };

static void finish_row(struct pie_top_row *row) {
    free(row->name);
    free(row->place);
    free(row->path);
    free(row->more);
}

void pie_top_frame_finish(struct pie_top_frame *frame) {
    for (size_t i = 0; i < frame->count; i++)
        finish_row(&frame->rows[i]);
    free(frame->rows);
    pie_top_header_finish(&frame->header);
    *frame = (struct pie_top_frame){0};
}

/* Without the blanks that a source line begins with. */
static char *text_of(struct pie_cursor *cursor, int column) {
    const char *text = pie_cursor_text(cursor, column);
    return text ? pie_text_printable(text + strspn(text, " \t\f")) : NULL;
}

/* "app.py:42"; the base name, since the whole path is shown of the chosen row. */
static char *place_of(const char *path, int64_t line) {
    const char *slash = strrchr(path, '/');
    const char *base = slash && slash[1] ? slash + 1 : path;
    char *place;
    if (asprintf(&place, line > 0 ? "%s:%lld" : "%s", base, (long long)line) < 0)
        return NULL;
    return place;
}

static void read_texts(struct pie_cursor *cursor, int first, struct pie_top_row *row) {
    row->name = text_of(cursor, first + PIE_TOP_TEXT_NAME);
    row->path = text_of(cursor, first + PIE_TOP_TEXT_FILE);
    row->more = text_of(cursor, first + PIE_TOP_TEXT_MORE);
    row->is_library = pie_cursor_text(cursor, first + PIE_TOP_TEXT_LIBRARY) != NULL;
    row->place = row->path ? place_of(row->path, pie_cursor_int(cursor, first + PIE_TOP_TEXT_LINE)) : NULL;
}

static int add_row(struct pie_top_frame *frame, size_t *room, struct pie_cursor *cursor) {
    const struct pie_top_view *view = pie_top_view(frame->view);
    if (frame->count == *room) {
        size_t wanted = *room ? 2 * *room : 256;
        struct pie_top_row *rows = realloc(frame->rows, wanted * sizeof *rows);
        if (!rows)
            return -ENOMEM;
        frame->rows = rows;
        *room = wanted;
    }
    struct pie_top_row *row = &frame->rows[frame->count++];
    for (int i = 0; i < view->figures; i++)
        row->figures[i] =
            pie_cursor_type(cursor, i) == PIE_VALUE_NULL ? (double)NAN : pie_cursor_real(cursor, i);
    read_texts(cursor, view->figures, row);
    return 0;
}

static int read_rows(struct pie_reader *reader, int64_t run, struct pie_top_frame *frame,
                     char **ret_message) {
    struct pie_cursor *cursor;
    size_t room = 0;
    int r = pie_cursor_open_once(reader, pie_top_view(frame->view)->sql, &cursor, ret_message);
    if (r < 0)
        return r;
    pie_cursor_bind_int(cursor, ":run", run);
    while (frame->count < ROWS_MAX && (r = pie_cursor_next(cursor, ret_message)) > 0)
        if (add_row(frame, &room, cursor) < 0) {
            r = pie_message(-ENOMEM, ret_message, "out of memory");
            break;
        }
    pie_cursor_close(cursor);
    return r < 0 ? r : 0;
}

/* The run of a process that runs: pids come again, so its last. */
static int find_run(struct pie_reader *reader, struct pie_top_source *source, char **ret_message) {
    struct pie_cursor *cursor;
    int r = pie_cursor_open(reader, "SELECT max(run) FROM process WHERE pid = :pid", &cursor, ret_message);
    if (r < 0)
        return r;
    pie_cursor_bind_int(cursor, ":pid", source->pid);
    r = pie_cursor_next(cursor, ret_message);
    if (r > 0)
        source->run = pie_cursor_int(cursor, 0);
    pie_cursor_close(cursor);
    return r < 0 ? r : 0;
}

static int read_all(struct pie_reader *reader, struct pie_top_source *source, struct pie_top_frame *frame,
                    char **ret_message) {
    int64_t from_ns, to_ns;
    int r = pie_reader_freeze(reader, ret_message);
    if (r == 0 && source->pid && !source->run)
        r = find_run(reader, source, ret_message);
    if (r == 0 && source->process)
        r = pie_reader_cut(reader, source->run, source->process, ret_message);
    if (r == 0)
        r = pie_reader_get_run(reader, source->run, &source->run, ret_message);
    if (r == 0)
        r = pie_top_header_read(reader, source->run, &frame->header, ret_message);
    const struct pie_period period = {.kind = PIE_PERIOD_LAST, .last_s = source->last_s};
    if (r == 0 && source->last_s > 0)
        r = pie_period_cut(reader, source->run, &period, &from_ns, &to_ns, ret_message);
    return r == 0 ? read_rows(reader, source->run, frame, ret_message) : r;
}

int pie_top_frame_read(struct pie_top_source *source, enum pie_top_view_id view, struct pie_top_frame *frame,
                       char **ret_message) {
    struct pie_reader *reader;
    *frame = (struct pie_top_frame){.view = view};
    int r =
        (source->is_checked ? pie_reader_open_written : pie_reader_open)(source->path, &reader, ret_message);
    if (r < 0)
        return r;
    source->is_checked = true;
    pie_reader_set_time_limit(reader, source->limit_s);
    pie_reader_end_in(reader, source->limit_s);
    r = read_all(reader, source, frame, ret_message);
    pie_reader_close(reader);
    if (r < 0)
        pie_top_frame_finish(frame);
    return r;
}
