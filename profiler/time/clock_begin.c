/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/time/clock_begin.h"

#include "profiler/ports/config.h"
#include "profiler/ports/facts.h"
#include "profiler/time/clock.h"
#include "profiler/time/clock_perf.h"
#include "profiler/time/clock_price.h"
#include "profiler/time/clock_timer.h"

#include <string.h>

static const struct pie_clock_ops *clock_of(enum pie_clock_kind kind) {
    switch (kind) {
    case PIE_CLOCK_PERF:
        return &pie_clock_perf;
    case PIE_CLOCK_PERF_USER:
        return &pie_clock_perf_user;
    case PIE_CLOCK_TIMER:
        return &pie_clock_timer;
    case PIE_CLOCK_ITIMER:
        return &pie_clock_itimer;
    case PIE_CLOCK_NONE:
        break;
    }
    return NULL;
}

static bool take_signals(const struct pie_process_facts *process, const struct pie_clock_ops *clock) {
    for (int i = 0; i < PIE_CLOCK_SIGNALS; i++)
        if (clock->signals[i] && process->take_signal(clock->signals[i]) < 0)
            return false;
    return true;
}

enum pie_clock_kind pie_clock_begin(const struct pie_config *config, const struct pie_process_facts *process,
                                    const struct pie_clock_facts *facts, const char **ret_note) {
    enum pie_clock_kind kind = PIE_CLOCK_NONE;

    *ret_note = NULL;
    if (config->has_time && !(config->force_clock && strcmp(config->force_clock, "none") == 0))
        kind = pie_clock_choose(facts, config->force_clock, ret_note);
    const struct pie_clock_ops *clock = clock_of(kind);
    if (clock && !take_signals(process, clock)) {
        kind = PIE_CLOCK_NONE;
        clock = NULL;
        *ret_note = "the handler of the clock's signal could not be installed";
    }
    pie_clock_set_current(clock);
    if (clock)
        pie_clock_price(clock);
    return kind;
}
