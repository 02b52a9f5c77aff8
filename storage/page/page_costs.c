/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/page/page_costs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "storage/base/message.h"
#include "storage/export/calltree.h"
#include "storage/read/reader.h"
#include "storage/read/shared_waste.h"

const char *const pie_page_metric_names[PIE_PAGE_METRICS] = {
    "python_ns", "native_ns",       "system_ns",  "wait_ns",    "runnable_ns",  "throttled_ns",
    "samples",   "allocated_bytes", "peak_bytes", "live_bytes", "copied_bytes", "wasted_ns",
};

/* Sums of squares, not of what they are of, would be NULL in a damaged file; pie_cursor_int() makes 0 of it. */
static const struct pie_page_metrics tables[] = {
    {"SELECT s.process, s.node, s.python_ns, s.native_ns, s.system_ns, s.wait_ns, s.runnable_ns, "
     "s.throttled_ns,"
     " s.samples FROM process p JOIN x_node_sample s ON s.process = p.id WHERE p.run = :run",
     7,
     {PIE_PAGE_PYTHON, PIE_PAGE_NATIVE, PIE_PAGE_SYSTEM, PIE_PAGE_WAIT, PIE_PAGE_RUNNABLE, PIE_PAGE_THROTTLED,
      PIE_PAGE_SAMPLES}},
    {"SELECT a.process, a.node, a.allocated_python_bytes + a.allocated_native_bytes,"
     " a.peak_python_bytes + a.peak_native_bytes, a.live_bytes"
     " FROM process p JOIN allocation a ON a.process = p.id WHERE p.run = :run",
     3,
     {PIE_PAGE_ALLOCATED, PIE_PAGE_PEAK, PIE_PAGE_LIVE}},
    {"SELECT c.process, c.node, c.bytes FROM process p JOIN copy c ON c.process = p.id WHERE p.run = :run",
     1,
     {PIE_PAGE_COPIED}},
};

static int add(struct pie_page_costs *costs, enum pie_page_metric metric, uint32_t node, int64_t value) {
    if (value <= 0)
        return 0;
    if (!costs->values[metric])
        costs->values[metric] = calloc(costs->node_count, sizeof *costs->values[metric]);
    if (!costs->values[metric])
        return -ENOMEM;
    pie_calltree_add(&costs->values[metric][node], value);
    pie_calltree_add(&costs->sums[metric], value);
    return 0;
}

static int add_row(struct pie_page_costs *costs, const struct pie_page_metrics *table, uint32_t node,
                   struct pie_cursor *cursor) {
    int r = 0;
    for (int i = 0; i < table->count && r == 0; i++)
        r = add(costs, table->metrics[i], node, pie_cursor_int(cursor, 2 + i));
    return r;
}

static const char wasteful_sql[] =
    "WITH wasteful AS MATERIALIZED (SELECT * FROM x_wasteful_line WHERE run = :run),";
static const char wasted_sql[] = " SELECT process, node, CAST(1e9 * wasted_s AS INTEGER) FROM wasted_context";

/* Closes the cursor. */
static int read_rows(struct pie_cursor *cursor, int64_t run, const struct pie_calltree *tree,
                     const struct pie_page_metrics *table, struct pie_page_costs *costs, char **ret_message) {
    int r;

    pie_cursor_bind_int(cursor, ":run", run);
    while ((r = pie_cursor_next(cursor, ret_message)) > 0) {
        uint32_t node = pie_calltree_find(tree, pie_cursor_int(cursor, 0), pie_cursor_int(cursor, 1));
        r = add_row(costs, table, node, cursor);
        if (r < 0) {
            (void)pie_message(r, ret_message, "out of memory");
            break;
        }
    }
    pie_cursor_close(cursor);
    return r;
}

static int read_table(struct pie_reader *reader, int64_t run, const struct pie_calltree *tree,
                      const struct pie_page_metrics *table, struct pie_page_costs *costs,
                      char **ret_message) {
    struct pie_cursor *cursor;
    int r = pie_cursor_open_once(reader, table->sql, &cursor, ret_message);

    return r < 0 ? r : read_rows(cursor, run, tree, table, costs, ret_message);
}

/* Not opened as one that is asked once: written before the statement, the views of findings would be worked out for all
 * runs and by no index, which takes minutes of a large profile. */
static int read_waste(struct pie_reader *reader, int64_t run, const struct pie_calltree *tree,
                      struct pie_page_costs *costs, char **ret_message) {
    const struct pie_page_metrics table = {.count = 1, .metrics = {PIE_PAGE_WASTED}};
    struct pie_cursor *cursor;
    char *sql = NULL;

    if (asprintf(&sql, "%s%s%s", wasteful_sql, pie_shared_waste_sql, wasted_sql) < 0)
        return pie_message(-ENOMEM, ret_message, "out of memory");
    int r = pie_cursor_open(reader, sql, &cursor, ret_message);
    free(sql);
    return r < 0 ? r : read_rows(cursor, run, tree, &table, costs, ret_message);
}

int pie_page_costs_read(struct pie_reader *reader, int64_t run, const struct pie_calltree *tree,
                        struct pie_page_costs *ret_costs, char **ret_message) {
    int r = 0;
    *ret_costs = (struct pie_page_costs){.node_count = tree->node_count};
    for (size_t i = 0; i < sizeof tables / sizeof *tables && r == 0; i++)
        r = read_table(reader, run, tree, &tables[i], ret_costs, ret_message);
    if (r == 0)
        r = read_waste(reader, run, tree, ret_costs, ret_message);
    if (r < 0)
        pie_page_costs_finish(ret_costs);
    return r;
}

void pie_page_costs_finish(struct pie_page_costs *costs) {
    for (int i = 0; i < PIE_PAGE_METRICS; i++)
        free(costs->values[i]);
    *costs = (struct pie_page_costs){0};
}

/* Python, native and system time are parts of one sum. */
static double whole_of(const struct pie_page_costs *costs, int metric) {
    if (metric > PIE_PAGE_SYSTEM)
        return (double)costs->sums[metric];
    return ((double)costs->sums[PIE_PAGE_PYTHON] + (double)costs->sums[PIE_PAGE_NATIVE] +
            (double)costs->sums[PIE_PAGE_SYSTEM]) /
           2;
}

double *pie_page_costs_weigh(const struct pie_page_costs *costs, const struct pie_calltree *tree) {
    double *weights = calloc(costs->node_count, sizeof *weights);
    if (!weights)
        return NULL;
    for (int metric = 0; metric < PIE_PAGE_WASTED; metric++)
        for (uint32_t i = 0; costs->values[metric] && i < costs->node_count; i++)
            weights[i] += (double)costs->values[metric][i] / whole_of(costs, metric);
    for (uint32_t i = costs->node_count; --i > 0;) /* a child's index is above its parent's */
        weights[tree->nodes[i].parent] += weights[i];
    return weights;
}
