/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/file/db.h"

#include <errno.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "profiler/base/clocks.h"
#include "storage/file/file_kind.h"
#include "storage/file/guard.h"
#include "storage/file/locking.h"
#include "storage/file/schema.h"
#include "storage/file/schema_check.h"
#include "storage/file/schema_statements.h"
#include "storage/file/sqlite_open.h"
#include "storage/file/strays.h"

enum { CREATE_ATTEMPTS = 500, PAUSE_NS = 10 * 1000 * 1000, REHEARSAL_WAIT_MS = 100 };

/* To find out whether a file can be appended to. What of it must be read is a few pages, whatever its size. */
static const double CHECK_LIMIT_S = 2;

static void pause_ns(long ns) {
    struct timespec pause = {.tv_nsec = ns};
    nanosleep(&pause, NULL);
}

int pie_db_errno(sqlite3 *db, int code) {
    int system = db ? sqlite3_system_errno(db) : 0;
    if (code == SQLITE_READONLY_DBMOVED)
        return -ENOENT;
    if (code == SQLITE_IOERR_LOCK || code == SQLITE_IOERR_RDLOCK || code == SQLITE_IOERR_UNLOCK ||
        code == SQLITE_IOERR_CHECKRESERVEDLOCK || code == SQLITE_IOERR_SHMLOCK)
        return -ENOLCK;
    switch (code & 0xff) {
    case SQLITE_OK:
    case SQLITE_ROW:
    case SQLITE_DONE:
        return 0;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL:
        return -EBUSY;
    case SQLITE_FULL:
        return -ENOSPC;
    case SQLITE_READONLY:
        return -EROFS;
    case SQLITE_PERM:
    case SQLITE_AUTH:
        return -EACCES;
    case SQLITE_NOMEM:
        return -ENOMEM;
    case SQLITE_TOOBIG:
        return -E2BIG;
    case SQLITE_INTERRUPT:
        return -ETIMEDOUT;
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
    case SQLITE_FORMAT:
        return -EBADMSG;
    case SQLITE_CANTOPEN:
        return system ? -system : -ENOENT;
    case SQLITE_IOERR:
        return system ? -system : -EIO;
    default:
        return -EINVAL;
    }
}

static int64_t changed_ns(const char *path, const char *suffix) {
    char name[PATH_MAX];
    struct stat status;
    if (snprintf(name, sizeof name, "%s%s", path, suffix) >= (int)sizeof name || stat(name, &status) < 0)
        return 0;
    return (int64_t)status.st_mtim.tv_sec * 1000000000 + status.st_mtim.tv_nsec;
}

/* When somebody wrote into the file or its log. */
static int64_t written_ns(const char *path) {
    int64_t file = changed_ns(path, ""), log = changed_ns(path, "-wal");
    return file > log ? file : log;
}

static void begin_wait(struct pie_db_wait *wait, uint64_t now) {
    wait->deadline_ns = now + wait->limit_ms * 1000000u;
    wait->left = wait->longer;
    wait->written_ns = wait->longer ? written_ns(wait->path) : 0;
}

/* Others get on: our turn will come. A lock that somebody only holds is not waited for. */
static bool waits_longer(struct pie_db_wait *wait, uint64_t now) {
    int64_t written = wait->left ? written_ns(wait->path) : wait->written_ns;
    if (written == wait->written_ns)
        return false;
    wait->written_ns = written;
    wait->left--;
    wait->deadline_ns = now + wait->limit_ms * 1000000u;
    return true;
}

/* Each further call of one wait has attempt > 0; the pause grows to 20 ms. */
static int on_busy(void *data, int attempt) {
    struct pie_db_wait *wait = data;
    uint64_t now = pie_monotonic_ns();
    if (attempt == 0)
        begin_wait(wait, now);
    if ((wait->waiters && atomic_load_explicit(wait->waiters, memory_order_relaxed) > 0) ||
        (now >= wait->deadline_ns && !waits_longer(wait, now)))
        return 0;
    pause_ns(attempt < 10 ? 1000000L * (attempt + 1) : 20000000L);
    return 1;
}

