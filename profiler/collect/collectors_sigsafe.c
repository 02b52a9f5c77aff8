/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/collect/collectors.h"

#include "profiler/copies/collector.h"
#include "profiler/heap/collector.h"
#include "profiler/reads/collector.h"
#include "profiler/time/collector.h"
#include "profiler/trace/collector.h"
#include "profiler/watch/collector.h"
#include "profiler/windows/collector.h"

#include <assert.h>

/* In the order in which they begin: watching and copy loops need a clock. */
static const struct pie_collector *const collectors[] = {
    &pie_time_collector,  &pie_watch_collector, &pie_heap_collector,    &pie_copy_loop_collector,
    &pie_reads_collector, &pie_trace_collector, &pie_windows_collector, NULL,
};
static_assert(sizeof collectors / sizeof *collectors - 1 <= PIE_COLLECTORS_MAX, "room for those that work");

const struct pie_collector *const *pie_collectors(void) {
    return collectors;
}
