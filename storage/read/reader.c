/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/read/reader.h"

#include <errno.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "storage/file/db.h"
#include "storage/file/file_kind.h"
#include "storage/file/image.h"
#include "storage/file/locking.h"
#include "storage/base/message.h"
#include "storage/read/place.h"
#include "storage/read/reader_internal.h"
#include "storage/file/schema.h"
#include "storage/file/schema_check.h"
#include "storage/file/sqlite_open.h"

/* Larger files are not checked as a whole when they are opened; damage in them shows where it is met. But for merging,
 * which reads all of a file anyway. */
enum { CHECK_MAX_BYTES = 64 << 20 };

int pie_reader_fail(struct pie_reader *reader, int code, char **ret_message) {
    int error = pie_db_errno(reader->db, code);
    switch (code & 0xff) {
    case SQLITE_NOTADB:
        return pie_message(error, ret_message, "%s is not a profile (no database)", reader->path);
    case SQLITE_CORRUPT:
        return pie_message(error, ret_message, "%s is damaged: %s", reader->path, sqlite3_errmsg(reader->db));
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return pie_message(error, ret_message, "%s is in use by another program; try again", reader->path);
    case SQLITE_INTERRUPT:
        return pie_message(error, ret_message,
                           "the query took longer than %g s; ask for less or raise --timeout",
                           reader->time_limit_s);
    case SQLITE_AUTH:
        return pie_message(-EACCES, ret_message, "only reading is allowed: %s", sqlite3_errmsg(reader->db));
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
        return pie_message(error, ret_message, "cannot read %s: %s", reader->path, strerror(-error));
    default:
        return pie_message(error, ret_message, "%s%s",
                           strstr(sqlite3_errmsg(reader->db), "not authorized") ? "only reading is allowed: "
                                                                                : "",
                           sqlite3_errmsg(reader->db));
    }
}

/* A connection that may not write leaves the log's two files beside the database when it is closed, so it may where
 * it can; statements may not (query_only, and the authorizer). */
static int open_plain(struct pie_reader *reader) {
    int access_flag = access(reader->path, W_OK) == 0 ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY;
    int flags = access_flag | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE;
    return pie_sqlite_open(reader->path, &reader->db, flags, NULL);
}

/* As a file that nobody writes: needs neither locks nor the files beside it. */
static int open_immutable(struct pie_reader *reader) {
    size_t size = strlen(reader->path);
    char *uri = malloc(3 * size + sizeof "file:?immutable=1");
    if (!uri)
        return SQLITE_NOMEM;
    char *at = uri + sprintf(uri, "file:");
    for (const char *c = reader->path; *c; c++)
        at += sprintf(at, strchr("%?#", *c) ? "%%%02x" : "%c", (unsigned char)*c);
    strcpy(at, "?immutable=1");
    int flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE | SQLITE_OPEN_URI;
    int code = pie_sqlite_open(uri, &reader->db, flags, NULL);
    free(uri);
    return code;
}

/* What does not fit its cache SQLite keeps in files without a name there (https://www.sqlite.org/tempfiles.html,
 * section 5). */
static bool has_temporary_folder(void) {
    const char *const folders[] = {
        getenv("SQLITE_TMPDIR"), getenv("TMPDIR"), "/var/tmp", "/usr/tmp", "/tmp", "."};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        if (folders[i] && *folders[i] && access(folders[i], W_OK | X_OK) == 0)
            return true;
    }
    return false;
}

