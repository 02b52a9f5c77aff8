/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "profiler/code/access.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A log of each instruction that the calling thread executes, by the processor's trap flag: what really ran, in which
 * order and with which registers. */

struct step {
    uint64_t rip; /* of the next instruction */
    uint64_t registers[PIE_ACCESS_REGISTERS];
    bool is_gap; /* steps are left out before this one: a repeated instruction that goes on and on */
};

/* Runs work() and logs at most max steps, from its first instructions on. Returns how many, 0 if the log cannot be had.
 * The log is valid until the next call. */
size_t stepping_run(void (*work)(void), size_t max, const struct step **ret_steps);

/* Registers of an interrupted context, in the architecture's order. */
void stepping_registers(const void *context, uint64_t registers[PIE_ACCESS_REGISTERS]);

/* Handles faults of pie_safe_load, as the runtime does. To be called in each test: cmocka has handlers of its own. */
void stepping_catch_faults(void);
