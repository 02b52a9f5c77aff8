/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "profiler/ports/ids.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A collector: one kind of facts about the program (time; redundant loads and stores; memory and copies; copy loops;
 * traced loops). It is one file of its room that fills one struct, and one line in
 * profiler/collect/collectors_sigsafe.c.
 *
 * All members but `name` may be NULL. Context of all: drain, which is the collection thread, unless one says otherwise.
 *
 *   configure                       the process, once; reserve as its region is made, and again in each forked child
 *   own_thread, begin               the collection thread starts; a collector that fails there gets no more calls
 *     arm … disarm                  except forked and forget
 *     round_begins
 *     stood, meet, next_sample, sample, drain, look     a thread at each tick; ended after the last one
 *     tick, spent, govern, adapt, code_changed
 *     flush_begins, prepare, thread_row, name, write, write_overhead, clear
 *     complete, move, holds, forget_nodes   the two trees take turns (collect/turn.h)
 *   stop, end                       the process ends
 *
 *   sampled, after_sample           on the sampled thread, in the handler */

struct pie_config;
struct pie_governor;
struct pie_naming;
struct pie_process_facts;
struct pie_pystack_ops;
struct pie_record;
struct pie_sample;
struct pie_sink;
struct pie_thread;
struct pie_thread_part;
struct pie_thread_row;

/* How time and accesses are sampled, and why not better: for the process's row. Texts live as long as the process. */
struct pie_methods {
    const char *clock, *clock_note, *sampler, *sampler_note;
};

/* What all collectors of a process are given; it lives as long as the collection thread. */
struct pie_collection {
    const struct pie_config *config;
    const struct pie_pystack_ops *ops;
    const struct pie_process_facts *facts;
    struct pie_naming *naming;
    const struct pie_governor *governor;
    struct pie_methods methods; /* filled by begin() */
};

/* A CCT node is replaced by the one of the current half that stands for the same. */
typedef struct pie_cct_id (*pie_moved_fn)(void *data, struct pie_cct_id node);
/* The same of a word that its thread may write meanwhile. */
typedef void (*pie_move_word_fn)(void *data, struct pie_cct_id *node);

struct pie_collector {
    const char *name;
    struct pie_thread_part *part; /* of each thread's slot */

    /* --- The process --- */

    /* Once, before its first thread. The three are borrowed for ever. Context: engine start. */
    void (*configure)(const struct pie_config *config, const struct pie_pystack_ops *ops,
                      const struct pie_process_facts *facts);
    /* Takes memory of the region, before the first thread has begun. Returns 0 or -errno: the process is not profiled.
     * Context: engine start, fork child. */
    int (*reserve)(void);
    /* Returns 0, or -errno: it does not collect here. */
    int (*begin)(struct pie_collection *collection);
    /* Nothing new begins; before the last look at all threads. */
    void (*stop)(void);
    /* After it, before the last flush. */
    void (*end)(void);
    /* Profiling is about to end. On the thread that ends it. Context: hook. */
    void (*finish)(void);
    /* In a child: the parent's threads are gone. Context: fork child. */
    void (*forked)(void);
    /* … and it will be profiled: nothing has begun. Context: fork child. */
    void (*forget)(void);

    /* The collection thread has started: what it does is the profiler's own work. */
    void (*own_thread)(void);
    /* Before each round of the collection thread, which it begins about 50 times a second. */
    void (*round_begins)(void);

    /* --- A sample of time, in its handler, on the thread that was sampled --- */

    /* It was taken; the handler's own time is measured until these have returned. Also of collectors that do not work
     * in this process. Context: signal. */
    void (*sampled)(struct pie_thread *thread, const struct pie_sample *sample);
    /* The handler's own time is charged: a collector charges what it does from now on itself. Context: signal. */
    void (*after_sample)(struct pie_thread *thread, const struct pie_sample *sample);

    /* --- Threads, by the number of their slot --- */

