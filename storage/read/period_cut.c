/* SPDX-License-Identifier: Apache-2.0 */
#include <sqlite3.h>
#include <stdbool.h>
#include <string.h>

#include "storage/file/packed_tables.h"
#include "storage/read/period.h"
#include "storage/read/reader_internal.h"
#include "storage/read/views.h"

/* The rows of the period are put into temporary tables, "period_sample" and so on. Views of the sliced tables' own names
 * are in front of them (as in place_cut.c): the reader's views look their names up among those first. Tables, since
 * SQLite would unpack and add up a view's rows once for each row that asks for them, for seconds in a wide program. What
 * is not sliced is not known of a part of the time, and NULL. */

#define OF_PERIOD(table, rows)                                                                               \
    "CREATE TEMP TABLE period_" table " AS SELECT s.* FROM temp.period_process w CROSS JOIN main." rows      \
    " s ON s.process = w.process AND s.slice_s >= w.low_s AND s.slice_s < w.high_s"
#define BY_NODE(table) "CREATE INDEX temp.period_" table "_by_node ON period_" table " (process, node)"
#define COVER(table) "CREATE TEMP VIEW " table " AS SELECT * FROM temp.period_" table

static const char *const covered[] = {"sample", "related", "watch", "copy", "allocation", "thread"};

enum { COVERED = sizeof covered / sizeof *covered };

/* low_s, high_s: begins of slices of the process; begin_s: the process's in the run. */
static const char take_processes[] =
    "INSERT INTO temp.period_process SELECT id, :from - :part * slice_width_s - begin_s,"
    " :to - :end_part * slice_width_s - begin_s, CAST(:from * 1e9 AS INTEGER) + :base,"
    " CAST(:to * 1e9 AS INTEGER) + :base FROM (SELECT id, slice_width_s, (started_ns - :base) / 1000000000.0 "
    "AS begin_s"
    " FROM main.process WHERE run = :run)";

static const char *const statements[] = {
    "CREATE TEMP TABLE period_process (process INTEGER PRIMARY KEY, low_s, high_s, from_ns, to_ns)"
    " WITHOUT ROWID",
    take_processes,
    PIE_EVERY_ROW_MADE,
    OF_PERIOD("sample", "every_sample"),
    OF_PERIOD("related", "related"),
    OF_PERIOD("watch", "watch"),
    OF_PERIOD("copy", "every_copy"),
    "CREATE TEMP TABLE period_allocation AS SELECT s.process, s.node, 7 AS size, sum(s.samples) AS samples,"
    " sum(s.python_bytes) AS allocated_python_bytes, sum(s.native_bytes) AS allocated_native_bytes,"
    " sum(s.sq_bytes2) AS allocated_sq_bytes2, NULL AS live_bytes, NULL AS live_sq_bytes2,"
    " NULL AS peak_python_bytes, NULL AS peak_native_bytes, NULL AS peak_sq_bytes2, NULL AS live_bytes_s,"
    " NULL AS mallocs, NULL AS frees, NULL AS kept_1, NULL AS kept_2, NULL AS kept_3, NULL AS kept_4,"
    " NULL AS kept_5, NULL AS kept_6, NULL AS kept_7, NULL AS kept_8, NULL AS first_ns,"
    " NULL AS blocks, NULL AS rises, NULL AS falls"
    " FROM temp.period_process w CROSS JOIN main.every_allocated s"
    " ON s.process = w.process AND s.slice_s >= w.low_s AND s.slice_s < w.high_s GROUP BY s.process, s.node",
    "CREATE TEMP TABLE period_thread AS SELECT t.process, t.id, t.tid, t.name, t.is_main, t.started_ns,"
    " t.ended_ns, NULL AS cpu_ns, NULL AS wall_ns, s.wait_ns, s.runnable_ns, s.throttled_ns, s.samples,"
    " t.threads FROM main.thread t JOIN (SELECT process, thread, sum(wait_ns) AS wait_ns,"
    " sum(runnable_ns) AS runnable_ns, sum(throttled_ns) AS throttled_ns, sum(samples) AS samples"
    " FROM temp.period_sample GROUP BY process, thread) s ON s.process = t.process AND s.thread = t.id",
    BY_NODE("sample"),
    BY_NODE("related"),
    "CREATE INDEX temp.period_watch_by_node ON period_watch (process, first_node)",
    BY_NODE("copy"),
    BY_NODE("allocation"),
    COVER("sample"),
    COVER("related"),
    COVER("watch"),
    COVER("copy"),
    COVER("allocation"),
    COVER("thread"),
    /* Figures for each second are those of the seconds of the period. */
    "CREATE TEMP TABLE period_of_process AS SELECT p.id, p.run, p.parent, p.pid, p.parent_pid,"
    " max(p.started_ns, w.from_ns) AS started_ns, min(p.seen_ns, w.to_ns) AS seen_ns,"
    " min(p.ended_ns, w.to_ns) AS ended_ns, p.cause, p.exit_status, p.argv, p.executable, p.clock,"
    " p.clock_note, p.period_ns, p.sampler, p.sampler_note, p.host, p.slice_width_s, 0 AS forgotten_s"
    " FROM temp.period_process w CROSS JOIN main.process p ON p.id = w.process"
    " WHERE p.started_ns < w.to_ns AND coalesce(p.ended_ns, p.seen_ns) > w.from_ns",
    "CREATE UNIQUE INDEX temp.period_of_process_by_id ON period_of_process (id)",
    "CREATE TEMP VIEW process AS SELECT * FROM temp.period_of_process",
};

