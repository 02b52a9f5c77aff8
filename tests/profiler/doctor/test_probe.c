/* SPDX-License-Identifier: Apache-2.0 */

/* What doctor makes of machines that are made up. */

#include "profiler/doctor/machine_facts.h"
#include "profiler/doctor/probe.h"

#include <ctype.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static const struct pie_build_facts build = {.python_version = "3.11", .libpython = "static"};

/* A machine that lacks nothing, for each test to spoil. */
static struct pie_machine_facts good_facts(void) {
    return (struct pie_machine_facts){
        .clock = {.paranoid = 1, .kernel_major = 6, .kernel_minor = 12, .tick_ns = 4000000},
        .access = {.has_decoder = true,
                   .paranoid = 1,
                   .kernel_major = 6,
                   .kernel_minor = 12,
                   .clock = PIE_CLOCK_PERF,
                   .breakpoints = 4,
                   .has_pmu = true,
                   .loads = PIE_PMU_PRECISE,
                   .stores = PIE_PMU_PRECISE},
        .has_proc = true,
        .pmu = "Intel Sapphire Rapids",
        .has_event_names = true,
        .seccomp = 0,
        .ptrace_scope = 1,
        .perf_mlock_kb = 516,
        .descriptors_max = 1024,
        .locked_bytes_max = 8192 * 1024,
        .pending_signals_max = 30000,
        .kernel = "6.12.1",
        .libc = "2.36",
        .cpu = "Model",
        .cpus = 8,
        .has_python_symbols = true,
        .has_libc_symbols = true,
    };
}

struct findings {
    struct pie_probe probes[PIE_PROBE_MAX];
    size_t count;
    struct pie_probe_choice choice;
};

/* What holds for every machine. */
static void assert_sound(const struct findings *findings) {
    assert_in_range(findings->count, 20, PIE_PROBE_MAX - 1);
    assert_string_equal(findings->probes[0].id, "clock");
    assert_string_equal(findings->probes[1].id, "accesses");
    assert_true(strncmp(findings->probes[1].detail, pie_access_sampler_name(findings->choice.accesses),
                        strlen(pie_access_sampler_name(findings->choice.accesses))) == 0);
    for (size_t i = 0; i < findings->count; i++) {
        const struct pie_probe *probe = &findings->probes[i];
        assert_true(strlen(probe->detail) > 0);
        assert_int_equal(probe->cost != NULL, probe->status != PIE_PROBE_OK);
        assert_true(probe->cost || !probe->remedy);
        for (const char *letter = probe->id; *letter; letter++)
            assert_true(islower((unsigned char)*letter) || *letter == '_');
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(findings->probes[j].id, probe->id);
    }
}

static struct findings evaluate(const struct pie_machine_facts *facts) {
    struct findings findings;
    findings.count = pie_probe_evaluate(facts, &build, findings.probes, &findings.choice);
    assert_sound(&findings);
    return findings;
}

static const struct pie_probe *find(const struct findings *findings, const char *id) {
    for (size_t i = 0; i < findings->count; i++)
        if (strcmp(findings->probes[i].id, id) == 0)
            return &findings->probes[i];
    fail_msg("no probe %s", id);
    return NULL;
}

static void assert_probe(const struct pie_machine_facts *facts, const char *id, enum pie_probe_status status,
                         const char *detail_part, const char *remedy_part) {
    struct findings findings = evaluate(facts);
    const struct pie_probe *probe = find(&findings, id);
    assert_string_equal(pie_probe_status_name(probe->status), pie_probe_status_name(status));
    if (!strstr(probe->detail, detail_part))
        fail_msg("\"%s\" is not in \"%s\"", detail_part, probe->detail);
    if (!remedy_part)
        assert_null(probe->remedy);
    else if (!probe->remedy || !strstr(probe->remedy, remedy_part))
        fail_msg("\"%s\" is not in \"%s\"", remedy_part, probe->remedy ? probe->remedy : "no remedy");
}

