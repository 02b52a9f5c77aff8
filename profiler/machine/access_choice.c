/* SPDX-License-Identifier: Apache-2.0 */

/* Both samplers need breakpoints and a decoder: the hardware may say which access to begin with, but the watch itself
 * is two breakpoints, and what a breakpoint caught is found by decoding. So the reasons against the lower rung hold for
 * the upper one as well.
 *
 * A PMU without precise events interrupts a few instructions late and gives no address, so the access is chosen in the
 * block as for samples of time, but blocks are weighted by accesses. That is little, so it is taken only where its
 * interrupts are cheap: under a hypervisor they took a tenth of the program's time and more, and samples of time find
 * as much. */

#include "profiler/machine/access_choice.h"

#include "profiler/machine/pmu_price.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

static const char *const sampler_names[] = {
    [PIE_ACCESS_NONE] = "none",
    [PIE_ACCESS_TASKCLOCK] = "taskclock",
    [PIE_ACCESS_PMU] = "pmu",
};

const char *pie_access_sampler_name(enum pie_access_sampler_kind kind) {
    return sampler_names[kind];
}

int pie_access_sampler_parse(const char *name, enum pie_access_sampler_kind *ret_kind) {
    for (enum pie_access_sampler_kind kind = PIE_ACCESS_NONE; kind <= PIE_ACCESS_PMU; kind++)
        if (strcmp(name, sampler_names[kind]) == 0) {
            *ret_kind = kind;
            return 0;
        }
    return -EINVAL;
}

#define NOT_WATCHED ": redundant loads and stores are not watched for"
#define BY_ANY ", or --breakpoints any"
#define BY_TIME ": accesses are sampled by time"
#define NEARBY ": accesses are chosen near the interrupt"

/* A reason whose remedy is worth saying in every run, and one that `pieprof doctor` prints. */
#define CURABLE(name, what, effect, cure)                                                                    \
    static const struct pie_access_reason name = {what, cure, what effect "; to mend it: " cure}
#define PLAIN(name, what, effect, cure) static const struct pie_access_reason name = {what, cure, what effect}

#define LOWER_PARANOID                                                                                       \
    "sysctl kernel.perf_event_paranoid=2 (as root), or CAP_PERFMON for this process (in a container: "       \
    "docker "                                                                                                \
    "run --cap-add PERFMON)"
#define OPEN_SECCOMP                                                                                         \
    "docker run --cap-add PERFMON or --security-opt seccomp=unconfined, if this is a container"
#define REAL_REGISTERS "a virtual machine that has debug registers, or the machine itself"
#define REAL_PMU "a virtual machine with a virtual PMU, or the machine itself"

CURABLE(no_decoder, "this pieprof was built without Zydis, which decodes machine code", NOT_WATCHED,
        "install libzydis-dev and build it again");
CURABLE(traced, "a debugger traces this process and would keep the signals of breakpoints", NOT_WATCHED,
        "run without the debugger");
CURABLE(paranoid_3, "perf_event_paranoid is 3, so breakpoints are refused", NOT_WATCHED,
        LOWER_PARANOID BY_ANY);
CURABLE(paranoid_4, "perf_event_paranoid is above 3, so breakpoints are refused", NOT_WATCHED,
        LOWER_PARANOID BY_ANY);
CURABLE(refused, "breakpoints are refused (perf_event_paranoid, seccomp or a security module)", NOT_WATCHED,
        LOWER_PARANOID " or seccomp=unconfined" BY_ANY);
CURABLE(filtered,
        "breakpoints are refused although perf_event_paranoid allows them (seccomp or a security module)",
        NOT_WATCHED, OPEN_SECCOMP BY_ANY);
CURABLE(no_perf, "this kernel or sandbox has no perf_event_open", NOT_WATCHED,
        "a kernel with CONFIG_PERF_EVENTS, outside the sandbox" BY_ANY);
CURABLE(old_kernel, "breakpoints with a synchronous signal need Linux 6.1", NOT_WATCHED, "a newer kernel");
CURABLE(no_registers, "there are no debug registers for breakpoints here", NOT_WATCHED, REAL_REGISTERS);
CURABLE(silent, "breakpoints can be set here and never fire (debug registers are not virtualised)",
        NOT_WATCHED, REAL_REGISTERS);
CURABLE(taken, "all debug registers are taken (by a debugger?)", NOT_WATCHED, "end what uses them");
CURABLE(no_descriptor, "no file descriptor is free for a breakpoint", NOT_WATCHED, "raise ulimit -n");
CURABLE(no_ptrace,
        "perf breakpoints are refused, and ptrace as well (ptrace_scope, seccomp, PR_SET_DUMPABLE)",
        NOT_WATCHED, "sysctl kernel.yama.ptrace_scope=1 (as root), or docker run --cap-add PERFMON");
CURABLE(no_ptrace_here,
        "this process may have no child of its own (PID namespaces, no /proc), which ptrace takes",
        NOT_WATCHED, "unshare --pid --fork, with /proc mounted");
