/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "profiler/ports/trace_settings.h"

#include <stdbool.h>
#include <stdint.h>

/* What one profiled process has been asked to do. Filled by the launcher before Python starts, read-only
 * afterwards. Strings live as long as the process. */
struct pie_config {
    const char
        *python;   /* the interpreter that runs the program, by path or by name; NULL: it is looked for */
    bool is_guest; /* in the interpreter itself, though pieprof could stand for it */
    const char *output;   /* absolute path of the database */
    bool is_per_process;  /* each process has a file of its own; output is the pattern of their names */
    const char *run_name; /* processes that have the same are one run; NULL: each its own */
    uint64_t keep_s;      /* of the profile, this much time before now is kept; 0: all */
    uint64_t max_bytes;   /* of the database; 0: no limit */
    /* Of contexts and code in memory, beyond which those not seen for long are forgotten; 0: never. */
    uint64_t context_bytes;
    uint64_t period_ns; /* sampling period of the time profile, CPU time; 1 000 000 at 1 kHz */
    double
        overhead_budget; /* share of the program's time the profiler may use, 0.05 = 5 %; 0: rates are fixed */
    bool is_budget_asked; /* the user named it: it is kept from the start */
    const char *
        force_clock; /* NULL, or "perf", "perf-user", "timer", "itimer", "none": the one the user insists on */
    const char *only, *exclude;      /* path prefixes for own code, or NULL */
    bool has_time;                   /* collect the time profile */
    bool has_redundancy;             /* watch for redundant loads and stores */
    bool has_memory;                 /* count and sample allocations */
    bool has_copies;                 /* sample copied bytes */
    uint64_t threshold_bytes;        /* of the footprint sampler; 0: adapts itself */
    const char *allocator;           /* NULL or "system": the one that python3 would have; "jemalloc" */
    bool has_traced_loops;           /* loops that ask for it are traced */
    struct pie_trace_settings trace; /* how */
    /* Loops that do not ask: "FILE:LINE" or a function's name; NULL-terminated. */
    const char *trace_places[PIE_TRACE_PLACES_MAX + 1];
    const char *force_sampler; /* NULL, or "pmu", "taskclock", "none": how accesses are to be sampled */
    const char *breakpoints; /* NULL: by perf events; "ptrace", or "any": by ptrace where those are refused */
    bool is_adaptive;        /* watch first what is undecided */
    double fp_tolerance;     /* floats this close (relative) count as equal; 0: bitwise */
    bool has_children;       /* follow fork and exec */
    bool has_argv;           /* store the command line */
    bool is_quiet;           /* no summary at the end */
    bool is_verbose;
    bool has_progress;  /* a line on the terminal while it runs */
    bool is_child;      /* this process belongs to the run `run_id` of a parent under pieprof */
    int64_t run_id;     /* valid with is_child */
    int32_t parent_pid; /* the pid that the parent had in its own row, valid with is_child */
};
