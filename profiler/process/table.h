/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The process table: who was started by this program and by all that it has forked, and how each ended. It is anonymous
 * shared memory, which profiled children inherit and an exec does away with, so it needs no descriptor and no file, and
 * what a child killed by SIGKILL was is still known to the others. An entry is made before the child can run, with what
 * only its parent knows; a forked child adds what it comes to; whoever waits for it adds the status. What it means for
 * the file is decided by the collection thread (process/table.c).
 *
 * An entry is free once the child's end is in the file: then it is used again. */

enum {
    PIE_PROCESS_TABLE_MAX = 4096, /* at the same time; further children write their own rows all the same */
    PIE_PROCESS_ARGV_BYTES = 400,
};

enum pie_process_flags {
    PIE_PROCESS_PARENT_KNOWS = 1, /* the parent will not touch the entry any more but for waiting */
    PIE_PROCESS_DONE = 2,         /* its end is in the file, or it is none of ours any more */
    PIE_PROCESS_EXECED = 4,       /* another image of ours, which does not see this table */
    PIE_PROCESS_HAS_ROW = 8,      /* not known of one that has EXECED */
    PIE_PROCESS_MISSED = 16, /* it was not there any more at the last look, and nobody had waited for it */
};

struct pie_process_entry {
    int32_t parent_pid;
    _Atomic int32_t pid;         /* as its parent knows it; 0: not known yet */
    _Atomic int32_t own_pid;     /* as it knows itself: another one in a PID namespace of its own */
    int64_t started_ns;          /* CLOCK_REALTIME, before fork or exec: not later than its row says */
    _Atomic uint32_t flags;      /* enum pie_process_flags */
    _Atomic int32_t write_error; /* -errno with which it gave up its profile, or 0 */
    _Atomic int32_t wait_status; /* as wait(2) says it */
    _Atomic int64_t ended_ns; /* CLOCK_REALTIME; 0: nobody has waited for it. Release: wait_status is set */
    uint32_t argv_words;      /* one after the other, each with its 0 */
    char argv[PIE_PROCESS_ARGV_BYTES]; /* of what was executed; a forked child has its parent's */
};

/* Maps it. Without it children are as well profiled as they can write themselves. Context: engine start. */
void pie_process_table_init(void);

/* Only a child that is profiled has it: children inherit it between lend and keep. inherited: in such a child.
 * Context: hook, fork child. */
void pie_process_table_lend(void);
void pie_process_table_keep(void);
void pie_process_table_inherited(void);

/* A new entry for a child of `parent_pid`, or NULL: no table, or full. Lock-free. Context: any, vfork child. */
struct pie_process_entry *pie_process_claim(int32_t parent_pid);
/* Nothing was started after all. Context: any, vfork child. */
void pie_process_release(struct pie_process_entry *entry);

/* What the child is about to execute: argv, of which the first word is left out; NULL: not to be kept. An entry that is
 * not `own` gets the pid as well. Context: any, vfork child. */
void pie_process_executes(struct pie_process_entry *entry, int32_t pid, char *const *argv);

/* In the parent, after the fork. Context: hook. */
void pie_process_forked(struct pie_process_entry *entry, int32_t pid);
/* In the child: this entry is its own; NULL: it has none. Context: fork child. */
void pie_process_enter(struct pie_process_entry *entry);
/* This process's own; NULL: it is the first of its image. Context: any. */
struct pie_process_entry *pie_process_own(void);
/* Of this process's own, where there is one. Context: any. */
void pie_process_has_row(void);
void pie_process_lost(int error);
void pie_process_done(void);

/* Somebody has waited for `pid`. Context: any. */
void pie_process_ended(int32_t pid, int wait_status);

/* An entry in use, from *index on; NULL: there is none any more. Context: drain. */
struct pie_process_entry *pie_process_next(size_t *index);
/* Makes the entry the caller's alone, to be released then. False: somebody else has it. Context: drain. */
bool pie_process_take(struct pie_process_entry *entry);
