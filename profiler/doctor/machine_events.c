/* SPDX-License-Identifier: Apache-2.0 */

/* Hardware counters by trial, for the calling thread, disabled, user code only: as a profiler without privileges would
 * open them. Breakpoints and what samples memory accesses are found out by access_facts.c. */

#include "profiler/doctor/machine_facts.h"
#include "profiler/machine/pmu_names.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int try_cycles(void) {
    struct perf_event_attr attr = {
        .size = sizeof(attr),
        .type = PERF_TYPE_HARDWARE,
        .config = PERF_COUNT_HW_CPU_CYCLES,
        .disabled = 1,
        .exclude_kernel = 1,
        .exclude_hv = 1,
    };
    int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0)
        return -errno;
    close(fd);
    return 0;
}

void pie_machine_facts_gather_events(struct pie_machine_facts *facts) {
    struct pie_pmu_names names = {0};
    const char *note;

    facts->cycles_error = try_cycles();
    facts->has_event_names = pie_pmu_names_find(&names) == 0;
    memcpy(facts->pmu, names.pmu, sizeof(facts->pmu));
    pie_access_facts_gather(&facts->clock, pie_clock_choose(&facts->clock, NULL, &note), &facts->access);
    pie_access_facts_try_ptrace(PIE_BREAKPOINT_BY_PERF, &facts->access);
}
