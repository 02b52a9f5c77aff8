/* SPDX-License-Identifier: Apache-2.0 */

/* Event names by libpfm4. It is loaded when asked for, not linked: its tables are thousands of pointers to relocate,
 * which every start of every profiled program would pay for. */

#include "profiler/machine/pmu_names.h"

#include <dlfcn.h>
#include <errno.h>
#include <perfmon/pfmlib.h>
#include <perfmon/pfmlib_perf_event.h>
#include <stdio.h>
#include <string.h>

struct pfm {
    void *library;
    __typeof__(pfm_initialize) *initialize;
    __typeof__(pfm_terminate) *terminate;
    __typeof__(pfm_get_pmu_info) *get_pmu_info;
    __typeof__(pfm_get_os_event_encoding) *get_encoding;
};

/* Loads and stores, the best first. A processor has them by the first pair of names that it knows both of: Sandy and
 * Ivy Bridge know MEM_UOPS_RETIRED as well, but give its samples no address. Nehalem's stores have none. The last three
 * pairs are only counted (Silvermont; AMD, whose IBS has no name here). MEM_TRANS_RETIRED:STORE_SAMPLE is not among
 * them: libpfm4 4.13 encodes it wrongly for Sapphire Rapids (0x3cd, the union of its two masks, instead of 0x2cd). */
static const struct {
    const char *loads, *stores;
} events[] = {
    {"MEM_INST_RETIRED:ALL_LOADS", "MEM_INST_RETIRED:ALL_STORES"},
    {"MEM_TRANS_RETIRED:LATENCY_ABOVE_THRESHOLD", "MEM_TRANS_RETIRED:PRECISE_STORE"},
    {"MEM_UOPS_RETIRED:ALL_LOADS", "MEM_UOPS_RETIRED:ALL_STORES"},
    {"MEM_INST_RETIRED:LATENCY_ABOVE_THRESHOLD", "MEM_INST_RETIRED:STORES"},
    {"MEM_UOP_RETIRED:ANY_LD", "MEM_UOP_RETIRED:ANY_ST"},
    {"LS_DISPATCH:LD_DISPATCH", "LS_DISPATCH:STORE_DISPATCH"},
    {"LS_DISPATCH:LOADS", "LS_DISPATCH:STORES"},
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

static void unload(struct pfm *pfm) {
    pfm->terminate();
    dlclose(pfm->library);
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

static bool encode(const struct pfm *pfm, const char *pmu, const char *event,
                   struct perf_event_attr *ret_attr) {
    struct perf_event_attr attr = {.size = sizeof(attr)};
    pfm_perf_encode_arg_t argument = {.attr = &attr, .size = sizeof(argument)};
    char name[128];

    snprintf(name, sizeof(name), "%s%s%s", pmu ? pmu : "", pmu ? "::" : "", event);
    if (pfm->get_encoding(name, PFM_PLM3, PFM_OS_PERF_EVENT, &argument) != PFM_SUCCESS)
        return false;
    *ret_attr = attr;
    return true;
}

static bool find_events(const struct pfm *pfm, const char *pmu, struct pie_pmu_names *names) {
    for (size_t i = 0; i < sizeof(events) / sizeof(*events); i++)
        if (encode(pfm, pmu, events[i].loads, &names->loads) &&
            encode(pfm, pmu, events[i].stores, &names->stores))
            return true;
    return false;
}

int pie_pmu_names_find(struct pie_pmu_names *ret_names) {
    struct pfm pfm;
    int r = load(&pfm);
    if (r < 0)
        return r;
    *ret_names = (struct pie_pmu_names){0};
    find_pmu(&pfm, ret_names->pmu, sizeof(ret_names->pmu));
    ret_names->has_events = find_events(&pfm, NULL, ret_names);
    unload(&pfm);
    return 0;
}

int pie_pmu_names_encode(const char *pmu, struct pie_pmu_names *ret_names) {
    struct pie_pmu_names names = {0};
    struct pfm pfm;
    int r = load(&pfm);
    if (r < 0)
        return r;
    snprintf(names.pmu, sizeof(names.pmu), "%s", pmu);
    names.has_events = find_events(&pfm, pmu, &names);
    unload(&pfm);
    if (!names.has_events)
        return -ENOTSUP;
    *ret_names = names;
    return 0;
}
