/* SPDX-License-Identifier: Apache-2.0 */

/* Event names by libpfm4. It is loaded when asked for, not linked: its tables are thousands of pointers to relocate,
 * which every start of every profiled program would pay for. */

#include "profiler/machine_facts.h"

#include <dlfcn.h>
#include <errno.h>
#include <perfmon/pfmlib.h>
#include <perfmon/pfmlib_perf_event.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

struct pfm {
    void *library;
    __typeof__(pfm_initialize) *initialize;
    __typeof__(pfm_terminate) *terminate;
    __typeof__(pfm_get_pmu_info) *get_pmu_info;
    __typeof__(pfm_get_os_event_encoding) *get_encoding;
};

/* Loads with their addresses by Intel's PEBS, newer processors first. AMD's IBS has no name here. */
static const char *const memory_events[] = {
    "MEM_INST_RETIRED:ALL_LOADS",
    "MEM_UOPS_RETIRED:ALL_LOADS",
    "MEM_TRANS_RETIRED:LOAD_LATENCY",
};

static int load(struct pfm *pfm) {
    pfm->library = dlopen("libpfm.so.4", RTLD_NOW | RTLD_LOCAL);
    if (!pfm->library)
        return -ENOSYS;
    pfm->initialize = dlsym(pfm->library, "pfm_initialize");
    pfm->terminate = dlsym(pfm->library, "pfm_terminate");
    pfm->get_pmu_info = dlsym(pfm->library, "pfm_get_pmu_info");
    pfm->get_encoding = dlsym(pfm->library, "pfm_get_os_event_encoding");
    if (pfm->initialize && pfm->terminate && pfm->get_pmu_info && pfm->get_encoding &&
        pfm->initialize() == PFM_SUCCESS)
        return 0;
    dlclose(pfm->library);
    return -ENOSYS;
}

static void find_pmu(const struct pfm *pfm, char *ret_pmu, size_t size) {
    for (int i = PFM_PMU_NONE; i < PFM_PMU_MAX; i++) {
        pfm_pmu_info_t info = {.size = sizeof(info)};
        if (pfm->get_pmu_info((pfm_pmu_t)i, &info) == PFM_SUCCESS && info.is_present &&
            info.type == PFM_PMU_TYPE_CORE) {
            snprintf(ret_pmu, size, "%s", info.desc);
            return;
        }
    }
}

static int find_memory_event(const struct pfm *pfm, struct perf_event_attr *ret_event) {
    for (size_t i = 0; i < sizeof(memory_events) / sizeof(*memory_events); i++) {
        struct perf_event_attr event = {.size = sizeof(event)};
        pfm_perf_encode_arg_t argument = {.attr = &event, .size = sizeof(argument)};
        if (pfm->get_encoding(memory_events[i], PFM_PLM3, PFM_OS_PERF_EVENT, &argument) != PFM_SUCCESS)
            continue;
        *ret_event = event;
        ret_event->precise_ip = 2;
        return 0;
    }
    return -ENOTSUP;
}

int pie_pmu_names_find(struct perf_event_attr *memory_event, char *ret_pmu, unsigned long pmu_size) {
    struct pfm pfm;
    int r = load(&pfm);
    if (r < 0)
        return r;
    find_pmu(&pfm, ret_pmu, pmu_size);
    r = find_memory_event(&pfm, memory_event);
    pfm.terminate();
    dlclose(pfm.library);
    return r;
}