static const char times_sql[] = "SELECT started_ns, seen_ns, width_s FROM x_slice_width WHERE run = :run";

static const char covers_sql[] = "SELECT min(p.started_ns + s.slice_s * 1000000000),"
                                 " min(max(p.started_ns + (s.slice_s + p.slice_width_s) * 1000000000), "
                                 "max(coalesce(p.ended_ns, p.seen_ns)))"
                                 " FROM main.process p JOIN (SELECT DISTINCT process, slice_s FROM "
                                 "temp.period_sample) s ON s.process = p.id";

static int read_times(struct pie_reader *reader, int64_t run, struct pie_period_run *ret_times,
                      char **ret_message) {
    struct pie_cursor *cursor;
    int r = pie_cursor_open(reader, times_sql, &cursor, ret_message);
    if (r < 0)
        return r;
    pie_cursor_bind_int(cursor, ":run", run);
    r = pie_cursor_next(cursor, ret_message);
    if (r > 0)
        *ret_times = (struct pie_period_run){.started_ns = pie_cursor_int(cursor, 0),
                                             .seen_ns = pie_cursor_int(cursor, 1),
                                             .width_s = pie_cursor_int(cursor, 2)};
    pie_cursor_close(cursor);
    return r < 0 ? r : 0;
}

struct cut {
    int64_t run, base_ns;
    double from_s, to_s;
    double part, end_part; /* of a slice that has to lie behind from_s, and before to_s */
};

static void bind(sqlite3_stmt *statement, const void *data) {
    const struct cut *cut = data;
    sqlite3_bind_int64(statement, sqlite3_bind_parameter_index(statement, ":run"), cut->run);
    sqlite3_bind_int64(statement, sqlite3_bind_parameter_index(statement, ":base"), cut->base_ns);
    sqlite3_bind_double(statement, sqlite3_bind_parameter_index(statement, ":from"), cut->from_s);
    sqlite3_bind_double(statement, sqlite3_bind_parameter_index(statement, ":to"), cut->to_s);
    sqlite3_bind_double(statement, sqlite3_bind_parameter_index(statement, ":part"), cut->part);
    sqlite3_bind_double(statement, sqlite3_bind_parameter_index(statement, ":end_part"), cut->end_part);
}

