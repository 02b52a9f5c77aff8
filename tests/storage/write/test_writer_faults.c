/* SPDX-License-Identifier: Apache-2.0 */
/* The n-th call that SQLite makes to the system fails, for every n: once, or from then on. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "profiler/ports/config.h"
#include "profiler/ports/sink.h"
#include "storage/read/reader.h"
#include "storage/write/writer.h"
#include "tests/storage/folder.h"

static struct {
    long calls, fail_at; /* fail_at 0: nothing fails */
    bool forever;
    int error;
} faults;

static bool fails(void) {
    long call = ++faults.calls;
    bool hit = faults.fail_at > 0 && (faults.forever ? call >= faults.fail_at : call == faults.fail_at);
    if (hit)
        errno = faults.error;
    return hit;
}

static ssize_t faulty_pwrite(int fd, const void *bytes, size_t size, off_t offset) {
    return fails() ? -1 : pwrite(fd, bytes, size, offset);
}

static ssize_t faulty_write(int fd, const void *bytes, size_t size) {
    return fails() ? -1 : write(fd, bytes, size);
}

static int faulty_ftruncate(int fd, off_t size) {
    return fails() ? -1 : ftruncate(fd, size);
}

static int faulty_fsync(int fd) {
    return fails() ? -1 : fsync(fd);
}

static int faulty_open(const char *path, int flags, int mode) {
    return fails() ? -1 : open(path, flags, mode);
}

static void *faulty_mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset) {
    return fails() ? MAP_FAILED : mmap(address, size, protection, flags, fd, offset);
}

static int set_up_faults(void **state) {
    static const struct {
        const char *name;
        sqlite3_syscall_ptr call;
    } calls[] = {
        {"pwrite", (sqlite3_syscall_ptr)faulty_pwrite}, {"pwrite64", (sqlite3_syscall_ptr)faulty_pwrite},
        {"write", (sqlite3_syscall_ptr)faulty_write},   {"ftruncate", (sqlite3_syscall_ptr)faulty_ftruncate},
        {"fsync", (sqlite3_syscall_ptr)faulty_fsync},   {"open", (sqlite3_syscall_ptr)faulty_open},
        {"mmap", (sqlite3_syscall_ptr)faulty_mmap},
    };
    sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        vfs->xSetSystemCall(vfs, calls[i].name, calls[i].call);
    return 0;
}

enum { COMMITS = 12, SAMPLE_NS = 1000, POINTS = 25 };

struct outcome {
    int begun, ended;     /* 0: success */
    int64_t committed_ns; /* that commits said were written */
    int64_t expected_ns;  /* that were handed over */
};

static int put_traced(struct pie_sink *sink, uint32_t id) {
    struct pie_traced_loop_row loop = {.loop = 1, .file = "/x.py", .line = 1, .iterations = id};
    struct pie_traced_call_row call = {.loop = 1, .call = 1, .callee = "f", .calls = id};
    int r = sink->ops->put_traced_loop(sink, &loop);
    return r == 0 ? sink->ops->put_traced_call(sink, &call) : r;
}

/* Totals that are replaced, increments, and curves that are simplified again and again. */
static int put_memory(struct pie_sink *sink, uint32_t id) {
    struct pie_allocation_row allocation = {.node = {1}, .samples = id};
    struct pie_copy_row copy = {.node = {1}, .samples = 1, .estimate = PIE_COPY_SAMPLED, .bytes = SAMPLE_NS};
    int r = sink->ops->put_allocation(sink, &allocation);
    r = r == 0 ? sink->ops->put_copy(sink, &copy) : r;
    r = r == 0 ? put_traced(sink, id) : r;
    for (uint32_t i = 1; i <= POINTS && r == 0; i++) {
        struct pie_footprint_row footprint = {.time_ns = id * POINTS + i, .heap_bytes = {i % 2 ? i * i : id}};
        struct pie_live_row live = {
            .node = {1}, .time_ns = id * POINTS + i, .live_bytes = i % 2 ? i * i : id};
        r = sink->ops->put_footprint(sink, &footprint);
        r = r == 0 ? sink->ops->put_live(sink, &live) : r;
    }
    return r;
}

