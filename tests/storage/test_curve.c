/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "storage/write/curve.h"
#include "storage/write/line_curves.h"

/* Deterministic, so that what fails once fails again. */
static uint64_t seed;

static uint32_t random_below(uint32_t bound) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((seed >> 33) % bound);
}

static int forget_nothing(void *data, const struct pie_curve_point *point) {
    return 0;
}

static int count_forgotten(void *data, const struct pie_curve_point *point) {
    ++*(uint32_t *)data;
    return 0;
}

static struct pie_curve_point at(int64_t time_ns, uint64_t first, uint64_t second) {
    return (struct pie_curve_point){.time_ns = time_ns, .values = {first, second}};
}

static void add(struct pie_curve *curve, int64_t time_ns, uint64_t value) {
    struct pie_curve_point point = at(time_ns, value, 0);
    assert_int_equal(pie_curve_add(curve, &point, forget_nothing, NULL), 0);
}

static void test_a_short_curve_is_kept_as_it_is(void **state) {
    struct pie_curve curve = {0};
    for (int64_t i = 0; i < PIE_CURVE_POINTS; i++)
        add(&curve, i * 10, (uint64_t)(i * i % 7));
    assert_int_equal(curve.count, PIE_CURVE_POINTS);
    for (int64_t i = 0; i < PIE_CURVE_POINTS; i++) {
        assert_int_equal(curve.points[i].time_ns, i * 10);
        assert_int_equal(curve.points[i].values[0], i * i % 7);
    }
}

/* The ends of straight lines represent the points between. */
static void test_of_straight_lines_the_corners_stay(void **state) {
    struct pie_curve_point points[PIE_CURVE_POINTS];
    bool keep[PIE_CURVE_POINTS];
    for (int64_t i = 0; i < PIE_CURVE_POINTS; i++)
        points[i] = at(i, (uint64_t)(i <= 60 ? i * 10 : i <= 80 ? 600 : 600 - 20 * (i - 80)), 0);
    double distance = pie_curve_choose(points, PIE_CURVE_POINTS, 4, keep);
    for (int64_t i = 0; i < PIE_CURVE_POINTS; i++)
        assert_int_equal(keep[i], i == 0 || i == 60 || i == 80 || i == 99);
    assert_true(distance < 1e-12);
}

static void test_a_full_curve_keeps_half_of_its_points_at_most(void **state) {
    struct pie_curve curve = {0};
    uint32_t forgotten = 0;
    for (int64_t i = 0; i < PIE_CURVE_POINTS; i++)
        add(&curve, i, (uint64_t)(i % 2 ? i * i : 0));
    struct pie_curve_point next = at(PIE_CURVE_POINTS, 5, 0);
    assert_int_equal(pie_curve_add(&curve, &next, count_forgotten, &forgotten), 0);
    assert_int_equal(curve.count, PIE_CURVE_KEPT + 1);
    assert_int_equal(forgotten, PIE_CURVE_POINTS - PIE_CURVE_KEPT);
    assert_int_equal(curve.points[curve.count - 1].values[0], 5);
}

static void test_each_value_has_its_highest_point_kept(void **state) {
    struct pie_curve curve = {0};
    for (int64_t i = 0; i < 5000; i++) {
        struct pie_curve_point point = at(i, (uint64_t)(i == 1234 ? 1001 : 1000), 1000000000000);
        point.values[1] += i == 3210; /* less than the scale can tell */
        point.values[2] = (uint64_t)(i * 7919 % 104729);
        assert_int_equal(pie_curve_add(&curve, &point, forget_nothing, NULL), 0);
    }
    bool first = false, second = false;
    for (uint32_t i = 0; i < curve.count; i++) {
        first = first || (curve.points[i].time_ns == 1234 && curve.points[i].values[0] == 1001);
        second = second || (curve.points[i].time_ns == 3210 && curve.points[i].values[1] == 1000000000001);
    }
    assert_true(first && second);
}

/* A point of the same time replaces; a clock that was set back does not turn the curve around. */
static void test_time_goes_on(void **state) {
    struct pie_curve curve = {0};
    add(&curve, 100, 1);
    add(&curve, 200, 2);
    add(&curve, 200, 3);
    add(&curve, 150, 4);
    add(&curve, 10, 5);
    add(&curve, 300, 6);
    static const int64_t times[] = {100, 200, 201, 202, 300};
    static const uint64_t values[] = {1, 3, 4, 5, 6};
    assert_int_equal(curve.count, 5);
    for (uint32_t i = 0; i < 5; i++) {
        assert_int_equal(curve.points[i].time_ns, times[i]);
        assert_int_equal(curve.points[i].values[0], values[i]);
    }
}

