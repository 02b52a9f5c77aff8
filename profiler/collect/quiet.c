/* SPDX-License-Identifier: Apache-2.0 */

/* The kernel brings a thread's share of the process's CPU time up to date when it leaves the processor, and at its own
 * ticks meanwhile. So a thread that has just woken may be seen one tick later. */

#include "profiler/collect/quiet.h"

#include "profiler/base/clocks.h"

/* The two clocks are not read at once; a thread that wakes takes longer than this. */
static const uint64_t APART_NS = 2000;

enum { SKIPPED_MAX = 9 };

bool pie_quiet_tick(struct pie_quiet *quiet, uint64_t now_ns) {
    uint64_t own_ns = pie_thread_cpu_ns(), others_ns = pie_process_cpu_ns() - own_ns;
    bool none_ran = others_ns < quiet->others_ns + APART_NS;

    if (quiet->all_stood && none_ran && quiet->skipped < SKIPPED_MAX) {
        quiet->skipped++;
        quiet->stood_ns = now_ns;
        return true;
    }
    quiet->others_ns = others_ns;
    quiet->skipped = 0;
    return false;
}

void pie_quiet_looked(struct pie_quiet *quiet, bool all_stand) {
    quiet->all_stood = all_stand;
    quiet->stood_ns = 0;
}