static int put_sample(struct pie_sink *sink, uint32_t id) {
    struct pie_location location = {
        .id = {id}, .kind = PIE_LOCATION_PYTHON, .function = "f", .file = "/x.py", .line = (int32_t)id};
    struct pie_node_row node = {.id = {id}, .parent = {id - 1}, .location = {id}};
    struct pie_sample_row sample = {.thread = 1, .node = {id}, .samples = 1, .python_ns = SAMPLE_NS};
    int r = sink->ops->put_location(sink, &location);
    struct pie_watch_row watch = {
        .kind = 1, .outcome = 1, .first_node = {1}, .second_node = {1}, .watches = 1, .weight_ns = SAMPLE_NS};
    r = r == 0 ? sink->ops->put_node(sink, &node) : r;
    r = r == 0 ? sink->ops->put_watch(sink, &watch) : r;
    r = r == 0 ? put_memory(sink, id) : r;
    return r == 0 ? sink->ops->put_sample(sink, &sample) : r;
}

static struct outcome write_profile(const char *path) {
    static const struct pie_config config = {.overhead_budget = 0.05};
    struct outcome outcome = {.begun = -1, .ended = -1};
    struct pie_process_row row = {.pid = 1, .clock = "perf"};
    struct pie_sink *sink;
    int64_t run;
    if (pie_writer_open(path, &config, &sink) < 0)
        return outcome;
    outcome.begun = sink->ops->begin_process(sink, &row, &run);
    for (uint32_t id = 1; outcome.begun == 0 && id <= COMMITS; id++) {
        /* slices become wider three times */
        if (sink->ops->begin(sink, id * INT64_C(100000000000)) == 0 && put_sample(sink, id) == 0)
            outcome.expected_ns += SAMPLE_NS;
        if (sink->ops->commit(sink, id) == 0)
            outcome.committed_ns = outcome.expected_ns;
        if (id == COMMITS / 2)
            sink->ops->suspend(sink);
    }
    if (outcome.begun == 0)
        outcome.ended = sink->ops->end_process(sink, COMMITS, "exit", 0);
    sink->ops->close(sink);
    return outcome;
}

/* Of samples; -1 where watches, which were handed over with them and weigh as much, are not all there or are twice; -2
 * where that is so of copies, or where a total or the end of a curve is not that of the last sample, or a curve has too
 * many points. */
static int64_t read_sum(const char *path) {
    struct pie_reader *reader;
    struct pie_cursor *cursor;
    char *message = NULL;
    if (pie_reader_open(path, &reader, &message) < 0)
        fail_msg("after call %ld failed: %s", faults.fail_at, message);
    assert_int_equal(
        pie_cursor_open(reader,
                        "SELECT CASE WHEN total(python_ns) <> (SELECT total(weight_ns) FROM watch)"
                        " THEN -1 WHEN count(*) = 0 THEN (SELECT -2 * count(*) FROM footprint)"
                        " WHEN total(python_ns) <> (SELECT total(bytes) FROM copy)"
                        " OR max(node.id) <> (SELECT samples FROM allocation)"
                        " OR max(node.id) <> (SELECT iterations FROM learned_loop)"
                        " OR max(node.id) <> (SELECT calls FROM learned_call)"
                        " OR max(node.id) * 25 + 25 <> (SELECT max(t_ns) FROM footprint)"
                        " OR max(node.id) * 25 + 25 <> (SELECT max(t_ns) FROM line_footprint)"
                        " OR (SELECT count(*) FROM footprint) NOT BETWEEN 25 AND 100"
                        " OR (SELECT count(*) FROM line_footprint) NOT BETWEEN 25 AND 100"
                        " OR (SELECT max(native_bytes) FROM footprint) <> 25 * 25"
                        " THEN -2 ELSE total(python_ns) END FROM sample"
                        " JOIN node USING (process) WHERE node.id = sample.node",
                        &cursor, &message),
        0);
    assert_int_equal(pie_cursor_next(cursor, &message), 1);
    int64_t sum = pie_cursor_int(cursor, 0);
    pie_cursor_close(cursor);
    pie_reader_close(reader);
    return sum;
}

