/* SPDX-License-Identifier: Apache-2.0 */

/* The kernel, the limits of this process, and the libraries it stands on. */

#include "profiler/doctor/probe_internal.h"

#include <string.h>

static void judge_kernel(const struct pie_machine_facts *facts, const struct pie_build_facts *build,
                         struct pie_probe *probe) {
    int major = facts->clock.kernel_major, minor = facts->clock.kernel_minor;
    pie_probe_say(probe, "Linux %s", *facts->kernel ? facts->kernel : "of unknown version");
    if (major < 6 || (major == 6 && minor < 1))
        pie_probe_lacks(probe, PIE_PROBE_DEGRADED, "perf events have no safe synchronous signals (Linux 6.1)",
                        "Linux 6.11 or later");
    else if (major < 6 || (major == 6 && minor < 11))
        pie_probe_lacks(probe, PIE_PROBE_DEGRADED,
                        "kernel code is not sampled: it would interrupt system calls (Linux 6.11)",
                        "Linux 6.11 or later");
}

static void judge_cpu(const struct pie_machine_facts *facts, const struct pie_build_facts *build,
                      struct pie_probe *probe) {
    pie_probe_say(probe, "%s, %d CPUs%s", *facts->cpu ? facts->cpu : "x86-64", facts->cpus,
                  facts->access.is_virtual ? ", virtual" : "");
}

static void judge_seccomp(const struct pie_machine_facts *facts, const struct pie_build_facts *build,
                          struct pie_probe *probe) {
    static const char *const modes[] = {"off", "strict", "filters system calls"};
    pie_probe_say(probe, "%s",
                  facts->seccomp >= 0 && facts->seccomp <= 2 ? modes[facts->seccomp] : "unknown");
    /* A filter is no harm in itself; it is to blame where nothing else is. */
    if (facts->seccomp == 2 && facts->clock.perf_user_error && facts->clock.paranoid < 3)
        pie_probe_lacks(
            probe, PIE_PROBE_DEGRADED, "perf_event_open is refused",
            "a seccomp profile that allows perf_event_open (docker: --security-opt seccomp=FILE or "
            "--cap-add PERFMON)");
}

static void judge_ptrace(const struct pie_machine_facts *facts, const struct pie_build_facts *build,
                         struct pie_probe *probe) {
    if (facts->ptrace_scope < 0)
        pie_probe_say(probe, "unrestricted; asked for --breakpoints ptrace and any only");
    else
        pie_probe_say(probe, "%d; asked for --breakpoints ptrace and any only", facts->ptrace_scope);
}

static void judge_proc(const struct pie_machine_facts *facts, const struct pie_build_facts *build,
                       struct pie_probe *probe) {
    pie_probe_say(probe, "%s", facts->has_proc ? "mounted" : "not there");
    if (!facts->has_proc)
        pie_probe_lacks(probe, PIE_PROBE_MISSING,
                        "waiting is not told from waiting for a CPU, and a debugger is not noticed",
                        "mount -t proc proc /proc");
}

static void say_limit(struct pie_probe *probe, long long limit) {
    if (limit == PIE_FACT_UNKNOWN)
        pie_probe_say(probe, "unknown");
    else if (limit < 0)
        pie_probe_say(probe, "unlimited");
    else
        pie_probe_say(probe, "%lld", limit);
}

static void judge_descriptors(const struct pie_machine_facts *facts, const struct pie_build_facts *build,
                              struct pie_probe *probe) {
    say_limit(probe, facts->descriptors_max);
    if (facts->descriptors_max >= 0 && facts->descriptors_max < 64)
        pie_probe_lacks(
            probe, PIE_PROBE_DEGRADED,
            "the rate of many threads cannot be changed while they run; native names may be missing",
            "raise ulimit -n");
}

static void judge_signals(const struct pie_machine_facts *facts, const struct pie_build_facts *build,
                          struct pie_probe *probe) {
    say_limit(probe, facts->pending_signals_max);
    if (facts->pending_signals_max >= 0 && facts->pending_signals_max < 256)
        pie_probe_lacks(probe, PIE_PROBE_DEGRADED, "CPU timers of many threads cannot be created",
                        "raise ulimit -i");
}

