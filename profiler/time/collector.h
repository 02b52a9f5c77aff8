/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "profiler/machine/clock_choice.h"
#include "profiler/ports/collector.h"

extern const struct pie_collector pie_time_collector;

/* The clock that it has chosen, and by which facts. After its begin(). Context: drain. */
enum pie_clock_kind pie_time_clock(const struct pie_clock_facts **ret_facts);
