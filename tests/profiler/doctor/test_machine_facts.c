/* SPDX-License-Identifier: Apache-2.0 */

/* The facts of this machine, as it is and with something taken away: each time in a child of its own, which reports by
 * its exit status which check failed. */

#include "profiler/doctor/machine_facts.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "tests/skip.h"

static int count_descriptors(void) {
    int count = 0;
    for (int fd = 0; fd < 1024; fd++)
        count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

static struct pie_machine_facts gather(void) {
    struct pie_machine_facts facts;
    memset(&facts, 0xa5, sizeof(facts));
    pie_machine_facts_gather((const void *)(uintptr_t)gather, &facts);
    return facts;
}

/* Runs check() in a child and expects 0; 77: it could not be tried here. */
static void in_child(int (*check)(void)) {
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(check());
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == 77)
        skip_because("this machine does not let it be tried");
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void test_this_machine(void **state) {
    int before = count_descriptors();
    struct sigaction old_action, new_action;
    sigaction(SIGTRAP, NULL, &old_action);
    struct pie_machine_facts facts = gather();
    sigaction(SIGTRAP, NULL, &new_action);
    assert_int_equal(count_descriptors(), before);
    assert_ptr_equal(old_action.sa_handler, new_action.sa_handler);
    assert_true(facts.has_proc);
    assert_int_equal(facts.cpus, sysconf(_SC_NPROCESSORS_ONLN));
    assert_true(facts.cycles_error <= 0 && facts.access.pmu_error <= 0);
    assert_true(facts.access.execute_error <= 0 && facts.access.data_error <= 0);
    assert_in_range(facts.access.breakpoints, 0, 16);
    assert_int_equal(facts.access.breakpoints > 0, !facts.access.data_error);
    assert_in_range(facts.seccomp, 0, 2);
    assert_true(strlen(facts.kernel) > 0 && strlen(facts.libc) > 0 && strlen(facts.cpu) > 0);
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    assert_int_equal(facts.descriptors_max, limit.rlim_cur == RLIM_INFINITY ? -1 : (long long)limit.rlim_cur);
    /* "python" is this test here, which has all its symbols. */
    assert_true(facts.has_python_symbols);
}

static int check_without_proc(void) {
    char directory[] = "/tmp/pieprof-empty-XXXXXX";
    if (geteuid() != 0 || !mkdtemp(directory))
        return 77;
    int r = chroot(directory);
    rmdir(directory);
    if (r < 0 || chdir("/") < 0)
        return 77;
    struct pie_machine_facts facts = gather();
    if (facts.has_proc || facts.clock.is_traced || facts.ptrace_scope != PIE_FACT_UNKNOWN)
        return 1;
    if (facts.clock.paranoid != PIE_CLOCK_PARANOID_UNKNOWN || facts.perf_mlock_kb != PIE_FACT_UNKNOWN)
        return 2;
    if (facts.seccomp < 0 || !*facts.cpu || !*facts.kernel)
        return 3;
    return facts.clock.thread_timer_error || facts.clock.itimer_error ? 4 : 0;
}

static void test_without_proc(void **state) {
    in_child(check_without_proc);
}

static int check_unprivileged(void) {
    if (geteuid() == 0 && (setgid(65534) < 0 || setuid(65534) < 0))
        return 77;
    struct pie_machine_facts facts = gather();
    if (facts.clock.thread_timer_error || facts.clock.itimer_error)
        return 1;
    /* perf_event_open(2): kernel code needs a level of at most 1, user code one of at most 2. */
    if (facts.clock.paranoid >= 2 && facts.clock.paranoid != PIE_CLOCK_PARANOID_UNKNOWN &&
        facts.clock.perf_kernel_error == 0)
        return 2;
    if (facts.clock.paranoid <= 1 && facts.seccomp == 0 && facts.clock.perf_kernel_error == -EACCES)
        return 3;
    return 0;
}

static void test_unprivileged(void **state) {
    in_child(check_unprivileged);
}

static int check_without_descriptors(void) {
    struct rlimit limit = {.rlim_cur = 0, .rlim_max = 0};
    if (setrlimit(RLIMIT_NOFILE, &limit) < 0)
        return 77;
    struct pie_machine_facts facts = gather();
    if (facts.clock.perf_user_error == 0 || facts.cycles_error == 0 || facts.access.breakpoints != 0)
        return 1;
    return facts.descriptors_max == 0 && facts.clock.thread_timer_error == 0 ? 0 : 2;
}

static void test_without_descriptors(void **state) {
    in_child(check_without_descriptors);
}

static int check_few_descriptors(void) {
    struct rlimit limit = {.rlim_cur = 5, .rlim_max = 5};
    for (int fd = 3; fd < 1024; fd++)
        close(fd);
    if (setrlimit(RLIMIT_NOFILE, &limit) < 0)
        return 77;
    struct pie_machine_facts facts = gather();
    if (facts.access.data_error == 0 && facts.access.breakpoints > 2)
        return 1;
    return count_descriptors() <= 3 && facts.has_proc && facts.has_python_symbols ? 0 : 2;
}

static void test_few_descriptors(void **state) {
    in_child(check_few_descriptors);
}

static void test_traced(void **state) {
    int report[2];
    bool is_traced = false;
    assert_int_equal(pipe(report), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0)
            _exit(77);
        is_traced = gather().clock.is_traced;
        _exit(write(report[1], &is_traced, sizeof(is_traced)) != sizeof(is_traced));
    }
    int status;
    while (waitpid(child, &status, 0) == child && WIFSTOPPED(status))
        ptrace(PTRACE_CONT, child, NULL, (void *)(uintptr_t)WSTOPSIG(status));
    close(report[1]);
    ssize_t n = read(report[0], &is_traced, sizeof(is_traced));
    close(report[0]);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
        skip_because("this machine does not let itself be traced");
    assert_int_equal(n, sizeof(is_traced));
    assert_true(is_traced);
    assert_false(gather().clock.is_traced);
}

/* This program has names of all its functions, a stripped copy of it has not. */
static void test_a_python_that_is_not_loaded(void **state) {
    char folder[] = "/tmp/pieprof-facts-XXXXXX", copy[64], command[128];
    struct pie_machine_facts facts = {0};
    assert_true(pie_machine_facts_look_at_python("/proc/self/exe", &facts));
    assert_true(facts.has_python_symbols);
    assert_false(pie_machine_facts_look_at_python("/proc/self/no-such-file", &facts));
    assert_false(pie_machine_facts_look_at_python("/proc/self/status", &facts));
    assert_non_null(mkdtemp(folder));
    snprintf(copy, sizeof copy, "%s/stripped", folder);
    snprintf(command, sizeof command, "strip -o %s /proc/%d/exe", copy, getpid());
    int status = system(command);
    bool is_read = status == 0 && pie_machine_facts_look_at_python(copy, &facts);
    unlink(copy);
    rmdir(folder);
    if (status != 0)
        skip_because("there is no strip");
    assert_true(is_read);
    assert_false(facts.has_python_symbols);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_this_machine),
        cmocka_unit_test(test_without_proc),
        cmocka_unit_test(test_unprivileged),
        cmocka_unit_test(test_without_descriptors),
        cmocka_unit_test(test_few_descriptors),
        cmocka_unit_test(test_traced),
        cmocka_unit_test(test_a_python_that_is_not_loaded),
    };
    return cmocka_run_group_tests_name("machine_facts", tests, NULL, NULL);
}
