/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "profiler/doctor/machine_facts.h"
#include "profiler/doctor/probe.h"

/* Shared by probe.c and the files with the probes. */

/* Judges one thing: fills in detail, and for what is not in order status, cost and remedy. */
typedef void (*pie_probe_fn)(const struct pie_machine_facts *facts, const struct pie_build_facts *build,
                             struct pie_probe *probe);

struct pie_probe_kind {
    const char *id, *name;
    pie_probe_fn judge;
};

/* The tables end with a NULL id. */
extern const struct pie_probe_kind pie_probe_events[];  /* probe_events.c: clocks, counters, breakpoints */
extern const struct pie_probe_kind pie_probe_process[]; /* probe_process.c: limits, kernel, libraries */

void pie_probe_say(struct pie_probe *probe, const char *format, ...) __attribute__((format(printf, 2, 3)));
void pie_probe_lacks(struct pie_probe *probe, enum pie_probe_status status, const char *cost,
                     const char *remedy);
