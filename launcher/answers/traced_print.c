/* SPDX-License-Identifier: Apache-2.0 */
#include "launcher/answers/traced_print.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "launcher/answers/table.h"
#include "launcher/text/text.h"
#include "storage/base/message.h"
#include "storage/read/reader.h"

const char pie_traced_loops_sql[] =
    "SELECT file, line, function, note, process, pid, loop, iterations, observed_iterations, entries,"
    " coalesce(decided_after, 0), body_s, confidence, rank, count(*) OVER (),"
    " max(process) OVER () <> min(process) OVER () FROM v_learned_loop WHERE run = :run ORDER BY rank";

static char *text_at(struct pie_cursor *row, int column) {
    const char *text = pie_cursor_text(row, column);
    return text ? pie_text_printable(text) : NULL;
}

static double number_at(struct pie_cursor *row, int column) {
    return pie_cursor_type(row, column) == PIE_VALUE_NULL ? NAN : pie_cursor_real(row, column);
}

void pie_traced_loop_read(struct pie_cursor *row, struct pie_traced_loop *ret_loop) {
    *ret_loop = (struct pie_traced_loop){
        .file = text_at(row, 0),
        .line = number_at(row, 1),
        .function = text_at(row, 2),
        .note = text_at(row, 3),
        .process = pie_cursor_int(row, 4),
        .pid = pie_cursor_int(row, 5),
        .loop = pie_cursor_int(row, 6),
        .iterations = pie_cursor_int(row, 7),
        .observed_iterations = pie_cursor_int(row, 8),
        .entries = pie_cursor_int(row, 9),
        .decided_after = pie_cursor_int(row, 10),
        .body_s = number_at(row, 11),
        .confidence = number_at(row, 12),
        .nth = pie_cursor_int(row, 13),
        .count = pie_cursor_int(row, 14),
        .is_one_of_processes = pie_cursor_int(row, 15) != 0,
    };
}

void pie_traced_loop_finish(struct pie_traced_loop *loop) {
    free(loop->file);
    free(loop->function);
    free(loop->note);
    *loop = (struct pie_traced_loop){0};
}

char *pie_traced_count(int64_t count, const char *noun) {
    char *text;
    return asprintf(&text, "%lld %s%s", (long long)count, noun, count == 1 ? "" : "s") < 0 ? NULL : text;
}

char *pie_traced_verdict(const struct pie_traced_loop *loop) {
    bool is_sure = loop->decided_after > 0;
    int64_t after = is_sure ? loop->decided_after : loop->observed_iterations;
    char *iterations = pie_traced_count(loop->iterations, "iteration"), *text = NULL, confidence[32] = "";
    if (!isnan(loop->confidence))
        snprintf(confidence, sizeof confidence, " at %.4g %%", 100 * loop->confidence);
    if (iterations && asprintf(&text, "%s%s after %lld of %s", is_sure ? "sure" : "not sure", confidence,
                               (long long)after, iterations) < 0)
        text = NULL;
    free(iterations);
    return text;
}

char *pie_traced_place(const char *file, double line, enum pie_traced_files files) {
    const char *slash = file && files == PIE_TRACED_BASE_NAMES ? strrchr(file, '/') : NULL;
    return pie_finding_place(slash ? slash + 1 : file, line);
}

/* What fits least goes first, from the right. */
enum column { SHARE, CALL, PLACE, CALLS, MEAN, P95, P99, COLUMNS };

static const struct {
    const char *name;
    enum pie_table_kind kind;
} columns[COLUMNS] = {
    [SHARE] = {"share", PIE_TABLE_NUMBER}, [CALL] = {"call", PIE_TABLE_TEXT},
    [PLACE] = {"at", PIE_TABLE_PATH},      [CALLS] = {"calls", PIE_TABLE_NUMBER},
    [MEAN] = {"mean", PIE_TABLE_NUMBER},   [P95] = {"p95", PIE_TABLE_NUMBER},
    [P99] = {"p99", PIE_TABLE_NUMBER},
};

static const char calls_sql[] =
    "SELECT share, share_low, share_high, function, file, line, calls, mean_s, p95_s, p99_s, count(*) OVER ()"
    " FROM v_learned WHERE run = :run AND process = :process AND loop = :loop ORDER BY rank LIMIT :most";