/* A slice is the period's if its middle lies there; of a period that is shorter than a slice, any part of it. */
static struct cut cut_of(int64_t run, const struct pie_period_run *times,
                         const struct pie_period_span *span) {
    struct cut cut = {.run = run,
                      .base_ns = times->started_ns,
                      .from_s = span->from_s,
                      .to_s = span->to_s,
                      .part = 0.5,
                      .end_part = 0.5};
    if (span->is_exact)
        cut.part = cut.end_part = 0;
    else if (span->to_s - span->from_s < (double)times->width_s) {
        cut.part = 0.999999;
        cut.end_part = 0;
    }
    return cut;
}

static int make_views(struct pie_reader *reader, const struct cut *cut, char **ret_message) {
    int r = 0;
    for (size_t i = 0; i < sizeof statements / sizeof *statements && r == 0; i++)
        r = pie_reader_run_own(reader, statements[i], bind, cut, ret_message);
    return r;
}

static int read_cover(struct pie_reader *reader, int64_t *ret_from_ns, int64_t *ret_to_ns,
                      char **ret_message) {
    struct pie_cursor *cursor;
    int r = pie_cursor_open(reader, covers_sql, &cursor, ret_message);
    if (r < 0)
        return r;
    r = pie_cursor_next(cursor, ret_message);
    *ret_from_ns = r > 0 ? pie_cursor_int(cursor, 0) : 0;
    *ret_to_ns = r > 0 ? pie_cursor_int(cursor, 1) : 0;
    pie_cursor_close(cursor);
    return r < 0 ? r : 0;
}

int pie_period_cut(struct pie_reader *reader, int64_t run, const struct pie_period *period,
                   int64_t *ret_from_ns, int64_t *ret_to_ns, char **ret_message) {
    struct pie_period_run times = {0};
    struct pie_period_span span;
    int r = read_times(reader, run, &times, ret_message);
    if (r == 0)
        r = pie_period_resolve(period, &times, &span, ret_message);
    if (r == 0)
        r = pie_views_drop(reader, ret_message);
    if (r < 0)
        return r;
    const struct cut cut = cut_of(run, &times, &span);
    r = make_views(reader, &cut, ret_message);
    if (r < 0)
        return r;
    reader->has_period = true;
    return read_cover(reader, ret_from_ns, ret_to_ns, ret_message);
}

/* What a table has in a cut is the period's; without a period it is all of it, of which some may be packed. */
static void append_table(const struct pie_reader *reader, sqlite3_str *text, const char *table) {
    bool may_be_packed = strcmp(table, "sample") == 0 || strcmp(table, "copy") == 0;
    if (reader->has_period)
        sqlite3_str_appendf(text, "temp.period_%s", table);
    else
        sqlite3_str_appendf(text, "main.%s%s", may_be_packed ? "every_" : "", table);
}

/* The covered table that is named here, behind `before`. */
static const char *covered_at(const char *text, const char *before) {
    size_t begin = strlen(before);
    if (strncmp(text, before, begin) != 0)
        return NULL;
    for (size_t i = 0; i < COVERED; i++) {
        size_t size = strlen(covered[i]);
        if (strncmp(text + begin, covered[i], size) == 0 && strchr(" ;", text[begin + size]))
            return covered[i];
    }
    return NULL;
}

char *pie_period_sql(const struct pie_reader *reader, const char *sql) {
    sqlite3_str *text = sqlite3_str_new(reader->db);
    const char *view = reader->has_period ? covered_at(sql, "CREATE TEMP VIEW ") : NULL;
    if (view)
        sqlite3_str_appendf(text, "DROP VIEW temp.%s;", view);
    for (const char *at = sql; *at;) {
        const char *table = covered_at(at, "main.");
        if (table)
            append_table(reader, text, table);
        else
            sqlite3_str_appendchar(text, 1, *at);
        at += table ? strlen("main.") + strlen(table) : 1;
    }
    return sqlite3_str_finish(text);
}
