/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "profiler/machine/pmu_events.h"

/* What an interrupt of a hardware counter costs on this machine. On bare metal it is a microsecond or two. In a virtual
 * machine each of its steps may leave the guest, and it was found to be hundreds of times as much. */

/* An interrupt up to this price is cheap: at 1 kHz less than one percent. */
#define PIE_PMU_CHEAP_NS UINT64_C(5000)

/* Cost of one interrupt of the most expensive of these events, measured at the first call in less than 2 ms where
 * interrupts are cheap, and known from then on, also to forked children; 0: it cannot be measured. Context: drain,
 * cli. */
uint64_t pie_pmu_interrupt_ns(const struct pie_pmu_events *events);

/* As another process of this machine has measured it. Context: launcher (before the engine starts). */
void pie_pmu_interrupt_set(uint64_t interrupt_ns);

/* One interrupt of this event, measured anew: kernel, hypervisor and all, but no signal; 0: it cannot be measured, or
 * the event does not interrupt. Context: drain, cli. */
uint64_t pie_pmu_interrupt_measure(const struct pie_pmu_event *event, uint64_t period_accesses);
