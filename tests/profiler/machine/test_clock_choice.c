/* SPDX-License-Identifier: Apache-2.0 */

#include "profiler/base/proc_file.h"
#include "profiler/machine/clock_choice.h"

#include <dirent.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

/* A machine where all works, for each test to spoil. */
static struct pie_clock_facts good_facts(void) {
    return (struct pie_clock_facts){.paranoid = 1, .kernel_major = 6, .kernel_minor = 11, .tick_ns = 4000000};
}

static void assert_choice(const struct pie_clock_facts *facts, const char *forced,
                          enum pie_clock_kind expected, const char *note_part) {
    const char *note = "untouched";
    assert_string_equal(pie_clock_name(pie_clock_choose(facts, forced, &note)), pie_clock_name(expected));
    if (!note_part) {
        assert_null(note);
        return;
    }
    assert_non_null(note);
    if (!strstr(note, note_part))
        fail_msg("\"%s\" is not in \"%s\"", note_part, note);
}

static void test_all_works(void **state) {
    struct pie_clock_facts facts = good_facts();
    assert_choice(&facts, NULL, PIE_CLOCK_PERF, NULL);
    facts.kernel_major = 7;
    facts.kernel_minor = 0;
    assert_choice(&facts, NULL, PIE_CLOCK_PERF, NULL);
}

static void test_old_kernel_is_user_only(void **state) {
    struct pie_clock_facts facts = good_facts();
    facts.kernel_minor = 10;
    assert_choice(&facts, NULL, PIE_CLOCK_PERF_USER, "6.11");
    facts.kernel_major = facts.kernel_minor = 0;
    assert_choice(&facts, NULL, PIE_CLOCK_PERF_USER, "6.11");
}

static void test_paranoid_2_is_user_only(void **state) {
    struct pie_clock_facts facts = good_facts();
    facts.paranoid = 2;
    facts.perf_kernel_error = -EACCES;
    assert_choice(&facts, NULL, PIE_CLOCK_PERF_USER, "perf_event_paranoid is 2");
    facts.paranoid = 1;
    assert_choice(&facts, NULL, PIE_CLOCK_PERF_USER, "is refused");
    facts.perf_kernel_error = -EOPNOTSUPP;
    assert_choice(&facts, NULL, PIE_CLOCK_PERF_USER, "failed for kernel code");
}

static void test_no_ring_is_user_only(void **state) {
    struct pie_clock_facts facts = good_facts();
    facts.perf_mmap_error = -EPERM;
    assert_choice(&facts, NULL, PIE_CLOCK_PERF_USER, "perf_event_mlock_kb");
    assert_choice(&facts, "perf-user", PIE_CLOCK_PERF_USER, NULL);
}

/* With the capability paranoid is no obstacle: the trial counts, not the number. */
static void test_paranoid_is_not_the_judge(void **state) {
    struct pie_clock_facts facts = good_facts();
    facts.paranoid = 3;
    assert_choice(&facts, NULL, PIE_CLOCK_PERF, NULL);
}

static void test_refused_is_timer(void **state) {
    static const struct {
        int error, paranoid;
        const char *note_part;
    } table[] = {
        {-EACCES, 3, "perf_event_paranoid is 3"},
        {-EPERM, 4, "perf_event_paranoid is above 3"},
        {-EPERM, 1, "although perf_event_paranoid allows it"},
        {-EPERM, PIE_CLOCK_PARANOID_UNKNOWN, "perf_event_open is refused (perf_event_paranoid, seccomp"},
        {-ENOSYS, 1, "no perf_event_open"},
        {-EINVAL, 1, "6.1"},
        {-EMFILE, 1, "file descriptor"},
        {-EIO, 1, "failed"},
    };
    for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
        struct pie_clock_facts facts = good_facts();
        facts.paranoid = table[i].paranoid;
        facts.perf_user_error = facts.perf_kernel_error = table[i].error;
        assert_choice(&facts, NULL, PIE_CLOCK_TIMER, table[i].note_part);
    }
}

/* A sigtrap that comes while SIGTRAP is blocked ended the program there. */
static void test_before_6_1_is_timer(void **state) {
    struct pie_clock_facts facts = good_facts();
    facts.kernel_major = 5;
    facts.kernel_minor = 19;
    assert_choice(&facts, NULL, PIE_CLOCK_TIMER, "Linux 6.1");
    facts.kernel_major = 6;
    facts.kernel_minor = 0;
    assert_choice(&facts, NULL, PIE_CLOCK_TIMER, "Linux 6.1");
    facts.kernel_minor = 1;
    assert_choice(&facts, NULL, PIE_CLOCK_PERF_USER, "6.11");
}

