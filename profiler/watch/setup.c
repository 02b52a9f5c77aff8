/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/watch/setup.h"

#include "profiler/base/proc_file.h"
#include "profiler/ports/config.h"
#include "profiler/time/clock_price.h"
#include "profiler/watch/debug_registers.h"
#include "profiler/watch/internal.h"
#include "profiler/watch/watch.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* Of the overhead that the user allows, this part may go to watching until the governor knows what is spent
 * (profiler/govern/governor.h). With fixed rates it is that of the default. */
static const double BUDGET_PART = 0.6, BUDGET_FIXED = 0.05;

/* Where it could not be measured: what it was on a virtual machine. */
static const uint64_t TRAP_PRICE_DEFAULT_NS = 12000;

static const char SILENT[] =
    "debug registers can be set by ptrace here and never fire: redundant loads and stores are "
    "not watched for";

/* Of this process; set up anew in a forked child. */
static struct pie_watch_settings settings;
static bool is_on;

static const struct pie_debug_ops *registers_of(bool by_ptrace) {
    if (by_ptrace)
        return &pie_debug_ptrace;
    return pie_debug_hidden_begin() ? &pie_debug_hidden : &pie_debug_own_table;
}

/* The signal of a counter takes the same way as the clock's. */
static uint64_t sample_price_ns(const struct pie_access_facts *facts) {
    const struct pie_clock_price *clock = pie_clock_price_known();

    return facts->pmu_interrupt_ns + (clock ? clock->signal_ns : 0);
}

static double budget_of(const struct pie_config *config) {
    return BUDGET_PART * (config->overhead_budget > 0 ? config->overhead_budget : BUDGET_FIXED);
}

/* The first start of a process finds these tables untouched, and leaves their pages so. */
static void forget(void) {
    static bool is_again;

    if (is_again) {
        pie_watch_patience_forget();
        pie_watch_fruit_forget();
        pie_watch_items_forget();
    }
    is_again = true;
}

const struct pie_access_sampler_ops *pie_watch_set_up(const struct pie_config *config,
                                                      const struct pie_pystack_ops *ops,
                                                      const struct pie_clock_facts *clock_facts,
                                                      enum pie_clock_kind clock,
                                                      int (*take_signal)(int signal), const char **ret_note) {
    enum pie_access_sampler_kind kind = PIE_ACCESS_NONE;
    struct pie_access_facts facts;
    bool by_ptrace;

    *ret_note = NULL;
    is_on = false;
    if (ops->without_gil) {
        *ret_note = ops->without_gil;
    } else if (config->has_redundancy && !config->has_time) {
        *ret_note =
            "watches are weighed by samples of time, which --no-time leaves out: redundant loads and stores "
            "are not watched for";
    } else if (config->has_redundancy) {
        enum pie_breakpoint_request request = PIE_BREAKPOINT_BY_PERF;
        (void)pie_access_breakpoints_parse(config->breakpoints,
                                           &request); /* the launcher has refused unknown names */
        pie_access_facts_gather(clock_facts, clock, &facts);
        if (request != PIE_BREAKPOINT_BY_PERF)
            pie_access_facts_try_ptrace(request, &facts);
        kind = pie_access_choose(&facts, config->force_sampler, ret_note);
    }
    by_ptrace = kind != PIE_ACCESS_NONE && pie_access_breakpoints(&facts) == PIE_BREAKPOINT_PTRACE;
    pie_debug_ptrace_use(by_ptrace); /* the handler of SIGTRAP is installed for it */
    if (kind != PIE_ACCESS_NONE && take_signal(SIGTRAP) < 0) {
        kind = PIE_ACCESS_NONE;
        *ret_note = "the handler of SIGTRAP could not be installed";
    }
    const struct pie_watch_price *price = kind != PIE_ACCESS_NONE ? pie_watch_price() : NULL;
    if (by_ptrace && price && !price->trap_ns) {
        kind = PIE_ACCESS_NONE;
        *ret_note = SILENT;
    }
    if (kind != PIE_ACCESS_NONE) {
        forget();
        settings = (struct pie_watch_settings){
            .registers = registers_of(by_ptrace),
            .ops = ops,
            .fp_tolerance = config->fp_tolerance,
            .budget = budget_of(config),
            .is_adaptive = config->is_adaptive,
            .is_frugal = config->is_budget_asked && config->overhead_budget > 0,
            .trap_price_ns = price->trap_ns ? price->trap_ns : TRAP_PRICE_DEFAULT_NS,
            .sample_price_ns = kind == PIE_ACCESS_PMU ? sample_price_ns(&facts) : 0,
            .fault_tax_ns = price->fault_tax_ns,
            .fault_tax_share = price->fault_tax_share,
        };
        is_on = true;
        pie_watch_set(&settings);
    }
    return pie_access_sampler_of(kind);
}

void pie_watch_check_debugger(void) {
    char status[4096];

    if (!is_on)
        return;
    ssize_t n = pie_proc_read("/proc/thread-self/status", status, sizeof status - 1);
    if (n <= 0)
        return;
    status[n] = '\0';
    const char *tracer = strstr(status, "\nTracerPid:");
    pie_watch_set(tracer && strtol(tracer + strlen("\nTracerPid:"), NULL, 10) != 0 ? NULL : &settings);
}
