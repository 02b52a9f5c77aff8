/* SPDX-License-Identifier: Apache-2.0 */

#include "profiler/machine/access_choice.h"

#include <dirent.h>
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <cmocka.h>

/* A machine where all works, for each test to spoil. */
static struct pie_access_facts good_facts(void) {
    return (struct pie_access_facts){
        .has_decoder = true,
        .paranoid = 2,
        .kernel_major = 6,
        .kernel_minor = 1,
        .clock = PIE_CLOCK_PERF_USER,
        .breakpoints = 4,
        .has_pmu = true,
        .loads = PIE_PMU_PRECISE,
        .stores = PIE_PMU_PRECISE,
    };
}

/* The virtual machines that most people have. */
static struct pie_access_facts virtual_facts(void) {
    struct pie_access_facts facts = good_facts();
    facts.has_pmu = false;
    facts.is_virtual = true;
    facts.loads = facts.stores = PIE_PMU_NOTHING;
    facts.pmu_error = -ENOENT;
    return facts;
}

/* One sentence that fits in a line of the summary, without blanks at its ends and without a full stop. */
static void assert_sentence(const char *note) {
    size_t length = strlen(note);
    assert_in_range(length, 20, 320);
    assert_true(note[0] != ' ' && note[length - 1] != ' ' && note[length - 1] != '.');
    assert_null(strchr(note, '\n'));
    assert_null(strstr(note, "  "));
}

static void assert_choice(const struct pie_access_facts *facts, const char *forced,
                          enum pie_access_sampler_kind expected, const char *note_part) {
    const char *note = "untouched";
    const struct pie_access_reason *reason;
    enum pie_access_sampler_kind kind = pie_access_choose(facts, forced, &note);
    assert_string_equal(pie_access_sampler_name(kind), pie_access_sampler_name(expected));
    assert_int_equal(pie_access_choose_with_reason(facts, forced, &reason), kind);
    if (!note_part) {
        assert_null(note);
        assert_null(reason);
        return;
    }
    assert_non_null(note);
    assert_sentence(note);
    assert_ptr_equal(reason->note, note);
    assert_true(strncmp(note, reason->problem, strlen(reason->problem)) == 0);
    if (!strstr(note, note_part))
        fail_msg("\"%s\" is not in \"%s\"", note_part, note);
}

static void test_all_works(void **state) {
    struct pie_access_facts facts = good_facts();
    assert_choice(&facts, NULL, PIE_ACCESS_PMU, NULL);
    facts.is_virtual = true;
    assert_choice(&facts, NULL, PIE_ACCESS_PMU, NULL);
}

static void test_no_pmu_is_taskclock(void **state) {
    struct pie_access_facts facts = virtual_facts();
    assert_choice(&facts, NULL, PIE_ACCESS_TASKCLOCK,
                  "this machine has no hardware PMU (a virtual machine): accesses are sampled by time");
    facts.is_virtual = false;
    assert_choice(&facts, NULL, PIE_ACCESS_TASKCLOCK, "the kernel knows no hardware PMU");
}

static void test_pmu_without_events(void **state) {
    static const struct {
        enum pie_pmu_level loads, stores;
        int error;
        const char *note_part;
    } table[] = {
        {PIE_PMU_NOTHING, PIE_PMU_NOTHING, -ENOTSUP, "known for this processor"},
        {PIE_PMU_NOTHING, PIE_PMU_NOTHING, -EACCES, "seccomp"},
        {PIE_PMU_NOTHING, PIE_PMU_NOTHING, -EPERM, "seccomp"},
        {PIE_PMU_NOTHING, PIE_PMU_NOTHING, -EINVAL, "cannot be opened"},
        {PIE_PMU_PRECISE, PIE_PMU_NOTHING, -EINVAL, "no stores"},
        {PIE_PMU_IMPRECISE, PIE_PMU_NOTHING, -EINVAL, "no stores"},
        {PIE_PMU_NOTHING, PIE_PMU_PRECISE, -EINVAL, "no loads"},
    };
    for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
        struct pie_access_facts facts = good_facts();
        facts.loads = table[i].loads;
        facts.stores = table[i].stores;
        facts.pmu_error = table[i].error;
        assert_choice(&facts, NULL, PIE_ACCESS_TASKCLOCK, table[i].note_part);
        assert_choice(&facts, NULL, PIE_ACCESS_TASKCLOCK, "sampled by time");
        assert_choice(&facts, "taskclock", PIE_ACCESS_TASKCLOCK, NULL);
    }
}

