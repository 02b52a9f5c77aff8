/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "profiler/machine/clock_choice.h"

struct pie_config;
struct pie_process_facts;

/* Chooses the clock of the time profile, takes its signals and measures what it costs; threads may be given it from
 * then on. *ret_note: why it is not a better one, or NULL. Context: drain. */
enum pie_clock_kind pie_clock_begin(const struct pie_config *config, const struct pie_process_facts *process,
                                    const struct pie_clock_facts *facts, const char **ret_note);