static void judge_libc(const struct pie_machine_facts *facts, const struct pie_build_facts *build,
                       struct pie_probe *probe) {
    pie_probe_say(probe, "glibc %s", facts->libc);
}

static bool is_free_threaded(const struct pie_build_facts *build) {
    return strchr(build->python_version, 't') != NULL;
}

static void lacks_gil(struct pie_probe *probe) {
    pie_probe_lacks(
        probe, PIE_PROBE_DEGRADED,
        "redundant loads and stores are not watched for, memory is not counted, loops are not traced",
        "take a Python with the GIL for these");
}

static void judge_own_python(const struct pie_build_facts *build, struct pie_probe *probe) {
    probe->name = "Python";
    pie_probe_say(probe, "%s", build->own->found);
    if (!build->own->is_usable)
        pie_probe_lacks(probe, PIE_PROBE_MISSING, "no program can be profiled",
                        "another Python, by activating its environment or with --python");
    else if (is_free_threaded(build))
        lacks_gil(probe);
}

static void judge_libpython(const struct pie_machine_facts *facts, const struct pie_build_facts *build,
                            struct pie_probe *probe) {
    if (build->own) {
        judge_own_python(build, probe);
        return;
    }
    pie_probe_say(probe, "%s, Python %s%s", build->libpython, build->python_version,
                  build->has_aged ? ", another build than the system's python3 is now" : "");
    if (build->has_aged)
        pie_probe_lacks(probe, PIE_PROBE_DEGRADED,
                        "fixes that the system's python3 has had since are not in it",
                        "build and install pieprof again; with -Dlibpython=shared it never ages");
    else if (is_free_threaded(build))
        lacks_gil(probe);
    else if (strcmp(build->libpython, "static") != 0)
        pie_probe_lacks(probe, PIE_PROBE_DEGRADED,
                        "the interpreter runs 1.17 times the instructions of python3, instead of 1.04 times",
                        "build with -Dlibpython=static, where there is a static libpython");
}

static void judge_symbols(bool has_symbols, bool has_lines, struct pie_probe *probe, const char *remedy) {
    pie_probe_say(probe, "%s",
                  has_lines     ? "debug information"
                  : has_symbols ? "all functions have names"
                                : "only exported functions have names");
    if (!has_symbols)
        pie_probe_lacks(probe, PIE_PROBE_DEGRADED, "native frames in its other functions have no name",
                        remedy);
}

static void judge_python_symbols(const struct pie_machine_facts *facts, const struct pie_build_facts *build,
                                 struct pie_probe *probe) {
    static const char remedy[] = "the debug symbols of Python (Debian: python3-dbg)";
    if (!build->own) {
        judge_symbols(
            facts->has_python_symbols, facts->has_python_lines, probe,
            "the debug symbols of libpython (Debian: python3-dbg), or build with -Dlibpython=static");
        return;
    }
    probe->name = "symbols of Python";
    if (build->own->has_file)
        judge_symbols(facts->has_python_symbols, facts->has_python_lines, probe, remedy);
    else
        pie_probe_say(probe, "not looked at");
}

static void judge_libc_symbols(const struct pie_machine_facts *facts, const struct pie_build_facts *build,
                               struct pie_probe *probe) {
    judge_symbols(facts->has_libc_symbols, facts->has_libc_lines, probe, "apt install libc6-dbg");
}

const struct pie_probe_kind pie_probe_process[] = {
    {"kernel", "kernel", judge_kernel},
    {"cpu", "processor", judge_cpu},
    {"seccomp", "seccomp", judge_seccomp},
    {"ptrace_scope", "ptrace scope", judge_ptrace},
    {"proc", "/proc", judge_proc},
    {"descriptors", "file descriptors", judge_descriptors},
    {"pending_signals", "pending signals", judge_signals},
    {"libc", "C library", judge_libc},
    {"libpython", "libpython", judge_libpython},
    {"libpython_symbols", "symbols of libpython", judge_python_symbols},
    {"libc_symbols", "symbols of the C library", judge_libc_symbols},
    {0},
};