/* Imprecise and dear: samples of time find as much, at a price. Only who names it gets it. */
static void test_dear_imprecise_pmu(void **state) {
    struct pie_access_facts facts = good_facts();
    facts.loads = facts.stores = PIE_PMU_IMPRECISE;
    facts.pmu_error = -EOPNOTSUPP;
    facts.is_virtual = true;
    static const uint64_t dear_ns[] = {0 /* not known */, 5001, 150000};
    for (size_t i = 0; i < sizeof dear_ns / sizeof *dear_ns; i++) {
        facts.pmu_interrupt_ns = dear_ns[i];
        assert_choice(&facts, NULL, PIE_ACCESS_TASKCLOCK,
                      "the virtual PMU has no precise events, and its inter");
        assert_choice(&facts, "taskclock", PIE_ACCESS_TASKCLOCK, NULL);
        assert_choice(&facts, "pmu", PIE_ACCESS_PMU, "the virtual PMU has no precise events: ");
    }
    facts.loads = PIE_PMU_PRECISE; /* Nehalem: only loads have addresses */
    facts.is_virtual = false;
    assert_choice(&facts, NULL, PIE_ACCESS_TASKCLOCK,
                  "its interrupts cost too much: accesses are sampled by time");
    facts.stores = PIE_PMU_PRECISE; /* what is precise is worth it */
    assert_choice(&facts, NULL, PIE_ACCESS_PMU, NULL);
    facts.loads = facts.stores = PIE_PMU_IMPRECISE;
    facts.pmu_interrupt_ns = 5000;
    assert_choice(&facts, NULL, PIE_ACCESS_PMU, "no precise events");
}

/* A virtual PMU without PEBS still triggers, and the run says what that means. */
static void test_imprecise_pmu(void **state) {
    struct pie_access_facts facts = good_facts();
    facts.loads = facts.stores = PIE_PMU_IMPRECISE;
    facts.pmu_error = -EOPNOTSUPP;
    facts.pmu_interrupt_ns = 1500;
    assert_choice(&facts, NULL, PIE_ACCESS_PMU, "no precise events for memory accesses");
    facts.is_virtual = true;
    assert_choice(&facts, NULL, PIE_ACCESS_PMU, "the virtual PMU has no precise events");
    facts.loads = PIE_PMU_PRECISE; /* Nehalem: only loads have addresses */
    facts.is_virtual = false;
    assert_choice(&facts, NULL, PIE_ACCESS_PMU, "no precise events");
    facts.has_ibs = true;
    assert_choice(&facts, NULL, PIE_ACCESS_PMU, "6.14");
}

