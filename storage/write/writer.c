/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/write/writer.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include "profiler/base/own_memory.h"
#include "profiler/ports/config.h"
#include "storage/base/utf8.h"
#include "storage/file/packed_tables.h"
#include "storage/own/ownership.h"
#include "storage/own/source_text.h"
#include "storage/write/contexts.h"
#include "storage/write/writer_internal.h"

/* Rows gather in memory (rowlog.h) and go into the file in one transaction for each commit. A commit that fails
 * because another process writes or the disk is full leaves them where they are; the next one tries again, after a
 * disk error at growing intervals. What cannot get better (the file was deleted or damaged, the rows outgrew their
 * buffer) ends the writer: every later call returns the same error and does nothing. */

enum {
    COMMIT_WAIT_MS = 200, /* rings fill while the collection thread waits, and rows are not lost */
    PATIENT_WAIT_MS = 10000,
    LONGER = 2, /* times, while others write: of many processes at once each gets its turn */
    SKIP_MAX = 64,
};

/* Of a transaction that has the lock. All rows of an hour take less than a second; only a damaged file takes for
 * ever. */
static const double TRANSACTION_LIMIT_S = 20;

static struct pie_writer *writer_of(struct pie_sink *sink) {
    return (struct pie_writer *)sink;
}

static int die(struct pie_writer *writer, int error) {
    writer->dead = error;
    pie_rowlog_finish(&writer->rows);
    return error;
}

/* A row was refused; without it later rows would refer to nothing, so only what can be repeated goes on. */
static int taken(struct pie_writer *writer, int r) {
    return r == -ENOBUFS ? die(writer, writer->last_error ? writer->last_error : r) : r;
}

/* Writing on into a file that has no name any more, or another name, would be lost work. */
static int check_file(struct pie_writer *writer) {
    struct stat status;
    if (writer->inode == 0)
        return 0;
    if (stat(writer->path, &status) <
        0) /* a program that is another user now may still write what it has open */
        return errno == EACCES && writer->db ? 0 : -errno;
    return status.st_dev == writer->device && status.st_ino == writer->inode ? 0 : -ENOENT;
}

