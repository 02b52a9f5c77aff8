/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/formats/export.h"
#include "storage/formats/formats.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "storage/copy/copy.h"
#include "storage/file/db.h"
#include "storage/base/message.h"
#include "storage/read/reader_internal.h"
#include "storage/file/packed_tables.h"
#include "storage/file/schema.h"
#include "storage/file/sqlite_open.h"
#include "storage/file/temporary.h"
#include "storage/file/sums.h"

/* A database for other programs: the tables as a profile has them, and all views that the questions are answered by. It
 * is made in a file of its own first, since an output may be a pipe. */

#define UNPACK(table, key, sums, add)                                                                        \
    PIE_INSERT_INTO(table, key, sums)                                                                        \
    " SELECT process, slice_s, " key ", " sums " FROM every_" table " WHERE packed = 1" add ";"

/* Others know nothing of packed rows. */
static const char unpack[] = UNPACK("sample", PIE_SAMPLE_KEY, PIE_SAMPLE_SUMS, PIE_SAMPLE_ADD)
    UNPACK("allocated", PIE_ALLOCATED_KEY, PIE_ALLOCATED_SUMS, PIE_ALLOCATED_ADD)
        UNPACK("copy", PIE_COPY_KEY, PIE_COPY_SUMS, PIE_COPY_ADD) "DELETE FROM packed";

static int fill(const char *path, const struct pie_reader *reader, const struct pie_export_choice *choice,
                sqlite3 **ret_db) {
    char *uri = pie_db_uri(path, "mode=rw"); /* URIs are on for ATTACH too */
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX;
    int code = uri ? pie_sqlite_open(uri, ret_db, flags, NULL) : SQLITE_NOMEM;
    free(uri);
    if (code == SQLITE_OK)
        code = sqlite3_exec(*ret_db, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF", NULL, NULL, NULL);
    if (code == SQLITE_OK)
        code = pie_copy_profile(*ret_db, reader->path, choice->is_one_run ? choice->run : 0, reader->process);
    if (code == SQLITE_OK)
        code = pie_packed_tables_add(*ret_db);
    if (code == SQLITE_OK)
        code = sqlite3_exec(*ret_db, unpack, NULL, NULL, NULL);
    return code == SQLITE_OK ? sqlite3_exec(*ret_db, pie_views_sql, NULL, NULL, NULL) : code;
}

/* An error of `out` stays in it. */
static int pour(int fd, FILE *out) {
    char buffer[1 << 16];
    ssize_t size;
    while ((size = read(fd, buffer, sizeof buffer)) > 0 && fwrite(buffer, (size_t)size, 1, out) == 1)
        ;
    return size < 0 ? -errno : 0;
}

static int temporary_file(char **ret_path) {
    const char *folder = getenv("TMPDIR");
    char *name;
    if (asprintf(&name, "%s/pieprof-export", folder && *folder ? folder : "/tmp") < 0)
        return -ENOMEM;
    int fd = pie_temporary_open(name, ret_path);
    free(name);
    return fd;
}

int pie_export_sqlite(FILE *out, struct pie_reader *reader, const struct pie_export_choice *choice,
                      char **ret_message) {
    char *path = NULL;
    sqlite3 *db = NULL;
    int fd = temporary_file(&path);
    if (fd < 0)
        return pie_message(fd, ret_message, "cannot make a temporary file: %s; set TMPDIR", strerror(-fd));
    int code = fill(path, reader, choice, &db);
    int r = 0;
    if (code != SQLITE_OK)
        r = pie_message(pie_db_errno(db, code), ret_message, "cannot copy %s: %s", reader->path,
                        db ? sqlite3_errmsg(db) : "out of memory");
    sqlite3_close(db);
    if (r == 0 && (r = pour(fd, out)) < 0)
        (void)pie_message(r, ret_message, "cannot read %s: %s", path, strerror(-r));
    close(fd);
    unlink(path);
    free(path);
    return r;
}
