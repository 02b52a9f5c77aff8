/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "profiler/machine/access_choice.h"
#include "profiler/machine/clock_choice.h"

/* What `pieprof doctor` finds out about this machine and this process, by reading and by trying. Everything that is
 * opened is closed again, nothing is armed, no privilege is needed, and what cannot be found out is unknown. */

enum { PIE_FACT_UNKNOWN = -1000000 };

struct pie_machine_facts {
    struct pie_clock_facts clock;
    struct pie_access_facts access;
    bool has_proc; /* /proc is there */

    int cycles_error;     /* 0 or -errno of opening a hardware cycle counter for this thread */
    char pmu[64];         /* the hardware's name for its counters, "" if unknown */
    bool has_event_names; /* libpfm4 is there */

    int seccomp;      /* 0: off, 1: strict, 2: filters; or PIE_FACT_UNKNOWN, as for all below */
    int ptrace_scope; /* yama's; unknown where there is no yama */
    long perf_mlock_kb;
    long long descriptors_max, locked_bytes_max, pending_signals_max; /* soft limits; -1: none */

    char kernel[64], libc[32], cpu[64];
    int cpus;

    bool has_python_symbols, has_libc_symbols; /* also of functions that are not exported */
    bool has_python_lines, has_libc_lines;     /* debug information is installed */
};

/* python_address: of some function of libpython. Context: cli. */
void pie_machine_facts_gather(const void *python_address, struct pie_machine_facts *ret_facts);

/* Parts of it, a file each. The events need the clock's facts. */
void pie_machine_facts_gather_events(struct pie_machine_facts *facts);
void pie_machine_facts_gather_symbols(const void *python_address, struct pie_machine_facts *facts);

/* Whether a Python that is not loaded has symbols of all functions, of its program or library at `path`. Returns false
 * if it cannot be read. Context: cli. */
bool pie_machine_facts_look_at_python(const char *path, struct pie_machine_facts *facts);
