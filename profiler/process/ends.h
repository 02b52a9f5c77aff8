/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct pie_config;
struct pie_process_facts;
struct pie_sink;

/* What became of the other processes of the run, for the file. Context: drain. */

/* Does no process have this id any more, or another one that began later? started_ns: CLOCK_REALTIME, when the process
 * in question was seen to start. False where it cannot be known. */
bool pie_process_is_gone(int32_t pid, int64_t started_ns);

/* Gives the sink the ends of processes of the table that could not write them themselves: children of this process, and
 * those whose parent is gone. Returns 0 or the sink's error. */
int pie_process_ends_write(struct pie_sink *sink, const struct pie_config *config,
                           const struct pie_process_facts *facts);
/* This process's last word. Where nobody may come after it, what is gone in the whole run is marked as well.
 * is_first: of the run; else parent_pid is who started it. Returns 0 or the sink's error. */
int pie_process_ends_last(struct pie_sink *sink, bool is_first, int32_t parent_pid, int64_t started_ns);
