/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <errno.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/ports/sink.h"
#include "storage/base/message.h"
#include "storage/file/packed_tables.h"
#include "storage/file/schema_statements.h"
#include "storage/read/period.h"
#include "storage/read/place.h"
#include "storage/read/reader_internal.h"
#include "storage/read/views.h"

/* The tables of measurements get temporary views of the same names that have only the rows in X. The views of the
 * reader are temporary too, and look their names up among those first (views.c): none of them knows of the cut. Some
 * figures stay those of the run and are taken before: the totals that shares are of, and whether memory was measured.
 *
 * A sample belongs to X in two ways: its innermost Python line is X's (or its native code is), or its innermost line of
 * own code is. In the second case the row is shown at that line of own code, as the summary does. */

/* With types: SQLite finds a number by an index only in a column that has one. */
#define NEW_TABLE(name, columns)                                                                             \
    "CREATE TEMP TABLE " name " (process INTEGER, id INTEGER" columns                                        \
    ", PRIMARY KEY (process, id)) WITHOUT ROWID"
#define IN_NODE(table)                                                                                       \
    "CREATE TEMP VIEW " table " AS SELECT s.* FROM main." table                                              \
    " s JOIN temp.place_node k ON k.process = s.process AND k.id = s.node"
static_assert(PIE_LOCATION_PYTHON == 1, "as in the statements");
static const char *const in_code[] = {
    PIE_EVERY_ROW_MADE,
    NEW_TABLE("place_function", ""),
    NEW_TABLE("place_location", ""),
    NEW_TABLE("place_node", ", is_inner INTEGER"),
    /* The interpreter's own native code runs below every line: "python" is the standard library. */
    "INSERT INTO temp.place_function SELECT u.process, u.id FROM main.process p"
    " JOIN main.function u ON u.process = p.id"
    " LEFT JOIN main.file f ON f.process = u.process AND f.id = u.file"
    " LEFT JOIN main.module m ON m.process = u.process AND m.id = u.module WHERE p.run = :run AND CASE :kind"
    " WHEN 'function' THEN in_place(:kind, :in, u.name)"
    " WHEN 'library' THEN iif(u.kind = 1, NOT f.is_own AND in_place(:kind, :in, f.library),"
    " m.library IS NOT 'python' AND in_place(:kind, :in, m.library, m.path))"
    " ELSE in_place(:kind, :in, f.path) END",
    "INSERT INTO temp.place_location SELECT l.process, l.id FROM main.process p"
    " JOIN main.location l ON l.process = p.id WHERE p.run = :run AND (:line = 0 OR l.line = :line)"
    " AND EXISTS (SELECT 1 FROM temp.place_function k WHERE k.process = l.process AND k.id = l.function)",
    "INSERT INTO temp.place_node SELECT process, id, is_inner FROM (SELECT n.process, n.id,"
    " EXISTS (SELECT 1 FROM temp.place_location k WHERE k.process = n.process"
    " AND k.id IN (n.line_location, n.location))"
    " OR (:line = 0 AND EXISTS (SELECT 1 FROM temp.place_function k WHERE k.process = n.process"
    " AND k.id = n.entry_function))"
    " OR (:kind = 'library' AND EXISTS (SELECT 1 FROM main.module m WHERE m.process = n.process"
    " AND m.id = n.library_module AND in_place(:kind, :in, m.library, m.path))) AS is_inner,"
    " EXISTS (SELECT 1 FROM temp.place_location k WHERE k.process = n.process"
    " AND k.id = n.own_location) AS is_own"
    " FROM main.process p JOIN main.node n ON n.process = p.id WHERE p.run = :run) WHERE is_inner OR is_own",
    IN_NODE("sample"),
    IN_NODE("related"),
    IN_NODE("allocation"),
    IN_NODE("copy"),
    IN_NODE("copy_end"),
    IN_NODE("reading"),
    "CREATE TEMP VIEW node AS SELECT n.process, n.id, n.parent, n.location,"
    " iif(k.is_inner IS 0, n.own_location, n.line_location) AS line_location, n.own_location,"
    " n.library_module, n.entry_function FROM main.node n LEFT JOIN temp.place_node k"
    " ON k.process = n.process AND k.id = n.id",
    /* Not the thread's own sums: those are of all that it did. */
    "CREATE TEMP VIEW thread AS SELECT t.process, t.id, t.tid, t.name, t.is_main, t.started_ns, t.ended_ns, "
    "t.cpu_ns,"
    " t.wall_ns, s.wait_ns, s.runnable_ns, s.throttled_ns, t.samples, t.threads FROM main.thread t"
    " JOIN (SELECT process, thread, sum(wait_ns) AS wait_ns, sum(runnable_ns) AS runnable_ns,"
    " sum(throttled_ns) AS throttled_ns FROM temp.sample GROUP BY process, thread) s"
    " ON s.process = t.process AND s.thread = t.id",
    NULL,
};

