/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "profiler/heap/engine.h"

/* Events of two lines, one after the other; time goes by with the bytes. */
struct line {
    uint64_t bytes; /* of each event */
    uint64_t truth_bytes, estimate_bytes;
    double sq_bytes2;
};

struct run {
    struct pie_heap_rate rate;
    uint64_t count_bytes, random, samples, now_ns;
    struct line *last; /* that had a point */
};

/* is_late: as where the collection thread has seen no sample for long. */
static void one_of(struct run *run, struct line *line, double ns_per_byte, bool is_late) {
    bool is_exact;
    run->count_bytes += line->bytes;
    run->now_ns += (uint64_t)((double)line->bytes * ns_per_byte) + 1;
    line->truth_bytes += line->bytes;
    if (is_late)
        pie_heap_rate_shorten(&run->rate, run->count_bytes - line->bytes, run->now_ns, &run->random);
    uint64_t weight =
        pie_heap_rate_take(&run->rate, run->count_bytes, line->bytes, run->now_ns, &run->random, &is_exact);
    line->estimate_bytes += weight;
    run->samples += weight > 0;
    if (weight > 0 && is_exact)
        assert_int_equal(weight, line->bytes);
    else
        line->sq_bytes2 += (double)weight * (double)weight;
    if (weight > 0 && !is_exact)
        run->last = line;
}

static void one(struct run *run, struct line *line, double ns_per_byte) {
    one_of(run, line, ns_per_byte, false);
}

static void begin(struct run *run, uint64_t interval_bytes, uint64_t seed) {
    *run = (struct run){.random = seed * UINT64_C(0x9e3779b97f4a7c15) | 1};
    pie_heap_rate_begin(&run->rate, 0, interval_bytes, 0, &run->random);
}

static void test_the_sum_of_weights_is_what_was_counted(void **state) {
    struct run run;
    struct line small = {.bytes = 48}, large = {.bytes = 100000};
    begin(&run, 16384, 1);
    for (int i = 0; i < 200000; i++) {
        one(&run, &small, 1);
        if (i % 1000 == 0)
            one(&run, &large, 1);
    }
    uint64_t waiting = run.count_bytes - run.rate.base_bytes;
    assert_int_equal(small.estimate_bytes + large.estimate_bytes + waiting, run.count_bytes);
    assert_true(waiting < 2 * run.rate.interval_bytes);
}

/* 400 runs: the mean of the estimates is the truth within four standard errors, and the 95 % interval of each run holds
 * it in 90 % of them at least (the normal approximation is a little short where a line has some twenty samples). */
static void unbiased(uint64_t first_bytes, uint64_t second_bytes, uint64_t events, double ns_per_byte,
                     bool slows_down) {
    enum { RUNS = 400 };
    double sum = 0, sum2 = 0, waiting = 0;
    int inside = 0;
    for (int i = 0; i < RUNS; i++) {
        struct run run;
        struct line first = {.bytes = first_bytes}, second = {.bytes = second_bytes};
        begin(&run, 16384, (uint64_t)i + 1);
        for (uint64_t j = 0; j < events; j++) {
            double speed = slows_down && j < events / 2 ? ns_per_byte / 5 : ns_per_byte;
            one(&run, &first, speed);
            one(&run, &second, speed);
        }
        /* what waits for the next sample is nobody's yet: the lines' shares of it are those of their bytes */
        double share = (double)first_bytes / (double)(first_bytes + second_bytes);
        waiting = share * (double)(run.count_bytes - run.rate.base_bytes);
        double error = (double)first.estimate_bytes + waiting - (double)first.truth_bytes;
        sum += error;
        sum2 += error * error;
        inside += fabs(error) <= 1.96 * sqrt(first.sq_bytes2);
    }
    double mean = sum / RUNS, deviation = sqrt(sum2 / RUNS - mean * mean);
    assert_true(fabs(mean) <= 4 * deviation / sqrt(RUNS));
    assert_true(inside >= RUNS * 0.9);
}

static void test_a_line_gets_its_share(void **state) {
    unbiased(64, 64, 20000, 100, false);
    unbiased(64, 6400, 20000, 20, false);
    unbiased(6400, 64, 5000, 20, false);
}

static void test_a_line_gets_its_share_while_the_interval_moves(void **state) {
    unbiased(64, 640, 100000, 20, true);
    unbiased(20000, 64, 2000, 20, true); /* just above the interval at first */
}

/* What is behind the last point goes to the line of that point: the sum is what was counted, and no line gets more than
 * its share. */
