/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/base/clocks.h"
#include "profiler/base/region.h"
#include "profiler/base/u64map.h"
#include "profiler/time/sample_ring.h"
#include "profiler/thread/thread.h"
#include "profiler/time/aggregate.h"
#include "profiler/time/clock.h"
#include "profiler/time/clock_perf.h"
#include "profiler/time/clock_price.h"
#include "profiler/time/clock_timer.h"
#include "profiler/time/thread.h"
#include "tests/profiler/thread/scene.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

static void test_split_keeps_the_sum(void **state) {
    struct pie_sample_time time = pie_sample_split(3000001, 1, 2);

    assert_int_equal(time.user_ns + time.system_ns, 3000001);
    assert_int_equal(time.system_ns, 2000000);
    time = pie_sample_split(500, 0, 0);
    assert_int_equal(time.user_ns, 500);
    assert_int_equal(time.system_ns, 0);
    time = pie_sample_split(UINT64_C(4000000000000000), 0, 4000000000u);
    assert_int_equal(time.system_ns, UINT64_C(4000000000000000));
}

/* Signals as the kernel sends them, and code that stands after a system call or does not. */
static siginfo_t perf_info(void) {
    siginfo_t info = {.si_signo = SIGTRAP, .si_code = 6};
    uint64_t data = PIE_PERF_COOKIE;

    memcpy((char *)&info + 24, &data, sizeof data);
    return info;
}

static siginfo_t timer_info(void) {
    siginfo_t info = {.si_signo = PIE_TIMER_SIGNAL, .si_code = SI_TIMER};

    info.si_value.sival_ptr = pie_clock_timer_cookie();
    return info;
}

static ucontext_t at_code(const uint8_t *code) {
    ucontext_t context = {0};

    context.uc_mcontext.gregs[REG_RIP] = (greg_t)(uintptr_t)(code + 2);
    return context;
}

static void test_user_only_clock_puts_kernel_time_where_a_tick_finds_it(void **state) {
    static const uint8_t call[8] = {0x0f, 0x05}, other[8] = {0x90, 0x90};
    struct pie_thread *thread = thread_scene_new();
    siginfo_t perf = perf_info(), timer = timer_info();
    ucontext_t in_call = at_code(call), elsewhere = at_code(other);
    struct pie_sample_time time;

    atomic_store(&pie_time_of(thread)->period_ns, 1000000);
    assert_true(pie_clock_perf_is_ours(&perf) && pie_clock_perf_is_ours(&timer));
    assert_true(pie_clock_perf_user_account(thread, &perf, &elsewhere, 1490000, &time));
    assert_int_equal(time.user_ns, 1490000);
    assert_int_equal(time.system_ns, 0);
    assert_true(pie_clock_perf_user_account(thread, &perf, &elsewhere, 6000000, &time));
    assert_int_equal(time.user_ns, 1000000); /* 5 ms are put aside */
    assert_int_equal(time.system_ns, 0);
    assert_false(pie_clock_perf_user_account(thread, &timer, &elsewhere, 300000, &time));
    assert_true(pie_clock_perf_user_account(thread, &timer, &in_call, 700000, &time));
    assert_int_equal(time.user_ns, 0);
    assert_int_equal(time.system_ns, 5700000);
    assert_true(pie_clock_perf_user_account(thread, &timer, &in_call, 100000, &time));
    assert_int_equal(time.system_ns, 100000); /* nothing twice */
    assert_true(pie_clock_perf_user_account(thread, &perf, &elsewhere, 31000000, &time));
    assert_int_equal(time.user_ns, 1000000);
    assert_int_equal(time.system_ns, 30000000); /* no tick came: not lost */
    free(thread);
}

/* A ring as the kernel writes it; what ended so long ago has its signal now. */
enum { DELIVERY_NS = 10000 };
static struct perf_event_mmap_page *ring_page;

static void kernel_writes(uint16_t mode, unsigned n) {
    for (unsigned i = 0; i < n; i++) {
        struct pie_perf_record record = {.header = {.type = PERF_RECORD_SAMPLE, .misc = mode, .size = 16},
                                         .time_ns = pie_monotonic_ns() - DELIVERY_NS};
        memcpy((char *)ring_page + ring_page->data_offset + ring_page->data_head % PIE_PERF_RING_BYTES,
               &record, sizeof record);
        ring_page->data_head += 16;
    }
}