    /* Makes room for what is remembered of a slot. False: out of memory, the thread is looked at another time. */
    bool (*make_room)(size_t slot);
    /* A thread is given its clock. Returns 0 or -errno. */
    int (*arm)(struct pie_thread *thread);
    /* … and loses it; it may be gone. */
    void (*disarm)(struct pie_thread *thread);
    /* A thread is about to be drained: what is remembered of another one in this slot goes. */
    void (*meet)(const struct pie_thread *thread, size_t slot);
    /* Takes the oldest sample of time out of the thread's ring; false: there is none. One collector has it. */
    bool (*next_sample)(struct pie_thread *thread, struct pie_record *ret_record);
    /* One of these samples, in their order. */
    void (*sample)(const struct pie_thread *thread, size_t slot, const struct pie_record *record);
    /* Empties its rings. */
    void (*drain)(struct pie_thread *thread, size_t slot);
    /* Empties the ring of a slot without a running thread, whose counts go on. */
    void (*drain_idle)(struct pie_thread *thread);
    /* Looks were left out, since no thread had run: it stood where it was until then (CLOCK_MONOTONIC). Before it is
     * drained. */
    void (*stood)(struct pie_thread *thread, size_t slot, uint64_t until_ns);
    /* It runs, and was drained at a tick. */
    void (*look)(struct pie_thread *thread, size_t slot);
    /* It has ended, and was drained for the last time. */
    void (*ended)(struct pie_thread *thread, size_t slot);
    /* Has the thread done nothing since it was looked at last? Those that have the member must agree; a thread that
     * stands still is looked at less often. */
    bool (*is_still)(const struct pie_thread *thread, size_t slot);
    /* The thread's CPU clock when it was looked at last, by a tick or a sample. One collector has it. */
    uint64_t (*last_cpu_ns)(const struct pie_thread *thread, size_t slot);
    /* Ten times a second, before adapt: adds what it has cost so far, by enum pie_cost (govern/governor.h). */
    void (*spent)(uint64_t *spent_ns);
    /* After that: takes its share of the budget. */
    void (*govern)(const struct pie_governor *governor);
    /* Ten times a second, while it runs: periods that must not fall into step with the program. */
    void (*adapt)(struct pie_thread *thread, size_t slot);

    /* --- From time to time --- */

    /* After all threads of a tick. */
    void (*tick)(void);
    /* Libraries were unloaded or changed. */
    void (*code_changed)(void);

    /* --- A flush --- */

    /* Before all else: what was noted of threads that live is void. */
    void (*flush_begins)(void);
    /* What a thread has cost is noted, and its totals are put into its row. */
    void (*thread_row)(const struct pie_thread *thread, size_t slot, bool has_ended,
                       struct pie_thread_row *row);
    /* Makes ready what is to be asked and written; is_last: of the process. */
    void (*prepare)(bool is_last);
    /* Names what it will write, so that the transaction stays short. */
    void (*name_nodes)(void);
    /* Inside of the transaction. Both return 0 or the sink's error. */
    int (*write)(struct pie_sink *sink);
    int (*write_overhead)(struct pie_sink *sink);
    /* What was prepared is written, or never will be. */
    void (*clear)(void);

    /* --- A turn of the trees --- */

    /* What was put into rings with nodes of the old half is to be written by the next flush. */
    void (*complete)(void);
    /* A thread's part remembers nodes. Of all slots, also where the collector does not work. */
    void (*move_thread)(struct pie_thread *thread, pie_move_word_fn move, void *data);
    /* The collection thread does. */
    void (*move)(pie_moved_fn moved, void *data);
    /* Has everything with nodes of the old half been written, or given up? */
    bool (*is_written)(void);
    /* Will a row tell of this node? */
    bool (*holds)(struct pie_node_id node);
    /* Forgets what naming has forgotten. */
    void (*forget_nodes)(void);
};
