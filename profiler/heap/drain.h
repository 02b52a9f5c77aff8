/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "profiler/ports/ids.h"
#include "profiler/ports/pystack.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The memory collector's part of the collection thread: events of all threads in the order of time, live memory by
 * context, the footprint's curve, copies, leak scores, and who holds what leaks. Context: drain. */

struct pie_heap_drain;
struct pie_memory_facts;
struct pie_naming;
struct pie_sink;
struct pie_thread;

/* facts (engine.h): borrowed. Returns 0 or -ENOMEM. */
int pie_heap_drain_create(const struct pie_pystack_ops *ops, const struct pie_memory_facts *facts,
                          struct pie_naming *naming, struct pie_heap_drain **ret_drain);
void pie_heap_drain_destroy(struct pie_heap_drain *drain);

/* Takes what a living thread has noted. */
void pie_heap_drain_thread(struct pie_heap_drain *drain, struct pie_thread *thread);
/* The same of a slot, whoever has or had it. */
void pie_heap_drain_slot(struct pie_heap_drain *drain, struct pie_thread *thread);
/* After the threads: puts in order what was taken, looks at the process. */
void pie_heap_drain_tick(struct pie_heap_drain *drain);

/* Before a transaction: what is to be asked and written is made ready; is_last: of the process. */
void pie_heap_drain_prepare(struct pie_heap_drain *drain, bool is_last);
/* Inside of one. Returns 0 or the sink's error. */
int pie_heap_drain_write(struct pie_heap_drain *drain, struct pie_sink *sink);
/* What was prepared is written, or never will be. */
void pie_heap_drain_clear(struct pie_heap_drain *drain);

/* All contexts are brought up to date by the next prepare, not only those that have changed. */
void pie_heap_drain_complete(struct pie_heap_drain *drain);
/* Does this node have memory that is alive or was at the peak? */
bool pie_heap_drain_holds(const struct pie_heap_drain *drain, struct pie_node_id node);
/* Forgets contexts of which nothing is held and that naming has forgotten. */
void pie_heap_drain_forget(struct pie_heap_drain *drain);

/* CPU time that counting took in the program's threads so far beside what is spent on samples: the estimated number of
 * blocks at the price of one. Unlike that of samples, it is part of the lines' time. */
uint64_t pie_heap_drain_counting_ns(const struct pie_heap_drain *drain);

/* Slices of time in which Python's small blocks are counted shall be this part of all, from now on (pauses.h). */
void pie_heap_drain_count_share(struct pie_heap_drain *drain, double share);

/* CPU time that memory and copies took in the program's threads so far. */
void pie_heap_drain_spent(const struct pie_heap_drain *drain, uint64_t *ret_memory_ns,
                          uint64_t *ret_copies_ns);
