/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct sqlite3_stmt;

/* Rows that wait for the next commit: statement numbers and their parameters in one growing buffer. The database's
 * write lock is held only while they are replayed, and a commit that failed (another writer, a full disk) can be
 * tried again with nothing lost. Context: drain. */
struct pie_rowlog {
    unsigned char *bytes;
    size_t size, capacity;
};

enum { PIE_ROWLOG_MAX_BYTES = 64 << 20 };

/* A log whose bytes are all 0 is an empty one. */
void pie_rowlog_finish(struct pie_rowlog *log);
void pie_rowlog_clear(struct pie_rowlog *log);

/* Appends one row for statement number `statement` (0 to 255). One letter of `types` for each parameter:
 * 'i' int64_t, 'z' int64_t of which 0 means NULL, 'd' double, 't' const char * (NULL is NULL, invalid UTF-8 is
 * replaced), 'n' NULL (takes no argument). Returns 0, -ENOMEM, or -ENOBUFS when the log is full; the log is then
 * as it was. */
int pie_rowlog_add(struct pie_rowlog *log, unsigned statement, const char *types, ...);

/* Steps through all rows: asks `prepare` for each row's statement, binds and runs it. Returns 0, what prepare
 * returned, or a negative SQLite result code. */
int pie_rowlog_replay(const struct pie_rowlog *log,
                      int (*prepare)(void *data, unsigned, struct sqlite3_stmt **), void *data);
