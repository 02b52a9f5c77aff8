/* SPDX-License-Identifier: Apache-2.0 */

/* How watching begins: the sampler that is chosen, the price of a trap on this machine, and a debugger that comes. */

#include "tests/profiler/watch/hardware_scene.h"

#include "profiler/base/clocks.h"
#include "profiler/ports/config.h"
#include "profiler/watch/internal.h"
#include "profiler/watch/sampler.h"
#include "profiler/watch/setup.h"
#include "profiler/watch/watch.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int taken_signal, take_result;

static int take_signal(int signal) {
    taken_signal = signal;
    hardware_take_traps();
    return take_result;
}

static const struct pie_pystack_ops ops = {0};
static struct pie_config config;

static int set_up(void **state) {
    config = (struct pie_config){.has_time = true, .has_redundancy = true, .overhead_budget = 0.05};
    taken_signal = take_result = 0;
    pie_watch_set(NULL);
    return 0;
}

static const struct pie_access_sampler_ops *begin(const char **ret_note) {
    struct pie_clock_facts facts;

    pie_clock_facts_gather(&facts);
    return pie_watch_set_up(&config, &ops, &facts, PIE_CLOCK_PERF_USER, take_signal, ret_note);
}

static void test_watching_begins(void **state) {
    const char *note = NULL;
    int events = hardware_descriptors(NULL);

    assert_ptr_not_equal(begin(&note), &pie_access_sampler_none);
    assert_int_equal(taken_signal, SIGTRAP);
    const struct pie_watch_settings *settings = pie_watch_settings();
    assert_non_null(settings);
    assert_ptr_equal(settings->ops, &ops);
    assert_true(settings->budget > 0 && settings->budget < config.overhead_budget);
    assert_true(settings->registers == &pie_debug_hidden || settings->registers == &pie_debug_own_table);
    assert_in_range(settings->trap_price_ns, 100, 500000);
    assert_int_equal(hardware_descriptors(NULL), events); /* nothing stays open */
}

static void test_nothing_begins_that_is_not_wanted(void **state) {
    const char *note = "?";

    config.has_redundancy = false;
    assert_ptr_equal(begin(&note), &pie_access_sampler_none);
    assert_null(note);
    assert_null(pie_watch_settings());
    assert_int_equal(taken_signal, 0);
    config.has_redundancy = true;
    config.force_sampler = "none";
    assert_ptr_equal(begin(&note), &pie_access_sampler_none);
    assert_null(pie_watch_settings());
    assert_int_equal(taken_signal, 0);
}

static void test_without_a_handler_there_is_no_watching_and_a_reason(void **state) {
    const char *note = NULL;

    take_result = -EPERM;
    assert_ptr_equal(begin(&note), &pie_access_sampler_none);
    assert_null(pie_watch_settings());
    assert_non_null(note);
    assert_non_null(strstr(note, "SIGTRAP"));
}

/* Each call of the probe traps, also where SIGTRAP was blocked; the mask and the table of descriptors are as before. */
static void test_price_of_a_trap_is_measured(void **state) {
    sigset_t trap, before, after;
    int events = hardware_descriptors(NULL);

    sigemptyset(&trap);
    sigaddset(&trap, SIGTRAP);
    hardware_take_traps();
    assert_int_equal(sigprocmask(SIG_BLOCK, &trap, &before), 0);
    uint64_t price_ns = pie_watch_measure_trap();
    assert_int_equal(sigprocmask(SIG_SETMASK, &before, &after), 0);
    print_message("# a trap costs %.1f us here\n", (double)price_ns / 1e3);
    assert_in_range(price_ns, 100, 500000);
    assert_true(sigismember(&after, SIGTRAP));
    assert_int_equal(hardware_descriptors(NULL), events);
    assert_true(hardware_traps(255) >= 10); /* the lowest byte of its cookie */
}

/* A price that is measured where the machine is busy may be too high once, not always. */
static void test_price_is_about_the_same_again(void **state) {
    uint64_t least_ns = UINT64_MAX, most_ns = 0;

    hardware_take_traps();
    for (int i = 0; i < 9; i++) {
        uint64_t price_ns = pie_watch_measure_trap();
        least_ns = price_ns < least_ns ? price_ns : least_ns;
        most_ns = price_ns > most_ns ? price_ns : most_ns;
    }
    assert_true(most_ns < 5 * least_ns);
}

/* String instructions are slow beside a breakpoint or they are not: no measurement of hundreds takes the machine for
 * another. */
