/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/collect/govern.h"

#include "profiler/base/clocks.h"
#include "profiler/collect/collectors.h"
#include "profiler/collect/engine.h"
#include "profiler/govern/governor.h"

static uint64_t sum(const uint64_t ns[PIE_COSTS]) {
    uint64_t all = 0;

    for (int i = 0; i < PIE_COSTS; i++)
        all += ns[i];
    return all;
}

/* All that was spent is part of the process's CPU time, the collection thread's and the start's too. */
void pie_govern(struct pie_governor *governor) {
    uint64_t spent_ns[PIE_COSTS] = {[PIE_COST_OTHER] = pie_thread_cpu_ns() + pie_engine_start_ns()};

    if (governor->budget <= 0)
        return;
    PIE_EACH_COLLECTOR(pie_collectors_active(), spent, spent_ns);
    uint64_t cpu_ns = pie_process_cpu_ns(), all_ns = sum(spent_ns);
    pie_governor_look(governor, cpu_ns > all_ns ? cpu_ns - all_ns : 0, spent_ns);
    PIE_EACH_COLLECTOR(pie_collectors_active(), govern, governor);
}
