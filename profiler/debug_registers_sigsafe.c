/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/debug_registers.h"

#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>

void pie_debug_prepare(struct perf_event_attr *attr, enum pie_debug_kind kind, uint64_t address,
                       unsigned length, uint64_t cookie) {
    static const uint32_t types[] = {
        [PIE_DEBUG_EXECUTE] = HW_BREAKPOINT_X,
        [PIE_DEBUG_STORE] = HW_BREAKPOINT_W,
        [PIE_DEBUG_LOAD_STORE] = HW_BREAKPOINT_RW,
    };
    *attr = (struct perf_event_attr){
        .size = sizeof *attr,
        .type = PERF_TYPE_BREAKPOINT,
        .bp_type = types[kind],
        .bp_addr = address,
        .bp_len = kind == PIE_DEBUG_EXECUTE ? sizeof(long) : length, /* what the kernel asks for */
        .sample_period = 1,
        .exclude_kernel = 1,
        .exclude_hv = 1,
        .sigtrap = 1,
        .remove_on_exec = 1,
        .precise_ip = 2,
        .sig_data = cookie,
    };
}
