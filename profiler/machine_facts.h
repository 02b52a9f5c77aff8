/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "profiler/clock_choice.h"

/* What `pieprof doctor` finds out about this machine and this process, by reading and by trying. Everything that is
 * opened is closed again, nothing is armed, no privilege is needed, and what cannot be found out is unknown. */

enum { PIE_FACT_UNKNOWN = -1000000 };

struct pie_machine_facts {
    struct pie_clock_facts clock;
    bool has_proc; /* /proc is there */

    int cycles_error;       /* 0 or -errno of opening a hardware cycle counter for this thread */
    char pmu[64];           /* the hardware's name for its counters, "" if unknown */
    int memory_event_error; /* 0 or -errno of opening a precise event that samples memory accesses; -ENOTSUP: none
                               is known for this hardware */
    bool has_event_names; /* libpfm4 is there */

    int execute_breakpoint_error, data_breakpoint_error; /* 0 or -errno */
    int breakpoint_slots;                                /* events that could be open at once */

    int seccomp;      /* 0: off, 1: strict, 2: filters; or PIE_FACT_UNKNOWN, as for all below */
    int ptrace_scope; /* yama's; unknown where there is no yama */
    long perf_mlock_kb;
    long long descriptors_max, locked_bytes_max, pending_signals_max; /* soft limits; -1: none */

    char kernel[64], libc[32], cpu[64];
    bool is_virtual; /* the CPU says that it runs under a hypervisor */
    int cpus;

    bool has_python_symbols, has_libc_symbols; /* also of functions that are not exported */
    bool has_python_lines, has_libc_lines;     /* debug information is installed */
};

/* python_address: of some function of libpython. Context: cli. */
void pie_machine_facts_gather(const void *python_address, struct pie_machine_facts *ret_facts);

/* Parts of it, a file each. */
void pie_machine_facts_gather_events(struct pie_machine_facts *facts);
void pie_machine_facts_gather_symbols(const void *python_address, struct pie_machine_facts *facts);

struct perf_event_attr;
/* In pmu_names_pfm.c or pmu_names_none.c: fills in an event that samples memory accesses precisely, and the name of
 * the hardware's counters. Returns 0, -ENOTSUP if none is known for this hardware, or -ENOSYS if there is nobody who
 * knows. Context: cli. */
int pie_pmu_names_find(struct perf_event_attr *memory_event, char *ret_pmu, unsigned long pmu_size);
