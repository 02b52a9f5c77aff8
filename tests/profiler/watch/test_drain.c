/* SPDX-License-Identifier: Apache-2.0 */

/* What the collection thread makes of records: whose time a watch stands for (proportional attribution), how it ends,
 * and how watches that ended alike are added up. */

#include "tests/profiler/watch/drain_scene.h"

#include "profiler/code/basic_block.h"
#include "profiler/code/decode.h"
#include "profiler/code/modules.h"
#include "profiler/stacks/cct.h"

#include <stdlib.h>
#include <string.h>

/* --- Decoding --- */

static bool is_decoded(uintptr_t ip) {
    return pie_basic_block_find(ip, pie_code_module_at(ip)) != NULL;
}

static void ask_for(uintptr_t ip) {
    uint64_t asked = ip;

    pie_watch_requests_push(&pie_watch_of(drain_thread)->requests, &asked);
    drain_now();
}

/* The first function has taken more than nothing, so the second one waits until there is more. */
static void test_code_is_decoded_as_far_as_it_may_be(void **state) {
    uintptr_t first = (uintptr_t)drain_loaded - 3, second = (uintptr_t)&drain_context;

    pie_watch_drain_learn_within(drain, 0);
    ask_for(first);
    assert_true(is_decoded(first));
    ask_for(second);
    assert_false(is_decoded(second));
    pie_watch_drain_learn_within(drain, 1000000000);
    drain_now();
    assert_true(is_decoded(second));
}

/* --- Proportional attribution --- */

static void watch_to_the_end(uint32_t serial, enum pie_watch_kind kind, struct pie_cct_id node) {
    struct pie_watch_record begin = drain_begin(serial, kind, node),
                            end = drain_end_of(&begin, PIE_WATCH_UNTOUCHED);

    drain_push(&begin);
    drain_push(&end);
    drain_now();
}

static double weight_of_rows(enum pie_watch_kind kind) {
    size_t count;
    const struct pie_watch_row *rows = pie_watch_drain_rows(drain, &count);
    double weight_ns = 0;

    for (size_t i = 0; i < count; i++)
        weight_ns += rows[i].kind == kind ? rows[i].weight_ns : 0;
    return weight_ns;
}

static void test_watch_stands_for_the_time_of_its_line(void **state) {
    struct pie_cct_id node = drain_context(2, 50, drain_loaded);

    pie_watch_drain_sample(drain, node, 300);
    pie_watch_drain_sample(drain, drain_context(2, 51, drain_stored), 50); /* the same line, other code */
    pie_watch_drain_sample(drain, drain_context(2, 52, NULL), 7);          /* no native code at all */
    pie_watch_drain_sample(drain, drain_context(2, 60, drain_loaded), 1000000);
    watch_to_the_end(1, PIE_WATCH_LOAD, node);
    assert_int_equal(drain_row()->weight_ns, 357);
    assert_int_equal(drain_row()->weight_sq_ns2, 357 * 357);
    watch_to_the_end(2, PIE_WATCH_LOAD, node); /* nothing has come since */
    assert_int_equal(drain_row()->weight_ns, 357);
    assert_int_equal(drain_row()->watches, 2);
}

static void test_loads_and_stores_are_two_questions(void **state) {
    struct pie_cct_id node = drain_context(2, 50, drain_loaded);

    pie_watch_drain_sample(drain, node, 300);
    watch_to_the_end(1, PIE_WATCH_LOAD, node);
    pie_watch_drain_sample(drain, node, 5);
    watch_to_the_end(2, PIE_WATCH_STORE, node);
    assert_int_equal(weight_of_rows(PIE_WATCH_LOAD), 300);
    assert_int_equal(weight_of_rows(PIE_WATCH_STORE), 305);
}

static void test_a_line_in_two_contexts_is_two_lines(void **state) {
    struct pie_cct_id f = drain_context(2, 50, drain_loaded), g = drain_context(3, 50, drain_loaded);

    pie_watch_drain_sample(drain, f, 10);
    pie_watch_drain_sample(drain, g, 200);
    watch_to_the_end(1, PIE_WATCH_LOAD, f);
    assert_int_equal(drain_row()->weight_ns, 10);
}

enum { LINES = 5, EVENTS = 4000 };

