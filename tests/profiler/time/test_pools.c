/* SPDX-License-Identifier: Apache-2.0 */
/* For whom native threads work, on made-up stacks: the tree, the modules and the sums are fakes of this file. */
#include "profiler/time/pools.h"

#include "profiler/code/modules.h"
#include "profiler/stacks/cct.h"
#include "profiler/thread/thread.h"
#include "profiler/time/aggregate.h"
#include "profiler/time/sample_ring.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { MS = 1000000, BLAS = 1, OPENMP = 2, CPP = 3, MODULES = 4, TICKS_KEPT = 8 };

/* Nodes: a Python line has no module; each other node is native code of one. */
enum { LINE = 8, OTHER_LINE, LINE_BLAS, LINE_OPENMP, LINE_CPP, POOL_BLAS, POOL_CPP, POOL_BOTH, NODES };

static const struct {
    uint32_t parent;
    unsigned module;
    bool is_python;
} nodes[NODES] = {
    [LINE] = {.is_python = true},
    [OTHER_LINE] = {.is_python = true},
    [LINE_BLAS] = {.parent = LINE, .module = BLAS},
    [LINE_OPENMP] = {.parent = OTHER_LINE, .module = OPENMP},
    [LINE_CPP] = {.parent = OTHER_LINE, .module = CPP},
    [POOL_CPP] = {.module = CPP},
    [POOL_BLAS] = {.parent = POOL_CPP, .module = BLAS},
    [POOL_BOTH] = {.parent = POOL_CPP, .module = OPENMP},
};

static struct pie_code_module modules[MODULES] = {
    [BLAS] = {.path = "/usr/lib/libopenblas.so.0"},
    [OPENMP] = {.path = "/usr/lib/libgomp.so.1"},
    [CPP] = {.path = "/usr/lib/libstdc++.so.6"},
};

uint64_t pie_cct_key(struct pie_cct_id id) {
    return id.value;
}

struct pie_cct_id pie_cct_parent(struct pie_cct_id id) {
    return (struct pie_cct_id){nodes[id.value].parent};
}

bool pie_cct_key_is_python(uint64_t key) {
    return nodes[key].is_python;
}

unsigned pie_cct_key_module(uint64_t key) {
    return nodes[key].module;
}

const struct pie_code_module *pie_code_module(unsigned number) {
    return number && number < MODULES ? &modules[number] : NULL;
}

static uint64_t worked_ns[NODES]; /* booked by node */

int pie_aggregate_add_related(struct pie_aggregate *aggregate, uint32_t thread, struct pie_cct_id node,
                              enum pie_related_kind kind, uint64_t ns) {
    assert_int_equal(kind, PIE_RELATED_WORKED);
    worked_ns[node.value] += ns;
    return 0;
}

/* Two Python threads and two of a pool. */
static struct pie_thread main_thread = {.id = 1, .is_main = true}, second_thread = {.id = 2, .tstate = 1},
                         pool_thread = {.id = 3}, other_pool_thread = {.id = 4};

static int begin(void **test) {
    pie_pools_forget();
    memset(worked_ns, 0, sizeof worked_ns);
    return 0;
}

static void run(const struct pie_thread *thread, uint32_t node, uint64_t ms) {
    const struct pie_record record = {
        .node = {node}, .user_ns = ms * MS / 2, .system_ns = ms * MS / 2, .is_python = nodes[node].is_python};

    pie_pools_sample(thread, &record);
}

static void wait_at(const struct pie_thread *thread, uint32_t node, uint64_t ms) {
    pie_pools_wait(thread, (struct pie_cct_id){node}, ms * MS);
}

static void settle(void) {
    pie_pools_settle(NULL);
}

static void expect_ms(uint32_t node, uint64_t ms) {
    assert_int_equal(worked_ns[node], ms * MS);
}

static void test_the_line_that_waits_has_the_pools_time(void **test) {
    wait_at(&main_thread, LINE, 20);
    run(&pool_thread, POOL_BLAS, 12);
    settle();
    expect_ms(LINE, 12);
}

static void test_no_more_is_booked_than_was_waited(void **test) {
    wait_at(&main_thread, LINE, 5);
    run(&pool_thread, POOL_BLAS, 12);
    settle();
    expect_ms(LINE, 5);
    wait_at(&main_thread, LINE, 20); /* the 7 ms that are left were worked meanwhile */
    settle();
    expect_ms(LINE, 12);
}

static void test_each_native_thread_works_as_long_as_was_waited(void **test) {
    wait_at(&main_thread, LINE, 10);
    run(&pool_thread, POOL_BLAS, 10);
    run(&other_pool_thread, POOL_BLAS, 10);
    settle();
    expect_ms(LINE, 20);
}

