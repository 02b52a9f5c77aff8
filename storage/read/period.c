/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/read/period.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>

#include "storage/base/message.h"

static const double DAY_S = 86400;

/* Midnight before a point in time, in this machine's zone. A day of 23 or 25 hours is off by one. */
static double midnight_before(double time_s) {
    time_t time = (time_t)time_s;
    struct tm date;
    if (!localtime_r(&time, &date))
        return floor(time_s / DAY_S) * DAY_S;
    date.tm_hour = date.tm_min = date.tm_sec = 0;
    date.tm_isdst = -1;
    return (double)mktime(&date);
}

/* Seconds since 1970. A time of day is the last one that is not after `latest_s`. */
static double moment_s(const struct pie_moment *moment, double run_s, double latest_s) {
    if (moment->kind == PIE_MOMENT_AGE)
        return run_s + moment->s;
    if (moment->kind == PIE_MOMENT_DATE)
        return moment->s;
    double time_s = midnight_before(latest_s) + moment->s;
    return time_s > latest_s ? midnight_before(latest_s - DAY_S) + moment->s : time_s;
}

/* The first such time of day that is not before the period's begin. */
static double end_s(const struct pie_moment *moment, double run_s, double from_s) {
    return moment->kind == PIE_MOMENT_CLOCK ? moment_s(moment, run_s, from_s + DAY_S)
                                            : moment_s(moment, run_s, from_s);
}

static void print_time(int64_t time_ns, char *text, size_t size) {
    time_t time = (time_t)(time_ns / 1000000000);
    struct tm date;
    if (!localtime_r(&time, &date) || strftime(text, size, "%Y-%m-%d %H:%M:%S", &date) == 0)
        snprintf(text, size, "%lld", (long long)time);
}

static int say_outside(const struct pie_period_run *run, char **ret_message) {
    char from[64], to[64];
    print_time(run->started_ns, from, sizeof from);
    print_time(run->seen_ns, to, sizeof to);
    return pie_message(-EINVAL, ret_message, "nothing of the run lies in that time: it went from %s to %s",
                       from, to);
}

static int resolve_slice(const struct pie_period *period, const struct pie_period_run *run, double wall_s,
                         struct pie_period_span *ret_span, char **ret_message) {
    double width_s = (double)run->width_s;
    int64_t last = (int64_t)fmax(1, ceil(wall_s / width_s));
    if (period->slice > last)
        return pie_message(-EINVAL, ret_message, "there is no slice %lld: \"slices\" lists 1 to %lld",
                           (long long)period->slice, (long long)last);
    *ret_span = (struct pie_period_span){.from_s = (double)(period->slice - 1) * width_s,
                                         .to_s = (double)period->slice * width_s,
                                         .is_exact = true};
    return 0;
}

int pie_period_resolve(const struct pie_period *period, const struct pie_period_run *run,
                       struct pie_period_span *ret_span, char **ret_message) {
    double run_s = (double)run->started_ns / 1e9, run_end_s = (double)run->seen_ns / 1e9;
    double from_s = run_s, to_s = run_end_s;
    if (run->width_s == 0)
        return pie_message(
            -EINVAL, ret_message,
            "the run has no slices of time: it was made by an older pieprof, and nothing was measured");
    if (period->kind == PIE_PERIOD_SLICE)
        return resolve_slice(period, run, run_end_s - run_s, ret_span, ret_message);
    if (period->kind == PIE_PERIOD_LAST)
        from_s = run_end_s - period->last_s;
    if (period->from.kind != PIE_MOMENT_NONE)
        from_s = moment_s(&period->from, run_s, run_end_s);
    if (period->to.kind != PIE_MOMENT_NONE)
        to_s = end_s(&period->to, run_s, from_s);
    if (to_s <= run_s || from_s >= run_end_s)
        return say_outside(run, ret_message);
    if (to_s <= from_s)
        return pie_message(-EINVAL, ret_message, "the period ends before it begins");
    if (to_s >= run_end_s) /* the last slice may have hardly begun: its middle lies behind the end */
        to_s = run_end_s + (double)run->width_s;
    *ret_span = (struct pie_period_span){.from_s = fmax(0, from_s - run_s), .to_s = to_s - run_s};
    return 0;
}