static int fail_to_forget(void *data, const struct pie_curve_point *point) {
    return -ENOBUFS;
}

static void test_a_failure_to_forget_is_reported_and_the_point_added(void **state) {
    struct pie_curve curve = {0};
    for (int64_t i = 0; i < PIE_CURVE_POINTS; i++)
        add(&curve, i, (uint64_t)i % 3);
    struct pie_curve_point next = at(1000, 9, 0);
    assert_int_equal(pie_curve_add(&curve, &next, fail_to_forget, NULL), -ENOBUFS);
    assert_int_equal(curve.points[curve.count - 1].time_ns, 1000);
}

/* The independent yardstick: the distance of each point from the line between its neighbours that stay, in ranges. */
static double greatest_distance(const struct pie_curve_point *points, uint32_t count, const bool *keep) {
    double most[2] = {0}, least[2] = {INFINITY, INFINITY}, greatest = 0;
    double span = (double)(points[count - 1].time_ns - points[0].time_ns);
    for (uint32_t i = 0; i < count; i++) {
        for (int v = 0; v < 2; v++) {
            most[v] = fmax(most[v], (double)points[i].values[v]);
            least[v] = fmin(least[v], (double)points[i].values[v]);
        }
    }
    for (uint32_t i = 1, a = 0; i < count; i++) {
        if (!keep[i])
            continue;
        for (uint32_t n = a + 1; n < i; n++) {
            double nearest = INFINITY; /* by walking along the line */
            for (int step = 0; step <= 2000; step++) {
                double part = step / 2000.0, sum = 0;
                double t = (double)points[a].time_ns +
                           part * (double)(points[i].time_ns - points[a].time_ns) - (double)points[n].time_ns;
                sum += t * t / (span * span);
                for (int v = 0; v < 2; v++) {
                    double range = most[v] - least[v];
                    double d = (double)points[a].values[v] +
                               part * ((double)points[i].values[v] - (double)points[a].values[v]) -
                               (double)points[n].values[v];
                    sum += range > 0 ? d * d / (range * range) : 0;
                }
                nearest = fmin(nearest, sum);
            }
            greatest = fmax(greatest, sqrt(nearest));
        }
        a = i;
    }
    return greatest;
}

static void make_random_curve(struct pie_curve_point *points, uint32_t count) {
    uint32_t kind = random_below(4);
    int64_t time_ns = random_below(1000);
    uint64_t value = 0;
    for (uint32_t i = 0; i < count; i++) {
        time_ns += 1 + random_below(kind == 0 ? 1 : 100000);
        value = kind == 1   ? value + random_below(1000)
                : kind == 2 ? random_below(2) * 1000000
                            : random_below(1000000000);
        points[i] = at(time_ns, value, kind == 3 ? 7 : random_below(100));
    }
}

static uint32_t count_kept(const bool *keep, uint32_t count) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++)
        kept += keep[i];
    return kept;
}

/* Removed points lie as far away as is reported. */
static void test_random_curves_are_as_near_as_is_reported(void **state) {
    struct pie_curve_point points[PIE_CURVE_POINTS];
    bool keep[PIE_CURVE_POINTS];
    for (seed = 1; seed < 60; seed++) {
        uint64_t start = seed;
        uint32_t count = 20 + random_below(PIE_CURVE_POINTS - 19);
        make_random_curve(points, count);
        for (uint32_t kept = 5; kept <= count; kept += 9) {
            double told = pie_curve_choose(points, count, kept, keep);
            double found = greatest_distance(points, count, keep);
            assert_true(count_kept(keep, count) <= kept && keep[0] && keep[count - 1]);
            assert_true(found <= told + 1e-3 && found >= told - 1e-3);
        }
        seed = start;
    }
}

