/* SPDX-License-Identifier: Apache-2.0 */

/* Which lines are watched first (watch_interest_sigsafe.c), and that what is estimated of them stays the truth. */

#include "profiler/base/region.h"
#include "profiler/race/racing.h"
#include "profiler/stacks/cct.h"
#include "profiler/watch/internal.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static struct pie_watch_thread watch;

static int begin(void **state) {
    memset(&watch, 0, sizeof watch);
    watch.random = 0x9e3779b97f4a7c15;
    return 0;
}

static int make_tree(void **state) {
    return pie_region_init() < 0 || pie_cct_init() < 0;
}

/* A native context below a line of its own. */
static struct pie_cct_id context_of(uint32_t line) {
    struct pie_cct_id python = pie_cct_child(pie_cct_root(), pie_cct_python_key(line, 1));

    return pie_cct_child(pie_cct_child(python, pie_cct_native_key(0x1000)), pie_cct_native_key(0x2000));
}

static double wanted(struct pie_cct_id node, unsigned samples) {
    unsigned n = 0;

    for (unsigned i = 0; i < samples; i++)
        n += pie_watch_wants(&watch, pie_watch_line_node(node));
    return (double)n / samples;
}

static void test_the_line_of_a_context(void **state) {
    struct pie_cct_id node = context_of(7), line = pie_watch_line_node(node);

    assert_true(pie_cct_key_is_python(pie_cct_key(line)));
    assert_int_equal(pie_cct_key_code(pie_cct_key(line)), 7);
    assert_int_equal(pie_watch_line_node(line).value, line.value);
    struct pie_cct_id without = pie_cct_child(pie_cct_root(), pie_cct_native_key(0x3000));
    assert_true(pie_cct_is_root(pie_watch_line_node(without)));
}

/* Also once it is decided: there is nobody else to watch. */
static void test_a_line_alone_is_always_watched(void **state) {
    struct pie_cct_id node = context_of(8);

    assert_true(wanted(node, 1000) > 0.99);
    pie_watch_set_interest(pie_watch_line_node(node), 0.1);
    wanted(node, 300); /* the mean follows */
    assert_true(wanted(node, 10000) > 0.9);
}

static void test_the_decided_give_way(void **state) {
    struct pie_cct_id known = context_of(9), open = context_of(10);
    unsigned n_known = 0, n_open = 0;

    pie_watch_set_interest(pie_watch_line_node(known), 0.1);
    pie_watch_set_interest(pie_watch_line_node(open), 0.9);
    for (unsigned i = 0; i < 20000; i++) {
        n_known += pie_watch_wants(&watch, pie_watch_line_node(known));
        n_open += pie_watch_wants(&watch, pie_watch_line_node(open));
    }
    assert_in_range(n_open, 18000, 20000);
    assert_in_range(n_known, 20000 / 8, 20000 / 3); /* 0.1 / 0.5 */
}

static void test_nobody_is_forgotten(void **state) {
    struct pie_cct_id known = context_of(11), open = context_of(12);
    unsigned n_known = 0;

    pie_watch_set_interest(pie_watch_line_node(known), 0);
    for (unsigned i = 0; i < 16000; i++) {
        n_known += pie_watch_wants(&watch, pie_watch_line_node(known));
        for (int k = 0; k < 20; k++)
            pie_watch_wants(&watch, pie_watch_line_node(open));
    }
    assert_in_range(n_known, 16000 / 40, 16000 / 24); /* one in 32 */
}

/* Two lines with known fractions; a watch stands for the time of its line since the last one, as in watch_drain.c. Over
 * 2000 runs the mean estimate is the truth within four standard errors. */
