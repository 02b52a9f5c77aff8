/* SPDX-License-Identifier: Apache-2.0 */

#include "profiler/doctor/probe.h"
#include "profiler/doctor/probe_internal.h"

#include <stdarg.h>
#include <stdio.h>

const char *pie_probe_status_name(enum pie_probe_status status) {
    static const char *const names[] = {
        [PIE_PROBE_OK] = "ok", [PIE_PROBE_DEGRADED] = "degraded", [PIE_PROBE_MISSING] = "missing"};
    return names[status];
}

void pie_probe_say(struct pie_probe *probe, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(probe->detail, sizeof(probe->detail), format, arguments);
    va_end(arguments);
}

void pie_probe_lacks(struct pie_probe *probe, enum pie_probe_status status, const char *cost,
                     const char *remedy) {
    probe->status = status;
    probe->cost = cost;
    probe->remedy = remedy;
}

size_t pie_probe_evaluate(const struct pie_machine_facts *facts, const struct pie_build_facts *build,
                          struct pie_probe *ret_probes, struct pie_probe_choice *ret_choice) {
    static const struct pie_probe_kind *const tables[] = {pie_probe_events, pie_probe_process};
    size_t count = 0;
    for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++)
        for (const struct pie_probe_kind *kind = tables[i]; kind->id && count < PIE_PROBE_MAX; kind++) {
            struct pie_probe *probe = &ret_probes[count++];
            *probe = (struct pie_probe){.id = kind->id, .name = kind->name};
            kind->judge(facts, build, probe);
        }
    const char *note;
    ret_choice->clock = pie_clock_choose(&facts->clock, NULL, &note);
    ret_choice->accesses = pie_access_choose(&facts->access, NULL, &note);
    return count;
}