/* The classic algorithm: recursion with a tolerance. */
static void classic(const struct pie_curve_point *points, uint32_t first, uint32_t last, double tolerance,
                    bool *keep) {
    double far = -1, range = 1e6, span = 999;
    uint32_t split = first;
    double sx = (double)(points[last].time_ns - points[first].time_ns) / span;
    double sy = ((double)points[last].values[0] - (double)points[first].values[0]) / range;
    for (uint32_t i = first + 1; i < last; i++) {
        double x = (double)(points[i].time_ns - points[first].time_ns) / span;
        double y = ((double)points[i].values[0] - (double)points[first].values[0]) / range;
        double part = fmin(fmax((x * sx + y * sy) / (sx * sx + sy * sy), 0), 1);
        double d = hypot(x - part * sx, y - part * sy);
        if (d > far) {
            far = d;
            split = i;
        }
    }
    if (far <= tolerance)
        return;
    keep[split] = true;
    classic(points, first, split, tolerance, keep);
    classic(points, split, last, tolerance, keep);
}

/* With the tolerance that a choice returns, the classic algorithm keeps no point that is not chosen. */
static void test_the_choice_is_the_classic_algorithms(void **state) {
    struct pie_curve_point points[PIE_CURVE_POINTS];
    bool keep[PIE_CURVE_POINTS], theirs[PIE_CURVE_POINTS];
    for (seed = 100; seed < 130; seed++) {
        uint64_t start = seed;
        for (uint32_t i = 0; i < PIE_CURVE_POINTS; i++)
            points[i] = at((int64_t)i * 999 / (PIE_CURVE_POINTS - 1), 1 + random_below(999999), 0);
        points[0].values[0] = 0; /* the range is known, and the highest point is an end */
        points[PIE_CURVE_POINTS - 1].values[0] = 1000000;
        memset(theirs, 0, sizeof theirs);
        theirs[0] = theirs[PIE_CURVE_POINTS - 1] = true;
        double told = pie_curve_choose(points, PIE_CURVE_POINTS, 30, keep);
        classic(points, 0, PIE_CURVE_POINTS - 1, told * (1 + 1e-9), theirs);
        for (uint32_t i = 0; i < PIE_CURVE_POINTS; i++)
            assert_true(keep[i] || !theirs[i]);
        seed = start;
    }
}

/* However long, whatever its shape: at most 100 points, both ends and the peak exact, in the order of time. */
static void test_endless_curves_stay_small_and_keep_their_peak(void **state) {
    for (seed = 1000; seed < 1040; seed++) {
        uint64_t start = seed, peak = 0, value = 500000;
        uint32_t length = 1 + random_below(20000), kind = random_below(3);
        struct pie_curve curve = {0};
        for (uint32_t i = 0; i < length; i++) {
            value = kind == 0   ? value + random_below(2001) - 1000
                    : kind == 1 ? random_below(1000000)
                                : i % 500;
            peak = value > peak ? value : peak;
            add(&curve, (int64_t)i * 1000, value);
            assert_in_range(curve.count, 1, PIE_CURVE_POINTS);
        }
        uint64_t found = 0;
        for (uint32_t i = 0; i < curve.count; i++) {
            assert_true(i == 0 || curve.points[i].time_ns > curve.points[i - 1].time_ns);
            found = curve.points[i].values[0] > found ? curve.points[i].values[0] : found;
        }
        assert_int_equal(found, peak);
        assert_int_equal(curve.points[0].time_ns, 0);
        assert_int_equal(curve.points[curve.count - 1].time_ns, ((int64_t)length - 1) * 1000);
        assert_int_equal(curve.points[curve.count - 1].values[0], value);
        seed = start;
    }
}

/* What a file would have. */
enum { FILE_POINTS = 1 << 16 };
static struct {
    uint32_t line;
    int64_t time_ns;
    uint64_t live_bytes;
} file[FILE_POINTS];
static uint32_t file_count, puts_count;
static int put_result;

static uint32_t find_point(uint32_t line, int64_t time_ns) {
    uint32_t i = 0;
    while (i < file_count && (file[i].line != line || file[i].time_ns != time_ns))
        i++;
    return i;
}

static int put_point(void *data, struct pie_location_id line, int64_t time_ns, uint64_t live_bytes) {
    uint32_t i = find_point(line.value, time_ns);
    if (put_result < 0)
        return put_result;
    assert_true(i < FILE_POINTS);
    file_count += i == file_count;
    puts_count++;
    file[i].line = line.value;
    file[i].time_ns = time_ns;
    file[i].live_bytes = live_bytes;
    return 0;
}

