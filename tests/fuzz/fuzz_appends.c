/* SPDX-License-Identifier: Apache-2.0 */

/* A run is appended to a file from anywhere. The input is the file, or else SQL that makes a hostile one out of a sound
 * profile. A file that is refused stays as it was, byte for byte; a sound one to which a run was appended is sound, and
 * the run is in it. */

#include "profiler/ports/config.h"
#include "profiler/ports/sink.h"
#include "storage/read/reader.h"
#include "storage/write/writer.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char MAGIC[] = "SQLite format 3";
enum { FILE_BYTES_MAX = 1 << 20, PROGRESS_STEPS = 50000 };

static const struct pie_config config = {.overhead_budget = 0.05};
static char folder[] = "/tmp/fuzz-XXXXXX", path[64];
static uint8_t sound[FILE_BYTES_MAX];
static size_t sound_size;

static void require(bool is_so) {
    if (!is_so)
        abort();
}

static void write_file(const uint8_t *data, size_t size) {
    FILE *file = fopen(path, "wb");

    require(file && fwrite(data, 1, size, file) == size && fclose(file) == 0);
}

static size_t read_file(uint8_t *ret_bytes) {
    FILE *file = fopen(path, "rb");
    require(file);
    size_t size = fread(ret_bytes, 1, FILE_BYTES_MAX, file);

    fclose(file);
    return size;
}

static void remove_beside(void) {
    static const char *const ends[] = {"-wal", "-shm", "-journal"};
    char name[sizeof path + 16];

    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        snprintf(name, sizeof name, "%s%s", path, ends[i]);
        unlink(name);
    }
}

/* One thread in one function, and memory: a row for the tables that most runs have. */
static int put_rows(struct pie_sink *sink) {
    struct pie_location location = {
        .id = {1}, .kind = PIE_LOCATION_PYTHON, .function = "f", .file = "/x.py", .line = 1};
    struct pie_node_row node = {.id = {1}, .location = {1}};
    struct pie_thread_row thread = {.id = 1, .name = "t"};
    struct pie_sample_row sample = {.thread = 1, .node = {1}, .samples = 1, .python_ns = 1000};
    struct pie_allocation_row allocation = {.node = {1}, .samples = 1, .allocated_bytes = {1, 1}};
    struct pie_heap_row heap = {.peak_ns = 1, .allocator = "glibc"};
    int r = sink->ops->begin(sink, 0);

    r = r == 0 ? sink->ops->put_location(sink, &location) : r;
    r = r == 0 ? sink->ops->put_node(sink, &node) : r;
    r = r == 0 ? sink->ops->put_thread(sink, &thread) : r;
    r = r == 0 ? sink->ops->put_sample(sink, &sample) : r;
    r = r == 0 ? sink->ops->put_allocation(sink, &allocation) : r;
    r = r == 0 ? sink->ops->put_heap(sink, &heap) : r;
    r = r == 0 ? sink->ops->put_counter(sink, "samples", 1, false) : r;
    return r == 0 ? sink->ops->commit(sink, 1) : r;
}

static bool is_gone(int32_t pid, int64_t started_ns) {
    return true;
}

/* Returns 0 where each call has succeeded. */
static int append(struct pie_sink *sink, int64_t *ret_run) {
    struct pie_process_row process = {.pid = 7, .started_ns = 1, .clock = "timer"};
    int r = sink->ops->begin_process(sink, &process, ret_run);

    r = r == 0 ? sink->ops->put_environment(sink, "cpu", "none") : r;
    r = r == 0 ? put_rows(sink) : r;
    int end = sink->ops->end_process(sink, 2, "exit", 0);
    r = r == 0 ? end : r;
    end = sink->ops->complete_run(sink, is_gone);
    return r == 0 ? end : r;
}

static sqlite3 *open_file(void) {
    sqlite3 *db;

    require(sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK);
    return db;
}

/* Does the statement give this text? */
static bool answers(const char *sql, const char *text) {
    sqlite3_stmt *statement = NULL;
    sqlite3 *db = open_file();
    bool r = sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK &&
             sqlite3_step(statement) == SQLITE_ROW && sqlite3_column_text(statement, 0) &&
             strcmp((const char *)sqlite3_column_text(statement, 0), text) == 0;

    sqlite3_finalize(statement);
    sqlite3_close(db);
    return r;
}

static void check_appended(int64_t run) {
    char sql[128];

    require(answers("PRAGMA integrity_check(1)", "ok"));
    snprintf(sql, sizeof sql, "SELECT cause FROM process WHERE run = %lld AND pid = 7", (long long)run);
    require(answers(sql, "exit"));
}

static int on_progress(void *steps) {
    return ++*(int *)steps > PROGRESS_STEPS;
}

static int authorize(void *data, int action, const char *first, const char *second, const char *database,
                     const char *trigger) {
    return action == SQLITE_ATTACH || action == SQLITE_DETACH ? SQLITE_DENY : SQLITE_OK;
}

static void make_hostile(const uint8_t *data, size_t size) {
    char *sql = strndup((const char *)data, size);
    int steps = 0;

    write_file(sound, sound_size);
    sqlite3 *db = open_file();
    sqlite3_progress_handler(db, 100, on_progress, &steps);
    sqlite3_set_authorizer(db, authorize, NULL);
    sqlite3_limit(db, SQLITE_LIMIT_LENGTH, FILE_BYTES_MAX / 4);
    sqlite3_exec(db, sql, NULL, NULL, NULL);
    sqlite3_close(db);
    free(sql);
}

/* One row of a profile that a sound file begins with. */
static void make_sound(void) {
    struct pie_sink *sink;
    int64_t run;

    require(pie_writer_open(path, &config, &sink) == 0);
    require(append(sink, &run) == 0);
    sink->ops->close(sink);
    sound_size = read_file(sound);
    require(sound_size > 0 && sound_size < FILE_BYTES_MAX);
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    require(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/x.db", folder);
    make_sound();
    return 0;
}

static void append_to_file(bool was_sound) {
    static uint8_t before[FILE_BYTES_MAX], after[FILE_BYTES_MAX];
    size_t size = read_file(before);
    char *message = NULL;
    struct pie_sink *sink;
    int64_t run = 0;

    (void)pie_writer_check(path, &message);
    free(message);
    if (pie_writer_open(path, &config, &sink) < 0) {
        require(read_file(after) == size && memcmp(before, after, size) == 0);
        return;
    }
    int r = append(sink, &run);
    sink->ops->close(sink);
    if (r == 0 && was_sound)
        check_appended(run);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size > FILE_BYTES_MAX / 2)
        return 0;
    if (size >= sizeof MAGIC && memcmp(data, MAGIC, sizeof MAGIC) == 0)
        write_file(data, size);
    else
        make_hostile(data, size);
    remove_beside();
    append_to_file(answers("PRAGMA integrity_check(1)", "ok"));
    remove_beside();
    return 0;
}