/* Samples of some lines, few of which begin a watch; then a last watch of each kind on each line. */
static void play_watches(const struct pie_cct_id nodes[LINES], uint64_t ret_sampled_ns[LINES]) {
    static const enum pie_watch_outcome outcomes[] = {PIE_WATCH_EVICTED, PIE_WATCH_UNTOUCHED, PIE_WATCH_LOST};

    srandom(7);
    for (uint32_t i = 0; i < EVENTS + 2 * LINES; i++) {
        uint32_t at = (i < EVENTS ? (uint32_t)random() : i) % LINES;
        bool is_load = (i < EVENTS ? (uint32_t)random() : i / LINES) % 2;
        if (i < EVENTS && random() % 10) {
            uint64_t ns = (uint64_t)random() % 1000000;
            pie_watch_drain_sample(drain, nodes[at], ns);
            ret_sampled_ns[at] += ns;
            continue;
        }
        struct pie_watch_record begin = drain_begin(i, is_load ? PIE_WATCH_LOAD : PIE_WATCH_STORE, nodes[at]);
        struct pie_watch_record end = drain_end_of(&begin, outcomes[random() % 3]);
        drain_push(&begin);
        drain_push(&end);
        drain_now();
    }
}

/* A watch of a kind of its own, which has a row of its own, shows the node that is stored for a context. */
static struct pie_node_id stored_node(struct pie_cct_id node) {
    struct pie_watch_record begin = drain_begin(EVENTS * 2 + node.value, PIE_WATCH_LOAD, node);
    size_t count;

    begin.memory = PIE_WATCH_MEMORY_RESULT;
    drain_push(&begin);
    drain_now();
    pie_watch_drain_thread_ended(drain, 0);
    const struct pie_watch_row *rows = pie_watch_drain_rows(drain, &count);
    assert_int_equal(rows[count - 1].memory, PIE_WATCH_MEMORY_RESULT);
    assert_int_equal(rows[count - 1].weight_ns, 0);
    return rows[count - 1].first_node;
}

/* However few watches there are, however they end: each line's time is found again in its watches. */
static void test_weights_add_up_to_the_time_of_each_line(void **state) {
    uint64_t sampled_ns[LINES] = {0};
    struct pie_cct_id nodes[LINES];
    size_t count;

    for (uint32_t i = 0; i < LINES; i++)
        nodes[i] = drain_context(2, 10 * i, drain_loaded);
    play_watches(nodes, sampled_ns);
    for (int i = 0; i < LINES; i++) {
        double weights_ns[PIE_WATCH_STORE + 1] = {0};
        struct pie_node_id stored = stored_node(nodes[i]);
        const struct pie_watch_row *rows = pie_watch_drain_rows(drain, &count);
        for (size_t r = 0; r < count; r++)
            weights_ns[rows[r].kind] += rows[r].first_node.value == stored.value ? rows[r].weight_ns : 0;
        assert_true(sampled_ns[i] > 0);
        assert_true(weights_ns[PIE_WATCH_LOAD] == (double)sampled_ns[i]);
        assert_true(weights_ns[PIE_WATCH_STORE] == (double)sampled_ns[i]);
    }
}

/* --- Ends --- */

static void test_what_is_watched_at_the_end_was_not_touched(void **state) {
    struct pie_cct_id node = drain_context(2, 50, drain_loaded);
    struct pie_watch_record begin = drain_begin(1, PIE_WATCH_LOAD, node);

    pie_watch_drain_sample(drain, node, 300);
    drain_push(&begin);
    drain_now();
    assert_int_equal(drain_rows(), 0); /* it may still be resolved */
    pie_watch_drain_thread_ended(drain, 0);
    assert_int_equal(drain_row()->outcome, PIE_WATCH_UNTOUCHED);
    assert_int_equal(drain_row()->watches, 1);
    assert_int_equal(drain_row()->weight_ns, 300);
    assert_int_equal(drain_row()->second_node.value, 0);
    pie_watch_drain_thread_ended(drain, 0); /* and at the end of the profile */
    pie_watch_drain_thread_ended(drain, 99);
    assert_int_equal(drain_row()->watches, 1);
}

static void test_end_that_did_not_fit_into_the_ring_is_lost(void **state) {
    struct pie_cct_id node = drain_context(2, 50, drain_loaded);
    struct pie_watch_record first = drain_begin(1, PIE_WATCH_LOAD, node),
                            second = drain_begin(2, PIE_WATCH_LOAD, node);

    pie_watch_drain_sample(drain, node, 300);
    drain_push(&first);
    drain_now();
    drain_push(&second);
    drain_now();
    assert_int_equal(drain_row()->outcome, PIE_WATCH_LOST);
    assert_int_equal(drain_row()->weight_ns, 300);
}