static void test_breakpoints_refused_is_none(void **state) {
    static const struct {
        int error, paranoid;
        const char *note_part;
    } table[] = {
        {-EACCES, 3, "perf_event_paranoid is 3"},
        {-EACCES, 3, "sysctl kernel.perf_event_paranoid=2"},
        {-EACCES, 4, "perf_event_paranoid is above 3"},
        {-EPERM, PIE_CLOCK_PARANOID_UNKNOWN, "seccomp or a security module)"},
        {-EPERM, PIE_CLOCK_PARANOID_UNKNOWN, "--cap-add PERFMON"},
        {-EPERM, 2, "although perf_event_paranoid allows them"},
        {-EPERM, 2, "docker run --cap-add PERFMON or --security-opt seccomp=unconfined"},
        {-ENOSYS, 2, "no perf_event_open"},
        {-EINVAL, 2, "no debug registers"},
        {-E2BIG, 2, "no debug registers"},
        {-ENOENT, 2, "no debug registers"},
        {-ENODEV, 2, "no debug registers"},
        {-EOPNOTSUPP, 2, "a virtual machine that has debug registers"},
        {-ENOSPC, 2, "all debug registers are taken"},
        {-EMFILE, 2, "ulimit -n"},
        {-ENFILE, 2, "file descriptor"},
        {-EIO, 2, "cannot be opened"},
    };
    for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++)
        for (int is_data = 0; is_data < 2; is_data++) {
            struct pie_access_facts facts = good_facts();
            *(is_data ? &facts.data_error : &facts.execute_error) = table[i].error;
            facts.paranoid = table[i].paranoid;
            assert_choice(&facts, NULL, PIE_ACCESS_NONE, table[i].note_part);
            assert_choice(&facts, "taskclock", PIE_ACCESS_NONE, table[i].note_part);
            assert_choice(&facts, "pmu", PIE_ACCESS_NONE, "loads and stores are not watched for");
        }
}

static void test_old_kernels(void **state) {
    static const int versions[][2] = {{5, 12}, {4, 19}, {6, 0}, {0, 0}};
    for (size_t i = 0; i < sizeof(versions) / sizeof(*versions); i++) {
        struct pie_access_facts facts = virtual_facts();
        facts.kernel_major = versions[i][0];
        facts.kernel_minor = versions[i][1];
        facts.execute_error = facts.data_error = -EINVAL;
        assert_choice(&facts, NULL, PIE_ACCESS_NONE, "Linux 6.1");
        /* A kernel that has it all the same: it may not be safe. Of an unknown one the trial counts. */
        facts.execute_error = facts.data_error = 0;
        if (facts.kernel_major)
            assert_choice(&facts, NULL, PIE_ACCESS_NONE, "Linux 6.1");
        else
            assert_choice(&facts, NULL, PIE_ACCESS_TASKCLOCK, "no hardware PMU");
    }
    struct pie_access_facts facts = good_facts();
    facts.kernel_major = 6;
    facts.kernel_minor = 1;
    facts.data_error = -EINVAL;
    assert_choice(&facts, NULL, PIE_ACCESS_NONE, "no debug registers");
}

static void test_silent_breakpoints_are_none(void **state) {
    struct pie_access_facts facts = good_facts();
    facts.breakpoints_are_silent = true;
    assert_choice(&facts, NULL, PIE_ACCESS_NONE, "never fire");
}

static void test_traced_is_none(void **state) {
    struct pie_access_facts facts = good_facts();
    facts.is_traced = true;
    facts.data_error = -ENOSPC;
    assert_choice(&facts, NULL, PIE_ACCESS_NONE, "run without the debugger");
    assert_choice(&facts, "pmu", PIE_ACCESS_NONE, "debugger");
}

static void test_no_decoder_is_none(void **state) {
    struct pie_access_facts facts = good_facts();
    facts.has_decoder = false;
    assert_choice(&facts, NULL, PIE_ACCESS_NONE, "install libzydis-dev");
}

static void test_clocks(void **state) {
    struct pie_access_facts facts = virtual_facts();
    for (enum pie_clock_kind clock = PIE_CLOCK_ITIMER; clock <= PIE_CLOCK_PERF; clock++) {
        facts.clock = clock;
        assert_choice(&facts, NULL, PIE_ACCESS_TASKCLOCK, "no hardware PMU");
    }
    facts.clock = PIE_CLOCK_NONE;
    assert_choice(&facts, NULL, PIE_ACCESS_NONE, "no clock");
}

