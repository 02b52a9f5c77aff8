/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "profiler/machine/clock_choice.h"

#include <stdint.h>
#include <stdbool.h>

/* The choice of what memory accesses are sampled by, as a pure function of what this machine allows, so that the engine
 * and `pieprof doctor` cannot disagree. From the worst to the best: */
enum pie_access_sampler_kind {
    PIE_ACCESS_NONE,      /* accesses cannot be watched */
    PIE_ACCESS_TASKCLOCK, /* each sample of time may start a watch; what is watched is found by decoding */
    PIE_ACCESS_PMU,       /* the hardware counts loads and stores and interrupts at one of them */
};

/* What hardware counters can do for one kind of access. */
enum pie_pmu_level {
    PIE_PMU_NOTHING,
    PIE_PMU_IMPRECISE, /* counts; the interrupt comes some instructions later and knows no address */
    PIE_PMU_PRECISE,   /* knows the instruction, mostly also the address (PEBS, IBS) */
};

/* Who sets debug registers. */
enum pie_breakpoint_way {
    PIE_BREAKPOINT_NONE,
    PIE_BREAKPOINT_PERF,   /* perf events */
    PIE_BREAKPOINT_PTRACE, /* a process that traces us for some microseconds; only where the user allows it */
};

/* Which of them the user allows. */
enum pie_breakpoint_request { PIE_BREAKPOINT_BY_PERF, PIE_BREAKPOINT_BY_ANY, PIE_BREAKPOINT_BY_PTRACE };

/* What was found out about this process and machine by access_facts.c, or made up by a test. */
struct pie_access_facts {
    bool has_decoder;               /* of machine code, in this build */
    bool is_virtual;                /* the CPU says that it runs under a hypervisor */
    bool is_traced;                 /* a debugger is attached: it would swallow SIGTRAP */
    int paranoid;                   /* perf_event_paranoid, or PIE_CLOCK_PARANOID_UNKNOWN */
    int kernel_major, kernel_minor; /* 0.0: unknown */
    enum pie_clock_kind clock;      /* of the time profile */
    int execute_error, data_error;  /* 0 or -errno of opening an execute and a data breakpoint with sigtrap */
    bool breakpoints_are_silent; /* a data breakpoint could be had and did not count a store to its address */
    int breakpoints;             /* data breakpoints that could be had at once */
    enum pie_breakpoint_request request;
    int ptrace_error; /* 0 or -errno of setting a debug register by ptrace (ptrace_registers.h), where it was tried */
    bool has_pmu;                     /* the kernel drives hardware counters of the processor */
    enum pie_pmu_level loads, stores; /* with them */
    bool has_ibs;                     /* AMD's sampling of operations, which knows addresses */
    /* -errno of the event that came closest if loads or stores are not PRECISE; -ENOTSUP: no event is known for this
     * processor */
    int pmu_error;
    uint64_t pmu_interrupt_ns; /* what an interrupt of these events costs (pmu_price.h); 0: not known */
};

/* Why a sampler is not to be had. */
struct pie_access_reason {
    const char *problem; /* what is missing: half a sentence */
    const char *remedy;  /* the remedy; NULL: there is none */
    const char *note;    /* both in one sentence */
};

/* The best sampler that the facts allow. `forced` is NULL or the name of a sampler: the best one not above it (NULL and
 * unknown names: of all; naming the best one also takes it where its interrupts are dear). *ret_note says why it is
 * not the best of those, in one sentence that lives forever, or NULL. Context: any. */
enum pie_access_sampler_kind pie_access_choose(const struct pie_access_facts *facts, const char *forced,
                                               const char **ret_note);

/* The same with the note in its parts; NULL where there is no note. Context: any. */
enum pie_access_sampler_kind pie_access_choose_with_reason(const struct pie_access_facts *facts,
                                                           const char *forced,
                                                           const struct pie_access_reason **ret_reason);

/* Who sets the debug registers for that choice; perf events where they work and are allowed. Context: any. */
enum pie_breakpoint_way pie_access_breakpoints(const struct pie_access_facts *facts);

/* The request of that name, "perf", "any" or "ptrace"; NULL: "perf". Returns 0 or -EINVAL. Context: any. */
int pie_access_breakpoints_parse(const char *name, enum pie_breakpoint_request *ret_request);

/* "none", "taskclock", "pmu": as stored in the file. Context: any. */
const char *pie_access_sampler_name(enum pie_access_sampler_kind kind);

/* The sampler of that name. Returns 0 or -EINVAL. Context: any. */
int pie_access_sampler_parse(const char *name, enum pie_access_sampler_kind *ret_kind);

/* Finds out the facts by trying: opens and closes events, leaves no descriptor, raises no signal. `clock` is the one
 * that was chosen from clock_facts. What it cannot find out is unknown, never an error. Context: drain, cli. */
void pie_access_facts_gather(const struct pie_clock_facts *clock_facts, enum pie_clock_kind clock,
                             struct pie_access_facts *ret_facts);

/* Beside these: what ptrace can do, and the user's request. Context: drain, cli. */
void pie_access_facts_try_ptrace(enum pie_breakpoint_request request, struct pie_access_facts *facts);