static struct pie_sample_time account(struct pie_thread *thread, uint64_t cpu_ns) {
    struct pie_sample_time time;

    pie_clock_perf_handler_begins(thread);
    assert_true(pie_clock_perf_account(thread, NULL, NULL, cpu_ns, &time));
    pie_clock_perf_handler_ends(thread);
    return time;
}

/* Rings are refused where locked memory is short, events where descriptors are. */
static void test_without_a_ring_or_an_event_time_is_split_by_the_place(void **state) {
    static const uint8_t call[8] = {0x0f, 0x05}, other[8] = {0x90, 0x90};
    struct pie_thread *thread = thread_scene_new();
    siginfo_t perf = perf_info(), timer = timer_info();
    ucontext_t in_call = at_code(call), elsewhere = at_code(other);
    struct pie_sample_time time;

    assert_true(pie_clock_perf_account(thread, &perf, &elsewhere, 700, &time));
    assert_int_equal(time.user_ns, 700);
    assert_true(pie_clock_perf_account(thread, &perf, &in_call, 800, &time));
    assert_int_equal(time.system_ns, 800);
    atomic_store(&pie_time_of(thread)->has_timer, true);
    assert_true(pie_clock_perf_user_account(thread, &timer, &elsewhere, 4000000, &time));
    assert_int_equal(time.user_ns, 4000000);
    assert_true(pie_clock_perf_user_account(thread, &timer, &in_call, 4000000, &time));
    assert_int_equal(time.system_ns, 4000000);
    free(thread);
}

static void test_time_is_split_by_the_modes_in_a_perf_ring(void **state) {
    struct pie_thread *thread = thread_scene_new();
    struct pie_sample_time time;

    ring_page = calloc(1, 8192);
    ring_page->data_offset = 4096;
    atomic_store(&pie_time_of(thread)->clock_ring, ring_page);
    kernel_writes(PERF_RECORD_MISC_USER, 1);
    kernel_writes(PERF_RECORD_MISC_KERNEL, 5);
    time = account(thread, 6000000);
    assert_int_equal(time.user_ns, 1000000);
    assert_int_equal(time.system_ns, 5000000);
    assert_int_equal(account(thread, 900).user_ns, 900); /* no new record */
    kernel_writes(PERF_RECORD_MISC_USER, 500);
    kernel_writes(PERF_RECORD_MISC_KERNEL, 1000); /* the ring holds 256: the others were overwritten */
    time = account(thread, 1500000);
    assert_int_equal(time.user_ns, 0);
    assert_int_equal(time.system_ns, 1500000);
    free(ring_page);
    free(thread);
}

static struct pie_thread *thread_with_ring(void) {
    struct pie_thread *thread = thread_scene_new();

    ring_page = calloc(1, 8192);
    ring_page->data_offset = 4096;
    atomic_store(&pie_time_of(thread)->clock_ring, ring_page);
    atomic_store(&pie_time_of(thread)->period_ns, 1000000);
    return thread;
}

/* A program in user code, on whose thread breakpoints or counters trap all the time: a quarter of the periods end in
 * their handlers' system calls. None of it is the program's kernel time. */
static void test_periods_in_our_handlers_are_nobodys(void **state) {
    struct pie_thread *thread = thread_with_ring();
    uint64_t system_ns = 0, user_ns = 0;

    for (int i = 0; i < 400; i++) {
        bool is_in_trap = i % 4 == 0;
        if (is_in_trap) {
            pie_clock_perf_handler_begins(thread);
            kernel_writes(PERF_RECORD_MISC_KERNEL, 1); /* its signal waits until the handler is left */
            pie_clock_perf_handler_ends(thread);
        } else {
            kernel_writes(PERF_RECORD_MISC_USER, 1);
        }
        struct pie_sample_time time = account(thread, 1000000);
        system_ns += time.system_ns;
        user_ns += time.user_ns;
    }
    assert_int_equal(system_ns, 0);
    assert_int_equal(user_ns, 400 * UINT64_C(1000000));
    free(ring_page);
    free(thread);
}

