/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/collect/clock_begin.h"

#include "profiler/collect/collector.h"
#include "profiler/collect/engine.h"
#include "profiler/ports/config.h"
#include "profiler/ports/facts.h"
#include "profiler/time/clock.h"
#include "profiler/time/clock_perf.h"
#include "profiler/time/clock_price.h"
#include "profiler/time/clock_timer.h"

#include <string.h>

static const struct pie_sampler_ops *sampler_of(enum pie_clock_kind kind) {
    switch (kind) {
    case PIE_CLOCK_PERF:
        return &pie_sampler_perf;
    case PIE_CLOCK_PERF_USER:
        return &pie_sampler_perf_user;
    case PIE_CLOCK_TIMER:
        return &pie_sampler_timer;
    case PIE_CLOCK_ITIMER:
        return &pie_sampler_itimer;
    case PIE_CLOCK_NONE:
        break;
    }
    return NULL;
}

static bool take_signals(const struct pie_collector_setup *setup, const struct pie_sampler_ops *sampler) {
    for (int i = 0; i < PIE_SAMPLER_SIGNALS; i++)
        if (sampler->signals[i] && setup->facts->take_signal(sampler->signals[i]) < 0)
            return false;
    return true;
}

enum pie_clock_kind pie_clock_begin(const struct pie_collector_setup *setup,
                                    const struct pie_clock_facts *facts, const char **ret_note) {
    const struct pie_config *config = setup->config;
    enum pie_clock_kind kind = PIE_CLOCK_NONE;

    *ret_note = NULL;
    if (config->time && !(config->force_clock && strcmp(config->force_clock, "none") == 0))
        kind = pie_clock_choose(facts, config->force_clock, ret_note);
    const struct pie_sampler_ops *sampler = sampler_of(kind);
    if (sampler && !take_signals(setup, sampler)) {
        kind = PIE_CLOCK_NONE;
        sampler = NULL;
        *ret_note = "the handler of the clock's signal could not be installed";
    }
    pie_collector_set_sampler(sampler);
    if (sampler)
        pie_clock_price(sampler);
    return kind;
}
