/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <sqlite3.h>
#include <string.h>

#include "storage/copy/copy.h"
#include "storage/base/message.h"
#include "storage/read/reader_internal.h"
#include "storage/file/sqlite_open.h"

/* One process of a run, as if it were alone in it: its rows are copied into a temporary database, under their own
 * numbers, and everything that is asked is asked there. So each view is cut without knowing of it. A file of an older
 * version is read in the same way, whole. */

/* The reader's connection becomes one to a copy. On failure it is what it was. */
static int read_copy(struct pie_reader *reader, int64_t run, int64_t process, char **ret_message) {
    sqlite3 *db = NULL, *whole = reader->db;
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX;
    int code = pie_sqlite_open("", &db, flags, NULL);
    if (code == SQLITE_OK)
        code = pie_copy_profile(db, reader->path, run, process);
    reader->db = db;
    if (code == SQLITE_OK)
        code = pie_reader_set_up(reader);
    if (code != SQLITE_OK) {
        int r = pie_reader_fail(reader, code, ret_message);
        reader->db = whole;
        sqlite3_close(db);
        return r;
    }
    memset(reader->has_view, 0, sizeof reader->has_view);
    memset(reader->has_whole, 0, sizeof reader->has_whole);
    reader->process = process;
    reader->guard.has_functions = false;
    pie_reader_allow_all(reader, false);
    sqlite3_close(whole);
    return 0;
}

int pie_reader_read_copy(struct pie_reader *reader, char **ret_message) {
    return read_copy(reader, 0, 0, ret_message);
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
    int r = pie_reader_get_run(reader, run, &run, ret_message);
    if (r == 0)
        r = find(reader, run, process, &process, ret_message);
    return r < 0 ? r : read_copy(reader, run, process, ret_message);
}
