/* SPDX-License-Identifier: Apache-2.0 */

/* The curves of memory while somebody sets the clock or the machine is suspended: all clocks are this test's own. */

#include "profiler/base/clocks.h"
#include "profiler/base/region.h"
#include "profiler/collect/engine.h"
#include "profiler/heap/drain.h"
#include "profiler/heap/engine.h"
#include "profiler/ports/facts.h"
#include "profiler/ports/pystack.h"
#include "profiler/ports/sink.h"
#include "profiler/stacks/cct.h"
#include "profiler/symbols/naming.h"
#include "profiler/thread/thread.h"
#include "tests/profiler/thread/scene.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

static const int64_t SECOND = 1000000000, HOUR = 3600 * SECOND, DAY_ONE = 1700000000 * SECOND;

static struct {
    int64_t monotonic_ns, boot_ns, real_ns;
} now;

/* What the profiler calls. */
int clock_gettime(clockid_t clock, struct timespec *ret_time) {
    int64_t ns = clock == CLOCK_REALTIME   ? now.real_ns
                 : clock == CLOCK_BOOTTIME ? now.boot_ns
                                           : now.monotonic_ns;
    *ret_time = (struct timespec){ns / SECOND, ns % SECOND};
    return 0;
}

static void pass(int64_t ns) {
    now.monotonic_ns += ns;
    now.boot_ns += ns;
    now.real_ns += ns;
}

static void suspend(int64_t ns) {
    now.boot_ns += ns;
    now.real_ns += ns;
}

/* --- A profile in memory --- */

enum { ROWS_MAX = 64 };
static struct pie_footprint_row footprint[ROWS_MAX];
static struct pie_live_row lives[ROWS_MAX];
static struct pie_allocation_row allocation;
static struct pie_allocated_row allocated; /* sums */
static struct pie_heap_row heap;
static size_t n_footprint, n_lives;

static int put_footprint(struct pie_sink *sink, const struct pie_footprint_row *row) {
    assert_in_range(n_footprint, 0, ROWS_MAX - 1);
    footprint[n_footprint++] = *row;
    return 0;
}

static int put_live(struct pie_sink *sink, const struct pie_live_row *row) {
    assert_in_range(n_lives, 0, ROWS_MAX - 1);
    lives[n_lives++] = *row;
    return 0;
}

static int put_allocation(struct pie_sink *sink, const struct pie_allocation_row *row) {
    allocation = *row;
    return 0;
}

static int put_allocated(struct pie_sink *sink, const struct pie_allocated_row *row) {
    allocated.samples += row->samples;
    for (int i = 0; i < PIE_HEAP_DOMAINS; i++)
        allocated.bytes[i] += row->bytes[i];
    return 0;
}

static int put_heap(struct pie_sink *sink, const struct pie_heap_row *row) {
    heap = *row;
    return 0;
}

static const struct pie_sink_ops sink_ops = {.put_footprint = put_footprint,
                                             .put_live = put_live,
                                             .put_allocation = put_allocation,
                                             .put_allocated = put_allocated,
                                             .put_heap = put_heap};
static struct pie_sink sink = {.ops = &sink_ops};

static int describe(uint32_t code_id, const char **ret_file, const char **ret_qualname,
                    int32_t *ret_first_line) {
    *ret_file = "/tmp/program.py";
    *ret_qualname = "main";
    *ret_first_line = 1;
    return 0;
}

static int32_t line(uint32_t code_id, uint32_t instr_offset) {
    return (int32_t)instr_offset;
}

static bool is_finalizing(void) {
    return false;
}

static const struct pie_pystack_ops ops = {.describe = describe, .line = line};
static const struct pie_heap_settings settings = {
    .ops = &ops, .has_memory = true, .is_finalizing = is_finalizing};
static struct pie_memory_facts facts = {.is_finalizing = is_finalizing};
static struct pie_thread *thread;
static struct pie_naming *naming;
static struct pie_heap_drain *drain;
static struct pie_cct_id node;

static int set_up(void **state) {
    static bool is_mapped;
    int r = is_mapped ? pie_region_reset() : pie_region_init();

    is_mapped = true;
    free(thread);
    thread = thread_scene_new();
    memset(&allocation, 0, sizeof allocation);
    memset(&allocated, 0, sizeof allocated);
    n_footprint = n_lives = 0;
    if (now.real_ns == 0)
        now.monotonic_ns = now.boot_ns = 1000 * SECOND, now.real_ns = DAY_ONE;
    pie_heap_set(&settings);
    if (r < 0 || pie_cct_init() < 0 || pie_heap_table_init() < 0 || pie_naming_create(&ops, &naming) < 0)
        return -1;
    node = pie_cct_child(pie_cct_root(), pie_cct_python_key(1, 7));
    return pie_heap_drain_create(&ops, &facts, naming, &drain);
}

