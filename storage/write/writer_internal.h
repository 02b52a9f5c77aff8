/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "profiler/base/u64map.h"
#include "profiler/ports/sink.h"
#include "storage/base/idmap.h"
#include "storage/base/sparse.h"
#include "storage/file/db.h"
#include "storage/file/guard.h"
#include "storage/write/contexts.h"
#include "storage/write/curve.h"
#include "storage/write/line_curves.h"
#include "storage/write/rowlog.h"
#include "storage/write/slices.h"
#include "storage/write/statements.h"

enum pie_writer_module_flags {
    PIE_WRITER_MODULE_LIBRARY = 1, /* native code of a distribution */
    PIE_WRITER_MODULE_HOME = 2,    /* of the interpreter's home */
};

enum { PIE_WRITER_SPENDERS = 16 };

/* The writer's parts. writer.c: the file, transactions, failures; writer_rows.c: from the engine's records to rows;
 * writer_memory.c: those about memory; writer_traced.c: those about loops. Context: drain. */
struct pie_writer {
    struct pie_sink sink; /* first: the engine's pointer is also ours */
    char *path;
    double overhead_budget;
    bool is_alone;        /* no other process writes this file */
    const char *run_name; /* of the configuration; NULL: a run of its own, or the parent's in the same file */
    bool is_child;        /* of a process that has made the run in this file */

    struct sqlite3 *db; /* NULL: suspended, or never opened */
    struct pie_db_wait wait;
    struct pie_guard guard;
    int64_t schema_version; /* that was last found to be ours */
    struct pie_statements statements;
    dev_t device; /* of the file, once it has been opened */
    ino_t inode;

    struct pie_rowlog rows; /* not committed yet */
    int dead;               /* -errno: this file takes nothing more */
    int last_error;         /* -errno of the last commit */
    unsigned failures;      /* commits failed in a row */
    unsigned skip;          /* commits to let pass before the next attempt */

    int64_t run, process; /* rows' ids, 0: no process begun */
    struct pie_slices slices;
    struct pie_u64map first_causes; /* of a thread (the upper half of the key) in a node to wait, plus one */
    uint64_t max_bytes;             /* of the file; 0: no limit */
    double folded_bytes;            /* that were in use when it was folded last */
    int64_t keep_s;                 /* slices that are older are forgotten; 0: none */
    int64_t forgotten_s;            /* those before are */
    int64_t packed_s;               /* rows of slices before are packed */
    struct pie_contexts *contexts;
    struct pie_ownership *ownership;
    struct pie_source_text *source;
    uint32_t source_of_traced;                  /* greatest id of a loop whose line was asked for */
    const char *source_path;                    /* of the source line that was put last; identity only */
    struct pie_idmap files, modules, functions; /* to the ids in the file */
    uint32_t file_count, module_count, function_count;
    struct pie_sparse file_is_own; /* unsigned char, by file id */
    unsigned char *module_flags;   /* by module id: pie_writer_module_flags */
    struct pie_sparse owners;      /* struct pie_writer_owner, by location id */
    struct pie_idmap lines;        /* (file, line) to the first location there */

    struct {
        const char *collector; /* lives as long as the process; NULL: free */
        uint64_t cpu_ns;       /* that it had cost at the last telling */
    } spent[PIE_WRITER_SPENDERS];

    struct pie_curve footprint;          /* of the process */
    struct pie_line_curves *line_curves; /* by the first location of each line */
};

/* Whose a location's code is (writer_generated.c). */
struct pie_writer_owner {
    uint32_t file; /* of a Python location, else 0 */
    struct pie_function_id function;
    const char *library; /* NULL: nobody's that is known */
    bool is_nameless;    /* generated, and not known by whom */
};

