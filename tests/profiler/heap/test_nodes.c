/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "profiler/base/region.h"
#include "profiler/heap/engine.h"
#include "profiler/heap/leaks.h"
#include "profiler/heap/nodes.h"
#include "profiler/ports/retention.h"

static struct pie_heap_nodes nodes;

static int fresh(void **state) {
    pie_heap_nodes_finish(&nodes);
    return 0;
}

static struct pie_heap_node *node_of_size(uint32_t id, uint32_t size) {
    bool is_new;
    struct pie_heap_node *node = pie_heap_nodes_get(&nodes, (struct pie_node_id){id}, size, &is_new);
    assert_non_null(node);
    assert_int_equal(node->row.node.value, id);
    assert_int_equal(node->row.size, size);
    return node;
}

static struct pie_heap_node *node_of(uint32_t id) {
    return node_of_size(id, 0);
}

static void live(uint32_t id, uint64_t bytes, bool is_gone, uint64_t now_ns) {
    pie_heap_node_live(&nodes, node_of(id), PIE_HEAP_PYTHON, bytes, (double)bytes * (double)bytes, is_gone,
                       now_ns);
}

/* Where all time is counted, samples are drawn one by one; else those of a slice are drawn together. */
static void test_samples_of_one_slice_vary_together(void **state) {
    struct pie_heap_node *node = node_of(1);

    assert_true(pie_heap_node_square(node, 10, 1, 0) == 100);
    assert_true(pie_heap_node_square(node, 10, 0.5, 7) == 100 + 0.5 * 100);
    assert_true(pie_heap_node_square(node, 20, 0.5, 7) == 400 + 0.5 * (900 - 100));
    assert_true(pie_heap_node_square(node, 20, 0.5, 8) == 400 + 0.5 * 400);
    assert_true(pie_heap_node_square(node, 20, 0.25, 8) == 400 + 0.75 * (1600 - 400));
}

static void test_what_was_alive_at_the_peak(void **state) {
    live(1, 100, false, 10);
    live(2, 30, false, 20);
    nodes.epoch++; /* peak: 130 */
    live(1, 60, true, 30);
    live(3, 5, false, 40);
    for (uint32_t i = 1; i <= 3; i++)
        pie_heap_node_update(&nodes, node_of(i), 50);
    assert_int_equal(node_of(1)->row.peak_bytes[PIE_HEAP_PYTHON], 100);
    assert_int_equal(node_of(1)->row.live_bytes, 40);
    assert_int_equal(node_of(2)->row.peak_bytes[PIE_HEAP_PYTHON], 30);
    assert_int_equal(node_of(3)->row.peak_bytes[PIE_HEAP_PYTHON], 0);
    live(3, 200, false, 60);
    nodes.epoch++; /* a higher one */
    for (uint32_t i = 1; i <= 3; i++)
        pie_heap_node_update(&nodes, node_of(i), 70);
    assert_int_equal(node_of(1)->row.peak_bytes[PIE_HEAP_PYTHON], 40);
    assert_int_equal(node_of(3)->row.peak_bytes[PIE_HEAP_PYTHON], 205);
    assert_true(node_of(3)->row.peak_sq_bytes2 == 200.0 * 200 + 5 * 5);
}

static void test_the_average_is_an_integral(void **state) {
    live(1, 1000, false, 0);
    live(1, 500, true, 2000000000);
    pie_heap_node_update(&nodes, node_of(1), 3000000000);
    assert_true(fabs(node_of(1)->row.live_bytes_s - (1000 * 2.0 + 500 * 1.0)) < 1e-6);
}

static void test_a_counted_block_has_no_error(void **state) {
    struct pie_heap_node *node = node_of(1);
    pie_heap_node_allocated(&nodes, node, PIE_HEAP_NATIVE, 5000, 5000, 0, 99);
    pie_heap_node_allocated(&nodes, node, PIE_HEAP_PYTHON, 35, 70, 70.0 * 70, 100);
    assert_int_equal(node->row.allocated_bytes[PIE_HEAP_NATIVE], 5000);
    assert_int_equal(node->row.allocated_bytes[PIE_HEAP_PYTHON], 70);
    assert_true(node->row.allocated_sq_bytes2 == 4900);
    assert_int_equal(node->row.first_ns, 99);
    assert_int_equal(node->row.samples, 2);
    assert_true(node->row.blocks == 1 + 2);
}

