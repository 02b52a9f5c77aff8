/* SPDX-License-Identifier: Apache-2.0 */

/* Built where libpfm4 is missing. */

#include "profiler/machine_facts.h"

#include <errno.h>

int pie_pmu_names_find(struct perf_event_attr *memory_event, char *ret_pmu, unsigned long pmu_size) {
    return -ENOSYS;
}
