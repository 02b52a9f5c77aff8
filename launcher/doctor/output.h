/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "profiler/doctor/probe.h"

/* The two forms of what `pieprof doctor` found. Each returns 0, or -ENOMEM; errors of `out` are left to the caller.
 * Context: cli. */
struct pie_doctor_findings {
    struct pie_probe probes[PIE_PROBE_MAX];
    size_t count;
    struct pie_probe_choice choice;
    bool has_python; /* there is one that can be profiled */
};

/* Can a time profile be taken? */
bool pie_doctor_has_time(const struct pie_doctor_findings *findings);

/* A table of all, then each gap with its cost and its remedy. */
int pie_doctor_print_text(const struct pie_doctor_findings *findings, FILE *out);

/* {"schema": 1, "pieprof": …, "time_profile": …, "clock": …, "redundancy": …, "sampler": …, "probes": [{id, name,
 * status, detail, cost, remedy}]} */
int pie_doctor_print_json(const struct pie_doctor_findings *findings, FILE *out);