/* Returns whether the fault was met: n beyond the last call ends the loop. */
static bool write_with_fault(long n, bool forever, int error) {
    const char *folder = pie_folder_make(), *path = pie_folder_path(folder, "a.db");
    faults.calls = 0;
    faults.fail_at = n;
    faults.forever = forever;
    faults.error = error;
    struct outcome outcome = write_profile(path);
    bool was_met = faults.calls >= n;
    faults.fail_at = 0;
    if (outcome.begun == 0) {
        int64_t found = read_sum(path);
        assert_in_range(found, outcome.committed_ns, outcome.expected_ns);
        if (outcome.ended == 0)
            assert_int_equal(found, COMMITS * SAMPLE_NS);
    }
    faults.fail_at = n;
    pie_folder_remove(folder);
    return was_met;
}

/* Every call; one in four where AddressSanitizer makes each take four times as long. */
#ifdef __SANITIZE_ADDRESS__
enum { STEP = 4 };
#else
enum { STEP = 1 };
#endif

static void fail_every_call(bool forever, int error) {
    long n = 1;
    while (write_with_fault(n, forever, error))
        n += STEP;
    assert_true(n > 40); /* otherwise SQLite does not call what we replaced */
}

static void test_a_disk_that_is_full_for_a_moment_loses_nothing(void **state) {
    fail_every_call(false, ENOSPC);
}

static void test_a_disk_that_stays_full_keeps_what_was_committed(void **state) {
    fail_every_call(true, ENOSPC);
}

static void test_an_error_of_the_disk_keeps_what_was_committed(void **state) {
    fail_every_call(true, EIO);
}

static void test_an_interrupted_disk_error_loses_nothing(void **state) {
    fail_every_call(false, EIO);
}

/* A full disk must not make each flush slow: most commits do not try. */
static void test_a_full_disk_is_tried_less_and_less(void **state) {
    const char *folder = pie_folder_make();
    static const struct pie_config config = {.overhead_budget = 0.05};
    struct pie_process_row row = {.pid = 1, .clock = "perf"};
    struct pie_sink *sink;
    int64_t run;
    faults.fail_at = 0;
    assert_int_equal(pie_writer_open(pie_folder_path(folder, "a.db"), &config, &sink), 0);
    assert_int_equal(sink->ops->begin_process(sink, &row, &run), 0);
    faults.calls = 0;
    faults.fail_at = 1;
    faults.forever = true;
    faults.error = ENOSPC;
    for (int i = 1; i <= 1000; i++)
        assert_int_equal(sink->ops->commit(sink, i), -ENOSPC);
    assert_true(faults.calls < 200);
    faults.fail_at = 0;
    assert_int_equal(sink->ops->end_process(sink, 1000, "exit", 0), 0);
    sink->ops->close(sink);
    pie_folder_remove(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_disk_that_is_full_for_a_moment_loses_nothing),
        cmocka_unit_test(test_a_disk_that_stays_full_keeps_what_was_committed),
        cmocka_unit_test(test_an_error_of_the_disk_keeps_what_was_committed),
        cmocka_unit_test(test_an_interrupted_disk_error_loses_nothing),
        cmocka_unit_test(test_a_full_disk_is_tried_less_and_less),
    };
    return cmocka_run_group_tests_name("writer_faults", tests, set_up_faults, NULL);
}
