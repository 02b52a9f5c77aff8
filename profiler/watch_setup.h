/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "profiler/access_sampler.h"

struct pie_config;
struct pie_pystack_ops;

/* Chooses how accesses are sampled, takes SIGTRAP if they are to be watched, measures what a trap costs on this machine
 * (some 0.5 ms) and lets watching begin. Never fails: at worst the answer is "none" and *ret_note says why. `clock` is
 * the one in use. Context: drain. */
const struct pie_access_sampler_ops *pie_watch_set_up(const struct pie_config *config,
                                                      const struct pie_pystack_ops *ops,
                                                      const struct pie_clock_facts *clock_facts,
                                                      enum pie_clock_kind clock,
                                                      int (*take_signal)(int signal), const char **ret_note);

/* Watching rests while a debugger is attached: it would get our SIGTRAPs, and wants the registers. To be called now and
 * then. Context: drain. */
void pie_watch_heed_debugger(void);

/* The price of one trap in ns, signal and return included: the least of some; 0: none came. Context: drain, SIGTRAP is
 * taken. */
uint64_t pie_watch_measure_trap(void);

/* What a page fault of a program costs more, in ns, while a data breakpoint is armed on its thread; 0: nothing to speak
 * of, string instructions are as fast as ever. As a part of the fault's time then: *ret_share. Measured at the first call, in
 * a millisecond. Context: drain. */
uint64_t pie_watch_fault_tax(double *ret_share);
