/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

struct pie_reader;

/* A period of a run's time, as a question names it (phrase_period.h), and the run cut down to it: to the slices of each
 * process that lie in it for the most part. Context: cli. */

enum pie_moment_kind {
    PIE_MOMENT_NONE,  /* not given: the run's begin or end */
    PIE_MOMENT_AGE,   /* s: seconds since the run's start */
    PIE_MOMENT_CLOCK, /* s: seconds since midnight of this machine's zone; of several, the last in the run */
    PIE_MOMENT_DATE,  /* s: seconds since 1970 */
};

struct pie_moment {
    enum pie_moment_kind kind;
    double s;
};

enum pie_period_kind { PIE_PERIOD_RUN, PIE_PERIOD_LAST, PIE_PERIOD_BETWEEN, PIE_PERIOD_SLICE };

struct pie_period {
    enum pie_period_kind kind;
    double last_s; /* before the run's end */
    struct pie_moment from, to;
    int64_t slice; /* number, as v_slice has it */
};

/* The run's times. */
struct pie_period_run {
    int64_t started_ns, seen_ns; /* CLOCK_REALTIME; started_ns: of the first slice that is kept */
    int64_t width_s;             /* of the run's slices; 0: it has none */
};

/* Seconds since the run's start. */
struct pie_period_span {
    double from_s, to_s;
    bool is_exact; /* begins of slices count, not their middles */
};

/* Where a period lies in a run. Returns 0, or -EINVAL and one line for people (heap) where nothing of the run lies
 * there. */
int pie_period_resolve(const struct pie_period *period, const struct pie_period_run *run,
                       struct pie_period_span *ret_span, char **ret_message);

/* From now on the connection's views have only what was measured in the period; shares are those of the period.
 * ret_from_ns and ret_to_ns: the time that the slices cover (CLOCK_REALTIME). Before pie_place_cut(). Returns 0 or
 * -errno and a line. */
int pie_period_cut(struct pie_reader *reader, int64_t run, const struct pie_period *period,
                   int64_t *ret_from_ns, int64_t *ret_to_ns, char **ret_message);

/* A statement of ours (heap of SQLite's, or NULL without memory) as it is to be after a cut: it reads what the cut left
 * of the tables that it names as "main.sample" and so on, and a view that it makes replaces the cut's. */
char *pie_period_sql(const struct pie_reader *reader, const char *sql);
