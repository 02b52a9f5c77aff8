/* SPDX-License-Identifier: Apache-2.0 */

/* Clocks, counters and breakpoints. What a run chooses comes first. */

#include "profiler/doctor/probe_internal.h"

#include <errno.h>
#include <string.h>

static const char allow_kernel[] =
    "sysctl kernel.perf_event_paranoid=1 (as root), or give the process CAP_PERFMON";
static const char allow_perf[] = "sysctl kernel.perf_event_paranoid=1 (as root) or CAP_PERFMON; in a "
                                 "container also a seccomp profile that allows "
                                 "perf_event_open";
static const char allow_seccomp[] = "let the container's seccomp profile or the security module allow "
                                    "perf_event_open (docker: --cap-add PERFMON)";
static const char newer_kernel[] = "Linux 6.11 or later";
static const char more_locked[] = "sysctl kernel.perf_event_mlock_kb=2048 (as root), or raise ulimit -l";
static const char is_unused[] =
    "nothing for the time profile; redundant loads and stores cannot be watched for";

static bool is_refused(int error) {
    return error == -EACCES || error == -EPERM;
}

/* The remedy for perf_event_open() that failed with `error`. */
static const char *mend_perf(const struct pie_machine_facts *facts, int error) {
    if (facts->clock.is_traced)
        return "run without the debugger";
    switch (error) {
    case -EACCES:
    case -EPERM:
        return facts->clock.paranoid == PIE_CLOCK_PARANOID_UNKNOWN || facts->clock.paranoid > 2
                   ? allow_perf
                   : allow_seccomp;
    case -ENOSYS:
        return "a kernel with CONFIG_PERF_EVENTS";
    case -EMFILE:
    case -ENFILE:
        return "raise ulimit -n";
    default:
        return newer_kernel;
    }
}

static const char *mend_clock(const struct pie_machine_facts *facts, enum pie_clock_kind clock) {
    if (clock < PIE_CLOCK_PERF_USER)
        return mend_perf(facts, facts->clock.perf_user_error);
    if (facts->clock.perf_kernel_error)
        return allow_kernel;
    return facts->clock.perf_mmap_error ? more_locked : newer_kernel;
}

static void judge_clock(const struct pie_machine_facts *facts, const struct pie_build_facts *build,
                        struct pie_probe *probe) {
    static const char *const costs[] = {
        [PIE_CLOCK_NONE] = "no time profile at all",
        [PIE_CLOCK_ITIMER] =
            "one clock for all threads: their shares are coarse, and no finer than the kernel's tick",
        [PIE_CLOCK_TIMER] = "samples no finer than the kernel's tick; system time is inferred",
        [PIE_CLOCK_PERF_USER] =
            "system time is inferred, not sampled: lines that wait in the kernel are less exact",
        [PIE_CLOCK_PERF] = NULL,
    };
    const char *note;
    enum pie_clock_kind clock = pie_clock_choose(&facts->clock, NULL, &note);
    if (!note) {
        pie_probe_say(probe, "%s", pie_clock_name(clock));
        return;
    }
    pie_probe_say(probe, "%s; %s", pie_clock_name(clock), note);
    pie_probe_lacks(probe, clock == PIE_CLOCK_NONE ? PIE_PROBE_MISSING : PIE_PROBE_DEGRADED, costs[clock],
                    mend_clock(facts, clock));
}

static void judge_perf_user(const struct pie_machine_facts *facts, const struct pie_build_facts *build,
                            struct pie_probe *probe) {
    int error = facts->clock.perf_user_error;
    pie_probe_say(probe, "%s", error ? strerror(-error) : "software clock with a synchronous signal");
    if (error)
        pie_probe_lacks(probe, PIE_PROBE_MISSING, "samples come from timers, no finer than the kernel's tick",
                        mend_perf(facts, error));
}

static void judge_perf_kernel(const struct pie_machine_facts *facts, const struct pie_build_facts *build,
                              struct pie_probe *probe) {
    int error = facts->clock.perf_kernel_error;
    pie_probe_say(probe, "%s", error ? strerror(-error) : "kernel code is sampled as well");
    if (error)
        pie_probe_lacks(probe, PIE_PROBE_MISSING, "system time is inferred from clocks, not sampled",
                        is_refused(error) && !facts->clock.perf_user_error ? allow_kernel
                                                                           : mend_perf(facts, error));
}