void pie_db_set_wait(sqlite3 *db, struct pie_db_wait *wait) {
    sqlite3_busy_handler(db, on_busy, wait);
}

char *pie_db_uri(const char *path, const char *parameters) {
    char *uri = malloc(3 * strlen(path) + strlen(parameters) + sizeof "file:?");
    if (!uri)
        return NULL;
    char *at = uri + sprintf(uri, "file:");
    for (const char *c = path; *c; c++)
        at += sprintf(at, strchr("%?#", *c) ? "%%%02x" : "%c", (unsigned char)*c);
    sprintf(at, "?%s", parameters);
    return uri;
}

int pie_db_exec(sqlite3 *db, const char *sql) {
    int code = sqlite3_exec(db, sql, NULL, NULL, NULL);
    return code == SQLITE_OK ? 0 : pie_db_errno(db, code);
}

int pie_db_get_int(sqlite3 *db, const char *sql, int64_t *ret_value) {
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(db, sql, -1, &statement, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_step(statement);
    int r = code == SQLITE_ROW ? 0 : code == SQLITE_DONE ? -ENOENT : pie_db_errno(db, code);
    if (r == 0)
        *ret_value = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return r;
}

/* 1: empty, 0: ours, or -errno. */
static int identify(sqlite3 *db) {
    int64_t application_id = 0, version = 0, objects = 0;
    int r = pie_db_get_int(db, "PRAGMA application_id", &application_id);
    if (r == 0)
        r = pie_db_get_int(db, "PRAGMA user_version", &version);
    if (r == 0)
        r = pie_db_get_int(db, "SELECT count(*) FROM sqlite_schema", &objects);
    if (r < 0)
        return r;
    if (application_id == 0 && version == 0 && objects == 0)
        return 1;
    if (application_id != PIE_SCHEMA_APPLICATION_ID)
        return -EEXIST;
    return pie_schema_age(version) == PIE_SCHEMA_SAME ? 0 : -EPROTO;
}

/* 0, -EBADMSG or another -errno. */
static int check_schema(sqlite3 *db) {
    struct pie_schema_facts facts;
    int r = pie_schema_check(db, &facts);
    return r < 0 ? r : facts.is_exact && !facts.has_guests ? 0 : -EBADMSG;
}

int pie_db_check_schema(sqlite3 *db, int64_t *version) {
    int64_t now;
    int r = pie_db_get_int(db, "PRAGMA schema_version", &now);
    if (r == 0 && now != *version)
        r = check_schema(db);
    if (r == 0)
        *version = now;
    return r;
}

/* The same from one state of the file: another process may be making the schema between two reads. */
static int identify_at_once(sqlite3 *db) {
    int r = pie_db_exec(db, "BEGIN");
    if (r < 0)
        return r;
    int state = identify(db);
    if (state == 0)
        state = check_schema(db);
    (void)pie_db_exec(db, "COMMIT");
    return state;
}

/* The write lock decides which of several processes makes the schema; the others find it made. */
static int create_schema(sqlite3 *db, bool *ret_created) {
    int r = pie_db_exec(db, "BEGIN IMMEDIATE");
    if (r < 0)
        return r;
    int state = identify(db);
    if (state == 1)
        r = pie_db_errno(db, pie_schema_make(db));
    else
        r = state;
    if (r == 0)
        r = pie_db_exec(db, "COMMIT");
    if (r < 0) {
        (void)pie_db_exec(db, "ROLLBACK");
        return r;
    }
    *ret_created = state == 1;
    return 0;
}

/* The change to WAL needs the file for itself and does not call the busy handler where waiting could deadlock. */
static int use_wal(sqlite3 *db) {
    int r = -EBUSY;
    for (int i = 0; i < CREATE_ATTEMPTS && r == -EBUSY; i++) {
        if (i > 0)
            pause_ns(PAUSE_NS);
        r = pie_db_exec(db, "PRAGMA journal_mode = WAL");
    }
    return r;
}

/* Another run that is writing is a good sign. */
static int rehearse(sqlite3 *db, struct pie_db_wait *wait) {
    const struct pie_db_wait before = *wait;
    wait->limit_ms = REHEARSAL_WAIT_MS;
    wait->longer = 0;
    int r = pie_schema_rehearse(db);
    *wait = before;
    return r == -EBUSY ? 0 : r;
}

/* A file that this process has just made holds nothing that a power cut could destroy, so nothing waits for the disk;
 * earlier runs in a file that was there before are kept safe by syncing at each checkpoint. */
static int prepare(sqlite3 *db, bool has_locks, struct pie_db_wait *first, bool *ret_created) {
    int state = identify_at_once(db);
    if (state < 0)
        return state;
    int r =
        pie_db_exec(db, "PRAGMA synchronous = OFF; PRAGMA secure_delete = OFF; PRAGMA temp_store = MEMORY;"
                        "PRAGMA cache_size = -1024; PRAGMA journal_size_limit = 4194304");
    if (r == 0 &&
        state ==
            1) /* small pages: each of the tables takes one at least, and a write those that it touches */
        r = pie_db_exec(db, "PRAGMA page_size = 1024");
    if (r == 0 && state == 1)
        r = create_schema(db, ret_created);
    if (r == 0 && state == 0 && first)
        r = rehearse(db, first);
    if (r == 0) /* a log needs locks and shared memory */
        r = has_locks ? use_wal(db) : pie_db_exec(db, "PRAGMA journal_mode = TRUNCATE");
    if (r == 0 && !*ret_created)
        r = pie_db_exec(db, "PRAGMA synchronous = NORMAL");
    return r;
}

/* Nothing that the file brings along is run, and nothing takes longer than it may. */
static void guard_writer(sqlite3 *db, struct pie_guard *guard) {
    sqlite3_extended_result_codes(db, 1);
    pie_guard_limit(db, guard);
    pie_guard_start_clock(guard, CHECK_LIMIT_S);
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_FKEY, 0, NULL);
    (void)pie_db_exec(db, "PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0");
}

