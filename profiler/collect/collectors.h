/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "profiler/ports/collector.h"

/* The collectors that there are, and those that work in this process. */

enum { PIE_COLLECTORS_MAX = 8 };

/* All, and then NULL. Context: any. */
const struct pie_collector *const *pie_collectors(void);
/* Those whose begin() did not fail, and then NULL. Context: drain. */
const struct pie_collector *const *pie_collectors_active(void);

/* Calls a member of each of these, if it has it. */
#define PIE_EACH_COLLECTOR(collectors, member, ...)                                                          \
    do                                                                                                       \
        for (const struct pie_collector *const *each_ = (collectors); *each_; each_++)                       \
            if ((*each_)->member)                                                                            \
                (*each_)->member(__VA_ARGS__);                                                               \
    while (0)

/* Gives each its part of threads' slots. Context: engine start (before the first thread begins). */
void pie_collectors_lay_out_threads(void);

/* Each takes its memory of the region. Returns 0 or -errno. Context: engine start, fork child. */
int pie_collectors_reserve(void);

/* They begin; those that do not fail are the active ones. Context: drain. */
void pie_collectors_begin(struct pie_collection *collection);

/* Fork child: none is active. */
void pie_collectors_forget(void);

/* Each writes its rows; what it has cost. Returns 0 or the sink's error. Context: drain. */
int pie_collectors_write(struct pie_sink *sink);
int pie_collectors_write_overhead(struct pie_sink *sink);

/* Room for what is remembered of a slot. False: out of memory. Context: drain. */
bool pie_collectors_make_room(size_t slot);

/* The oldest sample of time in the thread's ring; false: there is none. Context: drain. */
bool pie_collectors_next_sample(struct pie_thread *thread, struct pie_record *ret_record);

/* Has the thread done nothing since it was looked at last, and does a collector know that? Context: drain. */
bool pie_collectors_are_still(const struct pie_thread *thread, size_t slot);

/* The thread's CPU clock when it was looked at last; 0: not known. Context: drain. */
uint64_t pie_collectors_last_cpu_ns(const struct pie_thread *thread, size_t slot);

/* Has each of them written what has nodes of the old half? Context: drain. */
bool pie_collectors_are_written(void);

/* Will a row of any tell of this stored node? Context: drain. */
bool pie_collectors_hold(struct pie_node_id node);
