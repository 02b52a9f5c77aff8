/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "profiler/machine/clock_choice.h"
#include "profiler/ports/collector.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

extern const struct pie_collector pie_time_collector;

/* The clock that it has chosen, and by which facts. After its begin(). Context: drain. */
enum pie_clock_kind pie_time_clock(const struct pie_clock_facts **ret_facts);

/* Was the thread asleep at the last tick, and has it taken no sample since? Context: drain. */
bool pie_time_is_still(const struct pie_thread *thread, size_t slot);

/* The thread's CPU clock when it was looked at last, by a tick or a sample. Context: drain. */
uint64_t pie_time_last_cpu_ns(const struct pie_thread *thread, size_t slot);

/* Has each sample been written, or given up? Context: drain. */
bool pie_time_is_written(void);
