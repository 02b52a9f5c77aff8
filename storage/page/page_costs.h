/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

struct pie_calltree;
struct pie_reader;

/* What each node of a call tree costs itself, by metric. Context: cli. */

enum pie_page_metric {
    PIE_PAGE_PYTHON,
    PIE_PAGE_NATIVE,
    PIE_PAGE_SYSTEM,
    PIE_PAGE_WAIT,
    PIE_PAGE_RUNNABLE,
    PIE_PAGE_THROTTLED,
    PIE_PAGE_SAMPLES,
    PIE_PAGE_ALLOCATED,
    PIE_PAGE_PEAK,
    PIE_PAGE_LIVE,
    PIE_PAGE_COPIED,
    PIE_PAGE_WASTED, /* by lines whose waste is sure: a part of the CPU time */
    PIE_PAGE_METRICS,
};

/* "python_ns", …: as the page has it. */
extern const char *const pie_page_metric_names[PIE_PAGE_METRICS];

/* Metrics of a row of a statement, in the order of its columns. */
struct pie_page_metrics {
    const char *sql; /* about :run; its first columns are process and node */
    int count;
    enum pie_page_metric metrics[PIE_PAGE_METRICS];
};

struct pie_page_costs {
    int64_t *values[PIE_PAGE_METRICS]; /* by node; NULL: 0 everywhere */
    int64_t sums[PIE_PAGE_METRICS];
    uint32_t node_count;
};

/* Returns 0, or -errno and a message. */
int pie_page_costs_read(struct pie_reader *reader, int64_t run, const struct pie_calltree *tree,
                        struct pie_page_costs *ret_costs, char **ret_message);
void pie_page_costs_finish(struct pie_page_costs *costs);

/* The importance of each node with all that is below it (heap, by node; NULL without memory): the sum of its parts of
 * the run's CPU time, which counts twice, waiting and memory. Waste is in the CPU time. No child's is above its
 * parent's. */
double *pie_page_costs_weigh(const struct pie_page_costs *costs, const struct pie_calltree *tree);
