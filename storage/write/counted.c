/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/write/counted.h"

#include <errno.h>
#include <sqlite3.h>
#include <string.h>

#include "storage/base/message.h"
#include "storage/file/db.h"
#include "storage/file/guard.h"

static const double LIMIT_S = 20; /* only a damaged file takes longer */
enum { WAIT_MS = 10000 };

static const char forget_sql[] = "DELETE FROM counted WHERE process = ? AND file = ? AND line = ?";
static const char insert_sql[] =
    "INSERT INTO counted (process, file, line, callee, is_item, is_whole, has_more, calls, raised, compared,"
    " distinct_args, distinct_results, again, alike, singles, call_ns, again_ns, alike_ns, single_ns, "
    "run_ns, bulk_ns,"
    " grew, arg_bytes)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
    " ON CONFLICT DO UPDATE SET has_more = max(has_more, excluded.has_more), calls = calls + excluded.calls,"
    " raised = raised + excluded.raised, compared = compared + excluded.compared,"
    " distinct_args = distinct_args + excluded.distinct_args,"
    " distinct_results = distinct_results + excluded.distinct_results, again = again + excluded.again,"
    " alike = alike + excluded.alike, singles = singles + excluded.singles,"
    " call_ns = call_ns + excluded.call_ns, again_ns = again_ns + excluded.again_ns,"
    " alike_ns = alike_ns + excluded.alike_ns, single_ns = single_ns + excluded.single_ns,"
    " bulk_ns = bulk_ns + excluded.bulk_ns, grew = grew + excluded.grew,"
    " arg_bytes = arg_bytes + excluded.arg_bytes";

/* A file that is open for writing. */
struct open_file {
    sqlite3 *db;
    struct pie_db_wait wait;
    struct pie_guard guard;
    int64_t version; /* of its schema, as last seen */
};

static int refuse(int error, const char *path, char **ret_message) {
    switch (error) {
    case -EPROTO:
        return pie_message(
            error, ret_message,
            "%s was made by another version of pieprof, and is left as it is; pieprof merge NEW %s "
            "makes a file of this version",
            path, path);
    case -EEXIST:
    case -EBADMSG:
        return pie_message(error, ret_message,
                           "nothing can be added to %s: it is damaged, or was changed by another program",
                           path);
    default:
        return pie_message(error, ret_message, "cannot write to %s: %s", path, strerror(-error));
    }
}

static int open_file(struct open_file *file, const char *path) {
    bool created;

    *file = (struct open_file){.wait = {.limit_ms = WAIT_MS}, .version = -1};
    return pie_db_open_writable(path, false, false, &file->wait, &file->guard, &file->db, &created);
}

int pie_counted_check(const char *path, char **ret_message) {
    struct open_file file;
    int r = open_file(&file, path);

    if (r < 0)
        return refuse(r, path, ret_message);
    r = pie_db_exec(file.db, "BEGIN IMMEDIATE; ROLLBACK");
    sqlite3_close(file.db);
    return r < 0 ? refuse(r, path, ret_message) : 0;
}

static void bind_key(sqlite3_stmt *statement, int64_t process, const struct pie_counted *row) {
    sqlite3_bind_int64(statement, 1, process);
    sqlite3_bind_text(statement, 2, row->file, -1, SQLITE_STATIC);
    sqlite3_bind_int64(statement, 3, row->line);
}

static int step(sqlite3_stmt *statement) {
    (void)sqlite3_step(statement);
    return sqlite3_reset(statement);
}

static int insert(sqlite3_stmt *statement, int64_t process, const struct pie_counted *row) {
    const uint64_t figures[] = {
        row->is_item,       row->is_whole,         row->has_more,  row->calls,  row->raised,  row->compared,
        row->distinct_args, row->distinct_results, row->again,     row->alike,  row->singles, row->call_ns,
        row->again_ns,      row->alike_ns,         row->single_ns, row->run_ns, row->bulk_ns, row->grew,
        row->arg_bytes,
    };

    bind_key(statement, process, row);
    sqlite3_bind_text(statement, 4, row->callee, -1, SQLITE_STATIC);
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
        sqlite3_bind_int64(statement, (int)i + 5, (int64_t)figures[i]);
    return step(statement);
}

/* Both statements over all rows: first the old ones go. */
static int replace(sqlite3 *db, int64_t process, const struct pie_counted *rows, size_t count) {
    sqlite3_stmt *forget = NULL, *add = NULL;
    int code = sqlite3_prepare_v2(db, forget_sql, -1, &forget, NULL);

    if (code == SQLITE_OK)
        code = sqlite3_prepare_v2(db, insert_sql, -1, &add, NULL);
    for (size_t i = 0; i < count && code == SQLITE_OK; i++) {
        bind_key(forget, process, &rows[i]);
        code = step(forget);
    }
    for (size_t i = 0; i < count && code == SQLITE_OK; i++)
        code = insert(add, process, &rows[i]);
    sqlite3_finalize(forget);
    sqlite3_finalize(add);
    return code == SQLITE_OK ? 0 : pie_db_errno(db, code);
}

static int write_rows(struct open_file *file, int64_t process, const struct pie_counted *rows, size_t count) {
    int r = pie_db_exec(file->db, "BEGIN IMMEDIATE");

    if (r < 0)
        return r;
    pie_guard_start_clock(&file->guard, LIMIT_S);
    r = pie_db_check_schema(file->db, &file->version);
    if (r == 0)
        r = replace(file->db, process, rows, count);
    if (r == 0)
        r = pie_db_exec(file->db, "COMMIT");
    if (r < 0)
        (void)pie_db_exec(file->db, "ROLLBACK");
    return r;
}

int pie_counted_write(const char *path, int64_t process, const struct pie_counted *rows, size_t count,
                      char **ret_message) {
    struct open_file file;
    int r = open_file(&file, path);

    if (r == 0) {
        r = write_rows(&file, process, rows, count);
        sqlite3_close(file.db);
    }
    return r < 0 ? refuse(r, path, ret_message) : 0;
}
