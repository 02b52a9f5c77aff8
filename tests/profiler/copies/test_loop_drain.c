/* SPDX-License-Identifier: Apache-2.0 */

/* What becomes of samples on a copy loop: a destination that moves by 1000 bytes in each ms, 8 bytes a round. */

#include "profiler/base/counters.h"
#include "profiler/base/region.h"
#include "profiler/copies/loop.h"
#include "profiler/copies/loop_drain.h"
#include "profiler/ports/pystack.h"
#include "profiler/stacks/cct.h"
#include "profiler/symbols/naming.h"
#include "profiler/thread/thread.h"
#include "tests/profiler/thread/scene.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { MS = 1000000, ROUND = 8, BUFFER = 1 << 20 };

static struct pie_thread *thread;
static struct pie_naming *naming;
static struct pie_copy_loops *loops;
static uint16_t site;
static uint64_t cpu_ns;

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

static const struct pie_pystack_ops ops = {.describe = describe, .line = line};

static int set_up(void **state) {
    static bool is_mapped;
    const struct pie_copy_site made = {.function = 77,
                                       .step_bytes = ROUND,
                                       .round_bytes = ROUND,
                                       .round_units = 1,
                                       .base = 7,
                                       .index = PIE_COPY_NO_REGISTER,
                                       .step_register = PIE_COPY_NO_REGISTER,
                                       .flags = PIE_COPY_IN_LOOP | PIE_COPY_TRACKED};
    int r = is_mapped ? pie_region_reset() : pie_region_init();

    is_mapped = true;
    free(thread);
    thread = thread_scene_new();
    pie_counters_reset();
    pie_copy_sites_forget();
    if (r < 0 || pie_cct_init() < 0 || pie_naming_create(&ops, &naming) < 0)
        return -1;
    r = pie_copy_loops_create(naming, &loops);
    site = (uint16_t)pie_copy_site_put(1000, &made);
    cpu_ns = MS;
    return r;
}

static int tear_down(void **state) {
    pie_copy_loops_destroy(loops);
    pie_naming_destroy(naming);
    return 0;
}

static struct pie_cct_id at_line(uint32_t number) {
    struct pie_cct_id node = pie_cct_child(pie_cct_root(), pie_cct_python_key(1, number));

    return pie_cct_child(node, pie_cct_native_key(1000));
}

/* A sample after a ms at such a distance from the buffer's beginning. allocated 0: nobody counts. */
static void sample(struct pie_cct_id node, uint64_t at, uint64_t allocated) {
    uint64_t head = atomic_load(&pie_copy_loop_of(thread)->head);

    cpu_ns += MS;
    pie_copy_loop_of(thread)->records[head % PIE_COPY_RING_RECORDS] = (struct pie_copy_record){
        .cpu_ns = cpu_ns,
        .address = UINT64_C(0x7f0000000000) + at,
        .stack = 500,
        .allocated = allocated,
        .user_ns = MS,
        .node = node,
        .site = site,
        .generation = pie_copy_sites_generation(),
    };
    atomic_store(&pie_copy_loop_of(thread)->head, head + 1);
    pie_copy_loops_thread(loops, thread, 0);
}

static struct pie_copy_row only_row(void) {
    size_t count;
    pie_copy_loops_end(loops);
    const struct pie_copy_row *rows = pie_copy_loops_rows(loops, &count);
    assert_int_equal(count, 1);
    assert_int_equal(rows[0].estimate, PIE_COPY_LOOP);
    return rows[0];
}

static void test_the_speed_is_seen_within_a_call(void **state) {
    for (uint64_t i = 0; i < 10; i++)
        sample(at_line(5), i * 1000, 4096);
    struct pie_copy_row row = only_row();
    assert_int_equal(row.samples, 10);
    assert_int_equal(row.bytes, 10000);
    assert_true(row.sq_bytes2 > 9.9e6 && row.sq_bytes2 < 10.1e6);
}

static void test_short_calls_tell_nothing(void **state) {
    /* Each is another call, and the same memory: what it moved by is chance. */
    static const uint64_t places[] = {500, 100, 900, 300, 700, 200, 800, 400, 600, 150};

    for (uint64_t i = 0; i < 10; i++)
        sample(at_line(5), places[i], 4096 + i);
    assert_true(only_row().bytes > 10 * 100000); /* the processor's speed */
}