CURABLE(no_process, "no process can be made for ptrace", NOT_WATCHED, "raise ulimit -u, or the pids limit");
PLAIN(by_ptrace, "debug registers are set by ptrace, which costs more than by perf events",
      ": fewer accesses are watched, and those by time", NULL);
PLAIN(no_breakpoint, "breakpoints cannot be opened", NOT_WATCHED, NULL);
PLAIN(no_clock, "no clock can be had, and samples of time are what a watch is weighed by", NOT_WATCHED, NULL);

PLAIN(no_pmu_virtual, "this machine has no hardware PMU (a virtual machine)", BY_TIME, REAL_PMU);
PLAIN(no_pmu, "the kernel knows no hardware PMU here", BY_TIME, NULL);
PLAIN(unknown_pmu, "no hardware event that counts memory accesses is known for this processor", BY_TIME,
      NULL);
PLAIN(pmu_refused, "hardware events are refused, other than breakpoints (seccomp or a security module)",
      BY_TIME, OPEN_SECCOMP);
PLAIN(no_stores, "the PMU counts loads here and no stores", BY_TIME, NULL);
PLAIN(no_loads, "the PMU counts stores here and no loads", BY_TIME, NULL);
PLAIN(no_event, "the PMU's events for memory accesses cannot be opened", BY_TIME, NULL);
PLAIN(dear_virtual, "the virtual PMU has no precise events, and its interrupts cost too much", BY_TIME,
      "a virtual machine with PEBS or IBS, or the machine itself; --sampler pmu takes it as it is");
PLAIN(dear, "the PMU has no precise events for memory accesses, and its interrupts cost too much", BY_TIME,
      "--sampler pmu takes it as it is");
PLAIN(old_ibs, "IBS is not restricted to user code by this kernel (Linux 6.14)", NEARBY,
      "Linux 6.14 or later");
PLAIN(imprecise_virtual, "the virtual PMU has no precise events", NEARBY,
      "a virtual machine with PEBS or IBS, or the machine itself");
PLAIN(imprecise, "the PMU has no precise events for memory accesses", NEARBY, NULL);

static bool is_refused(int error) {
    return error == -EACCES || error == -EPERM;
}

static const struct pie_access_reason *why_refused(const struct pie_access_facts *facts) {
    if (facts->paranoid == PIE_CLOCK_PARANOID_UNKNOWN)
        return &refused;
    if (facts->paranoid > 3)
        return &paranoid_4;
    return facts->paranoid == 3 ? &paranoid_3 : &filtered;
}

/* From Linux 5.13 on breakpoints have signals, but up to 6.0 one that is hit while SIGTRAP is blocked may end the
 * program. */
static bool is_before_sigtrap(const struct pie_access_facts *facts) {
    return facts->kernel_major < 6 || (facts->kernel_major == 6 && facts->kernel_minor < 1);
}

static const struct pie_access_reason *why_no_breakpoint(const struct pie_access_facts *facts, int error) {
    if (is_refused(error))
        return why_refused(facts);
    switch (error) {
    case 0:
        return facts->kernel_major && is_before_sigtrap(facts) ? &old_kernel : NULL;
    case -ENOSYS:
        return &no_perf;
    case -EINVAL:
    case -E2BIG:
        return is_before_sigtrap(facts) ? &old_kernel : &no_registers;
    case -ENOENT:
    case -ENODEV:
    case -EOPNOTSUPP:
        return &no_registers;
    case -ENOSPC:
        return &taken;
    case -EMFILE:
    case -ENFILE:
        return &no_descriptor;
    default:
        return &no_breakpoint;
    }
}

/* Each why_not_*() returns NULL if the sampler can be used, else the reason. */

static const struct pie_access_reason *why_no_perf_breakpoints(const struct pie_access_facts *facts) {
    const struct pie_access_reason *reason = why_no_breakpoint(facts, facts->execute_error);

    if (!reason)
        reason = why_no_breakpoint(facts, facts->data_error);
    return !reason && facts->breakpoints_are_silent ? &silent : reason;
}

/* A kernel that is too old for the one was never tried with the other. */
static const struct pie_access_reason *why_no_ptrace(const struct pie_access_facts *facts) {
    if (facts->kernel_major && is_before_sigtrap(facts))
        return &old_kernel;
    if (facts->breakpoints_are_silent)
        return &silent;
    switch (facts->ptrace_error) {
    case 0:
        return NULL;
    case -ENOTSUP:
        return &no_ptrace_here;
    case -EBUSY:
        return &no_process;
    case -EPERM:
        return &no_ptrace;
    default:
        return why_no_breakpoint(facts, facts->ptrace_error);
    }
}

