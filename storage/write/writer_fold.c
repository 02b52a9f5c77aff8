/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <sqlite3.h>
#include <stddef.h>

#include "storage/write/fold.h"
#include "storage/write/writer_internal.h"

/* The file may have max_bytes. What is free in it is used again before it grows, so it is what is in use that counts.
 * Making room takes a second or so, so it is done rarely: from NEARLY_FULL on, and then for a good part of what may go.
 * Processes that have ended give theirs as this one does; those that run fold their own. */

static const double NEARLY_FULL = 0.8;
static const double PART = 0.4, PART_OF_ENDED = 0.7;
static const double GROWN =
    1.05; /* where little could be folded, it is tried again when the file has grown by this */

static int64_t used_now(struct pie_writer *writer) {
    int64_t pages = 0, unused = 0, page = 0;

    if (!writer->db || pie_db_get_int(writer->db, "PRAGMA page_count", &pages) < 0 ||
        pie_db_get_int(writer->db, "PRAGMA freelist_count", &unused) < 0 ||
        pie_db_get_int(writer->db, "PRAGMA page_size", &page) < 0)
        return 0;
    return (pages - unused) * page;
}

bool pie_writer_is_nearly_full(struct pie_writer *writer) {
    double used_bytes = writer->max_bytes > 0 ? (double)used_now(writer) : 0;

    return used_bytes > NEARLY_FULL * (double)writer->max_bytes && used_bytes > writer->folded_bytes * GROWN;
}

static int count_folded(struct pie_writer *writer, int64_t process, const char *name, int64_t folded) {
    char *sql =
        sqlite3_mprintf("INSERT INTO counter (process, name, value, is_drop) VALUES (%lld, %Q, %lld, 0)"
                        " ON CONFLICT DO UPDATE SET value = value + excluded.value",
                        (long long)process, name, (long long)folded);
    int r = sql ? pie_db_exec(writer->db, sql) : -ENOMEM;

    sqlite3_free(sql);
    return r;
}

static int fold_process(struct pie_writer *writer, int64_t process, const struct pie_in_use *in_use) {
    int64_t threads = pie_fold_threads(writer->db, process);
    int64_t contexts =
        threads < 0 ? threads : pie_fold_contexts(writer->db, process, in_use, in_use ? PART : PART_OF_ENDED);

    if (contexts < 0)
        return (int)contexts;
    int r = threads > 0 ? count_folded(writer, process, "threads_folded", threads) : 0;
    return r == 0 && contexts > 0 ? count_folded(writer, process, "contexts_folded", contexts) : r;
}

/* The most that the file had beyond its limit when nothing more could be folded. */
static int note_excess(struct pie_writer *writer) {
    double excess = writer->folded_bytes - (double)writer->max_bytes;

    if (excess <= 0)
        return 0;
    char *sql = sqlite3_mprintf("INSERT INTO counter (process, name, value, is_drop)"
                                " VALUES (%lld, 'bytes_over_max_size', %lld, 0)"
                                " ON CONFLICT DO UPDATE SET value = max(value, excluded.value)",
                                (long long)writer->process, (long long)excess);
    int r = sql ? pie_db_exec(writer->db, sql) : -ENOMEM;
    sqlite3_free(sql);
    return r;
}

/* Of the processes that have ended, the next one after `process`; 0: there is none. One that is taken for gone may turn
 * out to live. */
static int64_t next_ended(struct pie_writer *writer, int64_t process) {
    char sql[160];
    int64_t found = 0;

    sqlite3_snprintf(
        sizeof sql, sql,
        "SELECT coalesce(min(id), 0) FROM process WHERE id > %lld AND id <> %lld AND cause <> 'gone'",
        (long long)process, (long long)writer->process);
    return pie_db_get_int(writer->db, sql, &found) < 0 ? 0 : found;
}

int pie_writer_fold(struct pie_writer *writer, const struct pie_in_use *in_use) {
    int r = fold_process(writer, writer->process, in_use);

    for (int64_t ended = next_ended(writer, 0); r == 0 && ended; ended = next_ended(writer, ended))
        r = fold_process(writer, ended, NULL);
    writer->folded_bytes = (double)used_now(writer);
    return r == 0 ? note_excess(writer) : r;
}
