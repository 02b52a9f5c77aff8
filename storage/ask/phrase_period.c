/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/ask/phrase_period.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "storage/base/message.h"
#include "storage/read/period.h"
#include "storage/ask/phrase_words.h"

static const struct {
    const char *names;
    double seconds;
} units[] = {
    {"s|sec|secs|second|seconds", 1},
    {"m|min|mins|minute|minutes", 60},
    {"h|hour|hours", 3600},
    {"d|day|days", 86400},
};

enum { UNITS = sizeof units / sizeof *units };

/* Seconds of a unit, 0: it is none. */
static double unit_of(const char *text) {
    const struct pie_words word = {.at = {text}, .count = 1};
    for (size_t i = 0; i < UNITS; i++) {
        if (pie_words_is(&word, 0, units[i].names))
            return units[i].seconds;
    }
    return 0;
}

/* "5 minutes", "1.5h", and "minute" alone where may_be_one. Returns how many words it is, 0: it is none. */
static int length_at(const struct pie_words *words, int index, bool may_be_one, double *ret_s) {
    if (index >= words->count || words->is_quoted[index])
        return 0;
    const char *text = words->at[index];
    char *end = (char *)text;
    double value = *text >= '0' && *text <= '9' ? strtod(text, &end) : may_be_one ? 1 : 0;
    bool is_apart = *end == 0 && end != text;
    if (is_apart && (index + 1 >= words->count || words->is_quoted[index + 1]))
        return 0;
    double unit_s = unit_of(is_apart ? words->at[index + 1] : end);
    if (unit_s == 0 || !(value > 0) || !(value * unit_s < 1e10))
        return 0;
    *ret_s = value * unit_s;
    return 1 + is_apart;
}

/* "10:00", "10:00:30" */
static bool parse_clock(const char *text, struct pie_moment *ret_moment) {
    int hour, minute, second = 0, size = 0;
    bool is_short = sscanf(text, "%2d:%2d%n", &hour, &minute, &size) == 2 && text[size] == 0;
    if (!is_short && !(sscanf(text, "%2d:%2d:%2d%n", &hour, &minute, &second, &size) == 3 && text[size] == 0))
        return false;
    if (hour < 0 || hour > 24 || minute < 0 || minute > 59 || second < 0 || second > 60)
        return false;
    *ret_moment = (struct pie_moment){.kind = PIE_MOMENT_CLOCK, .s = hour * 3600 + minute * 60 + second};
    return true;
}

/* "2026-11-23T10:00", "2026-11-23T10:00:30.5Z" */
static bool parse_date(const char *text, struct pie_moment *ret_moment) {
    int year, month, day, hour, minute, size = 0;
    double second = 0;
    if (sscanf(text, "%4d-%2d-%2dT%2d:%2d%n", &year, &month, &day, &hour, &minute, &size) != 5)
        return false;
    text += size;
    if (*text == ':' && sscanf(text, ":%9lf%n", &second, &size) == 1)
        text += size;
    bool is_utc = *text == 'Z';
    if (text[is_utc] != 0 || !(second >= 0 && second < 61))
        return false;
    struct tm date = {.tm_year = year - 1900,
                      .tm_mon = month - 1,
                      .tm_mday = day,
                      .tm_hour = hour,
                      .tm_min = minute,
                      .tm_isdst = -1};
    time_t time = is_utc ? timegm(&date) : mktime(&date);
    *ret_moment = (struct pie_moment){.kind = PIE_MOMENT_DATE, .s = (double)time + second};
    return time != (time_t)-1;
}

/* Returns how many words it is, 0: it is none. */
static int moment_at(const struct pie_words *words, int index, struct pie_moment *ret_moment) {
    if (index >= words->count || words->is_quoted[index])
        return 0;
    if (parse_clock(words->at[index], ret_moment) || parse_date(words->at[index], ret_moment))
        return 1;
    double age_s = 0;
    int count = length_at(words, index, false, &age_s);
    if (count > 0)
        *ret_moment = (struct pie_moment){.kind = PIE_MOMENT_AGE, .s = age_s};
    return count;
}

