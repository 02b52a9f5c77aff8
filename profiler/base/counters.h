/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Named counters of one process: everything that was dropped, refused or done the slow way is counted here, stored with
 * the run and shown. */

enum pie_counter {
    PIE_COUNTER_SAMPLES,
    PIE_COUNTER_REENTERED,
    PIE_COUNTER_IN_HOOK,
    PIE_COUNTER_RING_FULL,
    PIE_COUNTER_NO_THREAD_SLOT,
    PIE_COUNTER_CCT_FULL,
    PIE_COUNTER_CODE_FULL,
    PIE_COUNTER_TICKS, /* of the collection thread: it looked at all threads */
    PIE_COUNTER_TURNS, /* of the calling context tree (turn.h) */
    PIE_COUNTER_PYTHON_INVALID,
    PIE_COUNTER_PYTHON_TRUNCATED,
    PIE_COUNTER_NATIVE_TRUNCATED,
    PIE_COUNTER_NATIVE_BRIDGED,
    PIE_COUNTER_NATIVE_EXOTIC,
    PIE_COUNTER_EVAL_UNMATCHED,
    PIE_COUNTER_FOREIGN_SIGNAL,
    PIE_COUNTER_UNARMED_THREADS,
    PIE_COUNTER_THREADS_FILTERED,
    PIE_COUNTER_RINGLESS_THREADS,
    PIE_COUNTER_TIMER_THREADS,
    PIE_COUNTER_FORKS_UNPROFILED,
    PIE_COUNTER_PROCESSES_UNTRACKED,
    PIE_COUNTER_CLOCK_GIVEN_UP,
    PIE_COUNTER_SINK_ERRORS,
    PIE_COUNTER_OUT_OF_MEMORY, /* the profiler's own: a record could not be kept */
    /* Of watching memory accesses: samples that began no watch, and why. */
    PIE_COUNTER_WATCH_BLOCK_UNKNOWN,
    PIE_COUNTER_WATCH_BLOCK_EMPTY,
    PIE_COUNTER_WATCH_BLOCKS_FULL, /* those of them that will not be decoded, for want of room */
    PIE_COUNTER_WATCH_NO_CREDIT,
    PIE_COUNTER_WATCH_DECIDED,
    PIE_COUNTER_WATCH_FRUITLESS, /* few begin where the last ones came to nothing */
    PIE_COUNTER_WATCH_NO_SLOT,
    PIE_COUNTER_WATCH_NO_REGISTER,
    /* Watches that did not come to stage 3, and why. */
    PIE_COUNTER_WATCH_NOT_REACHED,
    PIE_COUNTER_WATCH_ACCESS_IGNORED,
    PIE_COUNTER_WATCH_NOT_NATIVE,
    PIE_COUNTER_WATCH_CHANGED_IN_CALL,
    PIE_COUNTER_WATCH_CALL_LEFT,
    /* Watches that did, and traps. */
    PIE_COUNTER_WATCH_REACHED,
    PIE_COUNTER_WATCH_TRAPS,
    PIE_COUNTER_WATCH_STRAY_TRAPS,
    PIE_COUNTER_WATCH_LATE_TRAPS,
    PIE_COUNTER_WATCH_RING_FULL,
    PIE_COUNTER_WATCH_TRAP_UNKNOWN,
    /* Of memory: events that were not noted, blocks that could not be tracked. */
    PIE_COUNTER_HEAP_RING_FULL,
    PIE_COUNTER_HEAP_UNTRACKED,
    PIE_COUNTER_COPY_LOOP_RING_FULL,
    PIE_COUNTER_READS_RING_FULL,
    /* Texts of code without a file, a notebook's cells above all, that were too long or had no room. */
    PIE_COUNTER_CELL_SOURCES_DROPPED,
    PIE_COUNTER_WAIT_UNKNOWN, /* looks at a thread that waited, without what for */
    /* Modules whose debug information was put off, and of these the ones that had their turn. */
    PIE_COUNTER_DEBUG_INFO_WAITS,
    PIE_COUNTER_DEBUG_INFO_READ,
    PIE_COUNTER_COUNT,
};

/* Context: any. */
void pie_counter_add(enum pie_counter counter, uint64_t n);
uint64_t pie_counter_get(enum pie_counter counter);
/* "ring_full"; stable, part of the file format. */
const char *pie_counter_name(enum pie_counter counter);
/* Does one count mean that at least one sample was lost? */
bool pie_counter_is_drop(enum pie_counter counter);
/* In a forked child. */
void pie_counters_reset(void);