static void test_traced_is_never_sigtrap(void **state) {
    struct pie_clock_facts facts = good_facts();
    facts.is_traced = true;
    assert_choice(&facts, NULL, PIE_CLOCK_TIMER, "debugger");
    assert_choice(&facts, "perf", PIE_CLOCK_TIMER, "debugger");
    assert_choice(&facts, "perf-user", PIE_CLOCK_TIMER, "debugger");
}

static void test_last_rungs(void **state) {
    struct pie_clock_facts facts = good_facts();
    facts.perf_user_error = facts.perf_kernel_error = -ENOSYS;
    facts.thread_timer_error = -EAGAIN;
    assert_choice(&facts, NULL, PIE_CLOCK_ITIMER, "no perf_event_open");
    assert_choice(&facts, "timer", PIE_CLOCK_ITIMER, "timers cannot be created");
    facts.itimer_error = -ENOSYS;
    assert_choice(&facts, NULL, PIE_CLOCK_NONE, "no perf_event_open");
    assert_choice(&facts, "itimer", PIE_CLOCK_NONE, "setitimer");
}

static void test_forced(void **state) {
    struct pie_clock_facts facts = good_facts();
    for (enum pie_clock_kind kind = PIE_CLOCK_ITIMER; kind <= PIE_CLOCK_PERF; kind++)
        assert_choice(&facts, pie_clock_name(kind), kind, NULL);
    assert_choice(&facts, "sundial", PIE_CLOCK_PERF, NULL);
}

static void test_parse(void **state) {
    enum pie_clock_kind kind = PIE_CLOCK_NONE;
    assert_int_equal(pie_clock_parse("perf-user", &kind), 0);
    assert_int_equal(kind, PIE_CLOCK_PERF_USER);
    assert_int_equal(pie_clock_parse("none", &kind), -EINVAL);
    assert_int_equal(pie_clock_parse("", &kind), -EINVAL);
    assert_int_equal(kind, PIE_CLOCK_PERF_USER);
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

static void test_gathering_leaves_nothing(void **state) {
    int before = count_descriptors();
    struct pie_clock_facts facts;
    memset(&facts, 0xa5, sizeof(facts));
    pie_clock_facts_gather(&facts);
    assert_int_equal(count_descriptors(), before);
    assert_true(facts.kernel_major >= 4);
    assert_true(facts.perf_user_error <= 0 && facts.perf_kernel_error <= 0);
    assert_int_equal(facts.thread_timer_error, 0);
    assert_int_equal(facts.itimer_error, 0);
    assert_in_range(facts.tick_ns, 100000, 20000000);
}

static void test_fields(void **state) {
    static const char text[] = "Name:\tx\nTracerPid:\t 42\nTracer:\t1\nEmpty:\nLast : end";
    char value[8];
    assert_int_equal(pie_proc_field(text, "TracerPid", value, sizeof(value)), 2);
    assert_string_equal(value, "42");
    assert_int_equal(pie_proc_field(text, "Tracer", value, sizeof(value)), 1);
    assert_int_equal(pie_proc_field(text, "Empty", value, sizeof(value)), 0);
    assert_int_equal(pie_proc_field(text, "Last", value, 3), 2);
    assert_string_equal(value, "en");
    assert_int_equal(pie_proc_field(text, "Pid", value, sizeof(value)), -ENOENT);
    assert_int_equal(pie_proc_field("", "Name", value, sizeof(value)), -ENOENT);
}

static void test_files(void **state) {
    char text[8];
    long number = 7;
    assert_int_equal(pie_proc_read("/proc/self/no such file", text, sizeof(text)), -ENOENT);
    assert_int_equal(pie_proc_read("/proc/self/status", text, sizeof(text)), 7);
    assert_memory_equal(text, "Name:\tt", 8);
    assert_int_equal(pie_proc_read_long("/proc/self/status", &number), -EINVAL);
    assert_int_equal(number, 7);
    assert_int_equal(pie_proc_read("/proc", text, sizeof(text)), -EISDIR);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_works),
        cmocka_unit_test(test_old_kernel_is_user_only),
        cmocka_unit_test(test_paranoid_2_is_user_only),
        cmocka_unit_test(test_no_ring_is_user_only),
        cmocka_unit_test(test_paranoid_is_not_the_judge),
        cmocka_unit_test(test_refused_is_timer),
        cmocka_unit_test(test_before_6_1_is_timer),
        cmocka_unit_test(test_traced_is_never_sigtrap),
        cmocka_unit_test(test_last_rungs),
        cmocka_unit_test(test_forced),
        cmocka_unit_test(test_parse),
        cmocka_unit_test(test_gathering_leaves_nothing),
        cmocka_unit_test(test_fields),
        cmocka_unit_test(test_files),
    };
    return cmocka_run_group_tests_name("clock_choice", tests, NULL, NULL);
}
