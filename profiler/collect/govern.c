/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/collect/govern.h"

#include "profiler/base/clocks.h"
#include "profiler/collect/collectors.h"
#include "profiler/collect/engine.h"
#include "profiler/collect/own_cost.h"
#include "profiler/govern/governor.h"
#include "profiler/govern/pace.h"
#include "profiler/ports/config.h"
#include "profiler/ports/sink.h"

#include <stdio.h>

static uint64_t sum(const uint64_t ns[PIE_COSTS]) {
    uint64_t all = 0;

    for (int i = 0; i < PIE_COSTS; i++)
        all += ns[i];
    return all;
}

static void set_pace(const struct pie_governor *governor, struct pie_pace *pace, uint64_t ticks) {
    const struct pie_pace_look look = {
        .ticks = ticks,
        .ticks_cost_ns = pie_own_cost_ns(PIE_OWN_TICKS),
        .ticks_allowed = governor->allowed[PIE_COST_TICKS] * pie_governor_running(governor),
        .arming = governor->spending[PIE_COST_ARMING],
        .arming_allowed = governor->allowed[PIE_COST_ARMING],
    };

    pie_pace_look(pace, &look);
}

int pie_govern_put(struct pie_sink *sink, const struct pie_config *config) {
    uint64_t free_ns = pie_governor_free_ns(config->overhead_budget, config->is_budget_asked);
    char text[32];

    if (config->overhead_budget <= 0)
        return 0;
    snprintf(text, sizeof text, "%.3g", (double)free_ns / 1e9);
    return sink->ops->put_environment(sink, "overhead_free_cpu_s", text);
}

void pie_govern_begin(const struct pie_governor *governor) {
    if (governor->is_asked && governor->budget > 0)
        PIE_EACH_COLLECTOR(pie_collectors_active(), govern, governor);
}

/* All that was spent is part of the process's CPU time, the collection thread's and the start's too. */
void pie_govern(struct pie_governor *governor, struct pie_pace *pace, uint64_t ticks) {
    uint64_t spent_ns[PIE_COSTS] = {
        [PIE_COST_TICKS] = pie_own_cost_ns(PIE_OWN_TICKS),
        [PIE_COST_ARMING] = pie_own_cost_ns(PIE_OWN_ARMING) + pie_engine_threads_ns(),
        [PIE_COST_OTHER] = pie_own_cost_ns(PIE_OWN_WRITING) + pie_engine_forks_ns(),
        [PIE_COST_START] = pie_own_cost_ns(PIE_OWN_START) + pie_engine_start_ns(),
    };

    if (governor->budget <= 0)
        return;
    PIE_EACH_COLLECTOR(pie_collectors_active(), spent, spent_ns);
    uint64_t process_ns = pie_process_cpu_ns(), all_ns = sum(spent_ns);
    uint64_t cpu_ns = process_ns > all_ns ? process_ns - all_ns : 0;
    pie_governor_look(governor, pie_monotonic_ns(), cpu_ns, spent_ns);
    PIE_EACH_COLLECTOR(pie_collectors_active(), govern, governor);
    set_pace(governor, pace, ticks);
}