static int forget_point(void *data, struct pie_location_id line, int64_t time_ns) {
    uint32_t i = find_point(line.value, time_ns);
    assert_true(i < file_count);
    file[i] = file[--file_count];
    return 0;
}

static struct pie_line_curves *open_curves(void) {
    struct pie_line_curves *curves;
    static const struct pie_line_curves_out out = {.put = put_point, .forget = forget_point};
    file_count = puts_count = 0;
    put_result = 0;
    assert_int_equal(pie_line_curves_create(&out, &curves), 0);
    return curves;
}

static int add_part(struct pie_line_curves *curves, uint64_t part, uint32_t line, int64_t time_ns,
                    uint64_t live_bytes) {
    return pie_line_curves_add(curves, part, (struct pie_location_id){line}, time_ns, live_bytes);
}

static uint64_t value_at(uint32_t line, int64_t time_ns) {
    uint32_t i = find_point(line, time_ns);
    if (i == file_count)
        fail_msg("line %u has no point at %lld", line, (long long)time_ns);
    return file[i].live_bytes;
}

static uint32_t points_of(uint32_t line) {
    uint32_t points = 0;
    for (uint32_t i = 0; i < file_count; i++)
        points += file[i].line == line;
    return points;
}

enum { S = 1000000000 };

static void test_a_line_has_the_sum_of_its_contexts(void **state) {
    struct pie_line_curves *curves = open_curves();
    assert_int_equal(add_part(curves, 1, 7, 1 * (int64_t)S, 100), 0);
    assert_int_equal(add_part(curves, 2, 7, 1 * (int64_t)S, 20), 0);
    assert_int_equal(add_part(curves, 3, 0, 1 * (int64_t)S, 5), 0);
    assert_int_equal(file_count, 0);
    assert_int_equal(pie_line_curves_flush(curves), 0);
    assert_int_equal(add_part(curves, 1, 7, 2 * (int64_t)S, 30), 0);
    assert_int_equal(add_part(curves, 2, 7, 3 * (int64_t)S, 0), 0);
    assert_int_equal(pie_line_curves_flush(curves), 0);
    assert_int_equal(file_count, 4);
    assert_int_equal(value_at(7, 1 * (int64_t)S), 120);
    assert_int_equal(value_at(7, 2 * (int64_t)S), 50);
    assert_int_equal(value_at(7, 3 * (int64_t)S), 30);
    assert_int_equal(value_at(0, 1 * (int64_t)S), 5);
    pie_line_curves_destroy(curves);
}

/* Nothing is heard of a line whose memory stays: it had the old value until just before the change. */
static void test_after_a_silence_the_old_value_is_held(void **state) {
    struct pie_line_curves *curves = open_curves();
    assert_int_equal(add_part(curves, 1, 7, 1 * (int64_t)S, 100), 0);
    assert_int_equal(add_part(curves, 1, 7, 3 * (int64_t)S, 200), 0);
    assert_int_equal(add_part(curves, 1, 7, 10 * (int64_t)S, 300), 0);
    assert_int_equal(pie_line_curves_flush(curves), 0);
    assert_int_equal(file_count, 4);
    assert_int_equal(value_at(7, 9 * (int64_t)S), 200);
    assert_int_equal(value_at(7, 10 * (int64_t)S), 300);
    pie_line_curves_destroy(curves);
}

static void test_only_what_is_new_is_put(void **state) {
    struct pie_line_curves *curves = open_curves();
    for (uint32_t i = 1; i <= 10000; i++) {
        assert_int_equal(add_part(curves, 1, 7, (int64_t)i * S, i * i), 0);
        assert_int_equal(pie_line_curves_flush(curves), 0);
        assert_in_range(file_count, 1, PIE_CURVE_POINTS);
    }
    assert_int_equal(puts_count, 10000);
    assert_int_equal(value_at(7, 10000 * (int64_t)S), 100000000);
    pie_line_curves_destroy(curves);
}

static void test_a_point_that_could_not_be_put_is_put_later(void **state) {
    struct pie_line_curves *curves = open_curves();
    put_result = -ENOMEM;
    assert_int_equal(add_part(curves, 1, 7, 1, 100), 0);
    assert_int_equal(pie_line_curves_flush(curves), -ENOMEM);
    put_result = 0;
    assert_int_equal(pie_line_curves_flush(curves), 0);
    assert_int_equal(value_at(7, 1), 100);
    assert_int_equal(puts_count, 1);
    pie_line_curves_destroy(curves);
}