static void judge_paranoid(const struct pie_machine_facts *facts, const struct pie_build_facts *build,
                           struct pie_probe *probe) {
    int paranoid = facts->clock.paranoid;
    if (paranoid == PIE_CLOCK_PARANOID_UNKNOWN) {
        pie_probe_say(probe, "unknown");
        return; /* the trials above tell what counts */
    }
    pie_probe_say(probe, "%d%s", paranoid,
                  paranoid > 1 && !facts->clock.perf_kernel_error ? ", but this process is privileged" : "");
    if (paranoid > 1 && is_refused(facts->clock.perf_kernel_error))
        pie_probe_lacks(probe, PIE_PROBE_DEGRADED,
                        paranoid > 2 ? "perf events are refused" : "kernel code cannot be sampled",
                        allow_kernel);
}

static void judge_rings(const struct pie_machine_facts *facts, const struct pie_build_facts *build,
                        struct pie_probe *probe) {
    int error = facts->clock.perf_mmap_error;
    if (facts->clock.perf_user_error && facts->clock.perf_kernel_error) {
        pie_probe_say(probe, "no event to map one for");
        pie_probe_lacks(probe, PIE_PROBE_MISSING, "nothing beyond the missing events", NULL);
        return;
    }
    if (error) {
        pie_probe_say(probe, "%s", strerror(-error));
        pie_probe_lacks(probe, PIE_PROBE_MISSING, "system time is inferred from clocks, not sampled",
                        more_locked);
        return;
    }
    /* Two pages for each thread: of what every user has for each CPU, then of the process's own limit. */
    if (facts->perf_mlock_kb < 0 || facts->locked_bytes_max < 0) {
        pie_probe_say(probe, "mapped");
        return;
    }
    long long threads = (facts->perf_mlock_kb * 1024LL * facts->cpus + facts->locked_bytes_max) / 8192;
    pie_probe_say(probe, "room for %lld threads (perf_event_mlock_kb %ld, ulimit -l %lld kB)", threads,
                  facts->perf_mlock_kb, facts->locked_bytes_max / 1024);
    if (threads < 64)
        pie_probe_lacks(probe, PIE_PROBE_DEGRADED,
                        "threads beyond these are sampled without kernel code or not at all", more_locked);
}

static void judge_timers(const struct pie_machine_facts *facts, const struct pie_build_facts *build,
                         struct pie_probe *probe) {
    int error = facts->clock.thread_timer_error;
    long tick_ns = facts->clock.tick_ns;
    if (error)
        pie_probe_say(probe, "%s", strerror(-error));
    else if (tick_ns > 0)
        pie_probe_say(probe, "per thread, at most %ld a second (tick of %.3g ms)", 1000000000 / tick_ns,
                      (double)tick_ns * 1e-6);
    else
        pie_probe_say(probe, "per thread");
    if (error)
        pie_probe_lacks(probe, PIE_PROBE_MISSING, "without perf events all threads share one clock",
                        error == -EAGAIN ? "raise ulimit -i" : NULL);
}

static void judge_debugger(const struct pie_machine_facts *facts, const struct pie_build_facts *build,
                           struct pie_probe *probe) {
    pie_probe_say(probe, "%s", facts->clock.is_traced ? "this process is traced" : "none is attached");
    if (facts->clock.is_traced)
        pie_probe_lacks(probe, PIE_PROBE_DEGRADED,
                        "perf events are not used: the debugger would keep their signals",
                        "run without the debugger");
}

static void judge_counters(const struct pie_machine_facts *facts, const struct pie_build_facts *build,
                           struct pie_probe *probe) {
    int error = facts->cycles_error;
    const char *name = facts->has_event_names ? "unknown to libpfm4" : "libpfm4 is missing";
    if (*facts->pmu)
        name = facts->pmu;
    if (!error) {
        pie_probe_say(probe, "%s", *facts->pmu ? facts->pmu : "cycles");
        return;
    }
    bool is_absent = error == -ENOENT || error == -EOPNOTSUPP || error == -ENODEV;
    pie_probe_say(probe, "%s (%s)", is_absent ? "none" : strerror(-error), name);
    pie_probe_lacks(probe, PIE_PROBE_MISSING,
                    "CPU time is measured by the software clock; cycles are not counted",
                    is_refused(error)          ? mend_perf(facts, error)
                    : facts->access.is_virtual ? "a virtual machine with a virtual PMU, or the machine itself"
                                               : NULL);
}

static void judge_accesses(const struct pie_machine_facts *facts, const struct pie_build_facts *build,
                           struct pie_probe *probe) {
    static const char *const costs[] = {
        [PIE_ACCESS_NONE] = "no redundant loads and stores are found",
        [PIE_ACCESS_TASKCLOCK] =
            "what is watched is weighted by the time that code takes, not by the number of its accesses",
        [PIE_ACCESS_PMU] = "accesses are chosen near the one that was counted",
    };
    const struct pie_access_reason *reason;
    enum pie_access_sampler_kind sampler = pie_access_choose_with_reason(&facts->access, NULL, &reason);
    if (!reason) {
        pie_probe_say(probe, "%s", pie_access_sampler_name(sampler));
        return;
    }
    pie_probe_say(probe, "%s; %s", pie_access_sampler_name(sampler), reason->problem);
    pie_probe_lacks(probe, sampler == PIE_ACCESS_NONE ? PIE_PROBE_MISSING : PIE_PROBE_DEGRADED,
                    costs[sampler], reason->remedy);
}