static void test_beginning_that_did_not_fit_into_the_ring(void **state) {
    struct pie_cct_id node = drain_context(2, 50, drain_loaded);
    struct pie_watch_record first = drain_begin(1, PIE_WATCH_LOAD, node),
                            missing = drain_begin(2, PIE_WATCH_LOAD, node),
                            end = drain_end_of(&missing, PIE_WATCH_EVICTED);

    drain_push(&end);
    drain_now();
    assert_int_equal(drain_rows(), 0);
    drain_push(&first);
    drain_push(&end); /* of another watch than the one that is known */
    drain_now();
    assert_int_equal(drain_rows(), 0);
    pie_watch_drain_thread_ended(drain, 0);
    assert_int_equal(drain_row()->outcome, PIE_WATCH_UNTOUCHED);
}

static void test_slots_and_threads_are_kept_apart(void **state) {
    struct pie_cct_id node = drain_context(2, 50, drain_loaded);
    struct pie_watch_record begin = drain_begin(1, PIE_WATCH_LOAD, node);

    for (size_t thread = 0; thread < 40; thread++)
        for (uint8_t slot = 0; slot < PIE_DEBUG_REGISTERS; slot++) {
            begin.slot = slot;
            drain_push(&begin);
            pie_watch_drain_thread(drain, drain_thread, thread);
        }
    assert_int_equal(drain_rows(), 0);
    for (size_t thread = 0; thread < 40; thread++)
        pie_watch_drain_thread_ended(drain, thread);
    assert_int_equal(drain_row()->watches, 40 * PIE_DEBUG_REGISTERS);
}

/* --- Rows --- */

static void test_length_of_the_call_falls_into_three_bins(void **state) {
    static const struct {
        uint64_t length_ns;
        uint8_t bin;
    } cases[] = {{0, 0}, {15000, 0}, {15001, 1}, {30000, 1}, {30001, 2}, {UINT64_C(3000000000), 2}};
    struct pie_cct_id node = drain_context(2, 50, drain_loaded);

    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pie_watch_record begin = drain_begin(i + 1, PIE_WATCH_LOAD, node);
        begin.length_ns = cases[i].length_ns;
        drain_push(&begin);
        drain_now();
        pie_watch_drain_thread_ended(drain, 0);
        assert_int_equal(drain_row()->length, cases[i].bin);
        assert_int_equal(drain_row()->length_ns, cases[i].length_ns);
        pie_watch_drain_clear(drain);
    }
}

static void test_rows_that_are_alike_are_one(void **state) {
    struct pie_cct_id node = drain_context(2, 50, drain_loaded);

    for (uint32_t i = 1; i <= 1000; i++) {
        struct pie_watch_record begin = drain_begin(i, PIE_WATCH_LOAD, node),
                                end = drain_trap_of(&begin, PIE_WATCH_REDUNDANT, drain_loaded);
        begin.array_bytes = 4096;
        end.round_ns = 70;
        pie_watch_drain_sample(drain, node, i);
        drain_push(&begin);
        drain_push(&end);
        drain_now();
    }
    const struct pie_watch_row *row = drain_row();
    assert_int_equal(row->watches, 1000);
    assert_int_equal(row->bytes, 8000);
    assert_int_equal(row->weight_ns, 500500);
    assert_int_equal(row->weight_sq_ns2, 333833500);
    assert_int_equal(row->length_ns, 100000);
    assert_int_equal(row->gap_ns, 1000000);
    assert_int_equal(row->array_bytes, 4096000);
    assert_int_equal(row->round_ns, 70000);
    assert_int_equal(row->outcome, pie_decode_is_available() ? PIE_WATCH_REDUNDANT : PIE_WATCH_LOST);
}

static void push_variant(unsigned i, uint32_t serial) {
    struct pie_cct_id node = drain_context(2, i == 1 ? 60 : i == 2 ? 51 : 50, drain_loaded);
    struct pie_watch_record begin = drain_begin(serial, i == 3 ? PIE_WATCH_STORE : PIE_WATCH_LOAD, node), end;

    begin.memory = i == 4 ? PIE_WATCH_MEMORY_ARRAY : PIE_WATCH_MEMORY_OTHER;
    begin.traits = i == 5 ? PIE_WATCH_IN_LOOP : 0;
    begin.length_ns = i == 6 ? 20000 : 0;
    end = drain_end_of(&begin, i == 7 ? PIE_WATCH_LOST : PIE_WATCH_EVICTED);
    drain_push(&begin);
    drain_push(&end);
    drain_now();
}

