/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "runtime/code/graph.h"

/* Loops in graphs, held against the search for a way back from each instruction. */

enum { UNITS_MAX = 64, BIG = 65536 };

static struct pie_code_instruction units[BIG];
static uint32_t path[BIG], open[BIG];

static void start(void) {
    memset(units, 0, sizeof units);
}

static void put(uint32_t at, uint32_t next, uint32_t target, uint32_t handler) {
    units[at] = (struct pie_code_instruction){.is_instruction = true, .next = {next, target, handler}};
}

static void put_line(uint32_t n) {
    start();
    for (uint32_t at = 0; at < n; at++)
        put(at, at + 1, PIE_CODE_GRAPH_NOWHERE, PIE_CODE_GRAPH_NOWHERE);
}

static void mark(uint32_t n) {
    pie_code_graph_mark_loops(units, n, path, open);
}

static bool reaches(uint32_t n, uint32_t from, uint32_t to, bool seen[UNITS_MAX]) {
    for (int i = 0; i < 3; i++) {
        uint32_t next = units[from].next[i];

        if (next >= n || !units[next].is_instruction)
            continue;
        if (next == to)
            return true;
        if (!seen[next]) {
            seen[next] = true;
            if (reaches(n, next, to, seen))
                return true;
        }
    }
    return false;
}

static void assert_right(uint32_t n) {
    for (uint32_t at = 0; at < n; at++) {
        bool seen[UNITS_MAX] = {false};

        assert_int_equal(units[at].is_in_loop, units[at].is_instruction && reaches(n, at, at, seen));
    }
}

static void test_no_jump(void **state) {
    put_line(10);
    mark(10);
    for (uint32_t at = 0; at < 10; at++)
        assert_false(units[at].is_in_loop);
}

static void test_one_loop(void **state) {
    put_line(10);
    units[6].next[1] = 3;
    mark(10);
    for (uint32_t at = 0; at < 10; at++)
        assert_int_equal(units[at].is_in_loop, at >= 3 && at <= 6);
}

static void test_an_instruction_that_jumps_to_itself(void **state) {
    put_line(3);
    units[1].next[1] = 1;
    mark(3);
    assert_false(units[0].is_in_loop);
    assert_true(units[1].is_in_loop);
    assert_false(units[2].is_in_loop);
}

/* try: 1 except: 7, 8; 2 to 4 follow; the handler jumps back behind the try block. */
static void test_a_handler_at_the_end_makes_no_loop(void **state) {
    put_line(9);
    units[1].next[2] = 7;
    units[5].next[0] = PIE_CODE_GRAPH_NOWHERE;
    units[6].next[0] = PIE_CODE_GRAPH_NOWHERE;
    put(8, PIE_CODE_GRAPH_NOWHERE, 2, PIE_CODE_GRAPH_NOWHERE);
    mark(9);
    for (uint32_t at = 0; at < 9; at++)
        assert_false(units[at].is_in_loop);
}

static void test_edges_that_lead_nowhere(void **state) {
    put_line(8);
    units[4].is_instruction = false; /* a cache */
    units[3].next[1] = 4;
    units[5].next[1] = 1000;
    units[6].next[2] = UINT32_MAX - 1;
    units[7].next[1] = 4;
    mark(8);
    assert_right(8);
}

static void test_random_graphs(void **state) {
    srandom(1);
    for (int round = 0; round < 20000; round++) {
        uint32_t n = 1 + (uint32_t)random() % UNITS_MAX;

        start();
        for (uint32_t at = 0; at < n; at++) {
            if (random() % 5 == 0)
                continue;
            put(at, random() % 8 ? at + 1 : PIE_CODE_GRAPH_NOWHERE,
                random() % 6 ? PIE_CODE_GRAPH_NOWHERE : (uint32_t)random() % (n + 2),
                random() % 9 ? PIE_CODE_GRAPH_NOWHERE : (uint32_t)random() % (n + 2));
        }
        mark(n);
        assert_right(n);
    }
}

/* As deep as it gets: no recursion, no room beyond what was given. */
static void test_the_longest_code(void **state) {
    put_line(BIG);
    units[BIG - 1].next[1] = 1;
    mark(BIG);
    assert_false(units[0].is_in_loop);
    for (uint32_t at = 1; at < BIG; at++)
        assert_true(units[at].is_in_loop);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_jump),
        cmocka_unit_test(test_one_loop),
        cmocka_unit_test(test_an_instruction_that_jumps_to_itself),
        cmocka_unit_test(test_a_handler_at_the_end_makes_no_loop),
        cmocka_unit_test(test_edges_that_lead_nowhere),
        cmocka_unit_test(test_random_graphs),
        cmocka_unit_test(test_the_longest_code),
    };

    return cmocka_run_group_tests_name("code-graph", tests, NULL, NULL);
}