static void test_the_rest_belongs_to_the_last_sample(void **state) {
    enum { RUNS = 400 };
    double sum = 0, sum2 = 0;
    for (int i = 0; i < RUNS; i++) {
        struct run run;
        struct line first = {.bytes = 64}, second = {.bytes = 640};
        begin(&run, 16384, (uint64_t)i + 1);
        for (int j = 0; j < 5000; j++) {
            one(&run, &first, 100);
            one(&run, &second, 100);
        }
        run.last->estimate_bytes += pie_heap_rate_take_rest(&run.rate, run.count_bytes);
        assert_int_equal(first.estimate_bytes + second.estimate_bytes, run.count_bytes);
        assert_int_equal(pie_heap_rate_take_rest(&run.rate, run.count_bytes), 0);
        double error = (double)first.estimate_bytes - (double)first.truth_bytes;
        sum += error;
        sum2 += error * error;
    }
    double mean = sum / RUNS, deviation = sqrt(sum2 / RUNS - mean * mean);
    assert_true(fabs(mean) <= 4 * deviation / sqrt(RUNS));
}

static void test_a_large_event_stands_for_itself(void **state) {
    struct run run;
    struct line large = {.bytes = 1 << 20};
    begin(&run, 16384, 7);
    for (int i = 0; i < 50; i++)
        one(&run, &large, 1); /* a millisecond each: the interval stays below */
    assert_int_equal(large.estimate_bytes, large.truth_bytes);
    assert_int_equal(run.samples, 50);
    assert_true(large.sq_bytes2 == 0);
}

/* Many of them in a short time make the interval grow until they are sampled, and no further: what comes after a burst
 * is seen. */
static void test_a_burst_of_large_events_is_over_soon(void **state) {
    struct run run;
    struct line large = {.bytes = 1 << 20}, small = {.bytes = 1000};
    begin(&run, 16384, 7);
    while (run.now_ns < 1000000000)
        one(&run, &large, 0.02); /* 50 GB/s, 48 000 a second */
    assert_in_range(run.samples, 300, 3000);
    assert_true(run.rate.interval_bytes < 200 << 20);
    for (uint64_t begun_ns = run.now_ns; run.now_ns < begun_ns + 1000000000;) {
        one_of(&run, &small, 1, run.now_ns - run.rate.window_ns > 200000000);
    }
    assert_true(fabs((double)small.estimate_bytes / (double)small.truth_bytes - 1) < 0.2);
}

/* The next point was drawn behind the block that came late: an array of 512 MB was in no line. */
static void test_a_large_event_that_comes_late_is_taken(void **state) {
    struct run run;
    struct line large = {.bytes = 1 << 20}, small = {.bytes = 1000};
    begin(&run, 16384, 7);
    for (int i = 0; i < 5; i++)
        one(&run, &small, 1);
    run.now_ns += 1000000000;
    one_of(&run, &large, 1, true);
    assert_int_equal(large.estimate_bytes, large.truth_bytes);
    assert_int_equal(run.samples, 1);
}

/* A program drops 3 MB 300 000 times a second, so the distance is some GB. An array that stays is in no doubt. */
static void test_a_rare_large_event_is_taken_among_many(void **state) {
    struct run run;
    struct line churn = {.bytes = 3 << 20}, kept = {.bytes = 64 << 20};
    begin(&run, 16384, 7);
    pie_heap_rate_look_at_large(&run.rate, 1 << 20);
    for (int i = 0; i < 300000; i++) {
        one(&run, &churn, 0.001);
        if (i >= 150000 && i < 150004)
            one(&run, &kept, 0.001);
    }
    assert_true(run.rate.interval_bytes > kept.truth_bytes);
    assert_int_equal(kept.estimate_bytes, kept.truth_bytes);
    assert_true(kept.sq_bytes2 == 0);
    assert_in_range(run.samples, 200, 2000); /* in 0.94 s */
    double waiting = (double)(run.count_bytes - run.rate.base_bytes);
    assert_true(fabs((double)churn.estimate_bytes + waiting - (double)churn.truth_bytes) < 1);
}