/* --- Calls --- */

/* A call of one place with these arguments, which returned this; how its watch ended. Returns the row's traits. */
static unsigned push_call(uint32_t serial, uint64_t arguments, uint64_t value, enum pie_watch_outcome outcome,
                          unsigned end_traits) {
    struct pie_watch_record begin = drain_begin(serial, PIE_WATCH_STORE, drain_context(2, 50, drain_loaded));

    begin.memory = PIE_WATCH_MEMORY_CALL;
    begin.traits = PIE_WATCH_ARGUMENTS;
    begin.arguments = arguments;
    begin.variety = UINT8_MAX;
    begin.value_before = value;
    begin.access_bytes = 0;
    struct pie_watch_record end = drain_end_of(&begin, outcome);
    end.traits = (uint8_t)end_traits;
    pie_watch_drain_clear(drain);
    drain_push(&begin);
    drain_push(&end);
    drain_now();
    assert_int_equal(drain_row()->memory, PIE_WATCH_MEMORY_CALL);
    return drain_row()->traits;
}

/* A place that computes again what it computed some calls ago repeats itself, though the next call was another. */
static void test_calls_that_were_seen_before(void **state) {
    const unsigned known = PIE_WATCH_ARGUMENTS;

    assert_int_equal(push_call(1, 10, 20, PIE_WATCH_CHANGED, known), known | PIE_WATCH_FIRST_SEEN);
    assert_int_equal(drain_row()->outcome, PIE_WATCH_CHANGED);
    assert_int_equal(push_call(2, 11, 20, PIE_WATCH_CHANGED, known), known | PIE_WATCH_FIRST_SEEN);
    assert_int_equal(push_call(3, 10, 21, PIE_WATCH_CHANGED, known), known | PIE_WATCH_FIRST_SEEN);
    assert_int_equal(push_call(4, 10, 20, PIE_WATCH_CHANGED, known), known | PIE_WATCH_SEEN_BEFORE);
    assert_int_equal(drain_row()->outcome, PIE_WATCH_REDUNDANT);
    assert_int_equal(push_call(5, 10, 20, PIE_WATCH_LOST, known), known | PIE_WATCH_SEEN_BEFORE);
    assert_int_equal(drain_row()->outcome, PIE_WATCH_LOST);
}

static void test_what_the_last_call_says_of_arguments_counts(void **state) {
    const unsigned others = PIE_WATCH_ARGUMENTS | PIE_WATCH_OTHER_ARGUMENTS;

    assert_int_equal(push_call(1, 10, 20, PIE_WATCH_REDUNDANT, others), others | PIE_WATCH_FIRST_SEEN);
    assert_int_equal(push_call(2, 30, 20, PIE_WATCH_REDUNDANT, 0), PIE_WATCH_FIRST_SEEN);
    /* these arguments gave this before */
    assert_int_equal(push_call(3, 10, 20, PIE_WATCH_REDUNDANT, others),
                     PIE_WATCH_ARGUMENTS | PIE_WATCH_SEEN_BEFORE);
}

/* --- Are equal values a coincidence? --- */

enum { EVIDENCE = PIE_WATCH_WEAK | PIE_WATCH_NEW_VALUE };

/* A store, or a call whose arguments are not known, of one place: the value was equal again. Returns the traits
 * that weigh it. */
static unsigned push_equal(enum pie_watch_memory memory, uint32_t offset, uint64_t value, uint64_t variety) {
    static uint32_t serial;
    struct pie_watch_record begin =
        drain_begin(++serial, PIE_WATCH_STORE, drain_context(2, offset, drain_loaded));

    begin.memory = (uint8_t)memory;
    begin.value_before = value;
    begin.variety = variety;
    struct pie_watch_record end = drain_end_of(&begin, PIE_WATCH_REDUNDANT);
    pie_watch_drain_clear(drain);
    drain_push(&begin);
    drain_push(&end);
    drain_now();
    return drain_row()->traits & EVIDENCE;
}