static void judge_precise(const struct pie_machine_facts *facts, const struct pie_build_facts *build,
                          struct pie_probe *probe) {
    const struct pie_access_facts *access = &facts->access;
    if (access->loads == PIE_PMU_PRECISE && access->stores == PIE_PMU_PRECISE) {
        pie_probe_say(probe, "loads and stores, by %s", access->has_ibs ? "IBS" : "PEBS");
        return;
    }
    if (access->loads && access->stores)
        pie_probe_say(probe, "loads and stores are counted, not located");
    else if (!access->has_pmu)
        pie_probe_say(probe, "no hardware PMU");
    else
        pie_probe_say(probe, "%s",
                      access->pmu_error == -ENOTSUP ? "none known for this processor"
                                                    : strerror(-access->pmu_error));
    pie_probe_lacks(
        probe, PIE_PROBE_MISSING,
        "nothing for the time profile; memory accesses are found by decoding, not by the hardware",
        access->is_virtual ? "a virtual machine with a virtual PMU, or the machine itself" : NULL);
}

static void judge_breakpoints(int error, const struct pie_machine_facts *facts, struct pie_probe *probe) {
    if (error) {
        pie_probe_say(probe, "%s", strerror(-error));
        pie_probe_lacks(probe, PIE_PROBE_MISSING, is_unused,
                        error == -ENOSPC ? "end the debugger that uses them" : mend_perf(facts, error));
        return;
    }
    if (facts->access.breakpoints_are_silent) {
        pie_probe_say(probe, "can be set and never fire");
        pie_probe_lacks(probe, PIE_PROBE_MISSING, is_unused,
                        "a virtual machine that has debug registers, or the machine itself");
        return;
    }
    pie_probe_say(probe, "%d", facts->access.breakpoints);
    if (facts->access.breakpoints < 4)
        pie_probe_lacks(probe, PIE_PROBE_DEGRADED,
                        "nothing for the time profile; fewer addresses are watched at a time",
                        "end the debugger that uses them, or raise ulimit -n");
}

static void judge_execute_breakpoints(const struct pie_machine_facts *facts,
                                      const struct pie_build_facts *build, struct pie_probe *probe) {
    judge_breakpoints(facts->access.execute_error, facts, probe);
}

static void judge_data_breakpoints(const struct pie_machine_facts *facts, const struct pie_build_facts *build,
                                   struct pie_probe *probe) {
    judge_breakpoints(facts->access.data_error, facts, probe);
}

static void judge_ptrace_breakpoints(const struct pie_machine_facts *facts,
                                     const struct pie_build_facts *build, struct pie_probe *probe) {
    int error = facts->access.ptrace_error;

    if (!error) {
        pie_probe_say(probe, "can be set; --breakpoints any uses them where perf events are refused");
        return;
    }
    pie_probe_say(probe, "%s", strerror(-error));
    if (!facts->access.execute_error && !facts->access.data_error)
        return; /* nobody needs them */
    pie_probe_lacks(probe, PIE_PROBE_MISSING,
                    "redundant loads and stores cannot be watched for that way either",
                    facts->clock.is_traced    ? "run without the debugger"
                    : facts->ptrace_scope > 1 ? "sysctl kernel.yama.ptrace_scope=1 (as root)"
                    : error == -EBUSY         ? "raise ulimit -u, or the container's pids limit"
                                              : NULL);
}

const struct pie_probe_kind pie_probe_events[] = {
    {"clock", "clock of the time profile", judge_clock},
    {"accesses", "sampler of memory accesses", judge_accesses},
    {"perf_user", "perf events, user code", judge_perf_user},
    {"perf_kernel", "perf events, kernel code", judge_perf_kernel},
    {"perf_event_paranoid", "perf_event_paranoid", judge_paranoid},
    {"perf_rings", "rings of perf events", judge_rings},
    {"thread_timers", "CPU timers", judge_timers},
    {"debugger", "debugger", judge_debugger},
    {"pmu", "hardware counters", judge_counters},
    {"precise_events", "precise memory events", judge_precise},
    {"execute_breakpoints", "execute breakpoints", judge_execute_breakpoints},
    {"data_breakpoints", "data breakpoints", judge_data_breakpoints},
    {"ptrace_breakpoints", "breakpoints by ptrace", judge_ptrace_breakpoints},
    {0},
};