static void test_forced(void **state) {
    struct pie_access_facts facts = good_facts();
    assert_choice(&facts, "pmu", PIE_ACCESS_PMU, NULL);
    assert_choice(&facts, "taskclock", PIE_ACCESS_TASKCLOCK, NULL);
    assert_choice(&facts, "none", PIE_ACCESS_NONE, NULL);
    assert_choice(&facts, "divination", PIE_ACCESS_PMU, NULL);
    facts = virtual_facts();
    assert_choice(&facts, "pmu", PIE_ACCESS_TASKCLOCK, "no hardware PMU");
    facts.data_error = -EPERM;
    assert_choice(&facts, "none", PIE_ACCESS_NONE, NULL);
}

static void test_names(void **state) {
    enum pie_access_sampler_kind kind = PIE_ACCESS_TASKCLOCK;
    assert_int_equal(pie_access_sampler_parse("", &kind), -EINVAL);
    assert_int_equal(pie_access_sampler_parse("PMU", &kind), -EINVAL);
    assert_int_equal(kind, PIE_ACCESS_TASKCLOCK);
    for (enum pie_access_sampler_kind each = PIE_ACCESS_NONE; each <= PIE_ACCESS_PMU; each++) {
        assert_int_equal(pie_access_sampler_parse(pie_access_sampler_name(each), &kind), 0);
        assert_int_equal(kind, each);
    }
}

/* Whatever the facts, a rung that is not the best has a reason, and no rung is above what was forced. */
static void test_every_combination(void **state) {
    static const int errors[] = {0, -EACCES, -EPERM, -ENOSYS, -EINVAL, -ENOSPC, -EMFILE, -ENOTSUP, -EIO};
    enum { ERRORS = sizeof(errors) / sizeof(*errors), COMBINATIONS = ERRORS * ERRORS * 9 * 128 };
    static const char *const forced[] = {NULL, "pmu", "taskclock", "none"};
    static const enum pie_access_sampler_kind limits[] = {PIE_ACCESS_PMU, PIE_ACCESS_PMU,
                                                          PIE_ACCESS_TASKCLOCK, PIE_ACCESS_NONE};
    for (unsigned i = 0; i < COMBINATIONS; i++) {
        unsigned bits = i / (ERRORS * ERRORS * 9);
        struct pie_access_facts facts = {
            .execute_error = errors[i % ERRORS],
            .data_error = errors[i / ERRORS % ERRORS],
            .pmu_error = errors[(i + 3) % ERRORS],
            .loads = (enum pie_pmu_level)(i / ERRORS / ERRORS % 3),
            .stores = (enum pie_pmu_level)(i / ERRORS / ERRORS / 3 % 3),
            .has_decoder = bits & 1,
            .is_traced = bits & 2,
            .has_pmu = bits & 4,
            .has_ibs = bits & 8,
            .is_virtual = bits & 16,
            .breakpoints_are_silent = bits & 32,
            .clock = bits & 64 ? PIE_CLOCK_PERF : PIE_CLOCK_NONE,
            .paranoid = (int)(i % 5),
            .kernel_major = 6,
            .kernel_minor = 1,
            .pmu_interrupt_ns = i % 7 ? i % 7 * 1000 : 0,
        };
        for (unsigned f = 0; f < 4; f++) {
            const char *note = "untouched";
            enum pie_access_sampler_kind kind = pie_access_choose(&facts, forced[f], &note);
            assert_true(kind <= limits[f]);
            assert_true(kind == limits[f] || note);
            if (note)
                assert_sentence(note);
            bool usable = facts.has_decoder && !facts.is_traced && !facts.execute_error &&
                          !facts.data_error && !facts.breakpoints_are_silent && facts.clock;
            assert_int_equal(kind != PIE_ACCESS_NONE, usable && limits[f] != PIE_ACCESS_NONE);
            bool is_precise = facts.loads == PIE_PMU_PRECISE && facts.stores == PIE_PMU_PRECISE;
            bool is_cheap = facts.pmu_interrupt_ns > 0 && facts.pmu_interrupt_ns <= 5000;
            assert_int_equal(kind == PIE_ACCESS_PMU, usable && limits[f] == PIE_ACCESS_PMU && facts.has_pmu &&
                                                         facts.loads && facts.stores &&
                                                         (is_precise || is_cheap || forced[f]));
        }
    }
}

