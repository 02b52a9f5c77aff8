/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "storage/db.h"
#include "storage/merge_rows.h"
#include "storage/message.h"
#include "storage/reader_internal.h"
#include "storage/schema.h"
#include "storage/sqlite_open.h"

/* One process of a run, as if it were alone in it: its rows are copied into a temporary database, under their own
 * numbers, and everything that is asked is asked there. So each view is cut without knowing of it. */

static int keep(sqlite3 *db, int64_t run, int64_t process) {
    char *sql = sqlite3_mprintf(
        "DELETE FROM temp.plan_run WHERE old <> %lld;"
        "UPDATE temp.plan_run SET new = old; UPDATE temp.plan_process SET new = old, is_taken = old = %lld;"
        "INSERT INTO main.run (id, started_ns, pieprof_version, overhead_budget, identity)"
        " SELECT new, started_ns, version, budget, identity FROM temp.plan_run",
        (long long)run, (long long)process);
    int code = sql ? sqlite3_exec(db, sql, NULL, NULL, NULL) : SQLITE_NOMEM;
    sqlite3_free(sql);
    return code;
}

static int attach(sqlite3 *db, const char *path) {
    char log[4096];
    int size = snprintf(log, sizeof log, "%s-wal", path);
    bool has_log = size < (int)sizeof log && access(log, F_OK) == 0;
    char *uri = pie_db_uri(path, has_log ? "mode=ro" : "immutable=1");
    char *sql = uri ? sqlite3_mprintf("ATTACH %Q AS input", uri) : NULL;
    int code = sql ? sqlite3_exec(db, sql, NULL, NULL, NULL) : SQLITE_NOMEM;
    sqlite3_free(sql);
    free(uri);
    return code;
}

static int fill(sqlite3 *db, const char *path, int64_t run, int64_t process) {
    int code = sqlite3_exec(db, pie_schema_sql, NULL, NULL, NULL);
    if (code == SQLITE_OK)
        code = attach(db, path);
    if (code == SQLITE_OK)
        code = pie_merge_rows_begin(db);
    if (code == SQLITE_OK)
        code = pie_merge_rows_note(db, 1);
    if (code == SQLITE_OK)
        code = keep(db, run, process);
    if (code == SQLITE_OK)
        code = pie_merge_rows_copy(db, 1);
    return code == SQLITE_OK ? sqlite3_exec(db, "DETACH input", NULL, NULL, NULL) : code;
}

/* By its number in the file, else by its pid; of several that had it, the last. */
static int find(struct pie_reader *reader, int64_t run, int64_t wanted, int64_t *ret_process,
                char **ret_message) {
    struct pie_cursor *cursor;
    int r = pie_cursor_open(reader,
                            "SELECT id FROM process WHERE run = :run AND :wanted IN (id, pid)"
                            " ORDER BY id = :wanted DESC, id DESC LIMIT 1",
                            &cursor, ret_message);
    if (r < 0)
        return r;
    pie_cursor_bind_int(cursor, ":run", run);
    pie_cursor_bind_int(cursor, ":wanted", wanted);
    r = pie_cursor_next(cursor, ret_message);
    if (r > 0)
        *ret_process = pie_cursor_int(cursor, 0);
    pie_cursor_close(cursor);
    if (r == 0)
        return pie_message(-ENOENT, ret_message,
                           "there is no process %lld in run %lld of %s: \"processes\" lists them",
                           (long long)wanted, (long long)run, reader->path);
    return r < 0 ? r : 0;
}

int pie_reader_cut(struct pie_reader *reader, int64_t run, int64_t process, char **ret_message) {
    sqlite3 *db = NULL, *whole = reader->db;
    int r = pie_reader_get_run(reader, run, &run, ret_message);
    if (r == 0)
        r = find(reader, run, process, &process, ret_message);
    if (r < 0)
        return r;
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX;
    int code = pie_sqlite_open("", &db, flags, NULL);
    if (code == SQLITE_OK)
        code = fill(db, reader->path, run, process);
    reader->db = db;
    if (code == SQLITE_OK)
        code = pie_reader_set_up(reader);
    if (code != SQLITE_OK) {
        r = pie_reader_fail(reader, code, ret_message);
        reader->db = whole;
        sqlite3_close(db);
        return r;
    }
    pie_guard_read_only(db);
    sqlite3_close(whole);
    return 0;
}
