/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "storage/ask/query.h"
#include "storage/base/message.h"
#include "storage/page/page_json.h"
#include "storage/page/page_part.h"
#include "storage/page/page_table.h"
#include "storage/read/reader.h"

/* Tables that are the answers to questions: the page has the same numbers as `pieprof query --json`. */

static const struct question {
    const char *name, *question, *order;
    size_t rows_max, bytes_max;
} questions[] = {
    {"findings", "redundancy", "severity, then wasted CPU time", 100, 150000},
    {"pairs", "pairs", "severity, then wasted CPU time", 30, 120000},
    {"functions", "all hot functions", "CPU time, then waiting", 300, 80000},
    {"native_functions", "native functions", "CPU time, then waiting", 200, 60000},
    {"libraries", "libraries", "CPU time, then waiting", 100, 15000},
    {"memory", "memory", "allocated bytes", 200, 40000},
    {"peak", "peak", "bytes at the peak", 200, 40000},
    {"growth", "growth", "bytes that were not freed", 100, 30000},
    {"leaks", "leaks", "score", 50, 30000},
    {"copies", "copies", "copied bytes", 200, 40000},
    {"needless_copies", "needless copies", "bytes", 50, 15000},
    {"copy_pairs", "copy pairs", "copied bytes", 50, 10000},
    {"heap", "heap", "start", 200, 40000},
    {"waits", "wait causes", "waiting", 300, 60000},
    {"tasks", "tasks", "waiting", 300, 60000},
    {"garbage", "garbage collection", "CPU time of the collections", 100, 15000},
    {"loops", "traced loops", "time in the loop's body", 100, 30000},
    {"loop_calls", "traced calls", "time in the loop's body, then share", 500, 80000},
    {"processes", "processes", "start", 300, 80000},
    {"threads", "threads", "CPU time, then waiting", 500, 80000},
    {"overhead", "overhead", "name", 30, 5000},
    {"overhead_slices", "overhead over time", "time", 256, 40000},
    {"drops", "drops", "drops", 100, 10000},
    {"environment", "environment", "name", 300, 30000},
    {"slices", "slices", "time", 256, 60000},
};

static int add_question(struct pie_page *page, const struct question *question, char **ret_message) {
    struct pie_page_table table;
    struct pie_query query;
    int r = pie_query_open(page->reader, question->question, page->run, &query, ret_message);
    if (r < 0)
        return r;
    r = pie_page_table_read(page, query.cursor, question->rows_max, &table, ret_message);
    pie_query_close(&query);
    return r < 0 ? r
                 : pie_page_table_finish(page, question->name, question->order, question->bytes_max, &table,
                                         ret_message);
}

static const struct pie_page_statement counters = {
    .name = "counters",
    .sql = "SELECT c.name AS counter, sum(c.value) AS value, max(c.is_drop) AS is_drop"
           " FROM process p JOIN counter c ON c.process = p.id WHERE p.run = :run GROUP BY c.name ORDER BY "
           "c.name",
    .order = "name",
    .rows_max = 300,
    .bytes_max = 15000,
};

/* As the summary on the terminal has them: where nothing is high. */
static const struct pie_page_statement undecided = {
    .name = "undecided_lines",
    .sql = "SELECT file, line, share, known, what_to_do, count_finding FROM x_undecided_line WHERE run = :run"
           " AND NOT EXISTS (SELECT 1 FROM v_redundancy WHERE run = :run AND severity = 'high') ORDER BY "
           "share DESC",
    .order = "CPU time",
    .rows_max = 10,
    .bytes_max = 10000,
};

int pie_page_add_tables(struct pie_page *page, char **ret_message) {
    int r = 0;
    for (size_t i = 0; i < sizeof questions / sizeof *questions && r == 0; i++)
        r = add_question(page, &questions[i], ret_message);
    if (r == 0)
        r = pie_page_add_statement(page, &undecided, ret_message);
    return r < 0 ? r : pie_page_add_statement(page, &counters, ret_message);
}
