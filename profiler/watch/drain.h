/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "profiler/ports/collector.h"
#include "profiler/ports/ids.h"
#include "profiler/ports/sink.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The results of watches, on the collection thread: decodes the blocks that handlers asked for, analyses traps, credits
 * each watch with the CPU time it stands for, and adds up rows for the file. Context: drain. */

struct pie_naming;
struct pie_pystack_ops;
struct pie_thread;
struct pie_watch_drain;

/* naming and ops are borrowed. fp_tolerance as in struct pie_config. Returns 0 or -ENOMEM. */
int pie_watch_drain_create(const struct pie_pystack_ops *ops, struct pie_naming *naming, double fp_tolerance,
                           struct pie_watch_drain **ret_drain);
/* Libraries were unloaded or changed: earlier traps in their code cannot be looked at any more. */
void pie_watch_drain_forget_code(struct pie_watch_drain *drain);
void pie_watch_drain_destroy(struct pie_watch_drain *drain);

/* A sample of time of this weight fell into a context. Before the thread's own records of the same tick. */
void pie_watch_drain_sample(struct pie_watch_drain *drain, struct pie_cct_id cct_node, uint64_t cpu_ns);
/* Machine code that samples met is decoded for this CPU time in all; what is left waits. At first there is no limit. */
void pie_watch_drain_learn_within(struct pie_watch_drain *drain, uint64_t most_ns);
/* Empties a thread's rings. slot: of the thread in the region. */
void pie_watch_drain_thread(struct pie_watch_drain *drain, struct pie_thread *thread, size_t slot);
/* The thread has ended, or the profile ends: words that are still watched were not touched again. */
void pie_watch_drain_thread_ended(struct pie_watch_drain *drain, size_t slot);

/* Replaces each CCT node that is remembered by moved(node). */
void pie_watch_drain_move(struct pie_watch_drain *drain, pie_moved_fn moved, void *data);
/* Will a row name this node? */
bool pie_watch_drain_holds(const struct pie_watch_drain *drain, struct pie_node_id node);
/* Forgets the nodes that naming has forgotten. */
void pie_watch_drain_forget(struct pie_watch_drain *drain);

/* Rows since the last clear; nodes are stored ones (naming.h). */
const struct pie_watch_row *pie_watch_drain_rows(const struct pie_watch_drain *drain, size_t *ret_count);
void pie_watch_drain_clear(struct pie_watch_drain *drain);
