/* SPDX-License-Identifier: Apache-2.0 */

#include "profiler/doctor/machine_facts.h"
#include "profiler/base/proc_file.h"

#include <cpuid.h>
#include <gnu/libc-version.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

static int find_seccomp(void) {
    char status[4096], mode[16];
    if (pie_proc_read("/proc/self/status", status, sizeof(status)) > 0 &&
        pie_proc_field(status, "Seccomp", mode, sizeof(mode)) > 0)
        return atoi(mode);
    int r = prctl(PR_GET_SECCOMP);
    return r >= 0 ? r : PIE_FACT_UNKNOWN;
}

static long long soft_limit(__rlimit_resource_t resource) {
    struct rlimit limit;
    if (getrlimit(resource, &limit) < 0)
        return PIE_FACT_UNKNOWN;
    return limit.rlim_cur == RLIM_INFINITY ? -1 : (long long)limit.rlim_cur;
}

/* From the CPU itself: /proc/cpuinfo may be missing or made up. */
static void find_cpu(struct pie_machine_facts *facts) {
    unsigned words[12];
    for (unsigned i = 0; i < 3; i++)
        if (!__get_cpuid(0x80000002 + i, &words[4 * i], &words[4 * i + 1], &words[4 * i + 2],
                         &words[4 * i + 3]))
            return;
    const char *name = (const char *)words;
    size_t length = strnlen(name, sizeof(words)), blanks = strspn(name, " ");
    if (blanks >= length)
        return;
    snprintf(facts->cpu, sizeof(facts->cpu), "%.*s", (int)(length - blanks), name + blanks);
}

void pie_machine_facts_gather(const void *python_address, struct pie_machine_facts *ret_facts) {
    *ret_facts = (struct pie_machine_facts){
        .has_proc = access("/proc/self/status", R_OK) == 0,
        .seccomp = find_seccomp(),
        .ptrace_scope = PIE_FACT_UNKNOWN,
        .perf_mlock_kb = PIE_FACT_UNKNOWN,
        .descriptors_max = soft_limit(RLIMIT_NOFILE),
        .locked_bytes_max = soft_limit(RLIMIT_MEMLOCK),
        .pending_signals_max = soft_limit(RLIMIT_SIGPENDING),
        .cpus = (int)sysconf(_SC_NPROCESSORS_ONLN),
    };
    long value;
    if (pie_proc_read_long("/proc/sys/kernel/yama/ptrace_scope", &value) == 0)
        ret_facts->ptrace_scope = (int)value;
    if (pie_proc_read_long("/proc/sys/kernel/perf_event_mlock_kb", &value) == 0)
        ret_facts->perf_mlock_kb = value;
    struct utsname name;
    if (uname(&name) == 0)
        snprintf(ret_facts->kernel, sizeof(ret_facts->kernel), "%.63s", name.release);
    snprintf(ret_facts->libc, sizeof(ret_facts->libc), "%s", gnu_get_libc_version());
    find_cpu(ret_facts);
    pie_clock_facts_gather(&ret_facts->clock);
    pie_machine_facts_gather_events(ret_facts);
    pie_machine_facts_gather_symbols(python_address, ret_facts);
}