static void test_each_value_of_a_store_counts_once(void **state) {
    assert_int_equal(push_equal(PIE_WATCH_MEMORY_OTHER, 50, 1, 0), PIE_WATCH_NEW_VALUE);
    assert_int_equal(push_equal(PIE_WATCH_MEMORY_OTHER, 50, 1, 0), PIE_WATCH_WEAK);
    assert_int_equal(push_equal(PIE_WATCH_MEMORY_OBJECT, 50, 1, 0), PIE_WATCH_WEAK);
    assert_int_equal(drain_row()->outcome, PIE_WATCH_REDUNDANT);
    assert_int_equal(push_equal(PIE_WATCH_MEMORY_OTHER, 50, 2, 0), PIE_WATCH_NEW_VALUE);
    assert_int_equal(push_equal(PIE_WATCH_MEMORY_OTHER, 60, 1, 0), PIE_WATCH_NEW_VALUE);
}

static void test_each_result_of_unknown_arguments_counts_once(void **state) {
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(push_equal(PIE_WATCH_MEMORY_RETURNED, 50, i, 1u << i), PIE_WATCH_NEW_VALUE);
    assert_int_equal(push_equal(PIE_WATCH_MEMORY_RETURNED, 50, 2, 4), PIE_WATCH_WEAK);
    assert_int_equal(drain_row()->outcome, PIE_WATCH_REDUNDANT);
}

/* A status of 0. */
static void test_what_most_calls_return_says_nothing(void **state) {
    for (unsigned i = 0; i < 9; i++) {
        assert_int_equal(push_equal(PIE_WATCH_MEMORY_RETURNED, 50, 77, 1), i ? 0 : PIE_WATCH_NEW_VALUE);
        assert_int_equal(drain_row()->outcome, i ? PIE_WATCH_LOST : PIE_WATCH_REDUNDANT);
    }
}

static void test_a_result_of_many_words_is_no_coincidence(void **state) {
    for (unsigned i = 0; i < 9; i++) {
        assert_int_equal(push_equal(PIE_WATCH_MEMORY_RETURNED, 50, 77, UINT8_MAX), 0);
        assert_int_equal(drain_row()->outcome, PIE_WATCH_REDUNDANT);
    }
    assert_int_equal(push_equal(PIE_WATCH_MEMORY_CALL, 60, 78, UINT8_MAX >> 1), PIE_WATCH_NEW_VALUE);
}

/* By the same arguments it is the same call, whatever it returns. */
static void test_known_arguments_are_evidence(void **state) {
    for (uint32_t i = 0; i < 9; i++) {
        struct pie_watch_record begin =
            drain_begin(i + 1, PIE_WATCH_STORE, drain_context(2, 50, drain_loaded));
        begin.memory = PIE_WATCH_MEMORY_RETURNED;
        begin.traits = PIE_WATCH_ARGUMENTS;
        begin.arguments = begin.value_before = 77;
        begin.access_bytes = 0;
        struct pie_watch_record end = drain_end_of(&begin, i < 8 ? PIE_WATCH_REDUNDANT : PIE_WATCH_CHANGED);
        begin.has_arguments = true;
        end.has_arguments = i < 8; /* the last one: what came in between was another call */
        pie_watch_drain_clear(drain);
        drain_push(&begin);
        drain_push(&end);
        drain_now();
        assert_int_equal(drain_row()->outcome, PIE_WATCH_REDUNDANT);
        assert_int_equal(drain_row()->traits & EVIDENCE, 0);
    }
}

/* --- Outer calls --- */

/* The call of line 50 with these arguments, which returned this; its time was sampled at line 60. */
static void push_outer(uint32_t serial, uint64_t arguments, uint64_t value) {
    struct pie_watch_record begin = drain_begin(serial, PIE_WATCH_STORE, drain_context(2, 50, NULL));

    begin.memory = PIE_WATCH_MEMORY_CALL;
    begin.traits = PIE_WATCH_ARGUMENTS | PIE_WATCH_OUTER_CALL;
    begin.arguments = begin.value_after = arguments;
    begin.value_before = value;
    begin.access_bytes = 0;
    begin.second_node = drain_context(2, 60, NULL);
    struct pie_watch_record end = drain_end_of(&begin, PIE_WATCH_CHANGED);
    end.traits = begin.traits;
    pie_watch_drain_clear(drain);
    drain_push(&begin);
    drain_push(&end);
    drain_now();
}

