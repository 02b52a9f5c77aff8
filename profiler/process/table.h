/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The process table: the processes that this program and its forked children started, and how each ended. It is
 * anonymous shared memory, so it needs no descriptor and no file. Profiled children inherit it, and an exec drops it.
 * The entry of a child killed by SIGKILL remains visible to the others. The parent makes an entry before the child can
 * run, with the facts that only the parent knows. A forked child adds its own facts, and the waiting process adds the
 * status. The collection thread decides what goes into the file (process/table.c).
 *
 * An entry is free, and used again, once the child's end is in the file. */

enum {
    PIE_PROCESS_TABLE_MAX = 4096, /* at the same time; further children still write their own rows */
    PIE_PROCESS_ARGV_BYTES = 400,
};

enum pie_process_flags {
    PIE_PROCESS_PARENT_KNOWS = 1, /* the parent only touches the entry to record the status */
    PIE_PROCESS_DONE = 2,         /* its end is in the file, or it is no longer ours */
    PIE_PROCESS_EXECED = 4,       /* it executed another profiled image, which does not see this table */
    PIE_PROCESS_HAS_ROW = 8,      /* unknown for one that has EXECED */
    PIE_PROCESS_MISSED = 16,      /* gone at the last look, and no process had waited for it */
};

struct pie_process_entry {
    int32_t parent_pid;
    _Atomic int32_t pid;         /* in its parent's namespace; 0: not known yet */
    _Atomic int32_t own_pid;     /* in its own PID namespace */
    int64_t started_ns;          /* CLOCK_REALTIME, before fork or exec: not later than its row says */
    _Atomic uint32_t flags;      /* enum pie_process_flags */
    _Atomic int32_t write_error; /* -errno that ended its profile, or 0 */
    _Atomic int32_t wait_status; /* as wait(2) returns it */
    _Atomic int64_t
        ended_ns;        /* CLOCK_REALTIME; 0: no process has waited for it. Release: wait_status is set */
    uint32_t argv_words; /* one after the other, each with its 0 */
    char argv[PIE_PROCESS_ARGV_BYTES]; /* of what was executed; a forked child has its parent's */
};

/* Maps the table. If that fails, children are profiled only as far as they write their own rows. Context: engine
 * start. */
void pie_process_table_init(void);

/* Only a profiled child gets the table: children inherit it between lend and keep. inherited: called in such a child.
 * Context: hook, fork child. */
void pie_process_table_lend(void);
void pie_process_table_keep(void);
void pie_process_table_inherited(void);

/* Returns a new entry for a child of `parent_pid`, or NULL: there is no table, or it is full. Lock-free. Context: any,
 * vfork child. */
struct pie_process_entry *pie_process_claim(int32_t parent_pid);
/* Frees an entry whose child was not started. Context: any, vfork child. */
void pie_process_release(struct pie_process_entry *entry);

/* Records the command that the child is about to execute: argv without its first word; NULL: do not store it. An entry
 * that is not `own` gets the pid as well. Context: any, vfork child. */
void pie_process_executes(struct pie_process_entry *entry, int32_t pid, char *const *argv);

/* In the parent, after the fork. Context: hook. */
void pie_process_forked(struct pie_process_entry *entry, int32_t pid);
/* In the child: takes this entry as its own; NULL: it has none. Context: fork child. */
void pie_process_enter(struct pie_process_entry *entry);
/* Returns this process's own entry; NULL: it is the first of its image. Context: any. */
struct pie_process_entry *pie_process_own(void);
/* Update this process's own entry, if there is one. Context: any. */
void pie_process_has_row(void);
void pie_process_lost(int error);
void pie_process_done(void);

/* Records the status of `pid`, which a process has waited for. Context: any. */
void pie_process_ended(int32_t pid, int wait_status);

/* Returns the next entry in use from *index on, or NULL. Context: drain. */
struct pie_process_entry *pie_process_next(size_t *index);
/* Gives the entry to the caller alone, who releases it. False: another process has it. Context: drain. */
bool pie_process_take(struct pie_process_entry *entry);
