/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "profiler/collect/collection.h"

#include <stdbool.h>
#include <stdint.h>

/* The collection thread's flush: it names new contexts, then gives everything to the sink in one short transaction.
 * If the sink cannot begin (another process writes), the flush is tried again a second later and nothing is lost. If
 * it fails in the middle (disk full), it is given up and counted, and the program continues. Context: drain. */

struct pie_flush;
struct pie_methods;
struct pie_naming;
struct pie_thread;

int pie_flush_create(const struct pie_collection_setup *setup, struct pie_flush **ret_flush);
/* Facts that are known now; opens nothing. */
void pie_flush_begin(struct pie_flush *flush, const struct pie_methods *methods);
struct pie_naming *pie_flush_naming(struct pie_flush *flush);
/* Opens the sink and writes the process's row; done by the first write if not before. */
void pie_flush_open(struct pie_flush *flush);
bool pie_flush_is_open(const struct pie_flush *flush);
/* Nothing has been written or tried yet. */
bool pie_flush_is_untouched(const struct pie_flush *flush);
void pie_flush_suspend(struct pie_flush *flush);
/* Of the process, by CLOCK_REALTIME; less than 0 if that was set back. Slices of the sink begin at whole seconds of
 * it. */
int64_t pie_flush_age_ns(const struct pie_flush *flush);

/* Notes the state of a living thread, or the last state of one that has ended, for the next write. */
void pie_flush_thread(struct pie_flush *flush, struct pie_thread *thread, size_t slot);
void pie_flush_thread_ended(struct pie_flush *flush, struct pie_thread *thread, size_t slot);

/* Writes the collectors' data, then clears it; they keep it if the sink could not begin. */
void pie_flush_write(struct pie_flush *flush);
/* Has all that was named been written, or given up? */
bool pie_flush_is_written(const struct pie_flush *flush);
/* Would the sink make room if it knew what it may forget? */
bool pie_flush_wants_to_forget(const struct pie_flush *flush);
/* Lets the sink forget the names that naming has forgotten. */
void pie_flush_forget(struct pie_flush *flush);
/* The last word; closes the sink. */
void pie_flush_end(struct pie_flush *flush, const char *cause, int exit_status);

/* -errno of the failure that made it give up the sink, or 0. Context: any. */
int pie_flush_error(const struct pie_flush *flush);
/* Context: any. */
int64_t pie_flush_run_id(const struct pie_flush *flush);