static void test_outer_calls_stand_for_the_time_below_them(void **state) {
    pie_watch_drain_sample(drain, drain_context(2, 50, NULL), 7);
    pie_watch_drain_sample(drain, drain_context(2, 60, NULL), 300);
    push_outer(1, 10, 20);
    assert_int_equal(drain_row()->weight_ns, 300);
    push_outer(2, 10, 20);
    assert_int_equal(drain_row()->weight_ns, 0);
}

/* A place that gets something else by the same arguments goes by more than these. */
static void test_outer_calls_are_seen_again_with_their_last_result(void **state) {
    static const struct {
        uint64_t arguments, value;
        bool is_again;
    } calls[] = {{10, 20, false}, {11, 21, false}, {10, 20, true},
                 {10, 22, false}, {10, 20, false}, {11, 21, true}};

    for (uint32_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        push_outer(i + 1, calls[i].arguments, calls[i].value);
        assert_int_equal(drain_row()->outcome, calls[i].is_again ? PIE_WATCH_REDUNDANT : PIE_WATCH_CHANGED);
    }
}

/* Line, operation, kind, memory, traits, length, outcome: each makes another row, and only once. */
static void test_rows_differ_by_each_part_of_the_key(void **state) {
    for (uint32_t round = 0; round < 3; round++)
        for (unsigned i = 0; i < 8; i++) {
            push_variant(i, round * 8 + i + 1);
            assert_int_equal(drain_rows(), round ? 8 : i + 1);
        }
    pie_watch_drain_clear(drain);
    assert_int_equal(drain_rows(), 0);
    push_variant(3, 100);
    assert_int_equal(drain_row()->kind, PIE_WATCH_STORE);
    assert_int_equal(drain_row()->watches, 1);
}

static void test_operations_of_the_frames_are_reported_innermost_first(void **state) {
    watch_to_the_end(1, PIE_WATCH_LOAD, drain_context(2, 52, drain_loaded));
    assert_int_equal(drain_row()->operations_count, 2);
    assert_int_equal(drain_row()->operations[0], 2);
    assert_int_equal(drain_row()->operations[1], 3); /* main() is at offset 13 */
}

static void test_deep_stacks_are_cut(void **state) {
    struct pie_cct_id node = drain_context(2, 52, NULL);

    for (uint32_t i = 0; i < 40; i++)
        node = pie_cct_child(node, pie_cct_python_key(4, 10 * i + 1));
    watch_to_the_end(1, PIE_WATCH_LOAD, node);
    assert_int_equal(drain_row()->operations_count, PIE_WATCH_FRAMES_MAX);
    for (int i = 0; i < PIE_WATCH_FRAMES_MAX; i++)
        assert_int_equal(drain_row()->operations[i], 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        DRAIN(test_code_is_decoded_as_far_as_it_may_be),
        DRAIN(test_watch_stands_for_the_time_of_its_line),
        DRAIN(test_loads_and_stores_are_two_questions),
        DRAIN(test_a_line_in_two_contexts_is_two_lines),
        DRAIN(test_weights_add_up_to_the_time_of_each_line),
        DRAIN(test_what_is_watched_at_the_end_was_not_touched),
        DRAIN(test_end_that_did_not_fit_into_the_ring_is_lost),
        DRAIN(test_beginning_that_did_not_fit_into_the_ring),
        DRAIN(test_slots_and_threads_are_kept_apart),
        DRAIN(test_length_of_the_call_falls_into_three_bins),
        DRAIN(test_rows_that_are_alike_are_one),
        DRAIN(test_rows_differ_by_each_part_of_the_key),
        DRAIN(test_calls_that_were_seen_before),
        DRAIN(test_what_the_last_call_says_of_arguments_counts),
        DRAIN(test_outer_calls_stand_for_the_time_below_them),
        DRAIN(test_outer_calls_are_seen_again_with_their_last_result),
        DRAIN(test_each_value_of_a_store_counts_once),
        DRAIN(test_each_result_of_unknown_arguments_counts_once),
        DRAIN(test_what_most_calls_return_says_nothing),
        DRAIN(test_a_result_of_many_words_is_no_coincidence),
        DRAIN(test_known_arguments_are_evidence),
        DRAIN(test_operations_of_the_frames_are_reported_innermost_first),
        DRAIN(test_deep_stacks_are_cut),
    };
    return cmocka_run_group_tests_name("watches added up", tests, NULL, NULL);
}
