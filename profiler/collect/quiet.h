/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* A tick at which there is nothing to see: all threads were found asleep, and none has run since. Of a program that
 * sleeps most ticks are like that, and cost two readings of a clock. Context: drain (all of this). */

/* Zeroed at first. */
struct pie_quiet {
    uint64_t others_ns; /* CPU time of the program's threads before the last look */
    bool all_stood;     /* in that look */
    uint32_t skipped;   /* ticks since then */
    uint64_t stood_ns;  /* CLOCK_MONOTONIC of the last of these, when all still stood; 0: there was none */
};

/* May this tick be left out? now_ns: CLOCK_MONOTONIC. Not more than some in a row. */
bool pie_quiet_tick(struct pie_quiet *quiet, uint64_t now_ns);

/* All threads were looked at, since pie_quiet_tick() said no. */
void pie_quiet_looked(struct pie_quiet *quiet, bool all_stand);
