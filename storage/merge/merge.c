/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/merge/merge.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "storage/base/message.h"
#include "storage/copy/prepared.h"
#include "storage/copy/rows.h"
#include "storage/file/db.h"
#include "storage/file/guard.h"
#include "storage/file/schema_statements.h"
#include "storage/file/sqlite_open.h"
#include "storage/file/stillness.h"
#include "storage/file/temporary.h"
#include "storage/merge/scratch.h"
#include "storage/read/reader.h"
#include "storage/read/reader_internal.h"

/* The inputs are gone through twice: for the plan, when each is checked as for a query, and for their rows. The result
 * grows in a file of its own beside `out`, which takes its name at the end: an interrupted or failed merge has
 * changed nothing. An input without a log beside it is read as a file that nobody writes, so that not even the log's
 * files are made; if somebody did write meanwhile, it is read once more, with locks. Small ones that are alike are read
 * from one file that stays attached (scratch.h). */

enum { PROGRESS_OPERATIONS = 100000, BUSY_MS = 5000, WRITTEN_MEANWHILE = 1 };
static const double WRITE_BACK_LIMIT_S = 2;

struct work {
    struct pie_merge *options;
    sqlite3 *db;
    char *out;       /* as given, links followed */
    char *temporary; /* beside it */
    char **paths;    /* by input; NULL: skipped. 0 is `out` itself */
    size_t count;
    struct pie_prepared prepared; /* of `db` */
    struct pie_scratch scratch;
};

static bool is_there(const char *path, const char *suffix) {
    char name[PATH_MAX];
    return snprintf(name, sizeof name, "%s%s", path, suffix) < (int)sizeof name && access(name, F_OK) == 0;
}

static int on_progress(void *data) {
    const struct work *work = data;
    return work->options->is_interrupted && work->options->is_interrupted();
}

static int fail_out(struct work *work, int code, char **ret_message) {
    int error = pie_db_errno(work->db, code);
    if (code == SQLITE_INTERRUPT)
        return pie_message(-EINTR, ret_message, "interrupted; %s is as it was", work->out);
    return pie_message(error, ret_message, "cannot write %s: %s", work->out, strerror(-error));
}

/* Whose fault is it? What cannot be written is the result, all else the input. */
static int fail_input(struct work *work, const char *path, int code, char **ret_message) {
    int kind = code & 0xff;
    if (kind == SQLITE_INTERRUPT || kind == SQLITE_FULL || kind == SQLITE_NOMEM ||
        code == SQLITE_IOERR_WRITE || code == SQLITE_IOERR_FSYNC)
        return fail_out(work, kind == SQLITE_INTERRUPT ? kind : code, ret_message);
    return pie_message(-EBADMSG, ret_message, "%s %s: %s", path,
                       kind == SQLITE_CORRUPT || kind == SQLITE_NOTADB ? "is damaged" : "cannot be merged",
                       sqlite3_errmsg(work->db));
}

static int attach(struct work *work, const char *path, bool is_still) {
    sqlite3_stmt *statement = NULL;
    pie_scratch_leave(&work->scratch);
    char *uri = pie_db_uri(path, is_still && !is_there(path, "-wal") ? "immutable=1" : "mode=ro");
    int code = uri ? sqlite3_prepare_v2(work->db, "ATTACH ? AS input", -1, &statement, NULL) : SQLITE_NOMEM;
    if (code == SQLITE_OK)
        code = sqlite3_bind_text(statement, 1, uri, -1, SQLITE_STATIC);
    if (code == SQLITE_OK)
        code = sqlite3_step(statement);
    sqlite3_finalize(statement);
    free(uri);
    return code == SQLITE_DONE ? SQLITE_OK : code;
}

/* As a query would find it; what it says of a log that cannot be read holds here too. */
static int open_checked(const char *path, bool is_still, struct pie_reader **ret_reader, char **ret_message) {
    int r = pie_reader_open_untouched(path, is_still, ret_reader, ret_message);
    if (r < 0 || !pie_reader_note(*ret_reader))
        return r;
    r = pie_message(-EBADMSG, ret_message, "%s", pie_reader_note(*ret_reader));
    pie_reader_close(*ret_reader);
    return r;
}

static int check(const char *path, char **ret_message) {
    struct pie_reader *reader;
    int r = open_checked(path, true, &reader, ret_message);
    if (r == 0)
        pie_reader_close(reader);
    return r;
}

/* One of the two passes over an input. stillness: of before, NULL: with locks. Returns WRITTEN_MEANWHILE where it does
 * not hold; nothing came of it then. */