/* The same for sizes on both sides of what is large: the sums stay the truth. */
static void test_a_line_gets_its_share_where_large_events_are_taken(void **state) {
    enum { RUNS = 200, EVENTS = 3000 };
    double sum = 0, sum2 = 0;
    for (int i = 0; i < RUNS; i++) {
        struct run run;
        struct line first = {.bytes = 5 << 20}, second = {.bytes = 900 << 10};
        begin(&run, 64 << 20, (uint64_t)i + 1);
        pie_heap_rate_look_at_large(&run.rate, 1 << 20);
        for (int j = 0; j < EVENTS; j++) {
            one(&run, &first, 0.01);
            one(&run, &second, 0.01);
        }
        double share = (double)first.bytes / (double)(first.bytes + second.bytes);
        double waiting = share * (double)(run.count_bytes - run.rate.base_bytes);
        double error = (double)first.estimate_bytes + waiting - (double)first.truth_bytes;
        sum += error;
        sum2 += error * error;
    }
    double mean = sum / RUNS, deviation = sqrt(sum2 / RUNS - mean * mean);
    assert_true(fabs(mean) <= 4 * deviation / sqrt(RUNS));
}

static void test_the_rate_of_samples_is_held(void **state) {
    static const uint64_t speeds[] = {1, 10, 50}; /* GB/s */
    for (size_t i = 0; i < sizeof speeds / sizeof *speeds; i++) {
        struct run run;
        struct line line = {.bytes = 512};
        begin(&run, 16384, 3);
        while (run.now_ns < 1000000000)
            one(&run, &line, 1.0 / (double)speeds[i]);
        assert_in_range(run.samples, 200, 2000);
    }
}

static void test_a_quiet_program_is_sampled_more_finely(void **state) {
    struct run run;
    struct line line = {.bytes = 512};
    begin(&run, 1 << 20, 3);
    for (int i = 0; i < 200000; i++) {
        one(&run, &line, 1);
        run.now_ns += 100000; /* 5 MB/s */
    }
    assert_in_range(run.rate.interval_bytes, 4096, 65536);
}

/* A child begins with fewer samples, and a run with a named budget with still fewer. */
static void test_the_first_distance_is_longer_where_samples_are_dear(void **state) {
    static const struct pie_heap_settings child = {.is_child = true}, frugal = {.is_frugal = true};
    struct pie_heap_rate rates[3];
    uint64_t random = 1;

    pie_heap_rate_begin_first(&rates[0], 1, &random);
    pie_heap_set(&child);
    pie_heap_rate_begin_first(&rates[1], 1, &random);
    pie_heap_set(&frugal);
    pie_heap_rate_begin_first(&rates[2], 1, &random);
    pie_heap_set(NULL);
    assert_int_equal(rates[0].interval_bytes, 16384);
    assert_int_equal(rates[1].interval_bytes, 65536);
    assert_int_equal(rates[2].interval_bytes, 262144);
}

/* A thread without a processor for two seconds has had no sample in that time. */
static void test_a_thread_that_waited_is_not_sampled_at_once_as_if_it_was_quiet(void **state) {
    static const struct pie_heap_settings frugal = {.is_frugal = true};
    uint64_t found[2], random = 1;

    for (int i = 0; i < 2; i++) {
        struct pie_heap_rate rate;
        bool is_exact;
        pie_heap_set(i ? &frugal : NULL);
        pie_heap_rate_begin(&rate, 0, 262144, 1, &random);
        (void)pie_heap_rate_take(&rate, 1000000, 64, 2000000000, &random, &is_exact);
        found[i] = rate.interval_bytes;
    }
    pie_heap_set(NULL);
    assert_int_equal(found[0], 262144 / 8);
    assert_int_equal(found[1], 262144 / 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_sum_of_weights_is_what_was_counted),
        cmocka_unit_test(test_a_line_gets_its_share),
        cmocka_unit_test(test_a_line_gets_its_share_while_the_interval_moves),
        cmocka_unit_test(test_the_rest_belongs_to_the_last_sample),
        cmocka_unit_test(test_a_large_event_stands_for_itself),
        cmocka_unit_test(test_a_burst_of_large_events_is_over_soon),
        cmocka_unit_test(test_a_large_event_that_comes_late_is_taken),
        cmocka_unit_test(test_a_rare_large_event_is_taken_among_many),
        cmocka_unit_test(test_a_line_gets_its_share_where_large_events_are_taken),
        cmocka_unit_test(test_the_rate_of_samples_is_held),
        cmocka_unit_test(test_a_quiet_program_is_sampled_more_finely),
        cmocka_unit_test(test_the_first_distance_is_longer_where_samples_are_dear),
        cmocka_unit_test(test_a_thread_that_waited_is_not_sampled_at_once_as_if_it_was_quiet),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