/* What is in a log stays there: closing would put it into the file. An empty log goes. */
static void close_untouched(sqlite3 *db, const char *path) {
    char log[PATH_MAX];
    struct stat status;
    bool has_log = snprintf(log, sizeof log, "%s-wal", path) < (int)sizeof log && stat(log, &status) == 0 &&
                   status.st_size > 0;
    if (has_log)
        sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    sqlite3_close(db);
}

int pie_db_open_writable(const char *path, bool is_alone, bool may_create, struct pie_db_wait *wait,
                         struct pie_guard *guard, sqlite3 **ret_db, bool *ret_created) {
    sqlite3 *db = NULL;
    bool created = false;
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE;
    flags |= may_create ? SQLITE_OPEN_CREATE : 0;
    if (!may_create && access(path, F_OK) < 0) /* the look for locks would make it */
        return -errno;
    int kind = pie_file_kind_check(path);
    if (kind < 0)
        return kind;
    if (may_create)
        pie_strays_remove(path);
    bool has_locks = pie_locking_check(path) == 0;
    if (!has_locks && !is_alone)
        return -ENOLCK;
    int code = pie_sqlite_open(path, &db, flags, has_locks ? NULL : "unix-none");
    int r = pie_db_errno(db, code);
    if (r == 0) {
        pie_db_set_wait(db, wait);
        guard_writer(db, guard);
        r = prepare(db, has_locks, may_create ? wait : NULL, &created);
    }
    if (r < 0) {
        close_untouched(db, path);
        return r;
    }
    pie_guard_start_clock(guard, 0);
    *ret_db = db;
    *ret_created = created;
    return 0;
}
