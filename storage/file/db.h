/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct sqlite3;
struct sqlite3_stmt;
struct pie_guard;

/* Shared by writer and reader. Connections are used by one thread at a time and share nothing. Context: drain, cli. */

/* How long a connection waits for another writer of the same file. The busy handler keeps a pointer to it. */
struct pie_db_wait {
    uint64_t limit_ms;
    uint64_t deadline_ns;            /* CLOCK_MONOTONIC of the current wait */
    const _Atomic uint32_t *waiters; /* not 0: wait no longer; NULL: nobody cares */
    const char *path;                /* of the file; needed where longer is set */
    unsigned longer;                 /* how often the limit begins anew because others write */
    unsigned left;                   /* of these, in the current wait */
    int64_t written_ns;              /* when others wrote last, as far as it was seen */
};

/* -errno for an SQLite result code: -EBUSY another writer, -ENOSPC disk full, -EBADMSG damaged or no database, … */
int pie_db_errno(struct sqlite3 *db, int code);

void pie_db_set_wait(struct sqlite3 *db, struct pie_db_wait *wait);

/* "file:…?…" with what has a meaning in it written as %xx. Heap, or NULL. */
char *pie_db_uri(const char *path, const char *parameters);

/* Runs statements that return nothing. Returns 0 or -errno. */
int pie_db_exec(struct sqlite3 *db, const char *sql);
/* The one integer that `sql` returns. Returns 0 or -errno. */
int pie_db_get_int(struct sqlite3 *db, const char *sql, int64_t *ret_value);

/* Opens a database of ours for writing and makes it one if it is new; safe against others that do the same at the
 * same time. *ret_created: this call made the schema. `wait` is borrowed until the connection is closed.
 * is_alone: no other process writes this file, so it will do without locks where there are none.
 * may_create: a file that is not there is made, else -ENOENT.
 * A file that was there is checked first: it has our schema and nothing that could take part in a write, and a run can
 * be written (schema_check.h). One that fails is left as it is. The guard is borrowed until the connection is closed.
 * Returns 0, -ENOLCK (the file cannot be locked), -EBADMSG (not a database), -EEXIST (another program's), -EPROTO (a
 * newer or older version's), -EINVAL or -EISDIR (no regular file), -ETIMEDOUT (it holds up its readers) or another
 * -errno. */
int pie_db_open_writable(const char *path, bool is_alone, bool may_create, struct pie_db_wait *wait,
                         struct pie_guard *guard, struct sqlite3 **ret_db, bool *ret_created);

/* The schema may have been changed since the file was opened. Inside a write transaction; *version is of the last look.
 * Returns 0, -EBADMSG or another -errno. */
int pie_db_check_schema(struct sqlite3 *db, int64_t *version);
