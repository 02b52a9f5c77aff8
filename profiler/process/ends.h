/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct pie_config;
struct pie_process_facts;
struct pie_sink;

/* Writes the ends of the other processes of the run to the file. Context: drain. */

/* Is the process with this id gone, so that no process has the id, or one that began later? started_ns: CLOCK_REALTIME,
 * the start of the process in question. False if that cannot be determined. */
bool pie_process_is_gone(int32_t pid, int64_t started_ns);

/* Gives the sink the ends of processes of the table that could not write them themselves: children of this process, and
 * those whose parent is gone. Returns 0 or the sink's error. */
int pie_process_ends_write(struct pie_sink *sink, const struct pie_config *config,
                           const struct pie_process_facts *facts);
/* Writes the end of this process. If it may be the last one, it also marks the other processes of the run that are
 * gone. is_first: it is the first of the run; else parent_pid is the process that started it. Returns 0 or the sink's
 * error. */
int pie_process_ends_last(struct pie_sink *sink, bool is_first, int32_t parent_pid, int64_t started_ns);