typedef int pass_fn(struct work *work, size_t input, const struct pie_stillness *stillness,
                    char **ret_message);

static bool is_written_meanwhile(const struct work *work, size_t input,
                                 const struct pie_stillness *stillness) {
    return stillness && !pie_stillness_holds(work->paths[input], stillness);
}

static int copy_attached(struct work *work, size_t input, const struct pie_stillness *stillness,
                         char **ret_message) {
    const char *path = work->paths[input];
    bool is_in_scratch = stillness && pie_scratch_take(&work->scratch, path);
    int code = is_in_scratch ? SQLITE_OK : attach(work, path, stillness != NULL);
    if (code == SQLITE_OK)
        code = sqlite3_exec(work->db, "BEGIN", NULL, NULL, NULL);
    if (code == SQLITE_OK)
        code = pie_merge_rows_copy(&work->prepared, (int64_t)input, work->scratch.is_planned);
    if (code == SQLITE_OK)
        work->scratch.is_planned = is_in_scratch;
    bool is_written = is_written_meanwhile(work, input, stillness);
    if (code == SQLITE_OK && !is_written)
        code = sqlite3_exec(work->db, "COMMIT", NULL, NULL, NULL);
    int r = is_written          ? WRITTEN_MEANWHILE
            : code == SQLITE_OK ? 0
                                : fail_input(work, path, code, ret_message);
    if (!sqlite3_get_autocommit(work->db))
        sqlite3_exec(work->db, "ROLLBACK", NULL, NULL, NULL);
    if (!is_in_scratch)
        sqlite3_exec(work->db, "DETACH input", NULL, NULL, NULL);
    return r;
}

static int note_rows(struct work *work, size_t input, struct pie_reader *reader, char **ret_message) {
    struct pie_prepared from = {.db = pie_reader_database(reader)};
    int code = pie_merge_rows_note(&work->prepared, (int64_t)input, &from, "main");
    pie_prepared_finish(&from);
    if (code == SQLITE_OK)
        return 0;
    return sqlite3_errcode(work->db) == SQLITE_OK ? pie_reader_fail(reader, code, ret_message)
                                                  : fail_input(work, work->paths[input], code, ret_message);
}

/* Whatever is wrong with the input, its reader says it. */
static bool note_in_scratch(struct work *work, size_t input) {
    if (!pie_scratch_take(&work->scratch, work->paths[input]) || !pie_scratch_is_sound(&work->scratch))
        return false;
    if (pie_merge_rows_note(&work->prepared, (int64_t)input, &work->prepared, "input") == SQLITE_OK)
        return true;
    (void)pie_merge_rows_forget(&work->prepared, (int64_t)input);
    return false;
}

static int note_with_reader(struct work *work, size_t input, bool is_still, char **ret_message) {
    struct pie_reader *reader;
    int r = open_checked(work->paths[input], is_still, &reader, ret_message);
    if (r == 0) {
        r = note_rows(work, input, reader, ret_message);
        pie_reader_close(reader);
    }
    return r;
}

static int note_checked(struct work *work, size_t input, const struct pie_stillness *stillness,
                        char **ret_message) {
    int r = stillness && note_in_scratch(work, input)
                ? 0
                : note_with_reader(work, input, stillness != NULL, ret_message);
    if (!is_written_meanwhile(work, input, stillness))
        return r;
    free(*ret_message);
    *ret_message = NULL;
    (void)pie_merge_rows_forget(&work->prepared, (int64_t)input);
    return WRITTEN_MEANWHILE;
}

static int read_input(struct work *work, size_t input, pass_fn *pass, char **ret_message) {
    const char *path = work->paths[input];
    struct pie_stillness stillness;
    if (on_progress(work))
        return fail_out(work, SQLITE_INTERRUPT, ret_message);
    bool is_still = !is_there(path, "-wal") && pie_stillness_begin(path, &stillness) == 0;
    int r = pass(work, input, is_still ? &stillness : NULL, ret_message);
    return r == WRITTEN_MEANWHILE ? pass(work, input, NULL, ret_message) : r;
}

/* Returns 0 where the merge can go on without this input. */
static int skip(struct work *work, size_t input, int error, char **ret_message) {
    if (!work->options->skip_bad || input == 0 || error == -EINTR || error == -ENOSPC || error == -ENOMEM)
        return error;
    if (work->options->warn && *ret_message)
        work->options->warn(*ret_message);
    free(*ret_message);
    *ret_message = NULL;
    work->options->skipped++;
    work->paths[input] = NULL;
    (void)pie_merge_rows_forget(&work->prepared, (int64_t)input);
    return 0;
}

