/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "profiler/sink.h"
#include "storage/db.h"
#include "storage/idmap.h"
#include "storage/rowlog.h"
#include "storage/statements.h"

enum pie_writer_module_flags {
    PIE_WRITER_MODULE_LIBRARY = 1, /* native code of a distribution */
    PIE_WRITER_MODULE_HOME = 2,    /* of the interpreter's home */
};

/* The writer's parts. writer.c: the file, transactions, failures; writer_rows.c: from the engine's records to rows.
 * Context: drain. */
struct pie_writer {
    struct pie_sink sink; /* first: the engine's pointer is also ours */
    char *path;
    double overhead_budget;

    struct sqlite3 *db; /* NULL: suspended, or never opened */
    struct pie_db_wait wait;
    struct pie_statements statements;
    dev_t device; /* of the file, once it has been opened */
    ino_t inode;

    struct pie_rowlog rows; /* not committed yet */
    int dead;               /* -errno: this file takes nothing more */
    int last_error;         /* -errno of the last commit */
    unsigned failures;      /* commits failed in a row */
    unsigned skip;          /* commits to let pass before the next attempt */

    int64_t run, process; /* rows' ids, 0: no process begun */
    struct pie_contexts *contexts;
    struct pie_ownership *ownership;
    struct pie_source_text *source;
    const char *source_path;                    /* of the source line that was put last; identity only */
    struct pie_idmap files, modules, functions; /* to the ids in the file */
    uint32_t file_count, module_count, function_count;
    unsigned char *file_is_own;  /* by file id */
    unsigned char *module_flags; /* by module id: pie_writer_module_flags */
};

int pie_writer_put_environment(struct pie_writer *writer, const char *key, const char *value);
int pie_writer_put_location(struct pie_writer *writer, const struct pie_location *location);
int pie_writer_put_node(struct pie_writer *writer, const struct pie_node_row *node);
int pie_writer_put_thread(struct pie_writer *writer, const struct pie_thread_row *thread);
int pie_writer_put_sample(struct pie_writer *writer, const struct pie_sample_row *sample);
int pie_writer_put_watch(struct pie_writer *writer, const struct pie_watch_row *watch);
int pie_writer_put_counter(struct pie_writer *writer, const char *name, uint64_t value, bool is_drop);
int pie_writer_put_overhead(struct pie_writer *writer, const char *collector, uint64_t cpu_ns,
                            double rate_hz);
/* Reads the source lines that are wanted into rows. Returns 0 or -errno. */
int pie_writer_put_source(struct pie_writer *writer);
