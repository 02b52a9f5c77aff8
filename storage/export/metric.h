/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pie_reader;

/* What a profile says of each calling context: the figures that exports show. Context: cli. */

enum pie_metric_unit {
    PIE_METRIC_NS,
    PIE_METRIC_BYTES,
    PIE_METRIC_COUNT,
};

struct pie_metric {
    const char *name; /* as given to --metric, and the name in files */
    const char *what; /* for people: "CPU time" */
    enum pie_metric_unit unit;
    const char *value;    /* SQL: of a row `s` of the table */
    const char *table;    /* whose rows have a process and a node */
    const char *node;     /* SQL: that node */
    const char *thread;   /* SQL: its thread; NULL: a profile does not keep it */
    const char *slice;    /* SQL: the start of its time slice, seconds; NULL: a profile does not keep it */
    const char *measured; /* SQL: a condition of a process `p` of the run */
    bool is_part;         /* of another metric */
};

const struct pie_metric *pie_metric_all(size_t *ret_count);
const struct pie_metric *pie_metric_find(const char *name);
/* "cpu, python, …" (heap), or NULL. */
char *pie_metric_names(void);

/* Whether any process of the run could measure it, if *ret_is is not changed by an error. Returns 0, or -errno and a
 * message. */
int pie_metric_is_measured(struct pie_reader *reader, int64_t run, const struct pie_metric *metric,
                           bool *ret_is, char **ret_message);

/* The statement of its rows: process, thread or 0, slice or 0, node, value above 0; its parameter is :run. By process,
 * thread and slice in this order if is_sorted. Heap, or NULL. */
char *pie_metric_sql(const struct pie_metric *metric, bool is_sorted);