int pie_reader_set_up(struct pie_reader *reader) {
    sqlite3_extended_result_codes(reader->db, 1);
    pie_guard_limit(reader->db, &reader->guard);
    pie_guard_start_clock(&reader->guard, reader->time_limit_s);
    sqlite3_busy_timeout(reader->db, 5000);
    int code = sqlite3_exec(reader->db,
                            "PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0; PRAGMA cache_size = -16384;"
                            "PRAGMA query_only = ON",
                            NULL, NULL, NULL);
    if (code == SQLITE_OK && !has_temporary_folder())
        code = sqlite3_exec(reader->db, "PRAGMA temp_store = MEMORY", NULL, NULL, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_exec(reader->db, "SELECT count(*) FROM sqlite_schema", NULL, NULL, NULL);
    if (code == SQLITE_OK)
        code = pie_reader_add_functions(reader);
    return code == SQLITE_OK ? pie_place_set_up(reader->db) : code;
}

static bool has_log(const char *path) {
    struct stat status;
    char *log;
    if (asprintf(&log, "%s-wal", path) < 0)
        return false;
    bool found = stat(log, &status) == 0 && status.st_size > 0;
    free(log);
    return found;
}

static bool is_there(const char *path, const char *suffix) {
    char name[PATH_MAX];
    return snprintf(name, sizeof name, "%s%s", path, suffix) < (int)sizeof name && access(name, F_OK) == 0;
}

/* Returns an SQLite result code, SQLITE_NOTFOUND where the file is to be read where it is. */
static int open_image(struct pie_reader *reader) {
    int code = reader->may_copy ? pie_image_open(reader->path, &reader->db) : SQLITE_NOTFOUND;
    reader->is_image = code == SQLITE_OK;
    return code == SQLITE_OK ? pie_reader_set_up(reader) : code;
}

static int open_in_place(struct pie_reader *reader, char **ret_message) {
    bool is_still = reader->is_still && !is_there(reader->path, "-wal");
    int code = is_still ? open_immutable(reader) : open_plain(reader);
    if (code == SQLITE_OK && reader->is_untouched)
        code = sqlite3_db_config(reader->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    if (code == SQLITE_OK)
        code = pie_reader_set_up(reader);
    int kind = code & 0xff;
    bool has_no_locks = kind == SQLITE_BUSY && pie_locking_check(reader->path) < 0;
    if (has_no_locks || kind == SQLITE_CANTOPEN || kind == SQLITE_READONLY || kind == SQLITE_IOERR) {
        sqlite3_close(reader->db);
        reader->db = NULL;
        code = open_immutable(reader);
        if (code == SQLITE_OK)
            code = pie_reader_set_up(reader);
        if (code == SQLITE_OK && has_log(reader->path) &&
            asprintf(&reader->note,
                     "%s-wal holds the last part of the profile and cannot be read where it is; copy both "
                     "files to a "
                     "folder that can be written to",
                     reader->path) < 0)
            reader->note = NULL;
    }
    return code == SQLITE_OK ? 0 : pie_reader_fail(reader, code, ret_message);
}

static int open_database(struct pie_reader *reader, char **ret_message) {
    int code = open_image(reader);
    if (code == SQLITE_NOTFOUND)
        return open_in_place(reader, ret_message);
    return code == SQLITE_OK ? 0 : pie_reader_fail(reader, code, ret_message);
}

/* A file is made before its tables are, and these before the run is in it. */
static int say_unwritten(const char *path, char **ret_message) {
    return pie_message(-ENODATA, ret_message,
                       "%s holds no profile: the run was killed before it wrote anything, or has just begun",
                       path);
}

static int check_file(const char *path, char **ret_message) {
    struct stat status;
    if (stat(path, &status) < 0)
        return pie_message(-errno, ret_message, "cannot open %s: %s", path, strerror(errno));
    if (S_ISDIR(status.st_mode))
        return pie_message(-EISDIR, ret_message, "cannot open %s: it is a directory", path);
    if (!S_ISREG(status.st_mode))
        return pie_message(-EINVAL, ret_message, "cannot open %s: it is not a regular file", path);
    int r = pie_file_kind_check(path);
    if (r < 0)
        return pie_message(r, ret_message,
                           "cannot open %s: a journal or log beside it is no regular file, or too large",
                           path);
    if (status.st_size == 0)
        return say_unwritten(path, ret_message);
    return 0;
}

static int say_other_version(const struct pie_reader *reader, int64_t version, enum pie_schema_age age,
                             char **ret_message) {
    char theirs[PIE_SCHEMA_VERSION_BYTES], ours[PIE_SCHEMA_VERSION_BYTES];
    pie_schema_print_version(version, theirs);
    pie_schema_print_version(PIE_SCHEMA_VERSION, ours);
    if (age == PIE_SCHEMA_NEW)
        return pie_message(
            -EPROTO, ret_message,
            "%s was written by a newer pieprof (file version %s, this one reads %s); install the "
            "newer pieprof",
            reader->path, theirs, ours);
    if (age == PIE_SCHEMA_NONE)
        return pie_message(-EBADMSG, ret_message, "%s is damaged: its version is %lld", reader->path,
                           (long long)version);
    return pie_message(
        -EPROTO, ret_message,
        "%s was made by an older pieprof (file version %s, this one reads %d to %s); read it with "
        "that one, or profile again into a new file",
        reader->path, theirs, PIE_SCHEMA_FIRST, ours);
}

static int check_identity(struct pie_reader *reader, enum pie_schema_age *ret_age, char **ret_message) {
    int64_t application_id = 0, version = 0;
    int r = pie_db_get_int(reader->db, "PRAGMA application_id", &application_id);
    if (r == 0)
        r = pie_db_get_int(reader->db, "PRAGMA user_version", &version);
    if (r < 0)
        return pie_reader_fail(reader, sqlite3_extended_errcode(reader->db), ret_message);
    int64_t objects = 1;
    if (application_id == 0 && version == 0)
        (void)pie_db_get_int(reader->db, "SELECT count(*) FROM sqlite_schema", &objects);
    if (objects == 0)
        return say_unwritten(reader->path, ret_message);
    if (application_id != PIE_SCHEMA_APPLICATION_ID)
        return pie_message(-EBADMSG, ret_message, "%s is not a profile but another program's database",
                           reader->path);
    *ret_age = pie_schema_age(version);
    return *ret_age < PIE_SCHEMA_DEAD ? 0 : say_other_version(reader, version, *ret_age, ret_message);
}

/* Compares with our own. What else is in the file is let be. */
static int check_schema(struct pie_reader *reader, enum pie_schema_age age, char **ret_message) {
    struct pie_schema_facts facts;
    if (pie_schema_check(reader->db, &facts) < 0)
        return pie_reader_fail(reader, sqlite3_extended_errcode(reader->db), ret_message);
    if (!facts.is_plain || (!facts.is_whole && age != PIE_SCHEMA_OLD))
        return pie_message(-EBADMSG, ret_message,
                           "%s is damaged, or was changed by another program: its schema is not a "
                           "profile's",
                           reader->path);
    reader->has_module = reader->is_image && !facts.has_sums;
    return 0;
}

/* SQLite takes what a page lacks at the file's end for zeros. */
static int check_end(struct pie_reader *reader, char **ret_message) {
    struct stat status;
    int64_t pages = 0, page_bytes = 0;
    if (stat(reader->path, &status) < 0 || has_log(reader->path) ||
        pie_db_get_int(reader->db, "PRAGMA page_count", &pages) < 0 ||
        pie_db_get_int(reader->db, "PRAGMA page_size", &page_bytes) < 0 ||
        status.st_size / page_bytes >= pages)
        return 0;
    return pie_message(-EBADMSG, ret_message, "%s is damaged: its end is missing", reader->path);
}

static int check_structure(struct pie_reader *reader, char **ret_message) {
    struct stat status;
    sqlite3_stmt *check = NULL;
    int r = check_end(reader, ret_message);
    if (r < 0)
        return r;
    if (reader->is_trusted || stat(reader->path, &status) < 0 ||
        (status.st_size > CHECK_MAX_BYTES && !reader->is_untouched))
        return 0;
    int code = sqlite3_prepare_v2(reader->db, "PRAGMA quick_check(1)", -1, &check, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_step(check);
    const char *verdict = code == SQLITE_ROW ? (const char *)sqlite3_column_text(check, 0) : NULL;
    if (code != SQLITE_ROW)
        r = pie_reader_fail(reader, code, ret_message);
    else if (!verdict || strcmp(verdict, "ok") != 0)
        r = pie_message(-EBADMSG, ret_message, "%s is damaged: %.*s", reader->path,
                        verdict ? (int)strcspn(verdict, "\n") : 0, verdict ? verdict : "");
    sqlite3_finalize(check);
    return r;
}

static int open_reader(const char *path, struct pie_reader how, struct pie_reader **ret_reader,
                       char **ret_message) {
    int r = check_file(path, ret_message);
    if (r < 0)
        return r;
    struct pie_reader *reader = malloc(sizeof *reader);
    if (reader)
        *reader = how;
    if (!reader || !(reader->path = strdup(path))) {
        free(reader);
        return pie_message(-ENOMEM, ret_message, "out of memory");
    }
    reader->time_limit_s = PIE_READER_TIME_LIMIT_S;
    enum pie_schema_age age = PIE_SCHEMA_NONE;
    r = open_database(reader, ret_message);
    if (r == 0)
        r = check_identity(reader, &age, ret_message);
    if (r == 0)
        r = check_schema(reader, age, ret_message);
    if (r == 0)
        r = check_structure(reader, ret_message);
    if (r == 0 && age == PIE_SCHEMA_OLD)
        r = pie_reader_read_copy(reader, ret_message);
    if (r < 0) {
        pie_reader_close(reader);
        return r;
    }
    pie_reader_allow_all(reader, false);
    *ret_reader = reader;
    return 0;
}

int pie_reader_open(const char *path, struct pie_reader **ret_reader, char **ret_message) {
    return open_reader(path, (struct pie_reader){.may_copy = true}, ret_reader, ret_message);
}

int pie_reader_open_living(const char *path, struct pie_reader **ret_reader, char **ret_message) {
    return open_reader(path, (struct pie_reader){.may_copy = false}, ret_reader, ret_message);
}

int pie_reader_open_untouched(const char *path, bool is_still, struct pie_reader **ret_reader,
                              char **ret_message) {
    return open_reader(path, (struct pie_reader){.is_untouched = true, .is_still = is_still}, ret_reader,
                       ret_message);
}

int pie_reader_open_written(const char *path, struct pie_reader **ret_reader, char **ret_message) {
    return open_reader(path, (struct pie_reader){.is_trusted = true, .may_copy = true}, ret_reader,
                       ret_message);
}

void pie_reader_close(struct pie_reader *reader) {
    if (!reader)
        return;
    sqlite3_close(reader->db);
    free(reader->path);
    free(reader->note);
    free(reader);
}

const char *pie_reader_note(const struct pie_reader *reader) {
    return reader->note;
}

void pie_reader_set_time_limit(struct pie_reader *reader, double seconds) {
    reader->time_limit_s = seconds;
}

void pie_reader_end_in(struct pie_reader *reader, double seconds) {
    reader->guard.is_for_all = false;
    pie_guard_start_clock(&reader->guard, seconds);
    reader->guard.is_for_all = true;
}

void pie_reader_keep_run(struct pie_reader *reader, int64_t run) {
    reader->kept_run = run;
}

sqlite3 *pie_reader_database(struct pie_reader *reader) {
    return reader->db;
}

void pie_reader_allow_all(struct pie_reader *reader, bool allow) {
    if (allow)
        pie_guard_allow_all(reader->db);
    else
        pie_guard_read_only(reader->db, &reader->guard);
}

int pie_reader_get_run(struct pie_reader *reader, int64_t wanted, int64_t *ret_run, char **ret_message) {
    struct pie_cursor *cursor;
    int64_t first = 0, last = 0, found = 0;
    int r = pie_cursor_open(reader, "SELECT min(id), max(id), max(iif(:wanted IN (0, id), id, 0)) FROM run",
                            &cursor, ret_message);
    if (r < 0)
        return r;
    pie_cursor_bind_int(cursor, ":wanted", wanted);
    r = pie_cursor_next(cursor, ret_message);
    if (r > 0) {
        first = pie_cursor_int(cursor, 0);
        last = pie_cursor_int(cursor, 1);
        found = pie_cursor_int(cursor, 2);
    }
    pie_cursor_close(cursor);
    if (r < 0)
        return r;
    if (last == 0)
        return say_unwritten(reader->path, ret_message);
    if (found == 0)
        return pie_message(-ENOENT, ret_message, "there is no run %lld in %s: its runs are %lld to %lld",
                           (long long)wanted, reader->path, (long long)first, (long long)last);
    *ret_run = found;
    return 0;
}