static int count_descriptors(void) {
    DIR *dir = opendir("/proc/self/fd");
    assert_non_null(dir);
    int count = 0;
    while (readdir(dir))
        count++;
    closedir(dir);
    return count;
}

/* ptrace is asked for by the user; perf events are preferred where they are allowed and work. */
static void test_ptrace_is_the_last_rung(void **state) {
    struct pie_access_facts facts = virtual_facts();
    facts.execute_error = facts.data_error = -EPERM;
    assert_choice(&facts, NULL, PIE_ACCESS_NONE, "--breakpoints any");
    assert_int_equal(pie_access_breakpoints(&facts), PIE_BREAKPOINT_NONE);
    facts.request = PIE_BREAKPOINT_BY_ANY;
    assert_choice(&facts, NULL, PIE_ACCESS_TASKCLOCK, "set by ptrace");
    assert_choice(&facts, "taskclock", PIE_ACCESS_TASKCLOCK, "set by ptrace");
    assert_choice(&facts, "none", PIE_ACCESS_NONE, NULL);
    assert_int_equal(pie_access_breakpoints(&facts), PIE_BREAKPOINT_PTRACE);
    facts.execute_error = facts.data_error = 0;
    assert_int_equal(pie_access_breakpoints(&facts), PIE_BREAKPOINT_PERF);
    facts.request = PIE_BREAKPOINT_BY_PTRACE;
    assert_int_equal(pie_access_breakpoints(&facts), PIE_BREAKPOINT_PTRACE);
    facts.has_pmu = true;
    facts.loads = facts.stores = PIE_PMU_PRECISE;
    assert_choice(&facts, NULL, PIE_ACCESS_TASKCLOCK, "set by ptrace");
    facts.kernel_minor = 0;
    assert_choice(&facts, NULL, PIE_ACCESS_NONE, "Linux 6.1");
    facts.kernel_minor = 1;
    facts.is_traced = true;
    assert_choice(&facts, NULL, PIE_ACCESS_NONE, "debugger");
}

static void test_ptrace_is_refused(void **state) {
    static const struct {
        int error;
        const char *note_part;
    } table[] = {
        {-EPERM, "ptrace_scope"},
        {-ENOTSUP, "PID namespaces"},
        {-EBUSY, "ulimit -u"},
        {-ENOSPC, "debug registers are taken"},
        {-ENOSYS, "has no perf_event_open"},
        {-EIO, "cannot be opened"},
    };
    for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
        struct pie_access_facts facts = virtual_facts();
        facts.request = PIE_BREAKPOINT_BY_PTRACE;
        facts.ptrace_error = table[i].error;
        assert_choice(&facts, NULL, PIE_ACCESS_NONE, table[i].note_part);
        assert_int_equal(pie_access_breakpoints(&facts), PIE_BREAKPOINT_NONE);
        facts.request = PIE_BREAKPOINT_BY_ANY; /* perf events work, so nobody cares */
        assert_choice(&facts, NULL, PIE_ACCESS_TASKCLOCK, "no hardware PMU");
    }
}

static void test_names_of_requests(void **state) {
    enum pie_breakpoint_request request = PIE_BREAKPOINT_BY_ANY;
    assert_int_equal(pie_access_breakpoints_parse("x", &request), -EINVAL);
    assert_int_equal(request, PIE_BREAKPOINT_BY_ANY);
    assert_int_equal(pie_access_breakpoints_parse(NULL, &request), 0);
    assert_int_equal(request, PIE_BREAKPOINT_BY_PERF);
    assert_int_equal(pie_access_breakpoints_parse("ptrace", &request), 0);
    assert_int_equal(request, PIE_BREAKPOINT_BY_PTRACE);
    assert_int_equal(pie_access_breakpoints_parse("any", &request), 0);
    assert_int_equal(request, PIE_BREAKPOINT_BY_ANY);
}

