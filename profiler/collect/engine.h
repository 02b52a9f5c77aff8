/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pie_config;
struct pie_pystack_ops;
struct pie_process_facts;
struct pie_sink;

/* Opens the sink of one process; called on the collection thread (again in each forked child, where config->is_child is
 * true). `config` is borrowed for the call, its strings for longer. */
typedef int (*pie_sink_open_fn)(const struct pie_config *config, struct pie_sink **ret_sink);

/* Starts profiling this process: maps the region, starts the collection thread, arms the calling thread. Python
 * must not be initialised yet. `config`, `ops` and `facts` are borrowed for the life of the process. On failure
 * the program can run unprofiled. Returns 0 or -errno. Context: launcher (before Python starts). */
int pie_engine_start(const struct pie_config *config, const struct pie_pystack_ops *ops,
                     const struct pie_process_facts *facts, pie_sink_open_fn open_sink);

/* Ends profiling: stops the clocks, drains, writes, closes the file. Idempotent, callable from any thread, from
 * atexit, _exit and exec wrappers; returns without waiting in a vfork child and in a forked child that never
 * started. cause and exit_status as in pie_sink_ops.end_process. Context: hook. */
void pie_engine_finish(const char *cause, int exit_status);

/* Is this process being profiled (started, not finished, not a vfork child)? Never for a thread under a filter of the
 * program's, which is not even asked who it is. Context: any. */
bool pie_engine_is_running(void);

/* 0, or -errno of the failure (disk full, file gone) after which nothing more of this process was written.
 * Context: any. */
int pie_engine_write_error(void);

/* CPU time that the process used before its program began; a forked child: since the fork. Context: drain. */
uint64_t pie_engine_start_ns(void);
/* CPU time that the births and ends of threads took in the program's threads, and forks in the parent. They stay in the
 * program's time. Context: drain. */
uint64_t pie_engine_threads_ns(void);
uint64_t pie_engine_forks_ns(void);
/* The overhead so far is in the file; and what the process has used since then, 0 if it never was. Context: drain,
 * any. */
void pie_engine_note_overhead(void);
uint64_t pie_engine_unwritten_ns(void);

/* The run this process writes to; 0 until the collection thread has made it. Context: any. */
int64_t pie_engine_run_id(void);

/* Called by the wrappers in runtime/. Context: hook. */
void pie_engine_thread_started(
    const char *name);              /* on the new thread, before its start routine; "": no name */
void pie_engine_thread_ended(void); /* on the thread, after its start routine or by cancellation */
void pie_engine_fork_prepare(void); /* pthread_atfork */
void pie_engine_fork_parent(void);
void pie_engine_forked(int32_t pid); /* what fork() has returned in the parent */
void pie_engine_fork_child(void);
/* Around a fork that calls no fork handlers, as _Fork() and the system call. */
void pie_engine_bare_fork_prepare(void);
void pie_engine_bare_fork_done(bool is_child);
