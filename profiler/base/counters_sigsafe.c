/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/base/counters.h"

#include <stdatomic.h>

/* Relaxed throughout: a counter orders nothing. Reset by pie_counters_reset() in a forked child. */
static _Atomic uint64_t counters[PIE_COUNTER_COUNT];

static const struct {
    const char *name;
    bool is_drop;
} descriptions[PIE_COUNTER_COUNT] = {
    [PIE_COUNTER_SAMPLES] = {"samples", false},
    [PIE_COUNTER_REENTERED] = {"handler_reentered", true},
    [PIE_COUNTER_IN_HOOK] = {"sample_in_the_profiler", false},
    [PIE_COUNTER_RING_FULL] = {"ring_full", true},
    [PIE_COUNTER_NO_THREAD_SLOT] = {"no_thread_slot", true},
    [PIE_COUNTER_CCT_FULL] = {"cct_full", false},
    [PIE_COUNTER_CODE_FULL] = {"code_registry_full", false},
    [PIE_COUNTER_TICKS] = {"ticks", false},
    [PIE_COUNTER_TURNS] = {"context_turns", false},
    [PIE_COUNTER_PYTHON_INVALID] = {"python_chain_invalid", false},
    [PIE_COUNTER_PYTHON_TRUNCATED] = {"python_stack_truncated", false},
    [PIE_COUNTER_NATIVE_TRUNCATED] = {"native_stack_truncated", false},
    [PIE_COUNTER_NATIVE_BRIDGED] = {"native_stack_bridged", false},
    [PIE_COUNTER_NATIVE_EXOTIC] = {"native_frame_not_modelled", false},
    [PIE_COUNTER_EVAL_UNMATCHED] = {"eval_frame_unmatched", false},
    [PIE_COUNTER_FOREIGN_SIGNAL] = {"foreign_signal", false},
    [PIE_COUNTER_UNARMED_THREADS] = {"threads_without_clock", false},
    [PIE_COUNTER_THREADS_FILTERED] = {"threads_under_a_seccomp_filter", true},
    [PIE_COUNTER_RINGLESS_THREADS] = {"threads_without_perf_ring", false},
    [PIE_COUNTER_TIMER_THREADS] = {"threads_with_timer_for_perf", false},
    [PIE_COUNTER_FORKS_UNPROFILED] = {"forks_unprofiled", true},
    [PIE_COUNTER_PROCESSES_UNTRACKED] = {"process_table_full", false},
    [PIE_COUNTER_CLOCK_GIVEN_UP] = {"clock_given_up_to_the_program", true},
    [PIE_COUNTER_SINK_ERRORS] = {"flushes_failed", true},
    [PIE_COUNTER_OUT_OF_MEMORY] = {"out_of_memory", true},
    [PIE_COUNTER_WATCH_BLOCK_UNKNOWN] = {"watch_block_not_decoded_yet", false},
    [PIE_COUNTER_WATCH_BLOCK_EMPTY] = {"watch_block_without_access", false},
    [PIE_COUNTER_WATCH_BLOCKS_FULL] = {"watch_block_table_full", false},
    [PIE_COUNTER_WATCH_NO_CREDIT] = {"watch_over_budget", false},
    [PIE_COUNTER_WATCH_DECIDED] = {"watch_line_decided", false},
    [PIE_COUNTER_WATCH_FRUITLESS] = {"watch_place_fruitless", false},
    [PIE_COUNTER_WATCH_NO_SLOT] = {"watch_registers_kept", false},
    [PIE_COUNTER_WATCH_NO_REGISTER] = {"watch_register_refused", false},
    [PIE_COUNTER_WATCH_NOT_REACHED] = {"watch_access_not_reached", false},
    [PIE_COUNTER_WATCH_ACCESS_IGNORED] = {"watch_access_ignored", false},
    [PIE_COUNTER_WATCH_NOT_NATIVE] = {"watch_access_not_in_native_call", false},
    [PIE_COUNTER_WATCH_CHANGED_IN_CALL] = {"watch_changed_within_call", false},
    [PIE_COUNTER_WATCH_CALL_LEFT] = {"watch_call_never_returned", false},
    [PIE_COUNTER_WATCH_REACHED] = {"watches", false},
    [PIE_COUNTER_WATCH_TRAPS] = {"watch_traps", false},
    [PIE_COUNTER_WATCH_STRAY_TRAPS] = {"watch_stray_traps", false},
    [PIE_COUNTER_WATCH_LATE_TRAPS] = {"watch_late_traps", false},
    [PIE_COUNTER_WATCH_RING_FULL] = {"watch_ring_full", false},
    [PIE_COUNTER_WATCH_TRAP_UNKNOWN] = {"watch_trap_not_decoded", false},
    [PIE_COUNTER_HEAP_RING_FULL] = {"memory_ring_full", true},
    [PIE_COUNTER_HEAP_UNTRACKED] = {"memory_block_not_tracked", false},
    [PIE_COUNTER_COPY_LOOP_RING_FULL] = {"copy_loop_ring_full", true},
    [PIE_COUNTER_READS_RING_FULL] = {"reads_ring_full", false},
    [PIE_COUNTER_CELL_SOURCES_DROPPED] = {"cell_sources_dropped", false},
    [PIE_COUNTER_WAIT_UNKNOWN] = {"wait_cause_unknown", false},
    [PIE_COUNTER_DEBUG_INFO_WAITS] = {"debug_info_put_off", false},
    [PIE_COUNTER_DEBUG_INFO_READ] = {"debug_info_read_later", false},
};

void pie_counter_add(enum pie_counter counter, uint64_t n) {
    atomic_fetch_add_explicit(&counters[counter], n, memory_order_relaxed);
}

uint64_t pie_counter_get(enum pie_counter counter) {
    return atomic_load_explicit(&counters[counter], memory_order_relaxed);
}

const char *pie_counter_name(enum pie_counter counter) {
    return descriptions[counter].name;
}

bool pie_counter_is_drop(enum pie_counter counter) {
    return descriptions[counter].is_drop;
}

void pie_counters_reset(void) {
    for (int i = 0; i < PIE_COUNTER_COUNT; i++)
        atomic_store_explicit(&counters[i], 0, memory_order_relaxed);
}