static void test_nothing_is_missing(void **state) {
    struct pie_machine_facts facts = good_facts();
    struct findings findings = evaluate(&facts);
    for (size_t i = 0; i < findings.count; i++)
        if (findings.probes[i].status != PIE_PROBE_OK)
            fail_msg("%s: %s", findings.probes[i].id, findings.probes[i].detail);
    assert_int_equal(findings.choice.clock, PIE_CLOCK_PERF);
    assert_int_equal(findings.choice.accesses, PIE_ACCESS_PMU);
}

static void test_paranoid_2(void **state) {
    struct pie_machine_facts facts = good_facts();
    facts.clock.paranoid = 2;
    facts.clock.perf_kernel_error = -EACCES;
    assert_probe(&facts, "clock", PIE_PROBE_DEGRADED, "perf-user; perf_event_paranoid is 2", "paranoid=1");
    assert_probe(&facts, "perf_kernel", PIE_PROBE_MISSING, "Permission denied", "paranoid=1");
    assert_probe(&facts, "perf_event_paranoid", PIE_PROBE_DEGRADED, "2", "paranoid=1");
    assert_probe(&facts, "perf_user", PIE_PROBE_OK, "", NULL);
    facts.clock.perf_kernel_error = 0;
    assert_probe(&facts, "perf_event_paranoid", PIE_PROBE_OK, "privileged", NULL);
}

static void test_refused(void **state) {
    struct pie_machine_facts facts = good_facts();
    facts.clock.perf_user_error = facts.clock.perf_kernel_error = -EPERM;
    facts.cycles_error = facts.access.execute_error = facts.access.data_error = -EPERM;
    facts.access.breakpoints = 0;
    facts.seccomp = 2;
    assert_probe(&facts, "clock", PIE_PROBE_DEGRADED, "timer;", "seccomp profile");
    assert_probe(&facts, "seccomp", PIE_PROBE_DEGRADED, "filters", "perf_event_open");
    assert_probe(&facts, "data_breakpoints", PIE_PROBE_MISSING, "not permitted", "seccomp profile");
    assert_probe(&facts, "accesses", PIE_PROBE_MISSING, "none; breakpoints are refused", "--cap-add PERFMON");
    assert_int_equal(evaluate(&facts).choice.accesses, PIE_ACCESS_NONE);
    assert_probe(&facts, "perf_rings", PIE_PROBE_MISSING, "no event", NULL);
    facts.clock.paranoid = 3;
    assert_probe(&facts, "clock", PIE_PROBE_DEGRADED, "perf_event_paranoid is 3", "paranoid=1");
    assert_probe(&facts, "seccomp", PIE_PROBE_OK, "filters", NULL);
    facts.clock.paranoid = PIE_CLOCK_PARANOID_UNKNOWN;
    assert_probe(&facts, "perf_event_paranoid", PIE_PROBE_OK, "unknown", NULL);
}

static void test_no_clock(void **state) {
    struct pie_machine_facts facts = good_facts();
    facts.clock.perf_user_error = facts.clock.perf_kernel_error = -ENOSYS;
    facts.clock.thread_timer_error = -EAGAIN;
    assert_probe(&facts, "clock", PIE_PROBE_DEGRADED, "itimer;", "CONFIG_PERF_EVENTS");
    assert_probe(&facts, "thread_timers", PIE_PROBE_MISSING, "temporarily", "ulimit -i");
    facts.clock.itimer_error = -EPERM;
    assert_probe(&facts, "clock", PIE_PROBE_MISSING, "none;", "CONFIG_PERF_EVENTS");
    assert_int_equal(evaluate(&facts).choice.clock, PIE_CLOCK_NONE);
}