/* As pie_sink_ops.forget. */
void pie_writer_forget(struct pie_writer *writer, const struct pie_in_use *in_use);
/* Is there little room left in the file, which is open? */
bool pie_writer_is_nearly_full(struct pie_writer *writer);
/* Makes room, inside a write transaction. Returns 0 or -errno. */
int pie_writer_fold(struct pie_writer *writer, const struct pie_in_use *in_use);
/* What is put from now on was measured around this time (CLOCK_REALTIME). Returns 0 or -errno. */
int pie_writer_move_on(struct pie_writer *writer, int64_t at_ns);
int pie_writer_put_environment(struct pie_writer *writer, const char *key, const char *value);
int pie_writer_put_location(struct pie_writer *writer, const struct pie_location *location);
int pie_writer_put_node(struct pie_writer *writer, const struct pie_node_row *node);
/* Notes whose code a location is, and finds out whose generated code is by what calls it and what it calls. library: of
 * its file or module, or NULL. Return 0 or -errno. */
int pie_writer_note_owner(struct pie_writer *writer, const struct pie_location *location, uint32_t file,
                          struct pie_function_id function, const char *library, bool is_own);
int pie_writer_name_generated(struct pie_writer *writer, const struct pie_node_row *node);
int pie_writer_put_thread(struct pie_writer *writer, const struct pie_thread_row *thread);
int pie_writer_put_sample(struct pie_writer *writer, const struct pie_sample_row *sample);
int pie_writer_put_wait(struct pie_writer *writer, const struct pie_wait_row *wait);
int pie_writer_put_task(struct pie_writer *writer, const struct pie_task_row *task);
int pie_writer_put_related(struct pie_writer *writer, const struct pie_related_row *related);
int pie_writer_put_watch(struct pie_writer *writer, const struct pie_watch_row *watch);
int pie_writer_put_counter(struct pie_writer *writer, const char *name, uint64_t value, bool is_drop);
int pie_writer_put_process_end(struct pie_writer *writer, const struct pie_process_end_row *row);
/* As pie_sink_ops.complete_run, but for the commit. The file is open. */
int pie_writer_complete_run(struct pie_writer *writer, pie_is_gone_fn is_gone);
/* A JSON array, to be freed with pie_free(); NULL where argv is. */
char *pie_writer_json_of_argv(const char *const *argv);
int pie_writer_put_overhead(struct pie_writer *writer, const char *collector, uint64_t cpu_ns,
                            double rate_hz);
int pie_writer_put_allocation(struct pie_writer *writer, const struct pie_allocation_row *row);
int pie_writer_put_allocated(struct pie_writer *writer, const struct pie_allocated_row *row);
int pie_writer_put_live(struct pie_writer *writer, const struct pie_live_row *row);
int pie_writer_put_footprint(struct pie_writer *writer, const struct pie_footprint_row *row);
int pie_writer_put_heap(struct pie_writer *writer, const struct pie_heap_row *row);
int pie_writer_put_copy(struct pie_writer *writer, const struct pie_copy_row *row);
int pie_writer_put_reading(struct pie_writer *writer, const struct pie_reading_row *row);
int pie_writer_put_copy_end(struct pie_writer *writer, const struct pie_copy_end_row *row);
int pie_writer_put_retention_path(struct pie_writer *writer, struct pie_node_id node, uint32_t size,
                                  const char *text);
int pie_writer_put_window(struct pie_writer *writer, const struct pie_window_row *row);
int pie_writer_put_traced_loop(struct pie_writer *writer, const struct pie_traced_loop_row *row);
int pie_writer_put_traced_call(struct pie_writer *writer, const struct pie_traced_call_row *row);
/* Asks for the text around a line of a file that may be known only by this. Returns 0 or -errno. */
int pie_writer_want_source(struct pie_writer *writer, const char *path, int32_t line);
/* Turns the new points of all curves into rows. Returns 0 or -errno. */
int pie_writer_put_curves(struct pie_writer *writer);
/* For line_curves: `data` is the writer. */
int pie_writer_put_line_point(void *data, struct pie_location_id location, int64_t time_ns,
                              uint64_t live_bytes);
int pie_writer_forget_line_point(void *data, struct pie_location_id location, int64_t time_ns);
/* Reads the source lines that are wanted into rows. Returns 0 or -errno. */
int pie_writer_put_source(struct pie_writer *writer);
