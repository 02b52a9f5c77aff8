/* SPDX-License-Identifier: Apache-2.0 */

/* The collector of traced loops: the program's own threads do the work (trace.h), what they publish is written here. */

#include "profiler/trace/collector.h"

#include "profiler/govern/governor.h"
#include "profiler/ports/config.h"
#include "profiler/ports/pystack.h"
#include "profiler/ports/sink.h"
#include "profiler/trace/trace.h"

static void configure(const struct pie_config *config, const struct pie_pystack_ops *ops,
                      const struct pie_process_facts *facts) {
    pie_trace_configure(config->has_traced_loops && !ops->without_gil ? &config->trace : NULL);
}

static void spent(uint64_t spent_ns[PIE_COSTS]) {
    spent_ns[PIE_COST_OTHER] += pie_trace_spent_ns();
}

static int write_overhead(struct pie_sink *sink) {
    uint64_t spent_ns = pie_trace_spent_ns();

    return spent_ns ? sink->ops->put_overhead(sink, "learning", spent_ns, 0) : 0;
}

const struct pie_collector pie_trace_collector = {
    .name = "traced loops",
    .configure = configure,
    .finish = pie_trace_finish,
    .forked = pie_trace_forget,
    .spent = spent,
    .write = pie_trace_drain,
    .write_overhead = write_overhead,
};
