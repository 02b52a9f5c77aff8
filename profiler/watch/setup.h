/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "profiler/watch/sampler.h"

struct pie_config;
struct pie_pystack_ops;

/* Chooses how accesses are sampled, takes SIGTRAP if they are to be watched, measures the cost of a trap on this
 * machine (some 0.5 ms) and lets watching begin. Never fails: at worst the answer is "none" and *ret_note says why.
 * `clock` is the one in use. Context: drain. */
const struct pie_access_sampler_ops *pie_watch_set_up(const struct pie_config *config,
                                                      const struct pie_pystack_ops *ops,
                                                      const struct pie_clock_facts *clock_facts,
                                                      enum pie_clock_kind clock,
                                                      int (*take_signal)(int signal), const char **ret_note);

/* Watching rests while a debugger is attached: it would get our SIGTRAPs, and wants the registers. To be called now and
 * then. Context: drain. */
void pie_watch_check_debugger(void);

/* The cost of watching on this machine. */
struct pie_watch_price {
    uint64_t trap_ns; /* one trap, signal and return included: the least of some; 0: none came */
    /* The extra cost of a program's page fault while a data breakpoint is armed on its thread; 0: nothing to speak of,
     * string instructions are as fast as ever. */
    uint64_t fault_tax_ns;
    double fault_tax_share;    /* the same as a part of the fault's time then */
    uint64_t pmu_interrupt_ns; /* as pie_access_facts.pmu_interrupt_ns */
};

/* One trap, measured anew: as trap_ns. Context: drain (SIGTRAP is taken). */
uint64_t pie_watch_measure_trap(void);

/* The tax of a fault, measured anew: as fault_tax_ns and, where that is not 0, fault_tax_share. Context: drain. */
uint64_t pie_watch_measure_fault_tax(double *ret_share);

/* Measured at the first call, in some 1.5 ms, unless it is known. Context: drain (SIGTRAP is taken). */
const struct pie_watch_price *pie_watch_price(void);

/* The price if it is known, else NULL, for the process's children. Context: any. */
const struct pie_watch_price *pie_watch_price_known(void);

/* As another process of this machine has measured it. Context: launcher (before the engine starts). */
void pie_watch_price_set(const struct pie_watch_price *price);
