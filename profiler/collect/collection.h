/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "profiler/collect/engine.h"

#include <stdbool.h>
#include <stdint.h>

/* The collection thread: one per profiled process, not a Python thread, all signals blocked but those of faulting
 * loads. It gives new threads their clock, drains rings, looks at waiting threads, and once a second names new
 * contexts and writes. */

struct pie_collection_setup {
    const struct pie_config *config;
    const struct pie_pystack_ops *ops;
    const struct pie_process_facts *facts;
    pie_sink_open_fn open_sink;
    bool is_fork;                    /* this process was forked by a profiled one */
    const _Atomic uint32_t *waiters; /* for the sink (profiler/ports/sink.h); set as it starts */
};

/* Starts it; returns once the thread that calls has its clock (or after 200 ms at most). Returns 0 or -errno.
 * Context: engine start, fork child. */
int pie_collection_start(const struct pie_collection_setup *setup);

/* Asks it to write everything and end, and waits until it is gone, at most timeout_ns. Context: hook. */
void pie_collection_stop(const char *cause, int exit_status, uint64_t timeout_ns);

/* A thread wants a clock or has ended: look now. Context: hook. */
void pie_collection_wake(void);

/* Keeps it between two steps of its work, with no file open, while the process forks. False: it could not be had in
 * time, the child must not be profiled. Context: fork. */
bool pie_collection_hold(void);
void pie_collection_release(void);
/* In the child: there is no collection thread. */
void pie_collection_forget(void);

/* See pie_engine_write_error(). Context: any. */
int pie_collection_write_error(void);
/* Context: any (0 until known). */
int64_t pie_collection_run_id(void);
/* Is the calling thread the collection thread? Context: signal. */
bool pie_collection_is_self(void);
/* Of the calling thread. Context: drain. */
void pie_collection_set_self(void);