static int say_moment(const struct pie_words *words, int index, char **ret_message) {
    return pie_message(
        -EINVAL, ret_message,
        "\"%.100s\" is no point in time: say 10:00, 2026-11-23T10:00, or 90 s (since the start)",
        index < words->count ? words->at[index] : "");
}

/* "last 5 minutes", "the last minute" */
static int take_last(struct pie_words *words, int index, struct pie_period *period) {
    index += pie_words_is(words, index, "the");
    if (!pie_words_is(words, index, "last|past"))
        return 0;
    double length_s;
    int count = length_at(words, index + 1, true, &length_s);
    if (count == 0)
        return 0;
    *period = (struct pie_period){.kind = PIE_PERIOD_LAST, .last_s = length_s};
    words->next = index + 1 + count;
    return 1;
}

/* "between A and B", "from A to B" */
static int take_between(struct pie_words *words, struct pie_period *period, char **ret_message) {
    bool is_between = pie_words_is(words, words->next, "between");
    if (!is_between && !pie_words_is(words, words->next, "from"))
        return 0;
    struct pie_period found = {.kind = PIE_PERIOD_BETWEEN};
    int index = words->next + 1, count = moment_at(words, index, &found.from);
    if (count == 0)
        return is_between ? say_moment(words, index, ret_message) : 0; /* "from train.py" */
    index += count;
    if (!pie_words_is(words, index, "and|to|until|till"))
        return pie_message(-EINVAL, ret_message, "a period has two ends: between 10:00 and 10:05");
    count = moment_at(words, index + 1, &found.to);
    if (count == 0)
        return say_moment(words, index + 1, ret_message);
    words->next = index + 1 + count;
    *period = found;
    return 1;
}

/* "since 10:00", "until 10:05" */
static int take_open(struct pie_words *words, struct pie_period *period, char **ret_message) {
    bool is_from = pie_words_is(words, words->next, "since|after");
    if (!is_from && !pie_words_is(words, words->next, "until|till|before"))
        return 0;
    struct pie_period found = {.kind = PIE_PERIOD_BETWEEN};
    int count = moment_at(words, words->next + 1, is_from ? &found.from : &found.to);
    if (count == 0)
        return say_moment(words, words->next + 1, ret_message);
    words->next += 1 + count;
    *period = found;
    return 1;
}

/* "in slice 7" */
static int take_slice(struct pie_words *words, int index, struct pie_period *period, char **ret_message) {
    int64_t slice;
    if (!pie_words_is(words, index, "slice"))
        return 0;
    int r = pie_words_number(words, index + 1, &slice);
    if (r == 0)
        return pie_message(-EINVAL, ret_message,
                           "a number is missing after \"slice\": \"slices\" lists them");
    if (r < 0)
        return pie_message(-ERANGE, ret_message, "%s is not a number from 1 on", words->at[index + 1]);
    *period = (struct pie_period){.kind = PIE_PERIOD_SLICE, .slice = slice};
    words->next = index + 2;
    return 1;
}

int pie_phrase_take_period(struct pie_words *words, struct pie_period *period, char **ret_message) {
    struct pie_period found = {0};
    bool has_word = pie_words_is(words, words->next, "in|of|during|over|for|from|at|within");
    int r = take_last(words, words->next + has_word, &found);
    if (r == 0 && has_word)
        r = take_slice(words, words->next + 1, &found, ret_message);
    if (r == 0)
        r = take_between(words, &found, ret_message);
    if (r == 0)
        r = take_open(words, &found, ret_message);
    if (r > 0 && period->kind != PIE_PERIOD_RUN)
        return pie_message(-EINVAL, ret_message, "two periods of time named");
    if (r > 0)
        *period = found;
    return r;
}