static int tear_down(void **state) {
    pie_heap_drain_destroy(drain);
    pie_naming_destroy(naming);
    pie_heap_set(NULL);
    return 0;
}

static void allocate(uint64_t bytes) {
    struct pie_heap_record record = {.time_ns = (uint64_t)now.monotonic_ns,
                                     .weight_bytes = bytes,
                                     .block_bytes = bytes,
                                     .node = node,
                                     .ticket = (uint16_t)pie_heap_table_reserve(),
                                     .event = PIE_HEAP_ALLOCATED,
                                     .is_exact = true};
    assert_true(pie_heap_ring_push(&pie_heap_of(thread)->ring, &record));
}

/* A second in which 1 MB is allocated; what happens meanwhile happens before the tick. */
static void live_for_a_second(void (*meanwhile)(int64_t), int64_t ns) {
    pass(SECOND / 2);
    allocate(1000000);
    if (meanwhile)
        meanwhile(ns);
    pass(SECOND / 2);
    pie_heap_drain_thread(drain, thread);
    pie_heap_drain_tick(drain);
}

static void write_all(void) {
    pie_heap_drain_prepare(drain, true);
    assert_int_equal(pie_heap_drain_write(drain, &sink), 0);
    pie_heap_drain_clear(drain);
}

static void set_clock(int64_t ns) {
    now.real_ns += ns;
}

static void check_seconds(int64_t began_ns) {
    assert_int_equal(n_footprint, 6);
    assert_int_equal(n_lives, 6);
    for (int64_t i = 0; i < 6; i++) {
        assert_int_equal(footprint[i].time_ns, began_ns + (i + 1) * SECOND);
        assert_int_equal(lives[i].time_ns, began_ns + (i + 1) * SECOND);
        assert_int_equal(lives[i].live_bytes, (i + 1) * 1000000);
    }
    assert_int_equal(allocation.first_ns, began_ns + SECOND / 2);
    assert_int_equal(allocated.samples, allocation.samples); /* increments add up to totals */
    assert_memory_equal(allocated.bytes, allocation.allocated_bytes, sizeof allocated.bytes);
    assert_true(llabs((int64_t)allocation.live_bytes_s - 18000000) < 1000); /* 5.5 + 4.5 + … + 0.5 MB x s */
}

static void test_setting_the_clock_changes_no_curve(void **state) {
    int64_t began_ns = pie_realtime_ns();
    for (int64_t i = 0; i < 6; i++)
        live_for_a_second(set_clock, i == 2 ? HOUR : i == 4 ? -2 * HOUR : 0);
    assert_int_equal(pie_realtime_ns(), began_ns + 6 * SECOND); /* what the process's end is written with */
    write_all();
    check_seconds(began_ns);
}

/* Curves go on where the machine goes on, and have the time in which it slept; so has the process. */
static void test_a_suspended_machine_makes_a_level_stretch(void **state) {
    int64_t began_ns = pie_realtime_ns();
    for (int64_t i = 0; i < 6; i++)
        live_for_a_second(i == 3 ? suspend : NULL, HOUR);
    assert_int_equal(pie_realtime_ns(), began_ns + HOUR + 6 * SECOND);
    write_all();
    assert_int_equal(n_footprint, 6);
    for (int64_t i = 1; i < 6; i++) {
        int64_t step_ns = footprint[i].time_ns - footprint[i - 1].time_ns;
        assert_int_equal(lives[i].time_ns - lives[i - 1].time_ns, step_ns);
        assert_int_equal(step_ns,
                         i == 4 ? HOUR + SECOND : SECOND); /* noticed after the tick in which it was */
    }
    assert_int_equal(footprint[5].time_ns, began_ns + HOUR + 6 * SECOND);
    /* The 4 MB of that time, for an hour. */
    assert_true(llabs((int64_t)allocation.live_bytes_s - (18000000 + 3600 * INT64_C(4000000))) < 1000);
}

static void test_time_of_day_never_goes_back(void **state) {
    int64_t last_ns = pie_realtime_ns();
    for (int i = 0; i < 100; i++) {
        set_clock(i % 2 ? HOUR : -HOUR);
        if (i % 10 == 0)
            suspend(SECOND);
        pass(1000);
        assert_int_equal(pie_realtime_ns() - last_ns, 1000 + (i % 10 == 0 ? SECOND : 0));
        last_ns = pie_realtime_ns();
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_setting_the_clock_changes_no_curve, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_suspended_machine_makes_a_level_stretch, set_up, tear_down),
        cmocka_unit_test(test_time_of_day_never_goes_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
