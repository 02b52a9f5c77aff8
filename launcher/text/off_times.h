/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdio.h>

struct pie_cursor;

/* Where a run's wall time went: that of the main thread of its first process, since the waiting of several threads adds
 * up to nothing that one could wait for. */

/* Columns of a query, from the run's v_run v: the main thread's CPU time (where not all is kept, as sampled), waiting,
 * runnable and throttled time. NULL: not known. */
#define PIE_OFF_TIMES_COLUMNS                                                                                \
    " iif((SELECT p.forgotten_s FROM process p WHERE p.id = m.process) > 0, m.cpu_s, m.clock_cpu_s),"        \
    " m.wait_s, m.runnable_s, m.throttled_s"
#define PIE_OFF_TIMES_JOIN                                                                                   \
    " LEFT JOIN v_thread m ON m.run = v.run AND m.is_main AND m.process = (SELECT min(p.id)"                 \
    " FROM process p WHERE p.run = v.run)"

/* "1.0 s waiting, 12.0 s ready to run, 2.0 s throttled"; waiting is always told, the others where they are. column:
 * of PIE_OFF_TIMES_COLUMNS, the first. */
void pie_off_times_print(FILE *out, struct pie_cursor *row, int column);