/* What ended before a trap's handler began waits for the next sample. */
static void test_periods_before_a_trap_count(void **state) {
    struct pie_thread *thread = thread_with_ring();

    kernel_writes(PERF_RECORD_MISC_KERNEL, 2); /* in a system call, at whose end a trap is handled first */
    pie_clock_perf_handler_begins(thread);
    kernel_writes(PERF_RECORD_MISC_KERNEL, 5);
    pie_clock_perf_handler_ends(thread);
    kernel_writes(PERF_RECORD_MISC_USER, 2);
    struct pie_sample_time time = account(thread, 4000000);
    assert_int_equal(time.system_ns, 2000000);
    assert_int_equal(time.user_ns, 2000000);
    free(ring_page);
    free(thread);
}

/* A tenth of the time is the program's system calls, a fifth are traps of 100 us before their handlers begin: periods
 * that end there look like the program's, but what traps cost is known. */
static void test_kernel_time_of_traps_is_given_back(void **state) {
    struct pie_thread *thread = thread_with_ring();
    uint64_t system_ns = 0, all_ns = 0;

    srand(1);
    for (int i = 0; i < 20000; i++) {
        int where = rand() % 10; /* of what the thread does, 8 in 10 parts are the program's */
        pie_clock_perf_own_kernel(thread, 200000);
        kernel_writes(where < 3 ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER, 1);
        struct pie_sample_time time = account(thread, 800000); /* the traps' time has been taken out */
        system_ns += time.system_ns;
        all_ns += time.system_ns + time.user_ns;
    }
    assert_int_equal(all_ns, 20000 * UINT64_C(800000));
    double share = (double)system_ns / (double)all_ns;
    if (share < 0.085 || share > 0.14) /* 30 % without */
        fail_msg("%.1f %% of the time is system time", 100 * share);
    free(ring_page);
    free(thread);
}

static void test_unpaid_kernel_time_is_forgotten(void **state) {
    struct pie_thread *thread = thread_with_ring();

    pie_clock_perf_own_kernel(thread, UINT64_C(1000000000)); /* priced too high, or never hit */
    kernel_writes(PERF_RECORD_MISC_KERNEL, 10);
    struct pie_sample_time time = account(thread, 10000000);
    assert_in_range(time.system_ns, 5999900, 6000100);
    kernel_writes(PERF_RECORD_MISC_KERNEL, 10);
    assert_int_equal(account(thread, 10000000).system_ns, 10000000);
    free(ring_page);
    free(thread);
}

/* Of a signal on its way nothing is known but when its period ended. Traps that come between do not count, nor does a
 * call's end for which the signal has waited. */
static void test_samples_tell_what_their_signals_cost(void **state) {
    const struct pie_clock_price price = {.signal_ns = 12000, .whole_permille = 2000};
    struct pie_thread *thread = thread_with_ring();

    pie_clock_price_set(&price);
    kernel_writes(PERF_RECORD_MISC_KERNEL, 1);
    account(thread, 1000000);
    kernel_writes(PERF_RECORD_MISC_USER, 1);
    pie_clock_perf_handler_begins(thread); /* of a trap */
    pie_clock_perf_handler_ends(thread);
    account(thread, 1000000);
    assert_int_equal(pie_time_of(thread)->signal_ns, 0);
    for (int i = 0; i < 200; i++) {
        kernel_writes(PERF_RECORD_MISC_USER, 1);
        account(thread, 1000000);
    }
    assert_in_range(pie_time_of(thread)->signal_ns, 19000, 35000);
    free(ring_page);
    free(thread);
}

/* Where it says so, the kernel enables no event. */
static bool enables_nothing;

int ioctl(int fd, unsigned long request, ...) {
    va_list arguments;

    va_start(arguments, request);
    long argument = va_arg(arguments, long);
    va_end(arguments);
    if (enables_nothing && request == PERF_EVENT_IOC_ENABLE) {
        errno = EINVAL;
        return -1;
    }
    return (int)syscall(SYS_ioctl, fd, request, argument);
}

static void on_tick(int signal) {}