static void test_kernels(void **state) {
    struct pie_machine_facts facts = good_facts();
    facts.clock.kernel_minor = 1;
    assert_probe(&facts, "kernel", PIE_PROBE_DEGRADED, "Linux", "6.11");
    assert_probe(&facts, "clock", PIE_PROBE_DEGRADED, "perf-user", "6.11");
    facts.clock.kernel_major = 5;
    facts.clock.kernel_minor = 10;
    facts.clock.perf_user_error = facts.clock.perf_kernel_error = -EINVAL;
    assert_probe(&facts, "kernel", PIE_PROBE_DEGRADED, "Linux", "6.11");
    assert_probe(&facts, "clock", PIE_PROBE_DEGRADED, "timer", "6.11");
    facts.clock.kernel_major = 7;
    facts.kernel[0] = '\0';
    assert_probe(&facts, "kernel", PIE_PROBE_OK, "unknown version", NULL);
}

static void test_debugger(void **state) {
    struct pie_machine_facts facts = good_facts();
    facts.clock.is_traced = true;
    facts.access.is_traced = true;
    facts.access.execute_error = -ENOSPC;
    facts.access.breakpoints = 2;
    assert_probe(&facts, "debugger", PIE_PROBE_DEGRADED, "traced", "without the debugger");
    assert_probe(&facts, "clock", PIE_PROBE_DEGRADED, "timer", "without the debugger");
    assert_probe(&facts, "execute_breakpoints", PIE_PROBE_MISSING, "No space", "debugger");
    assert_probe(&facts, "data_breakpoints", PIE_PROBE_DEGRADED, "2", "debugger");
    assert_probe(&facts, "accesses", PIE_PROBE_MISSING, "none; a debugger", "without the debugger");
}

static void test_hardware(void **state) {
    struct pie_machine_facts facts = good_facts();
    assert_probe(&facts, "accesses", PIE_PROBE_OK, "pmu", NULL);
    assert_probe(&facts, "precise_events", PIE_PROBE_OK, "by PEBS", NULL);
    facts.access.has_ibs = true;
    assert_probe(&facts, "precise_events", PIE_PROBE_OK, "by IBS", NULL);
    facts.access.has_ibs = false;
    facts.access.loads = facts.access.stores = PIE_PMU_NOTHING;
    facts.access.pmu_error = -ENOTSUP;
    assert_probe(&facts, "precise_events", PIE_PROBE_MISSING, "none known", NULL);
    assert_probe(&facts, "accesses", PIE_PROBE_DEGRADED, "taskclock; no hardware event", NULL);
    facts.access.pmu_error = -EINVAL;
    assert_probe(&facts, "precise_events", PIE_PROBE_MISSING, "Invalid argument", NULL);
    facts.access.loads = facts.access.stores = PIE_PMU_IMPRECISE;
    assert_probe(&facts, "precise_events", PIE_PROBE_MISSING, "not located", NULL);
    assert_probe(&facts, "accesses", PIE_PROBE_DEGRADED, "taskclock; the PMU has no precise events",
                 "--sampler pmu");
    facts.access.pmu_interrupt_ns = 120000;
    assert_probe(&facts, "accesses", PIE_PROBE_DEGRADED, "its interrupts cost too much", "--sampler pmu");
    facts.access.pmu_interrupt_ns = 900;
    assert_probe(&facts, "accesses", PIE_PROBE_DEGRADED, "pmu; the PMU has no precise events", NULL);
}

static void test_virtual_machine(void **state) {
    struct pie_machine_facts facts = good_facts();
    facts.cycles_error = -ENOENT;
    facts.access.has_pmu = false;
    facts.access.loads = facts.access.stores = PIE_PMU_NOTHING;
    facts.access.pmu_error = -ENOENT;
    assert_probe(&facts, "pmu", PIE_PROBE_MISSING, "none (Intel Sapphire Rapids)", NULL);
    facts.access.is_virtual = true;
    assert_probe(&facts, "pmu", PIE_PROBE_MISSING, "none", "virtual PMU");
    assert_probe(&facts, "precise_events", PIE_PROBE_MISSING, "no hardware PMU", "virtual PMU");
    assert_probe(&facts, "accesses", PIE_PROBE_DEGRADED, "taskclock; this machine has no hardware PMU",
                 "virtual PMU");
    assert_int_equal(evaluate(&facts).choice.accesses, PIE_ACCESS_TASKCLOCK);
    assert_probe(&facts, "cpu", PIE_PROBE_OK, "Model, 8 CPUs, virtual", NULL);
    facts.has_event_names = false;
    facts.pmu[0] = '\0';
    assert_probe(&facts, "pmu", PIE_PROBE_MISSING, "libpfm4 is missing", "virtual PMU");
    facts.access.breakpoints_are_silent = true;
    assert_probe(&facts, "data_breakpoints", PIE_PROBE_MISSING, "never fire", "debug registers");
    assert_probe(&facts, "accesses", PIE_PROBE_MISSING, "never fire", "debug registers");
}