static void test_short_calls_tell_nothing_where_nobody_counts(void **state) {
    static const uint64_t places[] = {500, 100, 900, 300, 700, 200, 800, 400, 600, 150};

    for (uint64_t i = 0; i < 10; i++)
        sample(at_line(5), places[i], 0);
    assert_true(only_row().bytes > 10 * 100000);
}

static void test_long_calls_are_believed_where_nobody_counts(void **state) {
    for (uint64_t i = 0; i < 40; i++)
        sample(at_line(5), i % 10 * 1000, 0);
    assert_int_equal(only_row().bytes, 40000);
}

static void test_a_jump_to_another_array_is_no_speed(void **state) {
    for (uint64_t i = 0; i < 40; i++)
        sample(at_line(5), i * 1000 + i / 10 * BUFFER, 0);
    assert_int_equal(only_row().bytes, 40000);
}

static void test_samples_elsewhere_in_the_call_do_not_matter(void **state) {
    for (uint64_t i = 0; i < 10; i++) {
        sample(at_line(5), i * 2000, 4096);
        cpu_ns += MS; /* on the loop over rows */
    }
    assert_int_equal(only_row().bytes, 20000);
}

static void test_lines_have_speeds_of_their_own(void **state) {
    size_t count;

    for (uint64_t i = 0; i < 10; i++) {
        sample(at_line(5), i * 1000, 4096);
        sample(at_line(6), i * 3000 + BUFFER, 4096);
    }
    const struct pie_copy_row *rows = pie_copy_loops_rows(loops, &count);
    assert_int_equal(count, 2);
    assert_int_equal(rows[0].bytes, 10000);
    assert_int_equal(rows[1].bytes, 30000);
}

static void test_rows_are_increments_at_the_speed_of_the_day(void **state) {
    for (uint64_t i = 0; i < 30; i++)
        sample(at_line(5), i * 1000, 4096);
    assert_int_equal(only_row().bytes, 30000);
    pie_copy_loops_clear(loops);
    for (uint64_t i = 1; i <= 30; i++)
        sample(at_line(5), 29000 + i * 2000, 4096);
    assert_int_equal(only_row().bytes, 60000);
}

static void test_the_first_samples_wait_for_a_speed(void **state) {
    size_t count;

    sample(at_line(5), 0, 4096);
    pie_copy_loops_rows(loops, &count);
    assert_int_equal(count, 0);
    pie_copy_loops_clear(loops);
    for (uint64_t i = 1; i < 10; i++)
        sample(at_line(5), i * 1000, 4096);
    const struct pie_copy_row *rows = pie_copy_loops_rows(loops, &count);
    assert_int_equal(count, 1);
    assert_int_equal(rows[0].samples, 10);
    assert_int_equal(rows[0].bytes, 10000);
}

static void test_a_new_thread_in_the_slot_begins_anew(void **state) {
    for (uint64_t i = 0; i < 10; i++)
        sample(at_line(5), i * 1000, 4096);
    pie_copy_loops_thread_ended(loops, 0);
    sample(at_line(5), 10 * 1000 + 5000, 4096);
    assert_int_equal(only_row().bytes, 11000);
}

static void test_records_from_before_an_unload_are_dropped(void **state) {
    size_t count;
    uint64_t head = atomic_load(&pie_copy_loop_of(thread)->head);

    pie_copy_loop_of(thread)->records[head] = (struct pie_copy_record){
        .node = at_line(5), .site = site, .generation = pie_copy_sites_generation(), .user_ns = MS};
    atomic_store(&pie_copy_loop_of(thread)->head, head + 1);
    pie_copy_loops_forget(loops);
    pie_copy_loops_thread(loops, thread, 0);
    pie_copy_loops_rows(loops, &count);
    assert_int_equal(count, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_the_speed_is_seen_within_a_call, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_short_calls_tell_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_short_calls_tell_nothing_where_nobody_counts, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_long_calls_are_believed_where_nobody_counts, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_jump_to_another_array_is_no_speed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_samples_elsewhere_in_the_call_do_not_matter, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_lines_have_speeds_of_their_own, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_rows_are_increments_at_the_speed_of_the_day, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_the_first_samples_wait_for_a_speed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_new_thread_in_the_slot_begins_anew, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_records_from_before_an_unload_are_dropped, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