static const char *const in_thread[] = {
    PIE_EVERY_ROW_MADE,
    NEW_TABLE("place_thread", ""),
    "INSERT INTO temp.place_thread SELECT t.process, t.id FROM main.process p"
    " JOIN main.thread t ON t.process = p.id WHERE p.run = :run AND in_place(:kind, :in, t.name, t.id, "
    "t.tid)",
    "CREATE TEMP VIEW thread AS SELECT t.* FROM main.thread t JOIN temp.place_thread k"
    " ON k.process = t.process AND k.id = t.id",
    "CREATE TEMP VIEW sample AS SELECT s.* FROM main.sample s JOIN temp.place_thread k"
    " ON k.process = s.process AND k.id = s.thread",
    "CREATE TEMP VIEW related AS SELECT s.* FROM main.related s JOIN temp.place_thread k"
    " ON k.process = s.process AND k.id = s.thread",
    NULL,
};

struct cut {
    const char *text, *kind;
    int64_t run, line;
};

static void bind(sqlite3_stmt *statement, const void *data) {
    const struct cut *cut = data;
    sqlite3_bind_int64(statement, sqlite3_bind_parameter_index(statement, ":run"), cut->run);
    sqlite3_bind_int64(statement, sqlite3_bind_parameter_index(statement, ":line"), cut->line);
    sqlite3_bind_text(statement, sqlite3_bind_parameter_index(statement, ":kind"), cut->kind, -1,
                      SQLITE_STATIC);
    sqlite3_bind_text(statement, sqlite3_bind_parameter_index(statement, ":in"), cut->text, -1,
                      SQLITE_STATIC);
}

/* Of a period of time, its part (period_cut.c). */
static int execute(struct pie_reader *reader, const char *text, const struct cut *cut, char **ret_message) {
    char *sql = pie_period_sql(reader, text);
    int r = pie_reader_run_own(reader, sql, bind, cut, ret_message);
    sqlite3_free(sql);
    return r;
}

/* Views of the run, whatever is cut: their rows are taken before, into tables. */
static const struct {
    const char *name, *take, *instead;
} of_run[] = {
    {"x_total", "CREATE TEMP TABLE place_total AS SELECT * FROM x_total", "SELECT * FROM temp.place_total"},
    {"x_memory_measured", "CREATE TEMP TABLE place_measured AS SELECT * FROM x_memory_measured",
     "SELECT * FROM temp.place_measured"},
};

enum { OF_RUN = sizeof of_run / sizeof *of_run };

static int take_run(struct pie_reader *reader, char **ret_message) {
    int r = 0;
    for (size_t i = 0; i < OF_RUN && r == 0; i++) {
        r = pie_views_make(reader, of_run[i].name, ret_message);
        if (r == 0)
            r = pie_reader_run_own(reader, of_run[i].take, NULL, NULL, ret_message);
    }
    return r == 0 ? pie_views_drop(reader, ret_message) : r;
}

/* The text of our view. Heap of SQLite's, or NULL. */
static char *view_text(const char *name) {
    const struct pie_schema_statement *view = pie_schema_find_view(name, strlen(name));
    static const char as[] = " AS";
    const char *text = view->name + view->name_size + strlen(as);
    return sqlite3_mprintf("%.*s", (int)(view->sql + view->size - text), text);
}

static int replace_and_free(struct pie_reader *reader, const char *name, char *text, char **ret_message) {
    int r = text ? pie_views_replace(reader, name, text, ret_message)
                 : pie_message(-ENOMEM, ret_message, "out of memory");
    sqlite3_free(text);
    return r;
}

/* What is nowhere is not in X. */
static int replace_rest(struct pie_reader *reader, char **ret_message) {
    char *text = view_text("x_peak_rest");
    char *changed = text ? sqlite3_mprintf("SELECT * FROM (%s) WHERE 0", text) : NULL;
    sqlite3_free(text);
    return replace_and_free(reader, "x_peak_rest", changed, ret_message);
}

static int replace_views(struct pie_reader *reader, char **ret_message) {
    int r = replace_rest(reader, ret_message);
    for (size_t i = 0; i < OF_RUN && r == 0; i++)
        r = pie_views_replace(reader, of_run[i].name, of_run[i].instead, ret_message);
    return r;
}

int pie_place_cut(struct pie_reader *reader, int64_t run, const char *text, enum pie_place_kind kind,
                  int64_t line, char **ret_message) {
    const struct cut cut = {.text = text, .kind = pie_place_kind_name(kind), .run = run, .line = line};
    const char *const *statements = kind == PIE_PLACE_THREAD ? in_thread : in_code;
    pie_guard_start_clock(&reader->guard, reader->time_limit_s);
    int r = take_run(reader, ret_message);
    for (; *statements && r == 0; statements++)
        r = execute(reader, *statements, &cut, ret_message);
    return r == 0 ? replace_views(reader, ret_message) : r;
}