static void test_breakpoints_by_ptrace(void **state) {
    struct pie_machine_facts facts = good_facts();
    assert_probe(&facts, "ptrace_breakpoints", PIE_PROBE_OK, "--breakpoints any", NULL);
    facts.access.ptrace_error = -EPERM;
    facts.ptrace_scope = 2;
    assert_probe(&facts, "ptrace_breakpoints", PIE_PROBE_OK, "not permitted", NULL); /* nobody needs them */
    facts.access.execute_error = facts.access.data_error = -EPERM;
    assert_probe(&facts, "ptrace_breakpoints", PIE_PROBE_MISSING, "not permitted", "ptrace_scope=1");
    facts.access.ptrace_error = -EBUSY;
    facts.ptrace_scope = 0;
    assert_probe(&facts, "ptrace_breakpoints", PIE_PROBE_MISSING, "busy", "ulimit -u");
}

static void test_limits(void **state) {
    struct pie_machine_facts facts = good_facts();
    assert_probe(&facts, "perf_rings", PIE_PROBE_OK, "room for 1540 threads", NULL);
    facts.locked_bytes_max = 0;
    facts.cpus = 1;
    facts.perf_mlock_kb = 80;
    assert_probe(&facts, "perf_rings", PIE_PROBE_DEGRADED, "room for 10 threads", "mlock_kb");
    facts.clock.perf_mmap_error = -EPERM;
    assert_probe(&facts, "perf_rings", PIE_PROBE_MISSING, "not permitted", "mlock_kb");
    assert_probe(&facts, "clock", PIE_PROBE_DEGRADED, "perf-user", "mlock_kb");
    facts.descriptors_max = 16;
    assert_probe(&facts, "descriptors", PIE_PROBE_DEGRADED, "16", "ulimit -n");
    facts.descriptors_max = -1;
    assert_probe(&facts, "descriptors", PIE_PROBE_OK, "unlimited", NULL);
    facts.pending_signals_max = 0;
    assert_probe(&facts, "pending_signals", PIE_PROBE_DEGRADED, "0", "ulimit -i");
}

static void test_libraries(void **state) {
    struct pie_machine_facts facts = good_facts();
    facts.has_libc_symbols = facts.has_python_symbols = false;
    assert_probe(&facts, "libc_symbols", PIE_PROBE_DEGRADED, "only exported", "libc6-dbg");
    assert_probe(&facts, "libpython_symbols", PIE_PROBE_DEGRADED, "only exported", "libpython");
    const struct pie_build_facts shared = {.python_version = "3.12", .libpython = "shared"};
    struct findings findings;
    findings.count = pie_probe_evaluate(&facts, &shared, findings.probes, &findings.choice);
    assert_sound(&findings);
    assert_int_equal(find(&findings, "libpython")->status, PIE_PROBE_DEGRADED);
    assert_string_equal(find(&findings, "libpython")->detail, "shared, Python 3.12");
}

static struct findings judge_own(const struct pie_own_python *own, const char *version) {
    struct pie_machine_facts facts = good_facts();
    const struct pie_build_facts none = {.python_version = version, .libpython = "none", .own = own};
    struct findings findings;
    facts.has_python_symbols = false;
    findings.count = pie_probe_evaluate(&facts, &none, findings.probes, &findings.choice);
    assert_sound(&findings);
    return findings;
}