static int note(struct work *work, size_t input, char **ret_message) {
    int r = read_input(work, input, note_checked, ret_message);
    return r < 0 ? skip(work, input, r, ret_message) : 0;
}

static int copy(struct work *work, size_t input, char **ret_message) {
    int r = read_input(work, input, copy_attached, ret_message);
    return r < 0 ? skip(work, input, r, ret_message) : 0;
}

/* In the order of the numbers that their processes got: rows are appended, and the last writes what they share. */
static int copy_in_order(struct work *work, char **ret_message) {
    sqlite3_stmt *order = NULL;
    int r = 0, code = sqlite3_prepare_v2(
                   work->db, "SELECT input FROM temp.plan_process GROUP BY input ORDER BY min(new), input",
                   -1, &order, NULL);
    size_t *inputs = calloc(work->count + 1, sizeof *inputs), count = 0;
    while (inputs && code == SQLITE_OK && sqlite3_step(order) == SQLITE_ROW && count <= work->count)
        inputs[count++] = (size_t)sqlite3_column_int64(order, 0);
    sqlite3_finalize(order);
    if (code != SQLITE_OK || !inputs)
        r = fail_out(work, inputs ? code : SQLITE_NOMEM, ret_message);
    for (size_t i = 0; i < count && r == 0; i++)
        r = copy(work, inputs[i], ret_message);
    free(inputs);
    return r;
}

static int count_result(struct work *work) {
    struct pie_merge *options = work->options;
    int r = pie_db_get_int(work->db, "SELECT count(*) FROM main.run", &options->runs);
    if (r == 0)
        r = pie_db_get_int(work->db, "SELECT count(*) FROM main.process", &options->processes);
    return r ? r
             : pie_db_get_int(work->db, "SELECT count(*) FROM temp.plan_process WHERE NOT is_taken",
                              &options->doubles);
}

/* An input that was skipped late leaves runs and parents without rows. */
static const char tidy[] = "DELETE FROM source_line WHERE source IN (SELECT id FROM source WHERE run NOT IN "
                           "(SELECT run FROM process));"
                           "DELETE FROM source WHERE run NOT IN (SELECT run FROM process);"
                           "DELETE FROM environment WHERE run NOT IN (SELECT run FROM process);"
                           "DELETE FROM run WHERE id NOT IN (SELECT run FROM process);"
                           "UPDATE process SET parent = NULL WHERE parent NOT IN (SELECT id FROM process)";

static int fill(struct work *work, char **ret_message) {
    int r = 0;
    int code = pie_merge_rows_begin(work->db);
    work->prepared = (struct pie_prepared){.db = work->db};
    work->scratch = (struct pie_scratch){.prepared = &work->prepared, .beside = work->out, .fd = -1};
    for (size_t i = 0; i < work->count && code == SQLITE_OK && r == 0; i++)
        r = work->paths[i] ? note(work, i, ret_message) : 0;
    if (r == 0 && code == SQLITE_OK)
        code = pie_merge_rows_number(work->db);
    if (r == 0 && code == SQLITE_OK)
        r = copy_in_order(work, ret_message);
    pie_scratch_finish(&work->scratch);
    pie_prepared_finish(&work->prepared);
    if (r == 0 && code == SQLITE_OK) /* that writes to the pages of all processes */
        code = sqlite3_exec(work->db, "PRAGMA main.journal_mode = TRUNCATE", NULL, NULL, NULL);
    if (r == 0 && code == SQLITE_OK)
        code = pie_merge_rows_link(work->db);
    if (r == 0 && code == SQLITE_OK && work->options->skipped > 0)
        code = sqlite3_exec(work->db, tidy, NULL, NULL, NULL);
    if (r == 0 && code != SQLITE_OK)
        r = fail_out(work, code, ret_message);
    return r == 0 ? count_result(work) : r;
}