static void test_tax_of_a_fault_is_found_each_time(void **state) {
    enum { TIMES = 300 };
    unsigned found = 0;

    for (int i = 0; i < TIMES; i++) {
        double share = 0;
        uint64_t tax_ns = pie_watch_measure_fault_tax(&share);
        found += tax_ns > 0;
        if (tax_ns > 0)
            assert_true(share > 0 && share <= 1 && tax_ns < 1000000);
    }
    print_message("# a fault is dearer beside a data breakpoint: %u times of %d\n", found, TIMES);
    assert_true(found == 0 || found == TIMES);
}

/* What a traced child finds wrong. */
static int play_traced(void) {
    const char *note;

    if (begin(&note) == &pie_access_sampler_none)
        return 2;
    pie_watch_check_debugger();
    if (!pie_watch_settings())
        return 3;
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
        return 4;
    pie_watch_check_debugger();
    return pie_watch_settings() ? 5 : 0;
}

/* Its status in a child: 4: it may not be traced here. */
static void expect_in_child(int (*play)(void)) {
    int status;
    pid_t child = fork();

    if (child == 0)
        _exit(play());
    assert_true(child > 0);
    do
        assert_int_equal(waitpid(child, &status, 0), child);
    while (WIFSTOPPED(status) && ptrace(PTRACE_CONT, child, NULL, NULL) == 0);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) != 4)
        assert_int_equal(WEXITSTATUS(status), 0);
}

/* The same each time, also in a forked child. */
static void test_the_price_is_measured_once(void **state) {
    hardware_take_traps();
    struct pie_watch_price price = *pie_watch_price();

    print_message("# a page fault costs %.1f us more here while a register is armed\n",
                  (double)price.fault_tax_ns / 1e3);
    assert_in_range(price.trap_ns, 100, 500000);
    assert_in_range(price.fault_tax_ns, 0, 100000);
    assert_true(price.fault_tax_ns ? price.fault_tax_share > 0 && price.fault_tax_share < 1
                                   : price.fault_tax_share == 0);
    uint64_t start_ns = pie_thread_cpu_ns();
    for (int i = 0; i < 1000; i++)
        assert_memory_equal(pie_watch_price(), &price, sizeof price);
    assert_true(pie_thread_cpu_ns() - start_ns < 1000000);
}

/* By a child that has its parent's figures: nothing is measured. */
static int play_told(void) {
    const struct pie_watch_price told = {.trap_ns = 12345, .fault_tax_ns = 678, .fault_tax_share = 0.25};
    const char *note;

    pie_watch_price_set(&told);
    if (begin(&note) == &pie_access_sampler_none)
        return 2;
    const struct pie_watch_settings *settings = pie_watch_settings();
    return settings->trap_price_ns == 12345 && settings->fault_tax_ns == 678 &&
                   settings->fault_tax_share == 0.25
               ? 0
               : 3;
}

static void test_a_given_price_is_believed(void **state) {
    expect_in_child(play_told);
}

static void test_watching_rests_while_a_debugger_is_there(void **state) {
    expect_in_child(play_traced);
}

/* … and a process that was traced from the start never begins. */
static int begin_traced(void) {
    const char *note = NULL;

    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
        return 4;
    return begin(&note) == &pie_access_sampler_none && note && strstr(note, "debugger") ? 0 : 5;
}

static void test_watching_does_not_begin_under_a_debugger(void **state) {
    expect_in_child(begin_traced);
}

#define CASE(test) cmocka_unit_test_setup(test, set_up)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(test_watching_begins),
        CASE(test_nothing_begins_that_is_not_wanted),
        CASE(test_without_a_handler_there_is_no_watching_and_a_reason),
        CASE(test_price_of_a_trap_is_measured),
        CASE(test_price_is_about_the_same_again),
        CASE(test_tax_of_a_fault_is_found_each_time),
        CASE(test_the_price_is_measured_once),
        CASE(test_a_given_price_is_believed),
        CASE(test_watching_rests_while_a_debugger_is_there),
        CASE(test_watching_does_not_begin_under_a_debugger),
    };
    const char *note = NULL;

    if (!hardware_is_there(&hardware_ways[0]))
        return 0;
    set_up(NULL);
    if (begin(&note) == &pie_access_sampler_none) {
        printf("1..0 # SKIP no accesses are watched here: %s\n", note);
        return 0;
    }
    return cmocka_run_group_tests_name("set-up of watching", tests, NULL, NULL);
}
