/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "profiler/machine/access_choice.h"
#include "profiler/machine/clock_choice.h"

struct pie_machine_facts;

/* What the facts about a machine mean for whoever profiles on it. A pure function of the facts, so that every gap can
 * be tested on every machine. Context: cli. */

enum pie_probe_status {
    PIE_PROBE_OK,
    PIE_PROBE_DEGRADED, /* works, but something is lost */
    PIE_PROBE_MISSING,
};

enum { PIE_PROBE_DETAIL_BYTES = 320, PIE_PROBE_MAX = 32 };

struct pie_probe {
    const char *id;   /* stable, for programs: "perf_kernel" */
    const char *name; /* for people: "perf events, kernel code" */
    enum pie_probe_status status;
    char detail[PIE_PROBE_DETAIL_BYTES]; /* what was found */
    const char *cost;                    /* what is lost, one sentence; NULL with PIE_PROBE_OK */
    const char *remedy;                  /* a sentence; NULL: there is none, or with PIE_PROBE_OK */
};

/* The user's own Python, which a program without one takes for its runs. */
struct pie_own_python {
    const char *found; /* in words: which one, or why there is none */
    bool is_usable;    /* a run can take it */
    bool has_file;     /* its symbols could be looked at */
};

/* How this program was built. */
struct pie_build_facts {
    const char *python_version;       /* "3.11", "3.14t" */
    const char *libpython;            /* "static", "shared", or "none" */
    bool has_aged;                    /* the interpreter it was built with is another build now */
    const struct pie_own_python *own; /* NULL: the program has a Python */
};

/* Of this very program. */
const struct pie_build_facts *pie_build_facts(void);

/* "ok", "degraded", "missing". */
const char *pie_probe_status_name(enum pie_probe_status status);

/* What the engine would choose on such a machine. */
struct pie_probe_choice {
    enum pie_clock_kind clock; /* PIE_CLOCK_NONE: no time profile can be taken */
    enum pie_access_sampler_kind
        accesses; /* PIE_ACCESS_NONE: redundant loads and stores cannot be watched for */
};

/* Fills in all probes, at most PIE_PROBE_MAX. Returns their number. The first two are the clock of the time profile and
 * the sampler of memory accesses, also given by *ret_choice. */
size_t pie_probe_evaluate(const struct pie_machine_facts *facts, const struct pie_build_facts *build,
                          struct pie_probe *ret_probes, struct pie_probe_choice *ret_choice);