static int open_result(struct work *work, char **ret_message) {
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI | SQLITE_OPEN_PRIVATECACHE |
                SQLITE_OPEN_NOFOLLOW;
    char *uri = pie_db_uri(work->temporary, "mode=rw"); /* URIs are on for ATTACH too */
    int code = uri ? pie_sqlite_open(uri, &work->db, flags, NULL) : SQLITE_NOMEM;
    free(uri);
    if (code == SQLITE_OK) {
        sqlite3_extended_result_codes(work->db, 1);
        sqlite3_busy_timeout(work->db, BUSY_MS); /* an input that is being written to */
        sqlite3_db_config(work->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
        sqlite3_db_config(work->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
        sqlite3_db_config(work->db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
        sqlite3_db_config(work->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
        sqlite3_progress_handler(work->db, PROGRESS_OPERATIONS, on_progress, work);
        code =
            sqlite3_exec(work->db,
                         "PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF; PRAGMA cache_size = -8192;"
                         "PRAGMA main.locking_mode = EXCLUSIVE",
                         NULL, NULL, NULL);
    }
    if (code == SQLITE_OK)
        code = pie_schema_make(work->db);
    return code == SQLITE_OK ? 0 : fail_out(work, code, ret_message);
}

/* Writes the log of a file that was not closed back into it; closing does that. A log that stays is in use. */
static int write_back_log(struct work *work, char **ret_message) {
    struct pie_guard guard = {0};
    sqlite3 *db = NULL;
    if (is_there(work->out, "-wal") &&
        pie_sqlite_open(work->out, &db, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK) {
        pie_guard_limit(db, &guard);
        pie_guard_start_clock(&guard, WRITE_BACK_LIMIT_S);
        sqlite3_exec(db, "SELECT count(*) FROM sqlite_schema", NULL, NULL, NULL);
    }
    sqlite3_close(db);
    if (!is_there(work->out, "-wal"))
        return 0;
    return pie_message(-EBUSY, ret_message, "%s is being written to; merge into another file, or later",
                       work->out);
}

/* Under its name, and on the disk before that. */
static int publish(struct work *work, char **ret_message) {
    int fd = open(work->temporary, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    int r = fd < 0 ? -errno : 0;
    if (r == 0 && fsync(fd) < 0)
        r = -errno;
    if (fd >= 0)
        close(fd);
    if (r == 0 && is_there(work->out, "-wal"))
        return write_back_log(work, ret_message);
    if (r == 0 && rename(work->temporary, work->out) < 0)
        r = -errno;
    return r == 0 ? 0 : pie_message(r, ret_message, "cannot write %s: %s", work->out, strerror(-r));
}

/* Stays empty when the database is closed. */
static void remove_journal(const struct work *work) {
    char journal[PATH_MAX];
    if (snprintf(journal, sizeof journal, "%s-journal", work->temporary) < (int)sizeof journal)
        unlink(journal);
}

static int merge(struct work *work, char **ret_message) {
    /* A file that is no profile is not even tidied up. */
    int r = work->paths[0] ? check(work->paths[0], ret_message) : 0;
    if (r == 0 && work->paths[0])
        r = write_back_log(work, ret_message);
    if (r < 0)
        return r;
    int fd = pie_temporary_open(work->out, &work->temporary);
    if (fd < 0)
        return pie_message(fd, ret_message, "cannot write %s: %s", work->out, strerror(-fd));
    close(fd);
    r = open_result(work, ret_message);
    if (r == 0)
        r = fill(work, ret_message);
    if (r < 0 && !*ret_message)
        r = pie_message(r, ret_message, "cannot write %s: %s", work->out, strerror(-r));
    sqlite3_close(work->db);
    remove_journal(work);
    if (r == 0 && work->options->processes == 0)
        r = pie_message(-ENODATA, ret_message, "there is nothing to merge: no input holds a process");
    if (r == 0)
        r = publish(work, ret_message);
    if (r < 0)
        unlink(work->temporary);
    return r;
}

int pie_merge_files(struct pie_merge *options, const char *out, char *const *inputs, size_t count,
                    char **ret_message) {
    struct stat status;
    struct work work = {.options = options, .count = count + 1};
    bool exists = stat(out, &status) == 0;
    *ret_message = NULL;
    if (exists && !S_ISREG(status.st_mode))
        return pie_message(-EINVAL, ret_message, "cannot write %s: it is not a regular file", out);
    work.out = exists ? realpath(out, NULL) : strdup(out);
    work.paths = calloc(work.count, sizeof *work.paths);
    int r = work.out && work.paths ? 0 : pie_message(-ENOMEM, ret_message, "out of memory");
    if (r == 0) {
        memcpy(work.paths + 1, inputs, count * sizeof *inputs);
        work.paths[0] = exists && status.st_size > 0 ? work.out : NULL;
        r = merge(&work, ret_message);
    }
    free(work.temporary);
    free(work.paths);
    free(work.out);
    return r;
}