static void close_file(struct pie_writer *writer, bool checkpoint) {
    pie_statements_finish(&writer->statements);
    if (writer->db && !checkpoint)
        sqlite3_db_config(writer->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    sqlite3_close(writer->db);
    writer->db = NULL;
    writer->statements.db = NULL;
}

static int ensure_open(struct pie_writer *writer) {
    struct stat status;
    bool created;
    int r = check_file(writer);
    if (r < 0 || writer->db)
        return r;
    bool is_new =
        writer->inode == 0 && !writer->is_child; /* else the file was there and has been taken away */
    r = pie_db_open_writable(writer->path, writer->is_alone, is_new, &writer->wait, &writer->guard,
                             &writer->db, &created);
    if (r < 0)
        return r;
    writer->statements.db = writer->db;
    r = pie_db_errno(writer->db, pie_packed_tables_add(writer->db));
    if (r < 0) {
        close_file(writer, false);
        return r;
    }
    if (stat(writer->path, &status) < 0)
        return -errno;
    writer->device = status.st_dev;
    writer->inode = status.st_ino;
    return 0;
}

static bool is_final(int error) {
    return error == -EBADMSG || error == -EEXIST || error == -EPROTO || error == -ENOENT;
}

static int begin_transaction(struct pie_writer *writer) {
    int r = pie_db_exec(writer->db, "BEGIN IMMEDIATE");
    if (r < 0)
        return r;
    pie_guard_start_clock(&writer->guard, TRANSACTION_LIMIT_S);
    r = pie_db_check_schema(writer->db, &writer->schema_version);
    if (r < 0)
        (void)pie_db_exec(writer->db, "ROLLBACK");
    return r;
}

/* r: of what was done in it; less than 0: nothing was. */
static int end_transaction(struct pie_writer *writer, int r) {
    if (r == 0)
        r = pie_db_exec(writer->db, "COMMIT");
    if (r < 0)
        (void)pie_db_exec(writer->db, "ROLLBACK");
    pie_guard_start_clock(&writer->guard, 0);
    return r;
}

/* Runs rows in one transaction. */
static int transact(struct pie_writer *writer, const struct pie_rowlog *rows, int64_t *ret_rowid) {
    int r = begin_transaction(writer);
    if (r < 0)
        return r;
    int code = pie_rowlog_replay(rows, pie_statements_get, &writer->statements);
    if (ret_rowid)
        *ret_rowid = sqlite3_last_insert_rowid(writer->db);
    return end_transaction(writer, code < 0 ? pie_db_errno(writer->db, -code) : 0);
}

static int flush(struct pie_writer *writer, uint64_t wait_ms) {
    writer->wait.limit_ms = wait_ms;
    int r = ensure_open(writer);
    if (r == 0)
        r = transact(writer, &writer->rows, NULL);
    writer->last_error = r;
    if (r == 0) {
        pie_rowlog_clear(&writer->rows);
        writer->failures = 0;
        writer->sink.wants_to_forget = pie_writer_is_nearly_full(writer);
        return 0;
    }
    if (is_final(r))
        return die(writer, r);
    if (r != -EBUSY) {
        writer->skip = writer->failures < 6 ? 1u << writer->failures : SKIP_MAX;
        writer->failures++;
    }
    return r;
}

char *pie_writer_json_of_argv(const char *const *argv) {
    json_t *array = argv ? json_array() : NULL;
    for (; array && *argv; argv++) {
        size_t size = strlen(*argv);
        char *clean = pie_malloc(3 * size + 1);
        json_t *word = clean ? json_stringn(clean, pie_utf8_clean(clean, *argv, size)) : NULL;
        json_array_append_new(array, word ? word : json_null());
        pie_free(clean);
    }
    char *text = array ? json_dumps(array, JSON_COMPACT) : NULL;
    json_decref(array);
    return text;
}

/* A name that no other run has. */
static int make_identity(char *identity, size_t size) {
    unsigned char bytes[16];
    if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes)
        return -errno;
    for (size_t i = 0; i < sizeof bytes && 2 * i + 2 < size; i++)
        sprintf(identity + 2 * i, "%02x", bytes[i]);
    return 0;
}

