/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "profiler/machine/access_choice.h"
#include "profiler/machine/pmu_encodings.h"
#include "profiler/machine/pmu_names.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The hardware events by which memory accesses are sampled on a machine: what there is to choose from
 * (pie_pmu_machine_find), and the choice, which is made by trying (pie_pmu_events_choose). */

/* The kernel's devices for counters in cores: one of all cores, or one for each kind of core of a hybrid processor. */
enum { PIE_PMU_DEVICES_MAX = 3, PIE_PMU_EVENTS_MAX = 2 * PIE_PMU_DEVICES_MAX };

struct pie_pmu_event {
    uint32_t type;
    uint64_t config, config1, config2;
    uint8_t kind;         /* PIE_ACCESS_LOAD, PIE_ACCESS_STORE; both: each sample says which (IBS) */
    uint8_t precise_ip;   /* of perf_event_attr */
    bool is_precise;      /* samples know the instruction */
    bool includes_kernel; /* cannot be restricted to user code */
    bool is_thinned;      /* counts only some of the accesses, one of twenty or so */
};

struct pie_pmu_machine {
    struct pie_pmu_cpu cpu;
    uint32_t types[PIE_PMU_DEVICES_MAX]; /* perf_event_attr.type of the devices */
    size_t devices;
    bool has_ibs, ibs_counts_ops; /* AMD's device ibs_op; it can count operations, not only cycles */
    uint32_t ibs_type;
    struct pie_pmu_names names;     /* of the only device; has_events: false with several, or if not needed */
    int kernel_major, kernel_minor; /* 0.0: unknown */
};

struct pie_pmu_events {
    struct pie_pmu_event events[PIE_PMU_EVENTS_MAX];
    size_t count;
    enum pie_pmu_level loads, stores; /* the lowest of any device */
    int error;                        /* as pie_access_facts.pmu_error */
};

/* Opens an event and closes it again. Returns 0 or -errno. */
typedef int (*pie_pmu_try_fn)(const struct perf_event_attr *attr, void *context);

/* The best events for loads and stores, by trying: names before the raw table, a precise event before an imprecise one.
 * Context: any. */
void pie_pmu_events_choose(const struct pie_pmu_machine *machine, pie_pmu_try_fn try, void *context,
                           struct pie_pmu_events *ret_events);

/* What this machine has. Context: drain, cli. */
void pie_pmu_machine_find(struct pie_pmu_machine *ret_machine);

/* The choice for this machine, made once: a forked child has its parent's. Context: drain, cli. */
const struct pie_pmu_events *pie_pmu_events_here(const struct pie_pmu_machine **ret_machine);

/* What to open for an event. period_accesses: between two samples. Context: any. */
void pie_pmu_event_prepare(const struct pie_pmu_event *event, uint64_t period_accesses, uint64_t cookie,
                           struct perf_event_attr *ret_attr);

/* A period that the event takes: IBS counts in steps of 16, elsewhere an odd number falls out of step with loops.
 * Context: any. */
uint64_t pie_pmu_event_round_period(const struct pie_pmu_event *event, uint64_t period_accesses);
