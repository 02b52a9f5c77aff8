/* SPDX-License-Identifier: Apache-2.0 */
#include <sqlite3.h>

#include "storage/read/reader_internal.h"

/* One statement; *ret_rest: behind it. Returns an SQLite result code. */
static int run_one(sqlite3 *db, const char *sql, pie_reader_bind_fn bind, const void *data,
                   const char **ret_rest) {
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(db, sql, -1, &statement, ret_rest);

    if (code != SQLITE_OK || !statement)
        return code;
    if (bind)
        bind(statement, data);
    while ((code = sqlite3_step(statement)) == SQLITE_ROW)
        ;
    sqlite3_finalize(statement);
    return code == SQLITE_DONE ? SQLITE_OK : code;
}

int pie_reader_run_own(struct pie_reader *reader, const char *sql, pie_reader_bind_fn bind, const void *data,
                       char **ret_message) {
    pie_reader_allow_all(reader, true);
    int code = sqlite3_exec(reader->db, "PRAGMA query_only = OFF", NULL, NULL, NULL);
    if (code == SQLITE_OK && !sql)
        code = SQLITE_NOMEM;
    for (const char *rest = sql; code == SQLITE_OK && *rest;)
        code = run_one(reader->db, rest, bind, data, &rest);
    int r = code == SQLITE_OK ? 0 : pie_reader_fail(reader, code, ret_message);
    sqlite3_exec(reader->db, "PRAGMA query_only = ON", NULL, NULL, NULL);
    pie_reader_allow_all(reader, false);
    return r;
}

/* The first statement that reads decides what is seen. */
int pie_reader_hold(struct pie_reader *reader, char **ret_message) {
    return pie_reader_run_own(reader, "BEGIN; SELECT count(*) FROM run", NULL, NULL, ret_message);
}