enum { ALL_CALLS = 10 };

/* "62.1 ± 3.8 %": how far the farther end of the interval is, as in findings. */
static char *share_of(struct pie_cursor *row) {
    double percent = 100 * number_at(row, 0);
    double away = fmax(100 * number_at(row, 2) - percent, percent - 100 * number_at(row, 1));
    char *text;
    int size = isnan(percent) ? asprintf(&text, "-")
               : isnan(away)  ? asprintf(&text, "%.1f %%", percent)
                              : asprintf(&text, "%.1f ± %.1f %%", percent, ceil(10 * away - 1e-6) / 10);
    return size < 0 ? NULL : text;
}

static char *seconds_of(struct pie_cursor *row, int column) {
    char text[PIE_TEXT_SECONDS_SIZE];
    if (pie_cursor_type(row, column) == PIE_VALUE_NULL)
        return NULL;
    pie_text_seconds(pie_cursor_real(row, column), text);
    return strdup(text);
}

static char *place_of(struct pie_cursor *row, enum pie_traced_files files) {
    char *file = text_at(row, 4), *place = pie_traced_place(file, number_at(row, 5), files);
    free(file);
    return place;
}

static int add_call(struct pie_table *table, struct pie_cursor *row, enum pie_traced_files files) {
    int r = pie_table_add_row(table);
    if (r < 0)
        return r;
    pie_table_take_cell(table, SHARE, share_of(row));
    pie_table_take_cell(table, CALL, text_at(row, 3));
    pie_table_take_cell(table, PLACE, place_of(row, files));
    pie_table_take_cell(table, CALLS, text_at(row, 6));
    pie_table_take_cell(table, MEAN, seconds_of(row, 7));
    pie_table_take_cell(table, P95, seconds_of(row, 8));
    pie_table_take_cell(table, P99, seconds_of(row, 9));
    return 0;
}

static int read_calls(const struct pie_finding_screen *screen, const struct pie_traced_loop *loop,
                      enum pie_traced_files files, size_t most, struct pie_table *table, size_t *ret_all,
                      char **ret_message) {
    struct pie_cursor *cursor;
    int r = pie_cursor_open_once(screen->reader, calls_sql, &cursor, ret_message);
    if (r < 0)
        return r;
    pie_cursor_bind_int(cursor, ":run", screen->run);
    pie_cursor_bind_int(cursor, ":process", loop->process);
    pie_cursor_bind_int(cursor, ":loop", loop->loop);
    pie_cursor_bind_int(cursor, ":most", (int64_t)most);
    while ((r = pie_cursor_next(cursor, ret_message)) > 0) {
        *ret_all = (size_t)pie_cursor_int(cursor, ALL_CALLS);
        if (add_call(table, cursor, files) < 0) {
            r = pie_message(-ENOMEM, ret_message, "out of memory");
            break;
        }
    }
    pie_cursor_close(cursor);
    return r;
}

static int print_table(const struct pie_finding_screen *screen, struct pie_table *table) {
    int r = 0;
    for (size_t i = 0; i < COLUMNS && r == 0; i++)
        r = pie_table_set_column(table, i, columns[i].name, columns[i].kind);
    if (r < 0)
        return r;
    pie_table_fit(table, screen->columns, PLACE + 1);
    return pie_table_write(table, screen->out, *screen->style.bold != '\0');
}

int pie_traced_calls_print(const struct pie_finding_screen *screen, const struct pie_traced_loop *loop,
                           enum pie_traced_files files, size_t most, size_t *ret_more, char **ret_message) {
    struct pie_table table;
    size_t all = 0;
    int r = pie_table_init(&table, COLUMNS);
    if (r < 0)
        return pie_message(r, ret_message, "out of memory");
    r = read_calls(screen, loop, files, most, &table, &all, ret_message);
    if (r == 0 && table.row_count > 0) {
        r = print_table(screen, &table);
        if (r < 0)
            r = pie_message(r, ret_message, "cannot print the calls of a loop");
    }
    *ret_more = all - table.row_count;
    pie_table_finish(&table);
    return r;
}