static volatile sig_atomic_t traps;

static void on_trap(int signal) {
    traps++;
}

static void test_gathering_leaves_nothing(void **state) {
    struct pie_clock_facts clock_facts;
    struct pie_access_facts facts;
    int before = count_descriptors();
    signal(SIGTRAP, on_trap);
    pie_clock_facts_gather(&clock_facts);
    memset(&facts, 0xa5, sizeof(facts));
    pie_access_facts_gather(&clock_facts, PIE_CLOCK_TIMER, &facts);
    pie_access_facts_try_ptrace(PIE_BREAKPOINT_BY_ANY, &facts);
    signal(SIGTRAP, SIG_DFL);
    assert_int_equal(traps, 0);
    assert_int_equal(facts.request, PIE_BREAKPOINT_BY_ANY);
    assert_in_range(-facts.ptrace_error, 0, 4095);
    assert_int_equal(waitpid(-1, NULL, WNOHANG | __WALL), -1); /* no helper is left */

    assert_int_equal(count_descriptors(), before);
    assert_int_equal(facts.clock, PIE_CLOCK_TIMER);
    assert_int_equal(facts.is_traced, clock_facts.is_traced);
    assert_int_equal(facts.kernel_major, clock_facts.kernel_major);
    assert_true(facts.execute_error <= 0 && facts.data_error <= 0 && facts.pmu_error <= 0);
    assert_in_range(facts.breakpoints, 0, 16);
    assert_int_equal(facts.breakpoints > 0, facts.data_error == 0);
    assert_true(facts.loads <= PIE_PMU_PRECISE && facts.stores <= PIE_PMU_PRECISE);
    if (!facts.has_pmu)
        assert_true(!facts.loads && !facts.stores && facts.pmu_error == -ENOENT);
}

/* Where breakpoints can be had they fire. */
static void test_breakpoints_count(void **state) {
    struct pie_clock_facts clock_facts;
    struct pie_access_facts facts;
    pie_clock_facts_gather(&clock_facts);
    pie_access_facts_gather(&clock_facts, PIE_CLOCK_TIMER, &facts);
    if (facts.data_error || (facts.is_virtual && facts.breakpoints_are_silent)) {
        print_message("# no breakpoints here: %s\n",
                      facts.data_error ? strerror(-facts.data_error) : "the virtual machine swallows them");
        skip();
    }
    assert_false(facts.breakpoints_are_silent);
    assert_in_range(facts.breakpoints, 1, 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_works),
        cmocka_unit_test(test_no_pmu_is_taskclock),
        cmocka_unit_test(test_pmu_without_events),
        cmocka_unit_test(test_imprecise_pmu),
        cmocka_unit_test(test_dear_imprecise_pmu),
        cmocka_unit_test(test_breakpoints_refused_is_none),
        cmocka_unit_test(test_old_kernels),
        cmocka_unit_test(test_silent_breakpoints_are_none),
        cmocka_unit_test(test_traced_is_none),
        cmocka_unit_test(test_no_decoder_is_none),
        cmocka_unit_test(test_clocks),
        cmocka_unit_test(test_forced),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_every_combination),
        cmocka_unit_test(test_ptrace_is_the_last_rung),
        cmocka_unit_test(test_ptrace_is_refused),
        cmocka_unit_test(test_names_of_requests),
        cmocka_unit_test(test_gathering_leaves_nothing),
        cmocka_unit_test(test_breakpoints_count),
    };
    return cmocka_run_group_tests_name("access_choice", tests, NULL, NULL);
}
