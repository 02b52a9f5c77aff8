/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "storage/read/period.h"
#include "storage/ask/phrase.h"

/* 2026-11-23 09:58:00 to 10:10:00 UTC, in a zone one hour before that. */
static const int64_t START_NS = 1795427880000000000, SECOND_NS = 1000000000;

static const struct pie_period_run run = {
    .started_ns = START_NS, .seen_ns = START_NS + 720 * SECOND_NS, .width_s = 4};

static int set_zone(void **state) {
    setenv("TZ", "CET-1", 1);
    tzset();
    return 0;
}

static struct pie_phrase parse(const char *text) {
    struct pie_phrase phrase;
    char *message = NULL;
    assert_int_equal(pie_phrase_parse(text, &phrase, &message), 0);
    assert_null(message);
    return phrase;
}

/* To the run's end is to the end of its last slice. */
enum { END_S = 720 + 4 };

static void assert_span(const char *text, double from_s, double to_s) {
    struct pie_phrase phrase = parse(text);
    struct pie_period_span span;
    char *message = NULL;
    if (pie_period_resolve(&phrase.period, &run, &span, &message) != 0)
        fail_msg("%s: %s", text, message);
    if (span.from_s != from_s || span.to_s != to_s)
        fail_msg("%s: %g to %g", text, span.from_s, span.to_s);
}

static void assert_complaint(const char *text, const struct pie_period_run *of, const char *part) {
    struct pie_phrase phrase;
    struct pie_period_span span;
    char *message = NULL;
    int r = pie_phrase_parse(text, &phrase, &message);
    if (r == 0)
        r = pie_period_resolve(&phrase.period, of, &span, &message);
    if (r != -EINVAL || !message || !strstr(message, part) || strchr(message, '\n'))
        fail_msg("%s: %d %s", text, r, message ? message : "");
    free(message);
}

static void test_lengths_before_the_end(void **state) {
    assert_span("hot lines in the last 5 minutes", 420, END_S);
    assert_span("hot lines in the last minute", 660, END_S);
    assert_span("hot lines last 30s", 690, END_S);
    assert_span("the last 1.5 min hot lines", 630, END_S);
    assert_span("hot lines of the past hour", 0, END_S);
    assert_span("memory over the last 2 days", 0, END_S);
}

static void test_times_of_day_are_those_of_the_zone(void **state) {
    assert_span("hot lines between 11:00 and 11:05", 120, 420);
    assert_span("hot lines from 11:00:30 to 11:05", 150, 420);
    assert_span("hot lines since 11:09", 660, END_S);
    assert_span("hot lines until 10:59", 0, 60);
    assert_span("hot lines between 10:00 and 11:00", 0, 120);
    assert_span("hot lines between 11:05 and 12:00", 420, END_S);
}

static void test_dates_may_be_of_utc(void **state) {
    assert_span("hot lines between 2026-11-23T11:00 and 2026-11-23T10:05Z", 120, 420);
    assert_span("hot lines since 2026-11-23T10:09:30.5Z", 690.5, END_S);
    assert_span("hot lines until 2026-11-23T11:00:15", 0, 135);
}

static void test_ages_count_from_the_start(void **state) {
    assert_span("hot lines between 90 s and 2 min", 90, 120);
    assert_span("hot lines between 90s and 2min", 90, 120);
    assert_span("hot lines since 700s", 700, END_S);
    assert_span("hot lines until 1m", 0, 60);
}

static void test_slices_are_numbered_from_one(void **state) {
    assert_span("hot lines in slice 1", 0, 4);
    assert_span("hot lines of slice 180", 716, 720);
    assert_complaint("hot lines in slice 181", &run, "there is no slice 181: \"slices\" lists 1 to 180");
    assert_complaint("hot lines in slice", &run, "a number is missing");
}

static void test_other_words_stay_what_they_are(void **state) {
    struct pie_phrase phrase = parse("top 3 hot lines in the last 5 minutes in app.py:62 of run 2");
    assert_int_equal(phrase.period.kind, PIE_PERIOD_LAST);
    assert_string_equal(phrase.question, "hot lines");
    assert_string_equal(phrase.file, "app.py");
    assert_int_equal(phrase.line, 62);
    assert_int_equal(phrase.run, 2);
    assert_int_equal(phrase.limit, 3);
    assert_string_equal(parse("hot lines from last.py").file, "last.py");
    assert_string_equal(parse("hot lines in last").file, "last");
    assert_string_equal(parse("hot lines in 'slice' since 5s").file, "slice");
    assert_string_equal(parse("slices").question, "slices");
    assert_int_equal(parse("hot lines in app.py:10").period.kind, PIE_PERIOD_RUN);
}

static void test_what_cannot_be_understood_is_said(void **state) {
    assert_complaint("hot lines between 10 and 11", &run, "\"10\" is no point in time");
    assert_complaint("hot lines between 10:00", &run, "a period has two ends");
    assert_complaint("hot lines between 10:00 and", &run, "\"\" is no point in time");
    assert_complaint("hot lines since yesterday", &run, "\"yesterday\" is no point in time");
    assert_complaint("hot lines since 25:00", &run, "no point in time");
    assert_complaint("hot lines in slice 1 in the last minute", &run, "two periods");
    assert_complaint("hot lines between 2 min and 1 min", &run, "ends before it begins");
    assert_complaint("hot lines since 2026-11-24T00:00", &run,
                     "it went from 2026-11-23 10:58:00 to 2026-11-23 11:10:00");
    assert_complaint("hot lines until 2026-11-23T10:00", &run, "nothing of the run");
    const struct pie_period_run old = {.started_ns = START_NS, .seen_ns = START_NS + SECOND_NS};
    assert_complaint("hot lines in the last minute", &old, "no slices of time");
}

static void test_a_time_of_day_is_the_last_one_of_a_long_run(void **state) {
    const struct pie_period_run week = {
        .started_ns = START_NS, .seen_ns = START_NS + 7 * 86400 * SECOND_NS, .width_s = 4096};
    struct pie_phrase phrase = parse("hot lines between 23:00 and 01:00"); /* over midnight */
    struct pie_period_span span;
    char *message = NULL;
    assert_int_equal(pie_period_resolve(&phrase.period, &week, &span, &message), 0);
    assert_float_equal(span.from_s, 6 * 86400 + 12 * 3600 + 120, 0.001);
    assert_float_equal(span.to_s - span.from_s, 7200, 0.001);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lengths_before_the_end),
        cmocka_unit_test(test_times_of_day_are_those_of_the_zone),
        cmocka_unit_test(test_dates_may_be_of_utc),
        cmocka_unit_test(test_ages_count_from_the_start),
        cmocka_unit_test(test_slices_are_numbered_from_one),
        cmocka_unit_test(test_other_words_stay_what_they_are),
        cmocka_unit_test(test_what_cannot_be_understood_is_said),
        cmocka_unit_test(test_a_time_of_day_is_the_last_one_of_a_long_run),
    };
    return cmocka_run_group_tests(tests, set_zone, NULL);
}
