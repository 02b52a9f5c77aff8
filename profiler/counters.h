/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Named counters of one process, in the region: everything that was dropped, refused or done the slow way is
 * counted here, stored with the run and shown. */

enum pie_counter {
    PIE_COUNTER_SAMPLES,
    PIE_COUNTER_REENTERED,
    PIE_COUNTER_RING_FULL,
    PIE_COUNTER_NO_THREAD_SLOT,
    PIE_COUNTER_CCT_FULL,
    PIE_COUNTER_CODE_FULL,
    PIE_COUNTER_PYTHON_INVALID,
    PIE_COUNTER_PYTHON_TRUNCATED,
    PIE_COUNTER_NATIVE_TRUNCATED,
    PIE_COUNTER_NATIVE_EXOTIC,
    PIE_COUNTER_EVAL_UNMATCHED,
    PIE_COUNTER_FOREIGN_SIGNAL,
    PIE_COUNTER_UNARMED_THREADS,
    PIE_COUNTER_FORKS_UNPROFILED,
    PIE_COUNTER_CLOCK_GIVEN_UP,
    PIE_COUNTER_SINK_ERRORS,
    PIE_COUNTER_COUNT,
};

/* Context: signal, any. */
void pie_counter_add(enum pie_counter counter, uint64_t n);
uint64_t pie_counter_get(enum pie_counter counter);
/* "ring_full"; stable, part of the file format. */
const char *pie_counter_name(enum pie_counter counter);
/* Does one count mean that a sample was lost? */
bool pie_counter_is_drop(enum pie_counter counter);
/* In a forked child. */
void pie_counters_reset(void);
