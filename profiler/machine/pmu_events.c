/* SPDX-License-Identifier: Apache-2.0 */

/* Only the call itself shows whether an event is available: hypervisors hide parts of the hardware, kernels differ in
 * what they let PEBS and IBS do, sysctls and filters have a say.
 *
 * Intel: an event each for loads and stores. precise_ip 3 asks for the least skewed counter, 2 for the exact
 * instruction, 1 for the one after it; 0 is no PEBS at all (a virtual PMU without it): then only the interrupt is of
 * use. Hybrid processors have a device for each kind of core, and an event counts while its thread runs on one of
 * these: both are opened. libpfm4's names stand for one device, so there the raw table is used, as for all that it
 * names.
 *
 * AMD: IBS tags every n-th operation, whatever it does; a sample's DATA_SRC distinguishes loads, stores and the rest.
 * Linux 6.14 restricts it to user code ("swfilt", arch/x86/events/amd/ibs.c). Before, kernel code is hit as well, which
 * needs leave to sample it, and from 6.11 on such a signal no longer ends system calls with EINTR (clock_choice.c). */

#include "profiler/machine/pmu_events.h"

#include "profiler/code/access.h"

#include <errno.h>

enum { PRECISE_IP_MAX = 3, IBS_STEP = 16 };
#define IBS_COUNT_OPS (UINT64_C(1) << 19) /* config: cnt_ctl */
#define IBS_SOFTWARE_FILTER UINT64_C(1)   /* config2: swfilt */
static const uint64_t TRIAL_PERIOD = 0x100000;

void pie_pmu_event_prepare(const struct pie_pmu_event *event, uint64_t period_accesses, uint64_t cookie,
                           struct perf_event_attr *ret_attr) {
    *ret_attr = (struct perf_event_attr){
        .size = sizeof *ret_attr,
        .type = event->type,
        .config = event->config,
        .config1 = event->config1,
        .config2 = event->config2,
        .sample_period = pie_pmu_event_round_period(event, period_accesses),
        .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_ADDR | PERF_SAMPLE_DATA_SRC,
        .precise_ip = event->precise_ip,
        .exclude_kernel = !event->includes_kernel,
        .exclude_hv = !event->includes_kernel,
        .disabled = 1,
        /* Not let PEBS gather records until its buffer is full (arch/x86/events/intel/core.c: LARGE_PEBS): the signal
         * must come while the thread is still near the access. */
        .wakeup_events = 1,
        .sigtrap = 1,
        .remove_on_exec = 1,
        .sig_data = cookie,
    };
}

static bool is_ibs(const struct pie_pmu_event *event) {
    return event->kind == (PIE_ACCESS_LOAD | PIE_ACCESS_STORE);
}

uint64_t pie_pmu_event_round_period(const struct pie_pmu_event *event, uint64_t period_accesses) {
    if (!is_ibs(event))
        return period_accesses | 1;
    return period_accesses < IBS_STEP ? IBS_STEP : period_accesses / IBS_STEP * IBS_STEP;
}

struct trial {
    pie_pmu_try_fn try;
    void *context;
    int error; /* of the trial that failed last */
};

static bool works(struct trial *trial, const struct pie_pmu_event *event) {
    struct perf_event_attr attr;

    pie_pmu_event_prepare(event, TRIAL_PERIOD, 0, &attr);
    int r = trial->try(&attr, trial->context);
    if (r < 0)
        trial->error = r;
    return r == 0;
}

/* Finds out what the event can do, from the most precise down. */
static enum pie_pmu_level try_levels(struct trial *trial, struct pie_pmu_event *event) {
    for (int precise = PRECISE_IP_MAX; precise >= 0; precise--) {
        event->precise_ip = (uint8_t)precise;
        event->is_precise = precise > 0;
        if (works(trial, event))
            return precise ? PIE_PMU_PRECISE : PIE_PMU_IMPRECISE;
    }
    return PIE_PMU_NOTHING;
}