static enum pie_breakpoint_way way_of(const struct pie_access_facts *facts,
                                      const struct pie_access_reason **ret_reason) {
    *ret_reason = NULL;
    if (facts->request != PIE_BREAKPOINT_BY_PTRACE) {
        *ret_reason = why_no_perf_breakpoints(facts);
        if (!*ret_reason)
            return PIE_BREAKPOINT_PERF;
    }
    if (facts->request == PIE_BREAKPOINT_BY_PERF)
        return PIE_BREAKPOINT_NONE;
    *ret_reason = why_no_ptrace(facts);
    return *ret_reason ? PIE_BREAKPOINT_NONE : PIE_BREAKPOINT_PTRACE;
}

enum pie_breakpoint_way pie_access_breakpoints(const struct pie_access_facts *facts) {
    const struct pie_access_reason *reason;

    return way_of(facts, &reason);
}

int pie_access_breakpoints_parse(const char *name, enum pie_breakpoint_request *ret_request) {
    static const char *const names[] = {[PIE_BREAKPOINT_BY_PERF] = "perf",
                                        [PIE_BREAKPOINT_BY_ANY] = "any",
                                        [PIE_BREAKPOINT_BY_PTRACE] = "ptrace"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name ? name : "perf", names[i]) == 0) {
            *ret_request = (enum pie_breakpoint_request)i;
            return 0;
        }
    return -EINVAL;
}

static const struct pie_access_reason *why_not_taskclock(const struct pie_access_facts *facts) {
    const struct pie_access_reason *reason;

    if (!facts->has_decoder)
        return &no_decoder;
    if (facts->is_traced)
        return &traced;
    if (way_of(facts, &reason) == PIE_BREAKPOINT_NONE)
        return reason;
    return facts->clock == PIE_CLOCK_NONE ? &no_clock : NULL;
}

static const struct pie_access_reason *why_not_pmu(const struct pie_access_facts *facts) {
    const struct pie_access_reason *reason = why_not_taskclock(facts);

    if (reason)
        return reason;
    if (pie_access_breakpoints(facts) == PIE_BREAKPOINT_PTRACE)
        return &by_ptrace; /* its signals are perf events' */
    if (!facts->has_pmu)
        return facts->is_virtual ? &no_pmu_virtual : &no_pmu;
    if (facts->loads && facts->stores)
        return NULL;
    if (facts->loads)
        return &no_stores;
    if (facts->stores)
        return &no_loads;
    if (facts->pmu_error == -ENOTSUP)
        return &unknown_pmu;
    return is_refused(facts->pmu_error) ? &pmu_refused : &no_event;
}

static bool is_precise(const struct pie_access_facts *facts) {
    return facts->loads == PIE_PMU_PRECISE && facts->stores == PIE_PMU_PRECISE;
}

/* It could be used; is it worth its interrupts? A price that is not known is not a low one. */
static const struct pie_access_reason *why_dear(const struct pie_access_facts *facts) {
    if (is_precise(facts) || (facts->pmu_interrupt_ns && facts->pmu_interrupt_ns <= PIE_PMU_CHEAP_NS))
        return NULL;
    return facts->is_virtual ? &dear_virtual : &dear;
}

/* The PMU is used; what could be better? */
static const struct pie_access_reason *why_imprecise(const struct pie_access_facts *facts) {
    if (is_precise(facts))
        return NULL;
    if (facts->has_ibs)
        return &old_ibs;
    return facts->is_virtual ? &imprecise_virtual : &imprecise;
}

static enum pie_access_sampler_kind limit_of(const char *forced) {
    enum pie_access_sampler_kind kind = PIE_ACCESS_PMU;

    if (forced)
        (void)pie_access_sampler_parse(forced, &kind); /* the launcher has refused unknown names */
    return kind;
}

enum pie_access_sampler_kind pie_access_choose_with_reason(const struct pie_access_facts *facts,
                                                           const char *forced,
                                                           const struct pie_access_reason **ret_reason) {
    enum pie_access_sampler_kind limit = limit_of(forced);
    const struct pie_access_reason *reason = NULL;

    if (limit == PIE_ACCESS_PMU) {
        reason = why_not_pmu(facts);
        if (!reason && !(forced && strcmp(forced, sampler_names[PIE_ACCESS_PMU]) == 0))
            reason = why_dear(facts);
        if (!reason) {
            *ret_reason = why_imprecise(facts);
            return PIE_ACCESS_PMU;
        }
    }
    const struct pie_access_reason *obstacle = limit == PIE_ACCESS_NONE ? NULL : why_not_taskclock(facts);
    if (limit == PIE_ACCESS_TASKCLOCK && pie_access_breakpoints(facts) == PIE_BREAKPOINT_PTRACE)
        reason = &by_ptrace;
    *ret_reason = obstacle ? obstacle : reason;
    return obstacle || limit == PIE_ACCESS_NONE ? PIE_ACCESS_NONE : PIE_ACCESS_TASKCLOCK;
}

enum pie_access_sampler_kind pie_access_choose(const struct pie_access_facts *facts, const char *forced,
                                               const char **ret_note) {
    const struct pie_access_reason *reason;
    enum pie_access_sampler_kind kind = pie_access_choose_with_reason(facts, forced, &reason);

    *ret_note = reason ? reason->note : NULL;
    return kind;
}
