/* SPDX-License-Identifier: Apache-2.0 */
/* The intervals of the views, held against Wilson's for equal weights and against the truth for unequal ones. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "profiler/ports/config.h"
#include "profiler/ports/pystack.h"
#include "profiler/ports/sink.h"
#include "storage/read/reader.h"
#include "storage/write/writer.h"
#include "tests/storage/folder.h"

enum { LINE = 1, OTHER_LINE = 2, WEIGHT_NS = 1000000 };

static const char *folder;
static struct pie_sink *sink;

static int set_up(void **state) {
    folder = pie_folder_make();
    return 0;
}

static int tear_down(void **state) {
    pie_folder_remove(folder);
    return 0;
}

static void begin_run(void) {
    static const struct pie_config config = {.overhead_budget = 0.05};
    struct pie_process_row process = {.pid = 1, .clock = "perf", .period_ns = WEIGHT_NS};
    int64_t run;
    assert_int_equal(pie_writer_open(pie_folder_path(folder, "a.db"), &config, &sink), 0);
    assert_int_equal(sink->ops->begin_process(sink, &process, &run), 0);
    for (uint32_t id = LINE; id <= OTHER_LINE; id++) {
        struct pie_location location = {
            .id = {id}, .kind = PIE_LOCATION_PYTHON, .function = "f", .file = "/a.py", .line = (int32_t)id};
        assert_int_equal(sink->ops->put_location(sink, &location), 0);
        assert_int_equal(sink->ops->put_node(sink, &(struct pie_node_row){.id = {id}, .location = {id}}), 0);
    }
}

static void put(uint32_t line, uint32_t samples, double weight_ns) {
    struct pie_sample_row row = {.thread = 1,
                                 .node = {line},
                                 .samples = samples,
                                 .wait_samples = 1,
                                 .wait_ns = 1,
                                 .python_ns = (uint64_t)(samples * weight_ns),
                                 .cpu_sq_ns2 = samples * weight_ns * weight_ns};
    assert_int_equal(sink->ops->put_sample(sink, &row), 0);
}

static void end_run(void) {
    assert_int_equal(sink->ops->commit(sink, 1), 0);
    sink->ops->close(sink);
}

struct interval {
    double share, low, high; /* of the run */
};

static struct pie_cursor *ask(struct pie_reader *reader, const char *sql) {
    struct pie_cursor *cursor;
    char *message = NULL;
    assert_int_equal(pie_cursor_open(reader, sql, &cursor, &message), 0);
    return cursor;
}

/* A row for each run, from the first on: a question for each would look at all of them each time. */
static struct pie_cursor *ask_intervals(struct pie_reader *reader) {
    return ask(reader, "SELECT run, cpu_share, cpu_s_low / t, cpu_s_high / t FROM v_line JOIN (SELECT run, "
                       "sum(cpu_s) AS t FROM v_line GROUP BY run) USING (run) WHERE line = 1 ORDER BY run");
}

static void next_run(struct pie_cursor *cursor, int64_t run) {
    char *message = NULL;
    assert_int_equal(pie_cursor_next(cursor, &message), 1);
    assert_int_equal(pie_cursor_int(cursor, 0), run);
}

static struct interval interval_at(struct pie_cursor *cursor, int column) {
    return (struct interval){pie_cursor_real(cursor, column), pie_cursor_real(cursor, column + 1),
                             pie_cursor_real(cursor, column + 2)};
}

static struct interval next_interval(struct pie_cursor *cursor, int64_t run) {
    next_run(cursor, run);
    return interval_at(cursor, 1);
}

static struct pie_reader *open_reader(void) {
    struct pie_reader *reader;
    char *message = NULL;
    assert_int_equal(pie_reader_open(pie_folder_path(folder, "a.db"), &reader, &message), 0);
    return reader;
}

/* x of n samples; bounds as in Brown, Cai, DasGupta 2001 and R's binom.confint(method = "wilson"). */
static void test_equal_weights_give_wilsons_interval(void **state) {
    static const struct {
        uint32_t x, n;
        double low, high;
    } cases[] = {
        {5, 10, 0.236593, 0.763407}, {1, 10, 0.017876, 0.404150},     {10, 10, 0.722467, 1.000000},
        {0, 10, 0.000000, 0.277533}, {1, 20, 0.008881, 0.236131},     {50, 100, 0.403832, 0.596168},
        {1, 1, 0.206549, 1.000000},  {300, 1000, 0.272407, 0.329124},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        begin_run();
        put(LINE, cases[i].x, WEIGHT_NS);
        put(OTHER_LINE, cases[i].n - cases[i].x, WEIGHT_NS);
        end_run();
    }
    struct pie_reader *reader = open_reader();
    struct pie_cursor *cursor = ask_intervals(reader);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct interval found = next_interval(cursor, (int64_t)i + 1);
        assert_true(fabs(found.share - (double)cases[i].x / cases[i].n) < 1e-9);
        assert_true(fabs(found.low - cases[i].low) < 1e-4);
        assert_true(fabs(found.high - cases[i].high) < 1e-4);
    }
    pie_cursor_close(cursor);
    pie_reader_close(reader);
}

static void test_a_heavy_sample_widens_the_interval(void **state) {
    begin_run();
    put(LINE, 100, WEIGHT_NS);
    put(OTHER_LINE, 900, WEIGHT_NS);
    end_run();
    begin_run();
    put(LINE, 1, 100.0 * WEIGHT_NS);
    put(OTHER_LINE, 900, WEIGHT_NS);
    end_run();
    struct pie_reader *reader = open_reader();
    struct pie_cursor *cursor = ask_intervals(reader);
    struct interval light = next_interval(cursor, 1), heavy = next_interval(cursor, 2);
    pie_cursor_close(cursor);
    assert_true(fabs(light.share - 0.1) < 1e-9 && fabs(heavy.share - 0.1) < 1e-9);
    assert_true(light.high - light.low < 0.04);
    assert_true(heavy.high > 0.3 && heavy.low < 0.03); /* one event: anything from 1 in 40 to 1 in 2.5 */
    pie_reader_close(reader);
}

