/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "storage/message.h"
#include "storage/place.h"
#include "storage/reader_internal.h"
#include "storage/schema_statements.h"

/* The tables of measurements get temporary views of the same names that have only the rows in X, and so do, word for word, all
 * views of the schema: names in a temporary view are looked up among the temporary ones first. So no view knows of it. What
 * stays that of the run is left to the file: the totals that shares are of, and whether memory was measured.
 *
 * A sample belongs to X in two ways: its innermost Python line is X's (or its native code is), or its innermost line of own
 * code is. In the second case the row is told at that line of own code, as the summary does. */

#define NEW_TABLE(name, columns)                                                                             \
    "CREATE TEMP TABLE " name " (process, id" columns ", PRIMARY KEY (process, id)) WITHOUT ROWID"
#define IN_NODE(table)                                                                                       \
    "CREATE TEMP VIEW " table " AS SELECT s.* FROM main." table                                              \
    " s JOIN temp.place_node k ON k.process = s.process AND k.id = s.node"
static const char *const in_code[] = {
    NEW_TABLE("place_function", ""),
    NEW_TABLE("place_location", ""),
    NEW_TABLE("place_node", ", is_inner"),
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
    IN_NODE("allocation"),
    IN_NODE("copy"),
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
    NEW_TABLE("place_thread", ""),
    "INSERT INTO temp.place_thread SELECT t.process, t.id FROM main.process p"
    " JOIN main.thread t ON t.process = p.id WHERE p.run = :run AND in_place(:kind, :in, t.name, t.id, "
    "t.tid)",
    "CREATE TEMP VIEW thread AS SELECT t.* FROM main.thread t JOIN temp.place_thread k"
    " ON k.process = t.process AND k.id = t.id",
    "CREATE TEMP VIEW sample AS SELECT s.* FROM main.sample s JOIN temp.place_thread k"
    " ON k.process = s.process AND k.id = s.thread",
    NULL,
};

struct cut {
    const char *text, *kind;
    int64_t run, line;
};

static int run_statement(sqlite3 *db, const char *sql, const struct cut *cut) {
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(db, sql, -1, &statement, NULL);
    if (code == SQLITE_OK) {
        sqlite3_bind_int64(statement, sqlite3_bind_parameter_index(statement, ":run"), cut->run);
        sqlite3_bind_int64(statement, sqlite3_bind_parameter_index(statement, ":line"), cut->line);
        sqlite3_bind_text(statement, sqlite3_bind_parameter_index(statement, ":kind"), cut->kind, -1,
                          SQLITE_STATIC);
        sqlite3_bind_text(statement, sqlite3_bind_parameter_index(statement, ":in"), cut->text, -1,
                          SQLITE_STATIC);
        code = sqlite3_step(statement);
    }
    sqlite3_finalize(statement);
    return code == SQLITE_DONE ? SQLITE_OK : code;
}

static bool is_of_the_run(const char *view) {
    return strcmp(view, "x_total") == 0 || strcmp(view, "x_memory_measured") == 0;
}

/* What lines of own code called in libraries is told by the true innermost line. */
static char *temporary_view(const char *name, const char *sql) {
    static const char begin[] = "CREATE VIEW ", node[] = "JOIN node n";
    const char *rest = sql + strlen(begin), *at = strstr(rest, node);
    if (strcmp(name, "x_peak_rest") == 0) /* what is nowhere is not in X */
        return sqlite3_mprintf("CREATE TEMP VIEW x_peak_rest AS SELECT * FROM main.x_peak_rest WHERE 0");
    if (strcmp(name, "x_below") != 0 || !at)
        return sqlite3_mprintf("CREATE TEMP VIEW IF NOT EXISTS %s", rest);
    return sqlite3_mprintf("CREATE TEMP VIEW %.*sJOIN main.node n%s", (int)(at - rest), rest,
                           at + strlen(node));
}

static int make_view(sqlite3 *db, const struct pie_schema_statement *view) {
    size_t size;
    const char *name_text = pie_schema_name(view, &size);
    char *name = sqlite3_mprintf("%.*s", (int)size, name_text);
    char *sql = sqlite3_mprintf("%.*s", (int)view->size, view->sql);
    char *temporary = name && sql ? temporary_view(name, sql) : NULL;
    int code = temporary ? SQLITE_OK : SQLITE_NOMEM;
    if (temporary && !is_of_the_run(name))
        code = sqlite3_exec(db, temporary, NULL, NULL, NULL);
    sqlite3_free(name);
    sqlite3_free(sql);
    sqlite3_free(temporary);
    return code;
}

/* As our own schema has them: those in the file are the same to the letter, and of others nothing is taken. */
static int make_views(sqlite3 *db) {
    size_t count;
    const struct pie_schema_statement *all = pie_schema_statements(&count);
    int code = SQLITE_OK;
    for (size_t i = 0; i < count && code == SQLITE_OK; i++)
        if (all[i].is_view)
            code = make_view(db, &all[i]);
    return code;
}

int pie_place_cut(struct pie_reader *reader, int64_t run, const char *text, enum pie_place_kind kind,
                  int64_t line, char **ret_message) {
    const struct cut cut = {.text = text, .kind = pie_place_kind_name(kind), .run = run, .line = line};
    pie_guard_start_clock(&reader->guard, reader->time_limit_s);
    pie_reader_allow_all(reader, true);
    int code = sqlite3_exec(reader->db, "PRAGMA query_only = OFF", NULL, NULL, NULL);
    const char *const *statements = kind == PIE_PLACE_THREAD ? in_thread : in_code;
    for (; *statements && code == SQLITE_OK; statements++)
        code = run_statement(reader->db, *statements, &cut);
    if (code == SQLITE_OK)
        code = make_views(reader->db);
    int r = code == SQLITE_OK ? 0 : pie_reader_fail(reader, code, ret_message);
    sqlite3_exec(reader->db, "PRAGMA query_only = ON", NULL, NULL, NULL);
    pie_reader_allow_all(reader, false);
    return r;
}
