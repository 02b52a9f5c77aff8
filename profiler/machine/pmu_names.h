/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <linux/perf_event.h>
#include <stdbool.h>

/* Events by name: pmu_names_pfm.c asks libpfm4, pmu_names_none.c is built where that is missing. */

struct pie_pmu_names {
    char pmu[64];                         /* what the hardware's counters are called, "" if unknown */
    bool has_events;                      /* libpfm4 knows events for both kinds of access */
    struct perf_event_attr loads, stores; /* type, config and config1 of user code's loads and stores */
};

/* What this machine's counters are called and what counts loads and stores in them. It loads a library, which takes
 * milliseconds, and unloads it again. Returns 0, or -ENOSYS if there is no libpfm4. Context: drain, cli. */
int pie_pmu_names_find(struct pie_pmu_names *ret_names);

/* The same for the PMU that libpfm4 calls so ("skl"), if need be without the hardware (LIBPFM_ENCODE_INACTIVE=1 in the
 * environment). Returns 0, -ENOSYS, or -ENOTSUP if it has no such PMU or no such events. Context: cli. */
int pie_pmu_names_encode(const char *pmu, struct pie_pmu_names *ret_names);