static uint64_t random_state = 20261121;

/* Knuth's MMIX generator; the high bits are the good ones. */
static double random_unit(void) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (double)(random_state >> 11) / (double)(1ull << 53);
}

/* Samples fall on the line with probability 0.15; one in ten weighs ten times as much as the others. 95 % of the
 * intervals should hold 0.15. Of 300, fewer than 271 or more than 298 happens once in a thousand times by chance, and
 * the seed is fixed. */
static void test_the_interval_holds_the_truth_as_often_as_it_says(void **state) {
    enum { RUNS = 300, SAMPLES = 400 };
    const double truth = 0.15;
    for (int run = 0; run < RUNS; run++) {
        uint32_t counts[2][2] = {{0}};
        for (int i = 0; i < SAMPLES; i++)
            counts[random_unit() < truth][random_unit() < 0.1]++;
        begin_run();
        for (int heavy = 0; heavy < 2; heavy++) {
            put(LINE, counts[1][heavy], heavy ? 10.0 * WEIGHT_NS : WEIGHT_NS);
            put(OTHER_LINE, counts[0][heavy], heavy ? 10.0 * WEIGHT_NS : WEIGHT_NS);
        }
        end_run();
    }
    struct pie_reader *reader = open_reader();
    struct pie_cursor *cursor = ask_intervals(reader);
    int held = 0;
    for (int run = 1; run <= RUNS; run++) {
        struct interval found = next_interval(cursor, run);
        held += found.low <= truth && truth <= found.high;
    }
    pie_cursor_close(cursor);
    pie_reader_close(reader);
    assert_in_range(held, 271, 298);
}

/* --- Redundant fractions --- */

/* Loads; long ones in calls of which much was left. The operation decides no category, so that the waste is the part of
 * the time that is redundant. */
static void put_watches(uint8_t outcome, bool is_long, uint32_t count, double weight_ns) {
    struct pie_watch_row row = {.kind = 1,
                                .outcome = outcome,
                                .memory = is_long ? 2 : 1,
                                .length = is_long ? 2 : 0,
                                .first_node = {LINE},
                                .second_node = {LINE},
                                .operations = {PIE_OPERATION_OTHER},
                                .operations_count = 1,
                                .watches = count,
                                .weight_ns = count * weight_ns,
                                .weight_sq_ns2 = count * weight_ns * weight_ns};
    if (count > 0)
        assert_int_equal(sink->ops->put_watch(sink, &row), 0);
}

/* A row for each run: bounds of the fraction, and of what is wasted of the line's time, which is half the run's. */
static struct pie_cursor *ask_findings(struct pie_reader *reader) {
    return ask(reader, "SELECT run, redundant_fraction, fraction_low, fraction_high, wasted_s / cpu_s, "
                       "wasted_s_low / cpu_s, wasted_s_high / cpu_s FROM v_redundancy ORDER BY run");
}

/* Of 80 watches on a line, 0.6 in short calls, and of these 0.3 redundant; one in ten weighs four times as much. As
 * above, 271 to 298 of 300 intervals should hold the truth; that of the product may be wider, since each factor is
 * taken at its most uncertain. */
static void test_the_interval_of_a_fraction_holds_the_truth_as_often_as_it_says(void **state) {
    enum { RUNS = 300, WATCHES = 80 };
    const double redundant = 0.3, in_short_calls = 0.6;
    for (int run = 0; run < RUNS; run++) {
        uint32_t counts[2][2][2] = {{{0}}};
        for (int i = 0; i < WATCHES; i++) {
            bool is_long = random_unit() >= in_short_calls, is_heavy = random_unit() < 0.1;
            counts[is_long][is_long || random_unit() < redundant][is_heavy]++;
        }
        begin_run();
        put(LINE, 100, WEIGHT_NS);
        put(OTHER_LINE, 100, WEIGHT_NS);
        for (int i = 0; i < 8; i++)
            put_watches(i & 2 ? 1 : 2, i & 1, counts[i & 1][(i & 2) / 2][i / 4],
                        i & 4 ? 4.0 * WEIGHT_NS : WEIGHT_NS);
        end_run();
    }
    struct pie_reader *reader = open_reader();
    struct pie_cursor *cursor = ask_findings(reader);
    int fractions = 0, wastes = 0;
    for (int run = 1; run <= RUNS; run++) {
        next_run(cursor, run);
        struct interval fraction = interval_at(cursor, 1), waste = interval_at(cursor, 4);
        assert_true(fraction.low <= fraction.share && fraction.share <= fraction.high);
        assert_true(waste.low <= waste.share && waste.share <= waste.high);
        fractions += fraction.low <= redundant && redundant <= fraction.high;
        wastes += waste.low <= redundant * in_short_calls && redundant * in_short_calls <= waste.high;
    }
    pie_cursor_close(cursor);
    pie_reader_close(reader);
    assert_in_range(fractions, 271, 298);
    assert_in_range(wastes, 271, 300);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_equal_weights_give_wilsons_interval),
        TEST(test_a_heavy_sample_widens_the_interval),
        TEST(test_the_interval_holds_the_truth_as_often_as_it_says),
        TEST(test_the_interval_of_a_fraction_holds_the_truth_as_often_as_it_says),
    };
    return cmocka_run_group_tests_name("intervals", tests, NULL, NULL);
}