static void test_a_clock_is_armed_as_a_whole_or_not_at_all(void **state) {
    const uint64_t period_ns = 50000000;

    signal(SIGTRAP, on_tick);
    signal(PIE_TIMER_SIGNAL, on_tick);
    assert_int_equal(pie_region_init(), 0);
    pie_collectors_lay_out_threads();
    struct pie_thread *thread = pie_thread_begin(true, "");
    assert_int_equal(pie_clock_perf_user.arm(thread, period_ns), 0);
    if (atomic_load(&pie_time_of(thread)->has_timer)) /* no perf events here */
        skip();
    assert_int_equal(atomic_load(&pie_time_of(thread)->period_ns),
                     period_ns); /* the timer beside it is slower */
    pie_clock_perf_user.disarm(thread);
    enables_nothing = true;
    assert_int_equal(pie_clock_perf.arm(thread, period_ns), 0);
    assert_true(atomic_load(&pie_time_of(thread)->has_timer));
    assert_null(atomic_load(&pie_time_of(thread)->clock_ring));
    pie_clock_perf.disarm(thread);
    pie_thread_end();
}

static void test_aggregate_adds_by_thread_and_node(void **state) {
    struct pie_aggregate aggregate = {0};

    for (uint32_t i = 0; i < 5000; i++) {
        struct pie_record record = {
            .node = {i % 1000 + 1}, .user_ns = 10, .system_ns = 3, .is_python = i % 2};
        assert_int_equal(pie_aggregate_add_sample(&aggregate, i % 4, &record), 0);
    }
    const struct pie_wait_reason sleeps = {.cause = PIE_WAIT_SLEEP};
    assert_int_equal(pie_aggregate_add_wait(&aggregate, 0, (struct pie_cct_id){1}, &sleeps, 77), 0);
    assert_int_equal(aggregate.count, 1000); /* 4 divides 1000: each node is always hit by the same thread */
    uint64_t python = 0, native = 0, system = 0, wait = 0, samples = 0;
    double squares = 0;
    for (size_t i = 0; i < aggregate.count; i++) {
        python += aggregate.rows[i].sums.python_ns;
        native += aggregate.rows[i].sums.native_ns;
        system += aggregate.rows[i].sums.system_ns;
        wait += aggregate.rows[i].sums.wait_ns;
        samples += aggregate.rows[i].sums.samples;
        squares += aggregate.rows[i].sums.cpu_sq_ns2;
        assert_int_equal(aggregate.rows[i].sums.samples, 5);
    }
    assert_int_equal(python, 25000);
    assert_int_equal(native, 25000);
    assert_int_equal(system, 15000);
    assert_int_equal(wait, 77);
    assert_int_equal(samples, 5000);
    assert_int_equal((long)squares, 5000 * 169);
    pie_aggregate_clear(&aggregate);
    assert_int_equal(aggregate.count, 0);
    struct pie_record again = {.node = {1}, .user_ns = 1};
    assert_int_equal(pie_aggregate_add_sample(&aggregate, 0, &again), 0);
    assert_int_equal(aggregate.rows[0].sums.samples, 1);
    pie_aggregate_finish(&aggregate);
}

static void test_map_finds_what_was_put(void **state) {
    struct pie_u64map map = {0};

    assert_int_equal(pie_u64map_get(&map, 5), 0);
    for (uint64_t i = 0; i < 50000; i++)
        assert_int_equal(pie_u64map_put(&map, i * i * 2654435761u, (uint32_t)i + 1), 0);
    for (uint64_t i = 0; i < 50000; i++)
        assert_int_equal(pie_u64map_get(&map, i * i * 2654435761u), i + 1);
    assert_int_equal(pie_u64map_get(&map, 3), 0);
    pie_u64map_finish(&map);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_split_keeps_the_sum),
        cmocka_unit_test(test_user_only_clock_puts_kernel_time_where_a_tick_finds_it),
        cmocka_unit_test(test_without_a_ring_or_an_event_time_is_split_by_the_place),
        cmocka_unit_test(test_time_is_split_by_the_modes_in_a_perf_ring),
        cmocka_unit_test(test_periods_in_our_handlers_are_nobodys),
        cmocka_unit_test(test_periods_before_a_trap_count),
        cmocka_unit_test(test_kernel_time_of_traps_is_given_back),
        cmocka_unit_test(test_unpaid_kernel_time_is_forgotten),
        cmocka_unit_test(test_samples_tell_what_their_signals_cost),
        cmocka_unit_test(test_a_clock_is_armed_as_a_whole_or_not_at_all),
        cmocka_unit_test(test_aggregate_adds_by_thread_and_node),
        cmocka_unit_test(test_map_finds_what_was_put),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
