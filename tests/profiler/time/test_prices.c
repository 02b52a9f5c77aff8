/* SPDX-License-Identifier: Apache-2.0 */

/* Prices that are measured when a profile begins: of a counter's interrupt, and of a signal of the clock. */

#include "profiler/base/clocks.h"
#include "profiler/machine/pmu_price.h"
#include "profiler/thread/thread.h"
#include "profiler/time/clock.h"
#include "profiler/time/clock_perf.h"
#include "profiler/time/clock_price.h"
#include "profiler/time/clock_timer.h"
#include "profiler/time/thread.h"
#include "tests/profiler/thread/scene.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static void on_signal(int signal, siginfo_t *info, void *context) {
    pie_clock_price_entered();
}

static void take(int signal) {
    struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART};

    sigaction(signal, &action, NULL);
}

/* A software event stands for the hardware's: it interrupts by a timer every 20 us of the loop. */
static void test_an_interrupt_has_a_price(void **state) {
    const struct pie_pmu_event clock = {.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_CPU_CLOCK};
    const struct pie_pmu_event never = {.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_EMULATION_FAULTS};
    const struct pie_pmu_event unknown = {.type = PERF_TYPE_SOFTWARE, .config = 4711};
    struct perf_event_attr attr;

    pie_pmu_event_prepare(&clock, 20000, 0, &attr);
    uint64_t price_ns = pie_pmu_interrupt_measure(&clock, 20000);
    if (price_ns == 0) {
        print_message("no perf events here\n");
        skip();
    }
    assert_in_range(price_ns, 100, 2000000);
    assert_int_equal(pie_pmu_interrupt_measure(&never, 20000), 0);
    assert_int_equal(pie_pmu_interrupt_measure(&unknown, 20000), 0);
}

static void test_an_interrupt_is_measured_once(void **state) {
    struct pie_pmu_events none = {.count = 0};

    assert_int_equal(pie_pmu_interrupt_ns(&none), 0);
    pie_pmu_interrupt_set(77);
    assert_int_equal(pie_pmu_interrupt_ns(&none), 77);
}

/* With and without a clock of perf events; what a parent told is believed. */
static void test_a_signal_has_a_price(void **state) {
    const struct pie_clock_ops *clock = *state;

    for (int i = 0; i < PIE_CLOCK_SIGNALS; i++)
        if (clock->signals[i])
            take(clock->signals[i]);
    const struct pie_clock_price *price = pie_clock_price(clock);
    assert_non_null(price);
    print_message("%s: %llu ns, %llu; a switch %llu ns, %llu; loading again %llu\n", clock->name,
                  (unsigned long long)price->signal_ns, (unsigned long long)price->whole_permille,
                  (unsigned long long)price->switch_ns, (unsigned long long)price->long_switch_ns,
                  (unsigned long long)price->reload_ns);
    if (price->signal_ns == 0)
        skip(); /* no such clock here */
    assert_in_range(price->signal_ns, 200, 2000000);
    assert_true(price->whole_permille == 0 ||
                (price->whole_permille >= 1000 && price->whole_permille <= 5000));
    assert_ptr_equal(pie_clock_price_known(), price);
    if (clock != &pie_clock_perf && clock != &pie_clock_perf_user) {
        assert_int_equal(price->switch_ns, 0);
        assert_int_equal(price->long_switch_ns, 0);
        return;
    }
    assert_in_range(price->switch_ns, 200, 2000000);
    assert_in_range(price->long_switch_ns, 200, 2000000);
}

static struct pie_thread *thread_at(uint64_t signal_ns) {
    struct pie_thread *thread = thread_scene_new();

    pie_time_of(thread)->signal_ns = signal_ns;
    return thread;
}

static void test_the_price_follows_the_thread(void **state) {
    const struct pie_clock_price price = {.signal_ns = 4000, .whole_permille = 2000};
    struct pie_thread *thread = thread_at(0);

    pie_clock_price_set(&price);
    assert_int_equal(pie_clock_signal_ns(thread), 4000);
    assert_int_equal(pie_clock_scaled_ns(thread, 10000), 10000);
    for (int i = 0; i < 200; i++) /* from the end of the period to the handler: 6 us, 12 in all */
        pie_clock_note_delivery(thread, pie_monotonic_ns() - 6000);
    assert_in_range(pie_clock_signal_ns(thread), 11000, 14000);
    assert_in_range(pie_clock_scaled_ns(thread, 10000), 27000, 30000);
    uint64_t before_ns = pie_clock_signal_ns(thread);
    pie_clock_note_delivery(thread, pie_monotonic_ns() - 500000000); /* another thread's turn */
    assert_in_range(pie_clock_signal_ns(thread), before_ns, before_ns + before_ns / 4);
    free(thread);
}

static void test_without_records_the_price_stays(void **state) {
    const struct pie_clock_price price = {.signal_ns = 4000};
    struct pie_thread *thread = thread_at(0);

    pie_clock_price_set(&price);
    pie_clock_note_delivery(thread, pie_monotonic_ns() - 6000);
    assert_int_equal(pie_clock_signal_ns(thread), 4000);
    free(thread);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_interrupt_has_a_price),
        cmocka_unit_test(test_an_interrupt_is_measured_once),
        cmocka_unit_test(test_the_price_follows_the_thread),
        cmocka_unit_test(test_without_records_the_price_stays),
    };
    const struct CMUnitTest perf[] = {
        cmocka_unit_test_prestate(test_a_signal_has_a_price, (void *)&pie_clock_perf_user)};
    const struct CMUnitTest timer[] = {
        cmocka_unit_test_prestate(test_a_signal_has_a_price, (void *)&pie_clock_timer)};

    if (argc > 1) /* a price is measured once in a process */
        return *argv[1] == 'p' ? cmocka_run_group_tests(perf, NULL, NULL)
                               : cmocka_run_group_tests(timer, NULL, NULL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