/* 64 lines have curves. A line that has had half as much again as the least of them takes its curve. */
static void test_the_lines_with_most_memory_have_curves(void **state) {
    struct pie_line_curves *curves = open_curves();
    int64_t now = 0;
    for (uint32_t line = 1; line <= PIE_LINE_CURVES; line++)
        assert_int_equal(add_part(curves, line, line, ++now, 1000 + 10 * line), 0);
    assert_int_equal(pie_line_curves_flush(curves), 0);
    assert_int_equal(add_part(curves, 100, 100, ++now, 1515), 0);
    assert_int_equal(pie_line_curves_flush(curves), 0);
    assert_int_equal(points_of(100), 0);
    assert_int_equal(add_part(curves, 100, 100, ++now, 1516), 0);
    assert_int_equal(pie_line_curves_flush(curves), 0);
    assert_int_equal(points_of(100), 1);
    assert_int_equal(points_of(1), 0);
    assert_int_equal(points_of(2), 1);
    assert_int_equal(file_count, PIE_LINE_CURVES);
    assert_int_equal(add_part(curves, 2, 2, ++now, 0), 0); /* most ever counts, not what is left */
    assert_int_equal(add_part(curves, 101, 101, ++now, 1500), 0);
    assert_int_equal(pie_line_curves_flush(curves), 0);
    assert_int_equal(points_of(2), 2);
    assert_int_equal(points_of(101), 0);
    pie_line_curves_destroy(curves);
}

/* Many contexts and lines, in random order: the tables hold, and each line's last point is the sum of its contexts. */
static void test_many_contexts_of_many_lines(void **state) {
    enum { NODES = 5000, LINES = 300 };
    static uint64_t live[NODES + 1], sums[LINES];
    struct pie_line_curves *curves = open_curves();
    int64_t last[LINES] = {0}, now = 0;
    memset(live, 0, sizeof live);
    memset(sums, 0, sizeof sums);
    seed = 7;
    for (uint32_t i = 0; i < 40000; i++) {
        uint32_t node = 1 + random_below(NODES), line = node % LINES,
                 bytes = random_below(1000) * (line < 20 ? 100 : 1);
        sums[line] += bytes - live[node];
        live[node] = bytes;
        last[line] = now += S / 10;
        assert_int_equal(add_part(curves, node, line, now, bytes), 0);
        if (i % 100 == 0)
            assert_int_equal(pie_line_curves_flush(curves), 0);
    }
    assert_int_equal(pie_line_curves_flush(curves), 0);
    assert_in_range(file_count, 1, PIE_LINE_CURVES * PIE_CURVE_POINTS);
    for (uint32_t line = 0; line < 20; line++) {
        assert_in_range(points_of(line), 2, PIE_CURVE_POINTS);
        assert_int_equal(value_at(line, last[line]), sums[line]);
    }
    pie_line_curves_destroy(curves);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_short_curve_is_kept_as_it_is),
        cmocka_unit_test(test_of_straight_lines_the_corners_stay),
        cmocka_unit_test(test_a_full_curve_keeps_half_of_its_points_at_most),
        cmocka_unit_test(test_each_value_has_its_highest_point_kept),
        cmocka_unit_test(test_time_goes_on),
        cmocka_unit_test(test_a_failure_to_forget_is_reported_and_the_point_added),
        cmocka_unit_test(test_random_curves_are_as_near_as_is_reported),
        cmocka_unit_test(test_the_choice_is_the_classic_algorithms),
        cmocka_unit_test(test_endless_curves_stay_small_and_keep_their_peak),
        cmocka_unit_test(test_a_line_has_the_sum_of_its_contexts),
        cmocka_unit_test(test_after_a_silence_the_old_value_is_held),
        cmocka_unit_test(test_only_what_is_new_is_put),
        cmocka_unit_test(test_a_point_that_could_not_be_put_is_put_later),
        cmocka_unit_test(test_the_lines_with_most_memory_have_curves),
        cmocka_unit_test(test_many_contexts_of_many_lines),
    };
    return cmocka_run_group_tests_name("curve", tests, NULL, NULL);
}