static void test_lines_that_wait_at_once_share_by_their_time(void **test) {
    wait_at(&main_thread, LINE, 15);
    wait_at(&second_thread, OTHER_LINE, 5);
    run(&pool_thread, POOL_BLAS, 12);
    settle();
    expect_ms(LINE, 9);
    expect_ms(OTHER_LINE, 3);
}

static void test_nobody_waits_so_it_is_for_nobody(void **test) {
    run(&main_thread, LINE, 20);
    run(&pool_thread, POOL_BLAS, 12);
    settle();
    for (int node = 0; node < NODES; node++)
        expect_ms((uint32_t)node, 0);
}

static void test_who_takes_part_with_the_same_library_has_it(void **test) {
    run(&main_thread, LINE_BLAS, 20);
    run(&second_thread, LINE_OPENMP, 20);
    run(&pool_thread, POOL_BLAS, 12);
    settle();
    expect_ms(LINE_BLAS, 12);
    expect_ms(LINE_OPENMP, 0);
}

/* Each thread of C++ has libstdc++ on its stack. */
static void test_the_library_of_cpp_is_no_common_one(void **test) {
    run(&main_thread, LINE_CPP, 20);
    run(&pool_thread, POOL_CPP, 6);
    run(&other_pool_thread, POOL_BOTH, 6);
    settle();
    expect_ms(LINE_CPP, 0);
}

static void test_a_thread_with_python_works_for_itself(void **test) {
    wait_at(&main_thread, LINE, 20);
    run(&second_thread, POOL_BLAS, 12); /* native code, but the thread has a Python state */
    settle();
    expect_ms(LINE, 0);
}

/* A wait is booked when the thread is found asleep, in one tick of several. */
static void test_time_is_kept_for_some_ticks(void **test) {
    for (int kept = 0; kept < 2; kept++) {
        begin(test);
        run(&pool_thread, POOL_BLAS, 12);
        for (int tick = 0; tick < TICKS_KEPT - kept; tick++)
            settle();
        wait_at(&main_thread, LINE, 100);
        settle();
        expect_ms(LINE, kept ? 12 : 0);
    }
}

static void test_newer_time_is_booked_first(void **test) {
    run(&pool_thread, POOL_BLAS, 30);
    settle();
    for (int tick = 1; tick < TICKS_KEPT; tick++) {
        run(&pool_thread, POOL_BLAS, 1);
        if (tick == TICKS_KEPT - 1)
            wait_at(&main_thread, LINE, 7);
        settle();
    }
    expect_ms(LINE, 7); /* those 7 of 1 ms: the old 30 ms are gone now */
    wait_at(&main_thread, LINE, 100);
    settle();
    expect_ms(LINE, 7);
}

static void test_nothing_is_lost_where_parts_are_no_whole_numbers(void **test) {
    const struct pie_record record = {.node = {POOL_BLAS}, .user_ns = 1000001};

    for (int i = 0; i < 7; i++)
        wait_at(i % 2 ? &main_thread : &second_thread, i % 2 ? LINE : OTHER_LINE, 1);
    pie_pools_sample(&pool_thread, &record);
    settle();
    assert_int_equal(worked_ns[LINE] + worked_ns[OTHER_LINE], 1000001);
}

static void test_a_forked_child_knows_nothing(void **test) {
    run(&pool_thread, POOL_BLAS, 12);
    settle();
    wait_at(&main_thread, LINE, 20);
    pie_pools_forget();
    settle();
    wait_at(&main_thread, LINE, 20);
    settle();
    expect_ms(LINE, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_the_line_that_waits_has_the_pools_time, begin),
        cmocka_unit_test_setup(test_no_more_is_booked_than_was_waited, begin),
        cmocka_unit_test_setup(test_each_native_thread_works_as_long_as_was_waited, begin),
        cmocka_unit_test_setup(test_lines_that_wait_at_once_share_by_their_time, begin),
        cmocka_unit_test_setup(test_nobody_waits_so_it_is_for_nobody, begin),
        cmocka_unit_test_setup(test_who_takes_part_with_the_same_library_has_it, begin),
        cmocka_unit_test_setup(test_the_library_of_cpp_is_no_common_one, begin),
        cmocka_unit_test_setup(test_a_thread_with_python_works_for_itself, begin),
        cmocka_unit_test_setup(test_time_is_kept_for_some_ticks, begin),
        cmocka_unit_test_setup(test_newer_time_is_booked_first, begin),
        cmocka_unit_test_setup(test_nothing_is_lost_where_parts_are_no_whole_numbers, begin),
        cmocka_unit_test_setup(test_a_forked_child_knows_nothing, begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
