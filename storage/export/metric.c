/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/export/metric.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "storage/base/message.h"
#include "storage/read/reader.h"

#define CLOCK "p.clock <> 'none'"
#define HEAP "EXISTS (SELECT 1 FROM heap h WHERE h.process = p.id)"
/* As x_memory_measured has it. */
#define COPIES                                                                                               \
    "EXISTS (SELECT 1 FROM copy c WHERE c.process = p.id) OR EXISTS (SELECT 1 FROM overhead o"               \
    " WHERE o.process = p.id AND o.collector = 'copies')"
#define CPU "s.python_ns + s.native_ns + s.system_ns"

static const struct pie_metric metrics[] = {
    {"cpu", "CPU time", PIE_METRIC_NS, CPU, "sample", "s.node", "s.thread", "s.slice_s", CLOCK, false},
    {"python", "CPU time in the interpreter", PIE_METRIC_NS, "s.python_ns", "sample", "s.node", "s.thread",
     "s.slice_s", CLOCK, true},
    {"native", "CPU time in native code", PIE_METRIC_NS, "s.native_ns", "sample", "s.node", "s.thread",
     "s.slice_s", CLOCK, true},
    {"system", "CPU time in the kernel", PIE_METRIC_NS, "s.system_ns", "sample", "s.node", "s.thread",
     "s.slice_s", CLOCK, true},
    {"wait", "waiting", PIE_METRIC_NS, "s.wait_ns", "sample", "s.node", "s.thread", "s.slice_s", CLOCK,
     false},
    {"runnable", "waiting for a processor", PIE_METRIC_NS, "s.runnable_ns", "sample", "s.node", "s.thread",
     "s.slice_s", CLOCK, false},
    {"throttled", "time throttled by a CPU quota", PIE_METRIC_NS, "s.throttled_ns", "sample", "s.node",
     "s.thread", "s.slice_s", CLOCK, false},
    {"samples", "samples of CPU time", PIE_METRIC_COUNT, "s.samples", "sample", "s.node", "s.thread",
     "s.slice_s", CLOCK, false},
    {"allocated", "allocated bytes", PIE_METRIC_BYTES, "s.allocated_python_bytes + s.allocated_native_bytes",
     "allocation", "s.node", NULL, NULL, HEAP, false},
    {"peak", "bytes live at the peak", PIE_METRIC_BYTES, "s.peak_python_bytes + s.peak_native_bytes",
     "allocation", "s.node", NULL, NULL, HEAP, false},
    {"live", "bytes not freed", PIE_METRIC_BYTES, "s.live_bytes", "allocation", "s.node", NULL, NULL, HEAP,
     false},
    {"copied", "copied bytes", PIE_METRIC_BYTES, "s.bytes", "copy", "s.node", NULL, "s.slice_s", COPIES,
     false},
    /* At the first access of each pair. */
    {"wasted", "CPU time of redundant accesses", PIE_METRIC_NS, "round(s.wasted_ns)", "x_pair",
     "s.first_node", NULL, NULL, "p.sampler <> 'none'", false},
};

enum { METRIC_COUNT = sizeof metrics / sizeof *metrics };

const struct pie_metric *pie_metric_all(size_t *ret_count) {
    *ret_count = METRIC_COUNT;
    return metrics;
}

const struct pie_metric *pie_metric_find(const char *name) {
    for (size_t i = 0; i < METRIC_COUNT; i++) {
        if (strcmp(metrics[i].name, name) == 0)
            return &metrics[i];
    }
    return NULL;
}

char *pie_metric_names(void) {
    char *names = NULL;
    size_t size;
    FILE *out = open_memstream(&names, &size);
    if (!out)
        return NULL;
    for (size_t i = 0; i < METRIC_COUNT; i++)
        fprintf(out, "%s%s", i ? ", " : "", metrics[i].name);
    return fclose(out) == 0 ? names : NULL;
}

int pie_metric_is_measured(struct pie_reader *reader, int64_t run, const struct pie_metric *metric,
                           bool *ret_is, char **ret_message) {
    struct pie_cursor *cursor;
    char *sql;
    if (asprintf(&sql, "SELECT 1 FROM process p WHERE p.run = :run AND (%s) LIMIT 1", metric->measured) < 0)
        return pie_message(-ENOMEM, ret_message, "out of memory");
    int r = pie_cursor_open(reader, sql, &cursor, ret_message);
    free(sql);
    if (r < 0)
        return r;
    pie_cursor_bind_int(cursor, ":run", run);
    r = pie_cursor_next(cursor, ret_message);
    pie_cursor_close(cursor);
    if (r >= 0)
        *ret_is = r > 0;
    return r < 0 ? r : 0;
}

char *pie_metric_sql(const struct pie_metric *metric, bool is_sorted) {
    char *sql;
    int size =
        asprintf(&sql,
                 "SELECT s.process, %s, %s, %s, %s FROM process p JOIN %s s ON s.process = p.id"
                 " WHERE p.run = :run AND %s > 0%s",
                 metric->thread ? metric->thread : "0", metric->slice ? metric->slice : "0", metric->node,
                 metric->value, metric->table, metric->value, is_sorted ? " ORDER BY 1, 2, 3" : "");
    return size < 0 ? NULL : sql;
}
