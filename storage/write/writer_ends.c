/* SPDX-License-Identifier: Apache-2.0 */

/* Rows about processes that cannot write them any more. */

#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "profiler/base/own_memory.h"
#include "storage/write/writer_internal.h"

static const char link_parents[] =
    "UPDATE process SET parent = (SELECT max(q.id) FROM process q WHERE q.run = process.run"
    " AND q.pid = process.parent_pid AND q.host IS process.host AND q.id <> process.id"
    " AND q.started_ns <= process.started_ns) WHERE run = %lld AND parent IS NULL AND parent_pid > 0";

static void say_why(const struct pie_process_end_row *row, char *text, size_t size) {
    if (row->write_error)
        snprintf(text, size, "wrote nothing: %s", strerror(-row->write_error));
    else if (strcmp(row->cause, "exit") == 0)
        snprintf(text, size, "wrote nothing: it could not open the profile, or not in time");
    else
        snprintf(text, size, "wrote nothing: %s before the first write", row->cause);
}

static int add_row(struct pie_writer *writer, const struct pie_process_end_row *row, const char *host) {
    char note[160];
    char *argv = pie_writer_json_of_argv(row->argv);
    say_why(row, note, sizeof note);
    int r = pie_rowlog_add(&writer->rows, PIE_STATEMENT_PROCESS_WITHOUT_ROW, "iiiitttt", writer->run,
                           (int64_t)row->pid, (int64_t)row->parent_pid, row->started_ns, argv,
                           row->executable, note, host);
    pie_free(argv);
    return r;
}

int pie_writer_put_process_end(struct pie_writer *writer, const struct pie_process_end_row *row) {
    struct utsname host = {0};
    int r = 0;
    (void)uname(&host);
    if (!writer->is_alone || !row->may_have_own_file)
        r = add_row(writer, row, host.nodename);
    if (r == 0 &&
        strcmp(row->cause, "exit") == 0) /* its own last rows, which tell of its end, are not there */
        r = pie_rowlog_add(&writer->rows, PIE_STATEMENT_PROCESS_UNTOLD, "iiitt", writer->run,
                           (int64_t)row->pid, row->started_ns, host.nodename, row->lost_counter);
    if (r == 0 && row->exit_status >= 0)
        r = pie_rowlog_add(&writer->rows, PIE_STATEMENT_PROCESS_FOUND_ENDED, "iiitzti", writer->run,
                           (int64_t)row->pid, row->started_ns, host.nodename, row->ended_ns, row->cause,
                           (int64_t)row->exit_status);
    else if (r == 0)
        r = pie_rowlog_add(&writer->rows, PIE_STATEMENT_PROCESS_FOUND_ENDED, "iiitztn", writer->run,
                           (int64_t)row->pid, row->started_ns, host.nodename, row->ended_ns, row->cause);
    if (r == 0 && row->write_error)
        r = pie_rowlog_add(&writer->rows, PIE_STATEMENT_PROCESS_LOST, "iiitt", writer->run, (int64_t)row->pid,
                           row->started_ns, host.nodename, row->lost_counter);
    return r;
}

/* Rows of the run's processes here that have not said how they ended. */
static int find_gone(struct pie_writer *writer, pie_is_gone_fn is_gone) {
    struct utsname host = {0};
    sqlite3_stmt *open = NULL;
    int r = 0;
    (void)uname(&host);
    int code = sqlite3_prepare_v2(writer->db,
                                  "SELECT id, pid, started_ns FROM process WHERE run = ? AND host = ? AND "
                                  "cause IS NULL AND id <> ?",
                                  -1, &open, NULL);
    if (code == SQLITE_OK) {
        sqlite3_bind_int64(open, 1, writer->run);
        sqlite3_bind_text(open, 2, host.nodename, -1, SQLITE_STATIC);
        sqlite3_bind_int64(open, 3, writer->process);
        while (r == 0 && (code = sqlite3_step(open)) == SQLITE_ROW)
            if (is_gone(sqlite3_column_int(open, 1), sqlite3_column_int64(open, 2)))
                r = pie_rowlog_add(&writer->rows, PIE_STATEMENT_PROCESS_GONE, "i",
                                   sqlite3_column_int64(open, 0));
    }
    sqlite3_finalize(open);
    return code == SQLITE_DONE || r < 0 ? r : pie_db_errno(writer->db, code);
}

int pie_writer_complete_run(struct pie_writer *writer, pie_is_gone_fn is_gone) {
    char sql[sizeof link_parents + 24];
    sqlite3_snprintf(sizeof sql, sql, link_parents, (long long)writer->run);
    int r = find_gone(writer, is_gone);
    if (r == 0)
        r = pie_db_exec(writer->db, sql);
    return r;
}