/* A block of one byte more rises; one that is doubled, as a list may be, does not, and neither do equal ones. */
static void test_blocks_that_become_larger_bit_by_bit_are_counted(void **state) {
    static const uint64_t sizes[] = {1000, 1001, 1002, 1002, 1126, 1127, 2254, 1000, 1001};
    struct pie_heap_node *node = node_of(1);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        pie_heap_node_allocated(&nodes, node, PIE_HEAP_PYTHON, sizes[i], 10 * sizes[i],
                                100.0 * (double)(sizes[i] * sizes[i]), 99);
    assert_int_equal(node->row.rises, 5);
    assert_int_equal(node->row.falls, 2);
    assert_true(fabs(node->row.blocks - 90) < 1e-9);
}

static void test_blocks_have_size_classes(void **state) {
    static const struct {
        uint64_t bytes;
        uint32_t size;
    } known[] = {{0, 0},       {512, 0},           {513, 1},       {2048, 1},      {2049, 2},
                 {8193, 3},    {32769, 4},         {131073, 5},    {512 << 10, 5}, {524289, 6},
                 {2 << 20, 6}, {(2 << 20) + 1, 7}, {UINT64_MAX, 7}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        assert_int_equal(pie_heap_size_of(known[i].bytes), known[i].size);
}

static void test_the_score_is_the_papers(void **state) {
    static const struct {
        uint32_t mallocs, frees;
        double score;
    } known[] = {{0, 0, 0.5},          {1, 0, 1 - 1.0 / 3},    {19, 0, 1 - 1.0 / 21},  {18, 0, 1 - 1.0 / 20},
                 {10, 5, 1 - 6.0 / 7}, {10, 10, 1 - 11.0 / 2}, {100, 1, 1 - 2.0 / 101}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        assert_true(fabs(pie_heap_leak_score(known[i].mallocs, known[i].frees) - known[i].score) < 1e-12);
    assert_true(pie_heap_leak_score(19, 0) > 0.95);
    assert_false(pie_heap_leak_score(18, 0) > 0.95);
}

/* --- deciding and asking --- */

static struct pie_heap_block blocks[PIE_HEAP_TICKETS];
static struct pie_heap_leaks leaks;
static struct pie_node_id asked_node;
static size_t asked_count;
static uint64_t asked_budget_ns;
static bool has_answer;

static bool ask(struct pie_node_id node, const uintptr_t *wanted, size_t count, uint64_t budget_ns) {
    asked_node = node;
    asked_count = count;
    asked_budget_ns = budget_ns;
    return true;
}

static bool answer(struct pie_node_id *ret_node, char *ret_text, size_t size) {
    if (!has_answer)
        return false;
    *ret_node = asked_node;
    snprintf(ret_text, size, "list held by module app.cache");
    return true;
}

static uint64_t spent_ns;

static uint64_t spent(void) {
    return spent_ns;
}

static const struct pie_retention_ops retention = {ask, answer, spent};
static const uint64_t SECOND = 1000000000;

static int fresh_leaks(void **state) {
    fresh(state);
    memset(blocks, 0, sizeof blocks);
    asked_node.value = 0;
    asked_count = 0;
    has_answer = false;
    spent_ns = 0;
    pie_heap_leaks_init(&leaks, &retention, 0);
    return pie_region_reset() == 0 ? pie_heap_table_init() : -1;
}

static void alive_in(uint32_t count, struct pie_heap_node *node, uint64_t since_ns) {
    for (; count > 0; count--) {
        uint32_t ticket = pie_heap_table_reserve();
        pie_heap_table_put(ticket, (const void *)((uintptr_t)ticket * 4096 + 16));
        blocks[ticket] = (struct pie_heap_block){.is_known = true,
                                                 .node_index = (uint32_t)(node - nodes.nodes) + 1,
                                                 .weight_bytes = 100,
                                                 .since_ns = since_ns};
        node->live_bytes[PIE_HEAP_NATIVE] += 100;
    }
}

static void alive(uint32_t count, uint32_t id, uint64_t since_ns) {
    alive_in(count, node_of(id), since_ns);
}

static void freed(uint32_t count, uint32_t id, uint64_t age_ns) {
    for (; count > 0; count--)
        pie_heap_node_freed(node_of(id), age_ns);
}

static void test_only_a_decided_fate_counts(void **state) {
    node_of(1);
    alive(7, 1, SECOND);                  /* nine tenths of the run old */
    alive(5, 1, 9 * SECOND + SECOND / 2); /* young */
    freed(3, 1, 4 * SECOND);
    pie_heap_leaks_decide(&leaks, &nodes, blocks, PIE_HEAP_TICKETS, 10 * SECOND);
    assert_int_equal(node_of(1)->row.mallocs, 10);
    assert_int_equal(node_of(1)->row.frees, 3);
    pie_heap_leaks_decide(&leaks, &nodes, blocks, PIE_HEAP_TICKETS, 12 * SECOND);
    assert_int_equal(node_of(1)->row.mallocs, 15);
    assert_int_equal(node_of(1)->row.frees, 3);
}

/* Temporaries, however many: they are gone before they could tell. As the run grows, so does what counts as one. */
static void test_what_lives_for_a_moment_says_nothing(void **state) {
    node_of(1);
    alive(20, 1, 0);
    freed(60000, 1, SECOND / 20);
    freed(70000, 1, SECOND / 4);
    pie_heap_leaks_decide(&leaks, &nodes, blocks, PIE_HEAP_TICKETS, 10 * SECOND);
    assert_int_equal(node_of(1)->row.mallocs, 20);
    assert_int_equal(node_of(1)->row.frees, 0);
    pie_heap_leaks_decide(&leaks, &nodes, blocks, PIE_HEAP_TICKETS,
                          SECOND); /* early, they were a quarter of it: the class is full */
    assert_int_equal(node_of(1)->row.frees, UINT16_MAX);
}

static void test_ages_have_classes(void **state) {
    static const uint64_t least = PIE_HEAP_AGE_MIN_NS;
    freed(1, 1, least - 1);
    assert_int_equal(pie_heap_node_freed_from(node_of(1), 1), 0);
    freed(1, 1, least);
    freed(2, 1, 2 * least - 1);
    freed(4, 1, 2 * least);
    freed(8, 1, 100 * 86400 * SECOND); /* a hundred days */
    assert_int_equal(pie_heap_node_freed_from(node_of(1), least), 15);
    assert_int_equal(pie_heap_node_freed_from(node_of(1), 2 * least - 1),
                     15); /* the class in which the age lies */
    assert_int_equal(pie_heap_node_freed_from(node_of(1), 2 * least), 12);
    assert_int_equal(pie_heap_node_freed_from(node_of(1), 4 * least), 8);
    assert_int_equal(pie_heap_node_freed_from(node_of(1), 400 * 86400 * SECOND), 8);
}

/* In eighths of the time that is decided, here of 8 seconds. */
static void test_when_what_is_kept_was_allocated(void **state) {
    uint64_t now_ns = 8 * SECOND * 10 / 9 + 10;
    node_of(1);
    for (uint64_t i = 0; i < 8; i++)
        alive((uint32_t)i, 1, i * SECOND + SECOND / 2);
    alive(5, 1, 8 * SECOND + SECOND / 2);
    pie_heap_leaks_decide(&leaks, &nodes, blocks, PIE_HEAP_TICKETS, now_ns);
    for (uint64_t i = 0; i < PIE_KEPT_PARTS; i++)
        assert_int_equal(node_of(1)->row.kept_bytes[i], 100 * i);
    assert_int_equal(node_of(1)->row.mallocs, 28);
    memset(blocks, 0, sizeof blocks); /* all of it is gone */
    pie_heap_node_touch(&nodes, node_of(1));
    pie_heap_leaks_decide(&leaks, &nodes, blocks, PIE_HEAP_TICKETS, now_ns);
    for (uint64_t i = 0; i < PIE_KEPT_PARTS; i++)
        assert_int_equal(node_of(1)->row.kept_bytes[i], 0);
    assert_int_equal(node_of(1)->row.mallocs, 0);
}

/* What lies beyond is not looked at: in a young process most pages of that table are untouched. */
static void test_only_tickets_that_were_used_are_looked_at(void **state) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *memory = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(memory != MAP_FAILED);
    assert_int_equal(mprotect(memory + page, page, PROT_NONE), 0);
    struct pie_heap_block *used = (struct pie_heap_block *)(void *)(memory + page) - 3;

    used[2] = (struct pie_heap_block){.node_index = (uint32_t)(node_of_size(1, 5) - nodes.nodes) + 1,
                                      .weight_bytes = 100,
                                      .since_ns = SECOND};
    pie_heap_leaks_decide(&leaks, &nodes, used, 3, 10 * SECOND);
    assert_int_equal(node_of_size(1, 5)->row.mallocs, 1);
    pie_heap_leaks_ask(&leaks, &nodes, used, 3, 10 * SECOND);
    munmap(memory, 2 * page);
}

/* Blocks of one size stay, those of another are freed, in the same context: each has its own score. */
static void test_sizes_are_apart(void **state) {
    node_of_size(1, 2), node_of_size(1, 5);
    alive_in(30, node_of_size(1, 5), SECOND);
    alive_in(10, node_of_size(1, 2), SECOND);
    for (int i = 0; i < 40; i++)
        pie_heap_node_freed(node_of_size(1, 2), 3 * SECOND);
    pie_heap_leaks_decide(&leaks, &nodes, blocks, PIE_HEAP_TICKETS, 10 * SECOND);
    assert_int_equal(node_of_size(1, 5)->row.mallocs, 30);
    assert_int_equal(node_of_size(1, 5)->row.frees, 0);
    assert_int_equal(node_of_size(1, 2)->row.mallocs, 50);
    assert_int_equal(node_of_size(1, 2)->row.frees, 40);
    pie_heap_leaks_ask(&leaks, &nodes, blocks, PIE_HEAP_TICKETS, 10 * SECOND);
    assert_int_equal(asked_node.value, 1);
    assert_int_equal(asked_count, 30); /* of those that stay alone */
    assert_true(node_of_size(1, 5)->is_asked);
    assert_false(node_of_size(1, 2)->is_asked);
    has_answer = true;
    pie_heap_leaks_ask(&leaks, &nodes, blocks, PIE_HEAP_TICKETS, 10 * SECOND);
    assert_int_equal(leaks.n_answers, 1);
    assert_int_equal(leaks.answers[0].size, 5);
}

static void test_what_an_import_allocates_is_no_leak(void **state) {
    node_of(1)->is_import = true;
    alive(50, 1, 0);
    pie_heap_leaks_decide(&leaks, &nodes, blocks, PIE_HEAP_TICKETS, 10 * SECOND);
    assert_int_equal(node_of(1)->row.mallocs, 0);
}

static void test_the_fastest_growing_suspect_is_asked_about_once(void **state) {
    node_of(1), node_of(2), node_of(3);
    alive(20, 1, 0);
    alive(40, 2, 0);
    alive(60, 3, 0);
    freed(30, 3, 5 * SECOND); /* they are freed */
    pie_heap_leaks_decide(&leaks, &nodes, blocks, PIE_HEAP_TICKETS, 10 * SECOND);
    pie_heap_leaks_ask(&leaks, &nodes, blocks, PIE_HEAP_TICKETS, 10 * SECOND);
    assert_int_equal(asked_node.value, 2);
    assert_int_equal(asked_count, 32);
    assert_int_equal(asked_budget_ns, 100000000);
    asked_node.value = 0;
    pie_heap_leaks_ask(&leaks, &nodes, blocks, PIE_HEAP_TICKETS, 20 * SECOND); /* no answer yet */
    assert_int_equal(asked_node.value, 0);
    has_answer = true;
    asked_node.value = 2;
    pie_heap_leaks_ask(&leaks, &nodes, blocks, PIE_HEAP_TICKETS, 30 * SECOND);
    assert_int_equal(leaks.n_answers, 1);
    assert_int_equal(leaks.answers[0].node.value, 2);
    assert_string_equal(leaks.answers[0].text, "list held by module app.cache");
    assert_int_equal(asked_node.value, 1); /* the next one */
    pie_heap_leaks_clear(&leaks);
    assert_int_equal(leaks.n_answers, 0);
}

/* Memory that grew in each of the eight parts of the time that a second's age leaves. */
static void grow_in_a_second(uint32_t id) {
    for (uint64_t part = 0; part < PIE_KEPT_PARTS; part++)
        alive(3, id, (2 * part + 1) * (SECOND - PIE_HEAP_AGE_MIN_NS) / (2 * PIE_KEPT_PARTS));
}

static void test_a_young_process_is_asked_about_what_has_grown(void **state) {
    node_of(1);
    alive(24, 1, SECOND / 4); /* made at once, such as a table that is read */
    pie_heap_leaks_decide(&leaks, &nodes, blocks, PIE_HEAP_TICKETS, SECOND);
    pie_heap_leaks_ask(&leaks, &nodes, blocks, PIE_HEAP_TICKETS, SECOND);
    assert_int_equal(asked_node.value, 0);
    node_of(2);
    grow_in_a_second(2);
    pie_heap_leaks_decide(&leaks, &nodes, blocks, PIE_HEAP_TICKETS, SECOND);
    pie_heap_leaks_ask(&leaks, &nodes, blocks, PIE_HEAP_TICKETS, SECOND);
    assert_int_equal(asked_node.value, 2);
    leaks.is_waiting = false;
    pie_heap_leaks_decide(&leaks, &nodes, blocks, PIE_HEAP_TICKETS, 10 * SECOND);
    pie_heap_leaks_ask(&leaks, &nodes, blocks, PIE_HEAP_TICKETS,
                       10 * SECOND); /* of an old one, about what it keeps, too */
    assert_int_equal(asked_node.value, 1);
}

static void test_questions_take_a_hundredth_of_the_run(void **state) {
    node_of(1);
    grow_in_a_second(1);
    pie_heap_leaks_decide(&leaks, &nodes, blocks, PIE_HEAP_TICKETS, SECOND);
    pie_heap_leaks_ask(&leaks, &nodes, blocks, PIE_HEAP_TICKETS, SECOND);
    assert_int_equal(asked_node.value, 1);
    assert_int_equal(asked_budget_ns, 60000000 + SECOND / 100);
    leaks.is_waiting = false;
    node_of(1)->is_asked = false;
    asked_node.value = 0;
    spent_ns = 67000000;
    pie_heap_leaks_ask(&leaks, &nodes, blocks, PIE_HEAP_TICKETS,
                       SECOND + SECOND / 10); /* a millisecond more is not worth a question */
    assert_int_equal(asked_node.value, 0);
}

static void test_what_does_not_grow_is_not_asked_about(void **state) {
    node_of(1);
    alive(20, 1, 0);
    node_of(1)->noted_live_bytes = pie_heap_node_live_bytes(node_of(1));
    pie_heap_leaks_decide(&leaks, &nodes, blocks, PIE_HEAP_TICKETS, 10 * SECOND);
    pie_heap_leaks_ask(&leaks, &nodes, blocks, PIE_HEAP_TICKETS, 10 * SECOND);
    assert_int_equal(asked_node.value, 0);
}

/* --- lists of what has changed --- */

static void test_only_what_has_changed_is_looked_at(void **state) {
    for (uint32_t id = 1; id <= 1000; id++)
        live(id, 10, false, 1);
    size_t changed = 0;
    while (pie_heap_nodes_take_changed(&nodes))
        changed++;
    assert_int_equal(changed, 1000);
    pie_heap_nodes_written(&nodes);
    assert_int_equal(nodes.dirty, 0);
    live(500, 5, false, 2);
    live(500, 5, true, 3);
    assert_ptr_equal(pie_heap_nodes_take_changed(&nodes), node_of(500));
    assert_null(pie_heap_nodes_take_changed(&nodes));
    assert_int_equal(nodes.dirty, (uint32_t)(node_of(500) - nodes.nodes) + 1);
    assert_int_equal(node_of(500)->next_dirty, 0);
    nodes.epoch++; /* a peak of the same size changes nothing, one of another size does */
    pie_heap_node_update(&nodes, node_of(499), 4);
    assert_true(node_of(499)->is_dirty);
    pie_heap_nodes_written(&nodes);
    nodes.epoch++;
    pie_heap_node_update(&nodes, node_of(499), 5);
    assert_false(node_of(499)->is_dirty);
}

static int set_up(void **state) {
    return pie_region_init();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_samples_of_one_slice_vary_together, fresh),
        cmocka_unit_test_setup(test_what_was_alive_at_the_peak, fresh),
        cmocka_unit_test_setup(test_the_average_is_an_integral, fresh),
        cmocka_unit_test_setup(test_a_counted_block_has_no_error, fresh),
        cmocka_unit_test(test_the_score_is_the_papers),
        cmocka_unit_test_setup(test_blocks_that_become_larger_bit_by_bit_are_counted, fresh),
        cmocka_unit_test(test_blocks_have_size_classes),
        cmocka_unit_test_setup(test_only_a_decided_fate_counts, fresh_leaks),
        cmocka_unit_test_setup(test_what_lives_for_a_moment_says_nothing, fresh_leaks),
        cmocka_unit_test_setup(test_ages_have_classes, fresh_leaks),
        cmocka_unit_test_setup(test_when_what_is_kept_was_allocated, fresh_leaks),
        cmocka_unit_test_setup(test_only_tickets_that_were_used_are_looked_at, fresh_leaks),
        cmocka_unit_test_setup(test_sizes_are_apart, fresh_leaks),
        cmocka_unit_test_setup(test_only_what_has_changed_is_looked_at, fresh),
        cmocka_unit_test_setup(test_what_an_import_allocates_is_no_leak, fresh_leaks),
        cmocka_unit_test_setup(test_the_fastest_growing_suspect_is_asked_about_once, fresh_leaks),
        cmocka_unit_test_setup(test_a_young_process_is_asked_about_what_has_grown, fresh_leaks),
        cmocka_unit_test_setup(test_questions_take_a_hundredth_of_the_run, fresh_leaks),
        cmocka_unit_test_setup(test_what_does_not_grow_is_not_asked_about, fresh_leaks),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
