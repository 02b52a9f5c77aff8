/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The raw encodings of the events that sample loads and stores, by processor. */

enum pie_pmu_vendor { PIE_PMU_OTHER, PIE_PMU_INTEL, PIE_PMU_AMD };

/* As CPUID says it, extended fields included. */
struct pie_pmu_cpu {
    enum pie_pmu_vendor vendor;
    unsigned family, model;
    bool is_virtual;
};

struct pie_pmu_encoding {
    const char *name;       /* of the microarchitectures */
    uint64_t loads, stores; /* config of PERF_TYPE_RAW; 0: there is no event */
    uint64_t
        loads_config1; /* the latency threshold of a load, cycles, where the event is one of load latency: such an
                                event counts only some of the loads */
};

/* CPUID of this processor. Context: any. */
void pie_pmu_cpu_identify(struct pie_pmu_cpu *ret_cpu);

/* Those of a processor: later ones that the table does not know have what their predecessors had for a decade. NULL: no
 * processor that has such events. Context: any. */
const struct pie_pmu_encoding *pie_pmu_encoding_of(const struct pie_pmu_cpu *cpu);

/* Is the processor itself in the table (perhaps as one without such events)? Context: any. */
bool pie_pmu_encoding_is_known(const struct pie_pmu_cpu *cpu);

/* Those of the PMU that libpfm4 calls so ("skl"); NULL: not in the table. Context: any. */
const struct pie_pmu_encoding *pie_pmu_encoding_named(const char *pfm_name);