/* How pieprof was built says nothing of the user's own Python. */
static void test_own_python(void **state) {
    struct pie_own_python own = {.found = "3.12, /venv/bin/python", .is_usable = true, .has_file = true};
    struct findings findings = judge_own(&own, "3.12");
    const struct pie_probe *python = find(&findings, "libpython"),
                           *symbols = find(&findings, "libpython_symbols");
    assert_int_equal(python->status, PIE_PROBE_OK);
    assert_string_equal(python->name, "Python");
    assert_string_equal(python->detail, own.found);
    assert_int_equal(symbols->status, PIE_PROBE_DEGRADED);
    assert_null(strstr(symbols->remedy, "libpython"));
    own.has_file = false;
    findings = judge_own(&own, "3.14t");
    assert_int_equal(find(&findings, "libpython")->status, PIE_PROBE_DEGRADED);
    assert_int_equal(find(&findings, "libpython_symbols")->status, PIE_PROBE_OK);
    own = (struct pie_own_python){.found = "there is no python3 on the PATH"};
    findings = judge_own(&own, "3.11");
    assert_int_equal(find(&findings, "libpython")->status, PIE_PROBE_MISSING);
    assert_string_equal(find(&findings, "libpython")->detail, own.found);
}

static void test_nothing_is_known(void **state) {
    struct pie_machine_facts facts = {
        .clock = {.paranoid = PIE_CLOCK_PARANOID_UNKNOWN},
        .seccomp = PIE_FACT_UNKNOWN,
        .ptrace_scope = PIE_FACT_UNKNOWN,
        .perf_mlock_kb = PIE_FACT_UNKNOWN,
        .descriptors_max = PIE_FACT_UNKNOWN,
        .locked_bytes_max = PIE_FACT_UNKNOWN,
        .pending_signals_max = PIE_FACT_UNKNOWN,
    };
    assert_probe(&facts, "proc", PIE_PROBE_MISSING, "not there", "mount");
    assert_probe(&facts, "descriptors", PIE_PROBE_OK, "unknown", NULL);
    assert_probe(&facts, "seccomp", PIE_PROBE_OK, "unknown", NULL);
    assert_probe(&facts, "thread_timers", PIE_PROBE_OK, "per thread", NULL);
}

/* Every combination of what perf_event_open can answer, for soundness. */
static void test_every_error(void **state) {
    static const int errors[] = {0,       -EACCES, -EPERM,  -ENOSYS,     -EINVAL,
                                 -EMFILE, -ENOSPC, -ENOENT, -EOPNOTSUPP, -ENOTSUP};
    enum { COUNT = sizeof(errors) / sizeof(*errors) };
    for (int i = 0; i < COUNT * COUNT * COUNT; i++) {
        struct pie_machine_facts facts = good_facts();
        facts.clock.perf_user_error = errors[i % COUNT];
        facts.clock.perf_kernel_error = errors[i / COUNT % COUNT];
        facts.cycles_error = facts.access.pmu_error = facts.access.execute_error = errors[i / COUNT / COUNT];
        facts.access.data_error = facts.clock.perf_mmap_error = facts.cycles_error;
        facts.clock.is_traced = i % 2;
        facts.access.is_virtual = i % 3 == 0;
        facts.access.loads = (enum pie_pmu_level)(i % 3);
        facts.access.stores = (enum pie_pmu_level)(i / 3 % 3);
        (void)evaluate(&facts);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_breakpoints_by_ptrace),
        cmocka_unit_test(test_nothing_is_missing),
        cmocka_unit_test(test_paranoid_2),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_no_clock),
        cmocka_unit_test(test_kernels),
        cmocka_unit_test(test_debugger),
        cmocka_unit_test(test_hardware),
        cmocka_unit_test(test_virtual_machine),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_libraries),
        cmocka_unit_test(test_own_python),
        cmocka_unit_test(test_nothing_is_known),
        cmocka_unit_test(test_every_error),
    };
    return cmocka_run_group_tests_name("probe", tests, NULL, NULL);
}