static void test_estimates_stay_unbiased(void **state) {
    static const double truth[] = {0.8, 0.3}, share[] = {0.9, 0.1};
    double sum[2] = {0}, sum2[2] = {0};
    enum { RUNS = 2000, SAMPLES = 600 };

    for (unsigned run = 0; run < RUNS; run++) {
        struct pie_cct_id nodes[] = {context_of(100 + 2 * run), context_of(101 + 2 * run)};
        double pending[2] = {0}, redundant[2] = {0}, all[2] = {0};
        uint64_t hits[2] = {0}, tries[2] = {0};
        for (int i = 0; i < 2; i++)
            pie_watch_set_interest(pie_watch_line_node(nodes[i]), 1);
        for (unsigned i = 0; i < SAMPLES; i++) {
            int k = (double)(pie_watch_random(&watch) % 1000) < share[0] * 1000 ? 0 : 1;
            pending[k] += 1;
            if (!pie_watch_wants(&watch, pie_watch_line_node(nodes[k])))
                continue;
            bool is_redundant = (double)(pie_watch_random(&watch) % 1000) < truth[k] * 1000;
            all[k] += pending[k];
            redundant[k] += is_redundant ? pending[k] : 0;
            pending[k] = 0;
            hits[k] += is_redundant;
            pie_watch_set_interest(pie_watch_line_node(nodes[k]),
                                   pie_race_undecided(hits[k], ++tries[k], 0.95));
        }
        for (int k = 0; k < 2; k++) {
            sum[k] += redundant[k] / all[k];
            sum2[k] += redundant[k] / all[k] * (redundant[k] / all[k]);
        }
    }
    for (int k = 0; k < 2; k++) {
        double mean = sum[k] / RUNS, error = sqrt((sum2[k] / RUNS - mean * mean) / RUNS);
        assert_true(fabs(mean - truth[k]) < 4 * error);
    }
}

/* Code 20 is own, 21 a library's. */
static enum pie_code_owner owner(uint32_t code_id) {
    return code_id == 20   ? PIE_CODE_OWNER_OWN
           : code_id == 21 ? PIE_CODE_OWNER_LIBRARY
                           : PIE_CODE_OWNER_UNKNOWN;
}

static void test_the_own_line_of_a_library(void **state) {
    const struct pie_pystack_ops ops = {.owner = owner}, without = {.owner = NULL};
    struct pie_cct_id own = pie_cct_child(pie_cct_root(), pie_cct_python_key(20, 1));
    struct pie_cct_id library =
        pie_cct_child(pie_cct_child(own, pie_cct_native_key(0x1000)), pie_cct_python_key(21, 1));
    struct pie_cct_id inner = pie_cct_child(library, pie_cct_python_key(22, 1));
    struct pie_cct_id native = pie_cct_child(inner, pie_cct_native_key(0x2000));

    assert_int_equal(pie_watch_own_line(&ops, native).value, own.value);
    assert_int_equal(pie_watch_own_line(&ops, own).value, own.value);
    assert_int_equal(pie_watch_own_line(&without, native).value, inner.value);
    struct pie_cct_id alone = pie_cct_child(pie_cct_root(), pie_cct_python_key(21, 2));
    assert_int_equal(pie_watch_own_line(&ops, pie_cct_child(alone, pie_cct_native_key(0x3000))).value,
                     alone.value);
    assert_true(
        pie_cct_is_root(pie_watch_own_line(&ops, pie_cct_child(pie_cct_root(), pie_cct_native_key(0x4000)))));
}

static void test_sites_of_items(void **state) {
    uint64_t site = pie_cct_python_key(30, 4);

    assert_false(pie_watch_is_item(site));
    pie_watch_set_item(site);
    assert_true(pie_watch_is_item(site));
    assert_false(pie_watch_is_item(pie_cct_python_key(30, 5)));
    pie_watch_items_forget();
    assert_false(pie_watch_is_item(site));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_the_line_of_a_context, begin),
        cmocka_unit_test_setup(test_a_line_alone_is_always_watched, begin),
        cmocka_unit_test_setup(test_the_decided_give_way, begin),
        cmocka_unit_test_setup(test_nobody_is_forgotten, begin),
        cmocka_unit_test_setup(test_estimates_stay_unbiased, begin),
        cmocka_unit_test_setup(test_the_own_line_of_a_library, begin),
        cmocka_unit_test_setup(test_sites_of_items, begin),
    };
    return cmocka_run_group_tests(tests, make_tree, NULL);
}