/* The event for one kind of access on one device: the named one, unless the raw one can do more. */
static enum pie_pmu_level find_event(const struct pie_pmu_machine *machine, struct trial *trial,
                                     struct pie_pmu_event *event) {
    const struct pie_pmu_encoding *raw = pie_pmu_encoding_of(&machine->cpu);
    bool is_load = event->kind == PIE_ACCESS_LOAD;
    const struct perf_event_attr *named = is_load ? &machine->names.loads : &machine->names.stores;
    struct pie_pmu_event by_name = *event, by_number = *event;
    enum pie_pmu_level level = PIE_PMU_NOTHING;

    trial->error = -ENOTSUP;
    if (machine->names.has_events && machine->devices == 1) {
        by_name.config = named->config;
        by_name.config1 = named->config1;
        level = try_levels(trial, &by_name);
        *event = by_name;
    }
    if (level < PIE_PMU_PRECISE && raw) {
        by_number.config = is_load ? raw->loads : raw->stores;
        by_number.config1 = is_load ? raw->loads_config1 : 0;
        enum pie_pmu_level raw_level = try_levels(trial, &by_number);
        if (raw_level > level) {
            level = raw_level;
            *event = by_number;
        }
    }
    event->is_thinned = event->config1 != 0; /* the threshold of a load latency */
    return level;
}

static void lower(enum pie_pmu_level *level, enum pie_pmu_level to) {
    if (to < *level)
        *level = to;
}

static void choose_counters(const struct pie_pmu_machine *machine, struct trial *trial,
                            struct pie_pmu_events *events) {
    static const uint8_t kinds[] = {PIE_ACCESS_LOAD, PIE_ACCESS_STORE};

    for (size_t i = 0; i < 2; i++) {
        enum pie_pmu_level *lowest = kinds[i] == PIE_ACCESS_LOAD ? &events->loads : &events->stores;
        *lowest = machine->devices ? PIE_PMU_PRECISE : PIE_PMU_NOTHING;
        for (size_t j = 0; j < machine->devices; j++) {
            struct pie_pmu_event event = {.type = machine->types[j], .kind = kinds[i]};
            enum pie_pmu_level level = find_event(machine, trial, &event);
            lower(lowest, level);
            if (level < PIE_PMU_PRECISE)
                events->error = trial->error;
            if (level > PIE_PMU_NOTHING)
                events->events[events->count++] = event;
        }
    }
}

static bool choose_ibs(const struct pie_pmu_machine *machine, struct trial *trial,
                       struct pie_pmu_events *events) {
    struct pie_pmu_event event = {
        .type = machine->ibs_type,
        .config = machine->ibs_counts_ops ? IBS_COUNT_OPS : 0,
        .config2 = IBS_SOFTWARE_FILTER,
        .kind = PIE_ACCESS_LOAD | PIE_ACCESS_STORE,
        .is_precise = true,
    };
    bool spares_calls =
        machine->kernel_major > 6 || (machine->kernel_major == 6 && machine->kernel_minor >= 11);
    bool found = works(trial, &event);

    if (!found && spares_calls) {
        event.config2 = 0;
        event.includes_kernel = true;
        found = works(trial, &event);
    }
    if (found) {
        events->events[events->count++] = event;
        events->loads = events->stores = PIE_PMU_PRECISE;
    }
    return found;
}

void pie_pmu_events_choose(const struct pie_pmu_machine *machine, pie_pmu_try_fn try, void *context,
                           struct pie_pmu_events *ret_events) {
    struct trial trial = {.try = try, .context = context};

    *ret_events = (struct pie_pmu_events){.error = machine->devices ? 0 : -ENOENT};
    if (machine->has_ibs && choose_ibs(machine, &trial, ret_events)) {
        ret_events->error = 0;
        return;
    }
    if (machine->has_ibs && !machine->devices)
        ret_events->error = trial.error;
    choose_counters(machine, &trial, ret_events);
}