static int find_run(struct pie_writer *writer, const char *identity) {
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(writer->db, "SELECT id FROM run WHERE identity = ?", -1, &statement, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_bind_text(statement, 1, identity, -1, SQLITE_STATIC);
    if (code == SQLITE_OK)
        code = sqlite3_step(statement);
    if (code == SQLITE_ROW)
        writer->run = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return code == SQLITE_ROW ? 0 : code == SQLITE_DONE ? -ENOENT : pie_db_errno(writer->db, code);
}

/* Makes the run, or joins the one of the same name: of a parent, or of another rank. */
static int enter_run(struct pie_writer *writer, const struct pie_process_row *process) {
    struct pie_rowlog rows = {0};
    char made[33] = "";
    const char *identity = writer->run_name ? writer->run_name : made;
    int r = writer->run_name ? 0 : make_identity(made, sizeof made);
    if (r == 0)
        r = pie_rowlog_add(&rows, PIE_STATEMENT_RUN, "itdt", process->started_ns, PIEPROF_VERSION,
                           writer->overhead_budget, identity);
    if (r == 0)
        r = transact(writer, &rows, NULL);
    if (r == 0)
        r = find_run(writer, identity);
    pie_rowlog_finish(&rows);
    return r;
}

static int create_process(struct pie_writer *writer, const struct pie_process_row *process) {
    struct pie_rowlog rows = {0};
    struct utsname host = {0};
    char *argv = pie_writer_json_of_argv(process->argv);
    (void)uname(&host);
    int r = pie_rowlog_add(&rows, PIE_STATEMENT_PROCESS, "iizittttzttt", writer->run, (int64_t)process->pid,
                           (int64_t)process->parent_pid, process->started_ns, argv, process->executable,
                           process->clock ? process->clock : "none", process->clock_note,
                           (int64_t)process->period_ns, process->sampler ? process->sampler : "none",
                           process->sampler_note, host.nodename);
    if (r == 0)
        r = transact(writer, &rows, &writer->process);
    pie_slices_begin(&writer->slices, process->started_ns, writer->keep_s);
    pie_u64map_finish(&writer->first_causes);
    pie_free(argv);
    pie_rowlog_finish(&rows);
    return r;
}

/* The file may be another one by now that has the same name. r: of opening it. */
static int join_run(struct pie_writer *writer, int64_t run, int r) {
    char sql[64];
    int64_t found;
    if (r == 0 && writer->run_name)
        return find_run(writer, writer->run_name);
    writer->run = run;
    sqlite3_snprintf(sizeof sql, sql, "SELECT id FROM run WHERE id = %lld", (long long)run);
    return r < 0 ? r : pie_db_get_int(writer->db, sql, &found);
}

/* Where there is no second chance: at the beginning and at the end. */
static void be_patient(struct pie_writer *writer, bool is_patient) {
    writer->wait.limit_ms = PATIENT_WAIT_MS;
    writer->wait.path = writer->path;
    writer->wait.longer = is_patient ? LONGER : 0;
}

static int begin_process(struct pie_sink *sink, const struct pie_process_row *process, int64_t *ret_run_id) {
    struct pie_writer *writer = writer_of(sink);
    if (writer->dead)
        return writer->dead;
    be_patient(writer, true);
    int r = ensure_open(writer);
    pie_guard_start_clock(&writer->guard, TRANSACTION_LIMIT_S);
    if (process->is_child && !writer->is_alone)
        r = join_run(writer, process->run_id, r);
    else if (r == 0)
        r = enter_run(writer, process);
    if (r == 0)
        r = create_process(writer, process);
    be_patient(writer, false);
    if (r < 0)
        return is_final(r) ? die(writer, r) : r;
    *ret_run_id = writer->run;
    return 0;
}

static int begin(struct pie_sink *sink, int64_t at_ns) {
    struct pie_writer *writer = writer_of(sink);
    return writer->dead ? writer->dead : taken(writer, pie_writer_move_on(writer, at_ns));
}

static int commit(struct pie_sink *sink, int64_t now_ns) {
    struct pie_writer *writer = writer_of(sink);
    if (writer->dead)
        return writer->dead;
    int r = pie_writer_put_source(writer);
    if (r == 0)
        r = pie_writer_put_curves(writer);
    if (r == 0 && writer->failures == 0)
        r = pie_rowlog_add(&writer->rows, PIE_STATEMENT_PROCESS_SEEN, "ii", writer->process, now_ns);
    if (taken(writer, r) < 0)
        return r;
    if (writer->skip > 0) {
        writer->skip--;
        return writer->last_error;
    }
    writer->wait.waiters = sink->waiters;
    int flushed = flush(writer, COMMIT_WAIT_MS);
    writer->wait.waiters = NULL;
    return flushed;
}

static int end_process(struct pie_sink *sink, int64_t now_ns, const char *cause, int exit_status) {
    struct pie_writer *writer = writer_of(sink);
    if (writer->dead)
        return writer->dead;
    int r = pie_writer_put_source(writer);
    if (r == 0)
        r = pie_writer_put_curves(writer);
    if (r == 0 && exit_status >= 0)
        r = pie_rowlog_add(&writer->rows, PIE_STATEMENT_PROCESS_ENDED, "iiti", writer->process, now_ns, cause,
                           (int64_t)exit_status);
    else if (r == 0)
        r = pie_rowlog_add(&writer->rows, PIE_STATEMENT_PROCESS_ENDED, "iitn", writer->process, now_ns,
                           cause);
    if (taken(writer, r) < 0)
        return r;
    be_patient(writer, true);
    r = flush(writer, PATIENT_WAIT_MS);
    be_patient(writer, false);
    return r;
}

static int complete_run(struct pie_sink *sink, pie_is_gone_fn is_gone) {
    struct pie_writer *writer = writer_of(sink);
    if (writer->dead || writer->is_alone)
        return writer->dead;
    writer->wait.limit_ms = PATIENT_WAIT_MS;
    int r = ensure_open(writer);
    pie_guard_start_clock(&writer->guard, TRANSACTION_LIMIT_S);
    if (r == 0)
        r = pie_writer_complete_run(writer, is_gone);
    pie_guard_start_clock(&writer->guard, 0);
    return r < 0 || writer->rows.size == 0 ? r : flush(writer, PATIENT_WAIT_MS);
}

/* A file in which no room can be made grows beyond what it may have: less harm than a profile that ends. */
static void make_room(struct pie_writer *writer, const struct pie_in_use *in_use) {
    if (ensure_open(writer) < 0 || !pie_writer_is_nearly_full(writer))
        return;
    writer->wait.limit_ms = COMMIT_WAIT_MS;
    int r = begin_transaction(writer);
    if (r == 0)
        (void)end_transaction(writer, pie_writer_fold(writer, in_use));
}

static void forget(struct pie_sink *sink, const struct pie_in_use *in_use) {
    struct pie_writer *writer = writer_of(sink);
    pie_writer_forget(writer, in_use);
    if (!writer->dead && writer->max_bytes > 0)
        make_room(writer, in_use);
    sink->wants_to_forget = false;
}

static void suspend(struct pie_sink *sink) {
    close_file(writer_of(sink), false);
}

static void close_sink(struct pie_sink *sink) {
    struct pie_writer *writer = writer_of(sink);
    close_file(writer, check_file(writer) == 0);
    pie_rowlog_finish(&writer->rows);
    pie_contexts_destroy(writer->contexts);
    pie_ownership_destroy(writer->ownership);
    pie_source_text_destroy(writer->source);
    pie_idmap_finish(&writer->files);
    pie_idmap_finish(&writer->modules);
    pie_idmap_finish(&writer->functions);
    pie_idmap_finish(&writer->lines);
    pie_line_curves_destroy(writer->line_curves);
    pie_slices_finish(&writer->slices);
    pie_u64map_finish(&writer->first_causes);
    pie_sparse_finish(&writer->file_is_own, NULL);
    pie_sparse_finish(&writer->owners, NULL);
    pie_free(writer->module_flags);
    pie_free(writer->path);
    pie_free(writer);
}

/* The put_ functions of the table: nothing for a dead writer, else the row. */
#define DEFINE_PUT(name, parameters, arguments)                                                              \
    static int name parameters {                                                                             \
        struct pie_writer *writer = writer_of(sink);                                                         \
        return writer->dead ? writer->dead : taken(writer, pie_writer_##name arguments);                     \
    }
DEFINE_PUT(put_environment, (struct pie_sink * sink, const char *key, const char *value),
           (writer, key, value))
DEFINE_PUT(put_location, (struct pie_sink * sink, const struct pie_location *row), (writer, row))
DEFINE_PUT(put_node, (struct pie_sink * sink, const struct pie_node_row *row), (writer, row))
DEFINE_PUT(put_thread, (struct pie_sink * sink, const struct pie_thread_row *row), (writer, row))
DEFINE_PUT(put_sample, (struct pie_sink * sink, const struct pie_sample_row *row), (writer, row))
DEFINE_PUT(put_wait, (struct pie_sink * sink, const struct pie_wait_row *row), (writer, row))
DEFINE_PUT(put_task, (struct pie_sink * sink, const struct pie_task_row *row), (writer, row))
DEFINE_PUT(put_related, (struct pie_sink * sink, const struct pie_related_row *row), (writer, row))
DEFINE_PUT(put_watch, (struct pie_sink * sink, const struct pie_watch_row *row), (writer, row))
DEFINE_PUT(put_allocation, (struct pie_sink * sink, const struct pie_allocation_row *row), (writer, row))
DEFINE_PUT(put_allocated, (struct pie_sink * sink, const struct pie_allocated_row *row), (writer, row))
DEFINE_PUT(put_live, (struct pie_sink * sink, const struct pie_live_row *row), (writer, row))
DEFINE_PUT(put_footprint, (struct pie_sink * sink, const struct pie_footprint_row *row), (writer, row))
DEFINE_PUT(put_heap, (struct pie_sink * sink, const struct pie_heap_row *row), (writer, row))
DEFINE_PUT(put_copy, (struct pie_sink * sink, const struct pie_copy_row *row), (writer, row))
DEFINE_PUT(put_reading, (struct pie_sink * sink, const struct pie_reading_row *row), (writer, row))
DEFINE_PUT(put_copy_end, (struct pie_sink * sink, const struct pie_copy_end_row *row), (writer, row))
DEFINE_PUT(put_retention_path,
           (struct pie_sink * sink, struct pie_node_id node, uint32_t size, const char *text),
           (writer, node, size, text))
DEFINE_PUT(put_window, (struct pie_sink * sink, const struct pie_window_row *row), (writer, row))
DEFINE_PUT(put_traced_loop, (struct pie_sink * sink, const struct pie_traced_loop_row *row), (writer, row))
DEFINE_PUT(put_traced_call, (struct pie_sink * sink, const struct pie_traced_call_row *row), (writer, row))
DEFINE_PUT(put_process_end, (struct pie_sink * sink, const struct pie_process_end_row *row), (writer, row))
DEFINE_PUT(put_counter, (struct pie_sink * sink, const char *name, uint64_t value, bool is_drop),
           (writer, name, value, is_drop))
DEFINE_PUT(put_overhead, (struct pie_sink * sink, const char *collector, uint64_t cpu_ns, double rate_hz),
           (writer, collector, cpu_ns, rate_hz))
#undef DEFINE_PUT

static bool owns(struct pie_sink *sink, const char *file) {
    struct pie_owner owner;
    return pie_ownership_find(writer_of(sink)->ownership, file, &owner) == 0 && owner.is_own;
}

static const struct pie_sink_ops writer_ops = {
    .begin_process = begin_process,
    .put_environment = put_environment,
    .owns = owns,
    .begin = begin,
    .put_location = put_location,
    .put_node = put_node,
    .put_thread = put_thread,
    .put_sample = put_sample,
    .put_wait = put_wait,
    .put_task = put_task,
    .put_related = put_related,
    .put_watch = put_watch,
    .put_allocation = put_allocation,
    .put_allocated = put_allocated,
    .put_live = put_live,
    .put_footprint = put_footprint,
    .put_heap = put_heap,
    .put_copy = put_copy,
    .put_copy_end = put_copy_end,
    .put_reading = put_reading,
    .put_retention_path = put_retention_path,
    .put_window = put_window,
    .put_traced_loop = put_traced_loop,
    .put_traced_call = put_traced_call,
    .put_process_end = put_process_end,
    .forget = forget,
    .put_counter = put_counter,
    .put_overhead = put_overhead,
    .commit = commit,
    .end_process = end_process,
    .complete_run = complete_run,
    .suspend = suspend,
    .close = close_sink,
};

int pie_writer_open(const char *path, const struct pie_config *config, struct pie_sink **ret_sink) {
    struct pie_writer *writer = pie_calloc(1, sizeof *writer);
    if (!writer)
        return -ENOMEM;
    writer->sink.ops = &writer_ops;
    writer->overhead_budget = config->overhead_budget;
    writer->max_bytes = config->max_bytes;
    writer->keep_s = (int64_t)config->keep_s;
    writer->run_name = config->run_name;
    writer->is_alone = config->is_per_process;
    writer->is_child = config->is_child && !config->is_per_process;
    writer->wait.limit_ms = PATIENT_WAIT_MS;
    writer->path = strdup(path);
    int r = writer->path ? pie_contexts_create(&writer->contexts) : -ENOMEM;
    pie_sparse_init(&writer->file_is_own, sizeof(unsigned char));
    pie_sparse_init(&writer->owners, sizeof(struct pie_writer_owner));
    if (r == 0)
        r = pie_ownership_create(config->only, config->exclude, &writer->ownership);
    if (r == 0)
        r = pie_source_text_create(&writer->source);
    if (r == 0)
        r = pie_line_curves_create(&(struct pie_line_curves_out){.put = pie_writer_put_line_point,
                                                                 .forget = pie_writer_forget_line_point,
                                                                 .data = writer},
                                   &writer->line_curves);
    if (r == 0)
        r = ensure_open(writer);
    if (r < 0) {
        close_sink(&writer->sink);
        return r;
    }
    *ret_sink = &writer->sink;
    return 0;
}
